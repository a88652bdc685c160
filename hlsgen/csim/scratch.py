"""The temporary folder of a C-simulation, and what is said if it cannot be used."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from hlsgen.errors import ToolError

SCRATCH_PREFIX = "hlsgen-csim-"
SOURCES = (".cpp", ".h")
DIGEST_DIGITS = 16
"""Of the sources' digest, in an executable's name."""


class Scratch:
    """A folder for executables, made when it is first asked for and gone with this object."""

    _gone: weakref.finalize[..., Scratch] | None = None

    @cached_property
    def folder(self) -> Path:
        """Raises OSError: it cannot be made."""
        name = tempfile.mkdtemp(prefix=SCRATCH_PREFIX)
        self._gone = weakref.finalize(self, shutil.rmtree, name, ignore_errors=True)
        return Path(name)

    @contextmanager
    def kept_on_success(self) -> Iterator[None]:
        """An error in the block removes the folder at once: whoever holds the error would hold the folder."""
        try:
            yield
        except BaseException:
            if self._gone is not None:
                self._gone()
            raise


@contextmanager
def scratch_folder(kept: Scratch | None = None) -> Iterator[Path]:
    """A folder that is gone after the block, or that of `kept`. Raises ToolError: it cannot be written."""
    with scratch_errors():
        if kept is not None:
            yield kept.folder
            return
        with tempfile.TemporaryDirectory(prefix=SCRATCH_PREFIX, ignore_cleanup_errors=True) as name:
            yield Path(name)


def executable_in(scratch: Path, build: Path, name: str, headers: str) -> Path:
    """Where the testbench of the build folder `build` is, or will be, as compiled from its sources of now."""
    whole = hashlib.sha256()
    for path in sorted(path for part in ("src", "tb") for path in (build / part).rglob("*")):
        if path.suffix in SOURCES:
            content = path.read_bytes()
            whole.update(f"{path.relative_to(build).as_posix()} {len(content)}\n".encode() + content)
    return scratch / f"{name}_{headers}_{whole.hexdigest()[:DIGEST_DIGITS]}"


@contextmanager
def scratch_errors() -> Iterator[None]:
    """OSErrors of the block, which works in a temporary folder, as a ToolError."""
    try:
        yield
    except OSError as error:
        raise ToolError(
            f"error: C-simulation cannot use the temporary folder: {error.strerror or error}\n"
            "fix: free some space there, or let TMPDIR name another folder"
        ) from None
