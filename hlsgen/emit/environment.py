"""The Jinja2 environment that every emitted file goes through, and the one of HTML."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import jinja2

from hlsgen.base.data_files import data_folder
from hlsgen.emit.cpp_format import formatted

_CPP_COMMENT_UNSAFE = re.compile(r"[^\w ./:,()<>=+\-\[\]]")


@cache
def environment(*, html: bool = False) -> jinja2.Environment:
    """Undefined names are errors; block tags leave no blank lines.

    html: everything that a template names is escaped. Elsewhere nothing is: what comes from outside is
    validated by the schema or goes through safe_comment.
    """
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(data_folder("templates")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=html,
    )
    made.filters["counted"] = counted
    return made


def render(template: str, **context: Any) -> str:
    """The text of `template` (a path below templates/)."""
    text = environment().get_template(template).render(**context)
    return formatted(text) if template.endswith((".h.j2", ".cpp.j2")) else text


def source_text(template: str) -> str:
    """The text of a file that is emitted as it stands."""
    loader = environment().loader
    assert loader is not None
    return loader.get_source(environment(), template)[0]


def counted(number: int, noun: str) -> str:
    """1 pixel, 2 pixels."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def safe_comment(text: str) -> str:
    """Text from outside as it may stand in a // comment, a Makefile's or a Tcl script's: no line breaks, no
    escapes.
    """
    return _CPP_COMMENT_UNSAFE.sub("_", text)
