"""The words of a `#pragma HLS` line: its name, then words and key=value, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from hlsgen.lint.text import PragmaText

_TOKEN = re.compile(
    rb'[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*|0[xX][0-9a-fA-F]+\w*|\d[\w.]*|"[^"]*"?|<<|>>|[<>=!]=|&&|\|\||->|\S'
)
_OPERATORS = frozenset(
    (b"+", b"-", b"*", b"/", b"%", b"<<", b">>", b"&", b"|", b"^", b"&&", b"||", b"?", b":", b".", b"->")
    + (b"==", b"!=", b"<=", b">=", b"<", b">", b",")
)
_UNARY = frozenset((b"+", b"-", b"~", b"!", b"&", b"*"))
_CLOSING = {b"(": b")", b"[": b"]"}


@dataclass(frozen=True, kw_only=True)
class Word:
    """A key and its value, or a word alone (value None), with their places in the file as bytes."""

    key: str
    start: int
    end: int
    value: str | None = None
    value_start: int = 0
    value_end: int = 0


@dataclass(frozen=True, kw_only=True)
class Pragma:
    """A `#pragma HLS`: `name` in lower case (empty if there is none), and what follows."""

    source: PragmaText
    name: str
    start: int
    end: int
    words: tuple[Word, ...]
    stray: tuple[int, int] | None = None

    def value(self, key: str) -> Word | None:
        """The last word with the key."""
        return next((word for word in reversed(self.words) if word.key.lower() == key), None)

    def says(self, *alone: str) -> str | None:
        """The first of the words that stands alone in the pragma."""
        present = {word.key.lower() for word in self.words if word.value is None}
        return next((word for word in alone if word in present), None)


def read_pragma(source: PragmaText) -> Pragma:
    """The words after `HLS`. What is neither word nor key=value ends the reading: `stray` is its place."""
    tokens = [
        (m.group(), source.start + m.start(), source.start + m.end()) for m in _TOKEN.finditer(source.text)
    ]
    tokens = tokens[1:]
    if not tokens or not _is_word(tokens[0][0]):
        stray = (tokens[0][1], tokens[0][2]) if tokens else None
        return Pragma(source=source, name="", start=source.start, end=source.end, words=(), stray=stray)
    name, start, end = tokens[0]
    words: list[Word] = []
    at = 1
    stray = None
    while at < len(tokens):
        key, key_start, key_end = tokens[at]
        if not _is_word(key):
            stray = (key_start, key_end)
            break
        at += 1
        if at < len(tokens) and tokens[at][0] == b"=":
            # template arguments may follow a function's name, as only there
            of_function = key.lower() == b"instances"
            stop = _before_next_key(tokens, at + 1) if of_function else _end_of_value(tokens, at + 1)
            value_start = tokens[at + 1][1] if stop > at + 1 else tokens[at][2]
            value_end = tokens[stop - 1][2]
            text = source.text[value_start - source.start : value_end - source.start]
            words.append(_word(key, key_start, key_end, text, value_start, value_end))
            at = stop
        else:
            words.append(_word(key, key_start, key_end))
    return Pragma(
        source=source, name=name.decode().lower(), start=start, end=end, words=tuple(words), stray=stray
    )


def _word(
    key: bytes, start: int, end: int, text: bytes | None = None, value_start: int = 0, value_end: int = 0
) -> Word:
    value = None if text is None else text.decode(errors="replace").strip()
    return Word(
        key=key.decode(), start=start, end=end, value=value, value_start=value_start, value_end=value_end
    )


def _is_word(token: bytes) -> bool:
    return re.fullmatch(rb"[A-Za-z_]\w*", token) is not None


def _end_of_value(tokens: list[tuple[bytes, int, int]], at: int) -> int:
    """The token behind the expression that begins at `at`: operands and operators in turn."""
    operand = True
    while at < len(tokens):
        token = tokens[at][0]
        if operand:
            if token in _CLOSING:
                at = _behind_bracket(tokens, at)
                operand = False
            elif token in _UNARY:
                at += 1
            elif token in _OPERATORS or token in (b")", b"]", b"="):
                return at
            else:
                at += 1
                operand = False
        elif token in (b"(", b"["):
            at = _behind_bracket(tokens, at)
        elif token in _OPERATORS:
            at += 1
            operand = True
        else:
            return at
    return at


def _before_next_key(tokens: list[tuple[bytes, int, int]], at: int) -> int:
    while at < len(tokens) and not (at + 1 < len(tokens) and tokens[at + 1][0] == b"="):
        at += 1
    return at


def _behind_bracket(tokens: list[tuple[bytes, int, int]], at: int) -> int:
    depth = 0
    while at < len(tokens):
        depth += (tokens[at][0] in (b"(", b"[")) - (tokens[at][0] in (b")", b"]"))
        at += 1
        if depth == 0:
            break
    return at


def names_of(word: Word) -> Iterator[tuple[str, int, int]]:
    """The variables of a list such as `a, b`, with their places; without &, *, subscripts and members."""
    if word.value is None:
        return
    text = word.value.encode()
    cuts = [-1, *_commas(text), len(text)]
    for before, after in pairwise(cuts):
        part = text[before + 1 : after]
        match = re.match(rb"[\s&*(]*([A-Za-z_][\w:]*)", part)
        if match:
            start = word.value_start + before + 1 + match.start(1)
            yield match.group(1).decode(), start, start + len(match.group(1))


def _commas(text: bytes) -> list[int]:
    """The commas outside of brackets."""
    found, depth = [], 0
    for at, byte in enumerate(text):
        depth += (byte in b"([") - (byte in b")]")
        if byte == ord(",") and depth == 0:
            found.append(at)
    return found
