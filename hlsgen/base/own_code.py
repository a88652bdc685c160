"""Python files of the user's own, which are run because the user names them: file.py:function."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

from hlsgen.base.errors import DesignError, Place, Problem


@contextmanager
def importable(folder: Path) -> Iterator[None]:
    """A while with `folder` first on sys.path; the modules that come from it are forgotten afterwards, and
    leave no bytecode there."""
    entry = str(folder)
    before, writes_none = set(sys.modules), sys.dont_write_bytecode
    sys.path.insert(0, entry)
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = writes_none
        if entry in sys.path:
            sys.path.remove(entry)
        for name in set(sys.modules) - before:
            if _is_below(sys.modules[name], folder):
                del sys.modules[name]


def imported(path: Path) -> Any:
    """The file as a module of its own name, as if it were imported from its folder."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or not isinstance(spec.loader, SourceFileLoader):
        raise ImportError(f"{path.name} is no Python file: its name does not end with .py")
    spec.loader = _AsWritten(path.stem, str(path))
    module = importlib.util.module_from_spec(spec)
    hidden = sys.modules.get(path.stem)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    finally:
        if hidden is not None:
            sys.modules[path.stem] = hidden
    return module


class _AsWritten(SourceFileLoader):
    """Runs a file as it stands: bytecode that is kept of it counts as fresh if time, in seconds, and size are
    the same, which they are of two versions that a script writes one after the other."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def own_functions(module: Any) -> list[str]:
    """The public functions and classes that a module defines itself, sorted."""
    return sorted(
        name
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
    )


def failure(error: BaseException, what: str, path: Path, fix: str, place: Place | None) -> DesignError:
    """An error of the user's code, at the line of their file that it comes from, else at `place`."""
    if isinstance(error, KeyboardInterrupt | MemoryError):
        raise error
    folder = str(path.resolve().parent)
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(folder)
    ]
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        place = Place(
            file=error.filename, line=error.lineno, column=error.offset or 1, excerpt=error.text or ""
        )
    elif frames and frames[-1].lineno:
        place = Place(
            file=frames[-1].filename, line=frames[-1].lineno, column=1, excerpt=frames[-1].line or ""
        )
    message = f"{what}: {type(error).__name__}: {first_line(error)}"
    return DesignError(Problem(message=message, fix=fix, place=place))


def first_line(error: BaseException) -> str:
    """What an error says at first."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _is_below(module: Any, folder: Path) -> bool:
    """Whether a module is a file in `folder`, and not one of packages that are installed there."""
    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return False
    path = Path(file)
    return path.is_relative_to(folder) and not {"site-packages", "dist-packages"} & set(path.parts)
