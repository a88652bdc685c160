"""Values of integer constant expressions, as far as they follow from simple constants."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

Lookup = Callable[[str], int | None]
"""The value of a name, None if it has none that is known."""

MAX_LENGTH = 2000
MAX_DEPTH = 40
_LIMIT = 1 << 64

_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F']+|0[bB][01']+|\d[\d']*)(?P<suffix>[uUlL]*)(?![\w.])"
    r"|(?P<name>[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*)"
    r"|(?P<sign><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!<>?:()]))"
)
_PRECEDENCE = {
    "*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, ">>": 8, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "==": 6, "!=": 6, "&": 5, "^": 4, "|": 3, "&&": 2, "||": 1,
}  # fmt: skip
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "&&": lambda a, b: bool(a and b),
    "||": lambda a, b: bool(a or b),
}
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "*": lambda a, b: a * b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "&": lambda a, b: a & b,
    "^": lambda a, b: a ^ b,
    "|": lambda a, b: a | b,
}
_CASTS = frozenset(("int", "unsigned", "long", "short", "char", "bool", "size_t"))


class _Unknown(Exception):
    """The expression has no value that is known here."""


def evaluate(text: str, lookup: Lookup) -> int | None:
    """The value, or None: not an integer constant expression, or one of names whose values are not known."""
    if len(text) > MAX_LENGTH:
        return None
    tokens: list[tuple[str, str]] = []
    at = 0
    text = text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            return None
        kind = str(match.lastgroup if match.lastgroup != "suffix" else "number")
        tokens.append((kind, match.group(kind)))
        at = match.end()
    parser = _Parser(tokens=tokens, lookup=lookup)
    try:
        value = parser.ternary(0)
    except _Unknown:
        return None
    return value if parser.at == len(tokens) and tokens else None


@dataclass
class _Parser:
    tokens: list[tuple[str, str]]
    lookup: Lookup
    at: int = field(default=0)

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def take(self, wanted: str) -> None:
        if self.peek() != wanted:
            raise _Unknown
        self.at += 1

    def ternary(self, depth: int) -> int:
        condition = self.binary(1, depth + 1)
        if self.peek() != "?":
            return condition
        self.at += 1
        first = self.ternary(depth + 1)
        self.take(":")
        second = self.ternary(depth + 1)
        return first if condition else second

    def binary(self, lowest: int, depth: int) -> int:
        if depth > MAX_DEPTH:
            raise _Unknown
        value = self.unary(depth + 1)
        while _PRECEDENCE.get(self.peek(), 0) >= lowest:
            operator = self.peek()
            self.at += 1
            value = _apply(operator, value, self.binary(_PRECEDENCE[operator] + 1, depth + 1))
        return value

    def unary(self, depth: int) -> int:
        if depth > MAX_DEPTH or self.at >= len(self.tokens):
            raise _Unknown
        kind, token = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return _number(token)
        if kind == "name":
            return self.name(token, depth)
        if token == "(":
            if self._cast():
                return self.unary(depth + 1)
            value = self.ternary(depth + 1)
            self.take(")")
            return value
        if token in ("+", "-", "~", "!"):
            value = self.unary(depth + 1)
            return {"+": value, "-": -value, "~": ~value, "!": int(not value)}[token]
        raise _Unknown

    def _cast(self) -> bool:
        """Whether `(int)` and the like stand here; they are passed."""
        stop = self.at
        while stop < len(self.tokens) and self.tokens[stop][1] in _CASTS:
            stop += 1
        if stop == self.at or stop >= len(self.tokens) or self.tokens[stop][1] != ")":
            return False
        self.at = stop + 1
        return True

    def name(self, token: str, depth: int) -> int:
        if token in ("true", "false"):
            return int(token == "true")
        if self.peek() == "(" and token not in _CASTS:
            raise _Unknown
        if self.peek() == "(":
            return self.unary(depth + 1)
        value = self.lookup(re.sub(r"\s", "", token))
        if value is None:
            raise _Unknown
        return value


def _number(token: str) -> int:
    digits = token.replace("'", "")
    if digits[:2].lower() in ("0x", "0b"):
        value = int(digits, 0) if len(digits) > 2 else None
    elif digits.startswith("0") and digits != "0":
        value = int(digits, 8) if set(digits) <= set("01234567") else None
    else:
        value = int(digits) if len(digits) < 30 else None
    if value is None or value >= _LIMIT:
        raise _Unknown
    return value


def _apply(operator: str, a: int, b: int) -> int:
    if operator in _COMPARE:
        return int(_COMPARE[operator](a, b))
    if operator in ("/", "%"):
        if b == 0:
            raise _Unknown
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if operator == "/" else a - quotient * b
    if operator in ("<<", ">>"):
        if not 0 <= b < 64:
            raise _Unknown
        value = a << b if operator == "<<" else a >> b
    else:
        value = _ARITHMETIC[operator](a, b)
    if abs(value) >= _LIMIT:
        raise _Unknown
    return value
