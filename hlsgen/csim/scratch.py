"""The temporary folder of a C-simulation, and what is said if it cannot be used."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hlsgen.errors import ToolError

SCRATCH_PREFIX = "hlsgen-csim-"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder that is gone after the block. Raises ToolError: it cannot be written."""
    with (
        scratch_errors(),
        tempfile.TemporaryDirectory(prefix=SCRATCH_PREFIX, ignore_cleanup_errors=True) as name,
    ):
        yield Path(name)


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
