"""The files of many kernels beside the tests, compiled once for all of them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hlsgen.schedule import kernels
from hlsgen.schedule.front_end import FrontEnd, compile_to_ir

HERE = Path(__file__).parent


@functools.cache
def compiled_alone(path: Path, macros: tuple[tuple[str, str], ...]) -> FrontEnd:
    return compile_to_ir([path], predefined=dict(macros))


def compiled(files: Sequence[Path], *, predefined: Mapping[str, str], **options: Any) -> FrontEnd:
    if [path.parent for path in files] == [HERE] and not any(options.values()):
        return compiled_alone(files[0], tuple(predefined.items()))
    return compile_to_ir(files, predefined=predefined, **options)


@pytest.fixture(autouse=True)
def compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file here has dozens of kernels, each of which is scheduled by a test of its own."""
    monkeypatch.setattr(kernels, "compile_to_ir", compiled)
