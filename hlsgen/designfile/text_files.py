"""Text files of others: reports of tools, and of builds that anybody may have damaged."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from hlsgen.base.errors import DesignError, Place, Problem
from hlsgen.designfile.validation import printable

MAX_BYTES = 64 << 20


def read_text(path: Path) -> str:
    """The text of a report. Raises DesignError: it cannot be read, is too large, empty, or no UTF-8."""
    try:
        if not path.is_file():
            refuse(path, "is no file", "name a report, or the folder that it is in")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        refuse(path, f"cannot be read: {(error.strerror or 'unknown reason').lower()}", "check permissions")
    except ValueError:
        refuse(path, "is no path: it contains a NUL character", "name a report on disk")
    if len(content) > MAX_BYTES:
        refuse(path, f"is larger than {MAX_BYTES >> 20} MB", "name the report of one kernel")
    if not content.strip():
        refuse(path, "is empty", "let the vendor tool write it again; a killed run leaves such files")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        refuse(path, f"is no text: byte {error.start} is 0x{content[error.start]:02x}", "copy it as it was")


def refuse(path: Path, message: str, fix: str, line: int | None = None, column: int = 1) -> NoReturn:
    """Raises DesignError about a report."""
    name = printable(str(path))
    place = None if line is None else Place(file=name, line=line, column=column)
    raise DesignError(Problem(message=f"{name} {message}", fix=fix, place=place)) from None
