"""Looks at a file of weights before PyTorch reads it: it is one thing, whole, and no larger than it says.

PyTorch takes a file for a zip archive by its first bytes, others by the end that lies somewhere in it; it
checks no CRC, and unpacks what is compressed without a limit.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections import Counter
from pathlib import Path

from hlsgen.frontends.builder.limits import LEAST_UNPACKED_BYTES, MOST_PICKLE_BYTES, UNPACKED_TIMES

ZIP_START = b"PK\x03\x04"
ZIP_END, ZIP_END_BYTES = b"PK\x05\x06", 22
"""PyTorch writes no comment after it."""
CHUNK = 1 << 20
RE_SAVE = "a file that torch.save(model.state_dict(), path) wrote"
Fault = tuple[str, str]
"""What is wrong with a file, and the remedy."""


def archive_fault(path: Path) -> Fault | None:
    """Raises OSError."""
    with path.open("rb") as file:
        is_zip = file.read(len(ZIP_START)) == ZIP_START
        file.seek(-min(ZIP_END_BYTES, path.stat().st_size), os.SEEK_END)
        ends = file.read(len(ZIP_END)) == ZIP_END
    try:
        with zipfile.ZipFile(path) as archive:
            if not is_zip or archive.infolist() and min(one.header_offset for one in archive.infolist()):
                return "is two files in one: a zip archive follows what PyTorch would read", RE_SAVE
            if not ends:
                return "is two files in one: something follows its zip archive", RE_SAVE
            return _inside_fault(archive, path.stat().st_size)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError) as error:
        # zipfile tells a damaged, an encrypted and a strangely compressed archive in these ways
        return (f"is damaged: {error}", RE_SAVE) if is_zip else None


def _inside_fault(archive: zipfile.ZipFile, size: int) -> Fault | None:
    entries = archive.infolist()
    names = [one.filename for one in entries]
    if any(name.endswith("/constants.pkl") for name in names):
        fix = "torch.save(torch.jit.load(path).state_dict(), other)"
        return "is a TorchScript archive, which holds code beside its weights", fix
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        return f"holds {twice[0]!r} twice", RE_SAVE
    unpacked = sum(one.file_size for one in entries)
    most = max(LEAST_UNPACKED_BYTES, UNPACKED_TIMES * size)
    if unpacked > most:
        return f"unpacks to {unpacked:,} bytes, more than {most:,}", RE_SAVE
    pickled = max((one.file_size for one in entries if one.filename.endswith(".pkl")), default=0)
    if pickled > MOST_PICKLE_BYTES:
        return f"describes its tensors in {pickled:,} bytes, more than {MOST_PICKLE_BYTES:,}", RE_SAVE
    for one in entries:
        if one.CRC:  # PyTorch can be told to write none
            with archive.open(one) as stream:
                while stream.read(CHUNK):
                    pass
    return None
