"""docs/profile.md: its snippets run, and give what their comments say."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.documents import assert_constants_are_as_stated, blocks, document, files

pytest.importorskip("torch", reason="torch is not installed")

DOC = document("profile.md")
FILES = files(DOC)
SNIPPETS = [block for block in blocks(DOC, "python") if block not in FILES.values()]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What the snippets so far have named, in a folder as the document takes it for granted."""
    place = tmp_path_factory.mktemp("profile")
    for name, text in FILES.items():
        (place / name).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.syspath_prepend(str(place))
        yield {"place": Path(place)}
        sys.modules.pop("net", None)


def test_trace(names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    exec(SNIPPETS[0], names)
    shapes, note, wrong, error = capsys.readouterr().out.splitlines()
    for said in (shapes, note):
        assert f"# {said}" in SNIPPETS[0]
    assert wrong.startswith("conv2 PyTorch")
    assert float(error.split()[0]) < 20


def test_constants() -> None:
    assert_constants_are_as_stated(DOC)
