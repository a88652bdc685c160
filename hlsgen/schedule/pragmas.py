"""Pragmas of HLS C++, as data: names, words, options with integer values, variables.

Every spelling that a front end of the vendor has known is read: old forms, any case, values with blanks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from hlsgen.lint.options import FORMS, Kind

_OLD_INTEGERS = frozenset(
    ("ii", "latency", "factor", "dim", "depth", "min", "max", "avg", "distance", "limit", "cycle")
)
"""Options with integer values of pragmas, and of old ones, that `FORMS` does not describe."""
_NAMES = frozenset(("variable", "port", "ports", "variables"))
"""Options whose values are variables."""
_WORDS_OF_VALUES = frozenset(("slave", "direct", "off", "auto", "true", "false", "default"))
NOT_OBEYED = frozenset(
    ("alias", "array_stencil", "cache", "latency", "loop_merge", "occurrence", "performance", "protocol")
)
"""Pragmas by which the tool schedules otherwise, and of which nothing is known here."""
_OPTION = re.compile(r"([A-Za-z_]\w*)[ \t]*=(?!=)[ \t]*")
_WORD = re.compile(r"[^\s=]+")
_OPERAND = re.compile(r"[ \t]*[-+~!*&]*[ \t]*(?:\"[^\"]*\"|'[^']*'|[\w.$]+|(?=[(\[{]))")
_JOIN = re.compile(r"[ \t]*(?:::|->|\.(?!\w*=))[ \t]*")
_BINARY = re.compile(
    r"[ \t]*(?:<<|>>|[-+*/%|^?:]|&&?|[<>]=?|,(?![ \t]*\w+[ \t]*=(?!=)))[ \t]*(?=[\w(\"'*&:])"
)
_TEMPLATE = re.compile(r"<[\w\s,:*&()+\-/]*>(?=\s*(?:::|\())")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, kw_only=True)
class Pragma:
    """A pragma of a translation unit.

    index: its number, which its marks in the IR carry. name: lower case. words: those without a value, lower
    case (complete, off, inter). options: the names, lower case, whose integer values its marks carry, in
    their order. texts: the other options. variable: the expressions that it names, as written; "" if none.
    file, line: where it stands in the source, line from 1. text: as written. origin: file:line of the
    directive that it is; "" of a pragma in the source.
    """

    index: int
    name: str
    words: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    texts: dict[str, str] = field(default_factory=dict, hash=False)
    variable: str = ""
    file: str = ""
    line: int = 0
    text: str = ""
    origin: str = ""

    def __str__(self) -> str:
        where = self.origin or f"{self.file}:{self.line}"
        return f"{where}: {'directive' if self.origin else '#pragma HLS'} {self.name}"


@dataclass(frozen=True, kw_only=True)
class ParsedPragma:
    """What a pragma's text says. values: the expressions of `options`, as C++."""

    name: str
    words: tuple[str, ...]
    options: tuple[str, ...]
    values: tuple[str, ...]
    texts: dict[str, str]
    variables: tuple[str, ...]


def parse_pragma(text: str, expand: Callable[[str], str] = str) -> ParsedPragma:
    """`text`: what follows `#pragma HLS`. expand: replaces macros in a value."""
    name, _, rest = text.strip().partition(" ")
    name = name.lower()
    words: list[str] = []
    values: dict[str, str] = {}
    texts: dict[str, str] = {}
    variables: list[str] = []
    for key, value in _parts(rest):
        if not key:
            words.append(value.lower().rstrip(","))
            continue
        value = expand(value).strip()
        if key in _NAMES and value.lower() != "return":
            variables += [one.strip() for one in split_list(value) if one.strip()]
        elif _is_integer(name, key, value):
            values[key] = value
        else:
            texts[key] = value
    return ParsedPragma(
        name=name,
        words=tuple(words),
        options=tuple(values),
        values=tuple(values.values()),
        texts=texts,
        variables=tuple(variables),
    )


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Options with their values, and ("", word) for words alone."""
    at = 0
    while True:
        while at < len(text) and text[at] in " \t,;":
            at += 1
        if at >= len(text):
            return
        option = _OPTION.match(text, at)
        if option:
            end = _end_of_value(text, option.end())
            yield option[1].lower(), text[option.end() : end]
            at = end
            continue
        word = _WORD.match(text, at)
        if word is None:  # a stray "="
            at += 1
            continue
        yield "", word[0]
        at = word.end()


def _end_of_value(text: str, at: int) -> int:
    """Where the expression that begins at `at` ends."""
    while True:
        operand = _OPERAND.match(text, at)
        if operand is None:
            return at
        at = operand.end()
        while True:
            template = _TEMPLATE.match(text, at)
            if template:
                at = template.end()
            elif at < len(text) and text[at] in _CLOSING:
                at = closed(text, at)
            else:
                break
        join = _JOIN.match(text, at) or _BINARY.match(text, at)
        if join is None:
            return at
        at = join.end()


def closed(text: str, at: int) -> int:
    """Behind the bracket that closes the one at `at`; the end if none does."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth == 0:
            return place + 1
    return len(text)


def split_list(value: str) -> Iterator[str]:
    """The parts of a list, by commas outside of brackets."""
    depth = start = 0
    for place, character in enumerate(value):
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and depth <= 0:
            yield value[start:place]
            start = place + 1
    yield value[start:]


def _is_integer(name: str, key: str, value: str) -> bool:
    if value.lower() in _WORDS_OF_VALUES or not value:
        return False
    form = FORMS.get(name)
    option = form.option(key) if form else None
    if option is not None and option.kind is not Kind.PRESENT:
        # `offset` is a word with m_axi and a number with s_axilite
        return option.kind is Kind.INTEGER or (key == "offset" and value[:1].isdigit())
    return key in _OLD_INTEGERS
