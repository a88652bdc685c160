"""Looks at a file of weights before PyTorch reads it: it is one thing, whole, and no larger than it says.

PyTorch takes a file for a zip archive by its first bytes, others by the end that lies somewhere in it; it
checks no CRC, and unpacks what is compressed without a limit.
"""

from __future__ import annotations

import io
import os
import pickletools
import zipfile
import zlib
from collections import Counter
from pathlib import Path
from typing import IO

from hlsgen.frontends.builder.limits import (
    LEAST_UNPACKED_BYTES,
    MOST_PICKLE_BYTES,
    MOST_PICKLE_STEPS,
    UNPACKED_TIMES,
)

ZIP_START = b"PK\x03\x04"
ZIP_END, ZIP_END_BYTES = b"PK\x05\x06", 22
"""PyTorch writes no comment after it."""
CHUNK = 1 << 20
OLD_PICKLES = 5
"""Pickles in a row, as files were before PyTorch 1.6: magic number, version, system, state, keys; data."""
RE_SAVE = "a file that torch.save(model.state_dict(), path) wrote"
Fault = tuple[str, str]
"""What is wrong with a file, and the remedy."""


def archive_fault(path: Path) -> Fault | None:
    """What is wrong with a file that torch.save should have written; None: nothing. Raises OSError."""
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
        if is_zip:
            return f"is damaged: {error}", RE_SAVE
    with path.open("rb") as file:
        return _steps_fault(file, OLD_PICKLES)


def _steps_fault(stream: IO[bytes], pickles: int) -> Fault | None:
    """More steps than any tensors need: PyTorch's reader, which is written in Python, takes each of them."""
    steps = 0
    try:
        for _ in range(pickles):
            for _ in pickletools.genops(stream):
                steps += 1
                if steps > MOST_PICKLE_STEPS:
                    return f"describes its tensors in more than {MOST_PICKLE_STEPS:,} steps", RE_SAVE
    except (ValueError, UnicodeError):  # no pickle, or a damaged one: PyTorch's reader says so
        pass
    return None


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
        if one.filename.endswith(".pkl"):
            fault = _steps_fault(io.BytesIO(archive.read(one)), 1)
            if fault is not None:
                return fault
        if one.CRC:  # PyTorch can be told to write none
            with archive.open(one) as stream:
                while stream.read(CHUNK):
                    pass
    return None
