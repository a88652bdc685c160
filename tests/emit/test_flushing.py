"""Emitted pipelines that meet streams can be flushed: an empty input stops nothing that is on its way."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TEMPLATES = Path(__file__).parents[2] / "templates"
PIPELINE = re.compile(r"^#pragma HLS pipeline (.*)$", re.MULTILINE)
MEETS_A_STREAM = re.compile(r"\.(read|write)\(|hls::stream")


def body_from(text: str, at: int) -> str:
    """From a pragma to the end of the block that it stands in."""
    depth = 0
    for index in range(at, len(text)):
        depth += (text[index] == "{") - (text[index] == "}")
        if depth < 0:
            return text[at:index]
    return text[at:]


@pytest.mark.parametrize(
    "path", [path for path in sorted(TEMPLATES.rglob("*")) if path.is_file()], ids=lambda path: path.name
)
def test_every_loop_with_a_stream_is_flushed(path: Path) -> None:
    text = re.sub(r"\{[{%#].*?[}%#]\}", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for found in PIPELINE.finditer(text):
        if MEETS_A_STREAM.search(body_from(text, found.end())):
            line = text.count("\n", 0, found.start()) + 1
            assert "style=flp" in found[1], f"{path.name}, about line {line}"
