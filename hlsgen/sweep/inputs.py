"""What the result of a job depends on: the bytes of files, by name, and hlsgen's own.

A result is kept under a hash of these, and a worker on another machine compares its files with them.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hlsgen.base.data_files import data_folder
from hlsgen.base.errors import DesignError, HlsgenError, Problem
from hlsgen.designfile.document import Document

Digest = Callable[[Path], str]
_FUNCTION = re.compile(r"(.+\.py):\w+")


@dataclass(frozen=True, kw_only=True)
class InputFile:
    """A file that a job reads. name: as seen from the design's folder. path: absolute. sha256: in hex."""

    name: str
    path: str
    sha256: str


def input_files(design: Path, *, others: tuple[Path, ...] = (), digest: Digest) -> tuple[InputFile, ...]:
    """The design file, every file that it names, what these name in turn, and `others`, by name.

    A design that cannot be read has none but itself at most: its job says what is wrong with it.
    Raises DesignError: a file is there, but its bytes cannot be read.
    """
    folder = Path(os.path.abspath(design)).parent
    named = {Path(os.path.abspath(design))} if os.path.isfile(design) else set()
    with suppress(DesignError):
        for value in _texts(Document.read(design).data):
            named |= set(_files_at(folder, value))
    names = {path: os.path.relpath(path, folder) for path in sorted(named)}
    for path in others:
        if os.path.isfile(path):
            names[Path(os.path.abspath(path))] = path.name
    return tuple(InputFile(name=name, path=str(path), sha256=digest(path)) for path, name in names.items())


def torch_files(design: Path) -> list[str]:
    """The Python files of the user's that the design has run, as it names them."""
    with suppress(DesignError):
        model = Document.read(design).data.get("model")
        named = _FUNCTION.fullmatch(str(model.get("torch"))) if isinstance(model, dict) else None
        return [named[1]] if named else []
    return []


def _texts(value: Any) -> Iterator[str]:
    """Every text in a document: whichever key it stands at, it may name a file."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _files_at(folder: Path, text: str) -> Iterator[Path]:
    """What a text names, seen from `folder`: a file with its neighbours, or the folder of a SavedModel."""
    named = _FUNCTION.fullmatch(text)
    path = Path(os.path.abspath(folder / (named[1] if named else text)))
    if os.path.isfile(path / "saved_model.pb"):
        yield from (one for one in path.rglob("*") if one.is_file())
    if not os.path.isfile(path):
        return
    yield path
    if path.suffix == ".py":  # it may import what lies beside it
        yield from (one for one in path.parent.glob("*.py") if one.is_file())
    if path.suffix == ".onnx":
        from hlsgen.frontends.onnx.model import external_files

        with suppress(HlsgenError):
            for name in external_files(path):
                if os.path.isfile(path.parent / name):
                    yield Path(os.path.abspath(path.parent / name))


def file_digest(path: Path) -> str:
    """SHA-256 of the file's bytes, in hex. Raises DesignError: it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}"
        raise DesignError(Problem(message=message, fix="check the file and its permissions")) from None


@cache
def code_digest() -> str:
    """SHA-256 of hlsgen's own files: its code, its templates and its boards."""
    roots = {"code": Path(__file__).resolve().parents[1], "boards": data_folder("boards")}
    roots["templates"] = data_folder("templates")
    whole = hashlib.sha256()
    for kind, root in sorted(roots.items()):
        for path in sorted(root.rglob("*")):
            code = kind != "code" or path.suffix == ".py"
            if code and path.is_file() and "__pycache__" not in path.parts:
                name = path.relative_to(root).as_posix()
                whole.update(f"{kind} {name} {file_digest(path)}\n".encode())
    return whole.hexdigest()


def check_inputs(files: tuple[InputFile, ...]) -> None:
    """Checks what a job reads. Raises DesignError with every file that is not here, or has other bytes."""
    host = socket.gethostname()
    problems = []
    for one in files:
        if not os.path.isfile(one.path):
            message = f"{one.path} is missing on {host}, where the job ran"
            fix = "keep designs in a folder that every machine has at the same path"
            problems.append(Problem(message=message, fix=fix))
        elif file_digest(Path(one.path)) != one.sha256:
            message = f"{one.path} on {host}, where the job ran, is not what it was where the sweep began"
            fix = "bring that machine's copy up to date; or, if the file was changed meanwhile, sweep again"
            problems.append(Problem(message=message, fix=fix))
    if problems:
        raise DesignError(problems)
