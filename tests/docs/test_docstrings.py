"""Docstrings say what the thing is before what it is of: "The types of the inputs", not "Of the inputs"."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import hlsgen

PACKAGE = Path(hlsgen.__file__).parent
ROOMS = ("frontends", "loading", "passes", "quantising")
WITHOUT_SUBJECT = re.compile(
    r"(Of|By|In|As|From|To|At|With|For|On|Beside|Before|After|Where|That|Also|Only|Not|Its?|Raises)\b|None:"
)


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """The line and the text of each: of modules, classes and functions, and those below a constant."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "lineno", 1), text
        body = getattr(node, "body", [])
        for constant, below in pairwise(body) if isinstance(body, list) else ():
            if isinstance(constant, ast.Assign | ast.AnnAssign) and isinstance(below, ast.Expr):
                text = ast.literal_eval(below.value) if isinstance(below.value, ast.Constant) else None
                if isinstance(text, str):
                    yield below.lineno, text


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_begin_with_their_subject(room: str) -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line}: {text.splitlines()[0]}"
        for path in sorted((PACKAGE / room).rglob("*.py"))
        for line, text in docstrings(path.read_text(encoding="utf-8"))
        if WITHOUT_SUBJECT.match(text)
    ]
    assert not wrong, "\n".join(wrong)


def test_a_docstring_without_a_subject_is_seen_wherever_it_stands() -> None:
    source = '''"""By name."""
MOST = 3
"""Of a frame."""
class A:
    """Offers one."""
    def f(self):
        """As is."""
'''
    found = [(line, text) for line, text in docstrings(source) if WITHOUT_SUBJECT.match(text)]
    assert sorted(found) == [(1, "By name."), (3, "Of a frame."), (6, "As is.")]
