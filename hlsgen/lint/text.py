"""A source file as bytes: positions, its code without comments, and the pragmas in it.

Only what a compiler's preprocessor knows is read here: comments, literals, directives, continued lines. Every
pass is linear in the file's size, whatever the file holds.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from hlsgen.base.errors import Place

MAX_BYTES = 16 << 20
MAX_EXCERPT = 160
"""A longer line is not shown."""
BRACKET_DEPTH = 256
"""clang's own limit (-fbracket-depth)."""

# What hides code: every alternative runs to its end, or to the end of the file, so that none is tried twice.
_HIDING = re.compile(
    rb"""
    (?P<comment> //(?:\\\r?\n|[^\n])*+ | /\*.*?(?:\*/|\Z) )
  | (?P<raw> (?<![0-9A-Za-z_])(?:u8|u|U|L)?R"([^()\\\s"]{0,16})\(.*?(?:\)\3"|\Z) )
  | (?P<string> "(?:\\\r\n|\\.|[^"\\\n])*+"? )
  | (?P<character> (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*+'? )
  | (?P<directive> ^[ \t]*+\#(?:
        \\\r?\n | /\*.*?(?:\*/|\Z) | //(?:\\\r?\n|[^\n])*+
      | "(?:\\\r\n|\\.|[^"\\\n])*+"? | [^\n\\/"]++ | [\\/] )*+ )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_COMMENT = re.compile(
    rb'"(?:\\\r\n|\\.|[^"\\\n])*+"?|//(?:\\\r?\n|[^\n])*+|/\*.*?(?:\*/|\Z)|\\\r?\n', re.DOTALL
)
_DIRECTIVE = re.compile(rb"[ \t]*#\s*(\w*)")
_PRAGMA = re.compile(rb"[ \t]*#\s*pragma\b")
_OPERATOR = re.compile(rb'\b_Pragma\s*\(\s*"((?:\\.|[^"\\\n])*)"')
_STATIC = re.compile(rb"\bHLSGEN_STATIC\b")
"""What emitted code writes for `static` (templates/hls/hlsgen/static.h): no grammar knows it as that."""
_GUARD = re.compile(
    rb"[ \t]*#\s*(?:(ifdef|ifndef)\s+(?:__SYNTHESIS__|__HLS_SYN__|AESL_SYN)\b"
    rb"|if\s*(!?)\s*defined\s*\(?\s*(?:__SYNTHESIS__|__HLS_SYN__|AESL_SYN)\s*\)?\s*$)"
)
"""What tells code for synthesis from code for C-simulation, where hls4ml's kernels read their weights."""
_BRACKETS = bytes(set(range(256)) - set(b"()[]{}"))


@dataclass(frozen=True, kw_only=True)
class PragmaText:
    """A pragma: its words after `#pragma`, blanks for comments and continuations, from byte `start` on.

    `branches`: the #if directives around it, each with the number of its branch.
    """

    start: int
    text: bytes
    branches: tuple[tuple[int, int], ...]

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file's path as messages name it, and its bytes."""

    path: str
    data: bytes

    @cached_property
    def _lines(self) -> list[int]:
        """Where each line begins."""
        return [0, *(match.end() for match in re.finditer(rb"\n", self.data))]

    def place(self, start: int, end: int) -> Place:
        """The place of the bytes `start` to `end`, as far as they are in one line."""
        line = bisect_right(self._lines, start)
        begin = self._lines[line - 1]
        stop = self._lines[line] - 1 if line < len(self._lines) else len(self.data)
        column = _characters(self.data[begin:start])
        width = max(1, _characters(self.data[start : min(end, stop)]))
        excerpt = ""
        if stop - begin <= MAX_EXCERPT:
            # a tab would move the caret
            excerpt = _text(self.data[begin:stop]).replace("\t", " ").rstrip()
        return Place(
            file=self.path.encode(errors="surrogateescape").decode(errors="replace"),
            line=line,
            column=column + 1,
            excerpt=_printable(excerpt),
            width=min(width, MAX_EXCERPT),
        )

    def text(self, start: int, end: int) -> str:
        return _text(self.data[start:end])

    @cached_property
    def _scanned(self) -> tuple[bytes, bytes, list[tuple[int, bytes]]]:
        """`code` and `grammatical`, and the directives with their places, without what is not synthesised."""
        code, plain = bytearray(self.data), bytearray(self.data)
        directives = []
        for match in _HIDING.finditer(self.data):
            start, end = match.span()
            kind, blank = match.lastgroup, _blank(match.group())
            if kind == "directive":
                directives.append((start, match.group()))
            if kind == "comment" or (kind == "directive" and _PRAGMA.match(match.group())):
                plain[start:end] = blank
            code[start:end] = blank
        for start, end in _unsynthesised(directives):
            code[start:end] = plain[start:end] = _blank(self.data[start:end])
            directives = [one for one in directives if not start <= one[0] < end]
        grammatical = _STATIC.sub(lambda match: b"static".ljust(len(match.group())), bytes(plain))
        return bytes(code), grammatical, directives

    @property
    def code(self) -> bytes:
        """The file without comments, literals and directives; what is left stands where it stood."""
        return self._scanned[0]

    @cached_property
    def grammatical(self) -> bytes:
        """The file without comments and pragmas, as a parser takes it."""
        plain = bytearray(self._scanned[1])
        for pragma in self._operators:
            stop = plain.find(b")", pragma.end) + 1 or len(plain)
            start = plain.rfind(b"_Pragma", 0, pragma.start)
            plain[start:stop] = _blank(bytes(plain[start:stop]))
        # the parser knows continued lines of one kind only
        return bytes(plain).replace(b"\\\r\n", b" \\\n")

    @cached_property
    def too_deep(self) -> int | None:
        """Where brackets first nest deeper than a compiler reads."""
        depth = deepest = 0
        for byte in self.code.translate(None, _BRACKETS):
            depth = depth + 1 if byte in b"([{" else max(0, depth - 1)
            deepest = max(deepest, depth)
        if deepest <= BRACKET_DEPTH:
            return None
        depth = 0
        for match in re.finditer(rb"[()\[\]{}]", self.code):
            depth = depth + 1 if match.group() in b"([{" else max(0, depth - 1)
            if depth > BRACKET_DEPTH:
                return match.start()
        raise AssertionError("the same brackets, counted twice")

    @cached_property
    def pragmas(self) -> list[PragmaText]:
        """All pragmas, of any kind, in the file's order."""
        found = []
        stack: list[tuple[int, int]] = []
        for start, raw in self._scanned[2]:
            match = _DIRECTIVE.match(raw)
            word = match.group(1) if match else b""
            if word.startswith(b"if"):
                stack.append((start, 0))
            elif word.startswith(b"el") and stack:
                stack[-1] = (stack[-1][0], stack[-1][1] + 1)
            elif word == b"endif" and stack:
                stack.pop()
            elif word == b"pragma" and match:
                text = _COMMENT.sub(_without_comment, raw[match.end() :])
                found.append(PragmaText(start=start + match.end(), text=text, branches=tuple(stack[-8:])))
        return sorted(found + self._operators, key=lambda pragma: pragma.start)

    @cached_property
    def _operators(self) -> list[PragmaText]:
        """_Pragma("...") in the code."""
        if b"_Pragma" not in self.code:
            return []
        return [
            PragmaText(start=match.start(1), text=match.group(1), branches=())
            for match in _OPERATOR.finditer(self.data)
            if self.code[match.start() : match.start() + 7] == b"_Pragma"
        ]

    @cached_property
    def pragma_macros(self) -> list[tuple[int, int]]:
        """Where a #define uses _Pragma."""
        found = []
        for start, raw in self._scanned[2]:
            at = raw.find(b"_Pragma")
            if at >= 0:
                found.append((start + at, start + at + 7))
        return found


def unreadable(data: bytes) -> tuple[int, str] | None:
    """Where and why the bytes are no source file, if so."""
    if len(data) > MAX_BYTES:
        return 0, f"the file has {len(data):,} bytes; more than {MAX_BYTES >> 20} MiB are not read"
    nul = data.find(b"\0")
    if nul >= 0:
        return nul, "the file holds a NUL byte: it is no text"
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start, f"the file is not UTF-8: byte 0x{data[error.start]:02x}"
    return None


def _without_comment(match: re.Match[bytes]) -> bytes:
    text = match.group()
    return text if text.startswith(b'"') else b" " * len(text)


def _unsynthesised(directives: Sequence[tuple[int, bytes]]) -> list[tuple[int, int]]:
    """From where to where code is that synthesis takes away."""
    found: list[tuple[int, int]] = []
    taken: list[bool | None] = []
    """By the #if around: whether synthesis takes its branch; None: another macro tells."""
    begin = outermost = 0
    for start, text in directives:
        name = _name_of(text)
        if name not in (b"if", b"ifdef", b"ifndef", b"elif", b"else", b"endif"):
            continue
        if outermost and len(taken) == outermost and name in (b"elif", b"else", b"endif"):
            found.append((begin, start))
            outermost = 0
        if name.startswith(b"if"):
            guard = _GUARD.match(text)
            taken.append(None if guard is None else guard[1] == b"ifdef" or (not guard[1] and not guard[2]))
        elif name == b"endif" or not taken:
            del taken[-1:]
        elif taken[-1] is not None:
            taken[-1] = None if name == b"elif" and not taken[-1] else not taken[-1]
        if taken and taken[-1] is False and not outermost:
            begin, outermost = start + len(text), len(taken)
    return found


def _name_of(directive: bytes) -> bytes:
    match = _DIRECTIVE.match(directive)
    return match[1] if match else b""


def _blank(text: bytes) -> bytes:
    """Blanks and the line breaks."""
    return re.sub(rb"[^\n]+", lambda match: b" " * len(match.group()), text)


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


def _characters(data: bytes) -> int:
    return len(_text(data))


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)
