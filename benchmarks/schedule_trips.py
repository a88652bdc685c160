"""How often loops run by what their sources say, so that a report of other sources betrays itself.

Read from the text, apart from hlsgen's compiler and schedule: a `for` with constant bounds, whose names are
macros and constants with one value. What is not that plain is not said.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path

MOST_HEAD_LINES = 4
_DEFINED = re.compile(r"^\s*#\s*define\s+([A-Za-z_]\w*)(?![\w(])[ \t]*(.*)$")
_CONSTANT = re.compile(
    r"^\s*(?:static\s+|inline\s+)*(?:const|constexpr)\s+(?:static\s+|const\s+)*"
    r"(?:(?:unsigned|signed|long|short|int|size_t|uint\d+_t|int\d+_t|auto)\s+)+([A-Za-z_]\w*)\s*=\s*([^;,]+);"
)
_PARAMETER = (
    r"(?:int|unsigned|size_t|uint\d+_t|int\d+_t|long|short|bool)\s+[&*]?\s*%s\s*(?=[,)>\[]|=[^;{\n]*[,)>])"
)
_HEAD = re.compile(
    r"\bfor\s*\(\s*(?:[A-Za-z_][\w:<>, ]*?\s+)?(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<first>[^;,]+);"
    r"\s*(?P<left>[A-Za-z_]\w*)\s*(?P<sign><=|>=|!=|<|>)\s*(?P<last>[^;,&|]+);\s*(?P<step>[^;,]+?)\s*$"
)
_SUFFIX = re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b")
_UNROLL = re.compile(r"\s*#\s*pragma\s+HLS\s+unroll\b", re.IGNORECASE)
_COMMENT = re.compile(r"//.*|/\*.*?\*/")
_OPERATORS: dict[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.LShift: lambda value, by: value << by if 0 <= by < 64 else 0,
    ast.RShift: operator.rshift,
    ast.FloorDiv: operator.floordiv,
}


@dataclass(frozen=True)
class WrittenTrips:
    """The iterations of the loops of some files. files: their lines. defines: macros of the command line."""

    files: Mapping[Path, Sequence[str]]
    defines: Mapping[str, str]

    @cached_property
    def constants(self) -> dict[str, str]:
        """The text of each macro or constant that is defined once, or always with one text."""
        found: dict[str, set[str]] = {name: {text} for name, text in self.defines.items()}
        for line in (line for lines in self.files.values() for line in lines):
            plain = _COMMENT.sub("", line)
            defined = _DEFINED.match(plain) or _CONSTANT.match(plain)
            if defined and defined[2].strip():
                found.setdefault(defined[1], set()).add(defined[2].strip())
        return {name: texts.pop() for name, texts in found.items() if len(texts) == 1}

    @cached_property
    def text(self) -> str:
        return "\n".join(line for lines in self.files.values() for line in lines)

    def of_nest(self, lines: Iterable[tuple[Path, int]]) -> int | None:
        """The iterations of loops that are one, by the lines that their heads begin at."""
        each = [self.of_loop(path, line) for path, line in lines]
        known = [trips for trips in each if trips is not None]
        return prod(known) if each and len(known) == len(each) else None

    def of_loop(self, path: Path, line: int) -> int | None:
        """The iterations of the loop at a line; None where the text does not tell them plainly."""
        lines = self.files.get(path, ())
        body = _body(lines, line)
        if _is_unrolled(body) or re.search(r"\b(break|return|goto)\b", body):
            return None
        head = _HEAD.search(_head(lines, line))
        if head is None or head["name"] != head["left"]:
            return None
        if re.search(rf"\b{head['name']}\s*([-+*/]?=[^=]|\+\+|--)|(\+\+|--)\s*{head['name']}\b", body):
            return None
        first, last = self.value(head["first"]), self.value(head["last"])
        step = self._step(head["name"], head["step"])
        if first is None or last is None or not step:
            return None
        return _count(first, last, head["sign"], step)

    def _step(self, name: str, text: str) -> int | None:
        plain = text.replace(" ", "")
        if plain in (f"{name}++", f"++{name}"):
            return 1
        if plain in (f"{name}--", f"--{name}"):
            return -1
        found = re.fullmatch(rf"{name}(?:([-+])=|={name}([-+]))(.+)", plain)
        value = self.value(found[3]) if found else None
        if found is None or value is None:
            return None
        return -value if "-" in (found[1], found[2]) else value

    def value(self, text: str, depth: int = 8) -> int | None:
        """The value of an expression of numbers and names of constants."""
        try:
            tree = ast.parse(_SUFFIX.sub(r"\1", text.strip()).replace("/", "//"), mode="eval")
        except (SyntaxError, ValueError, MemoryError):
            return None
        return self._of(tree.body, depth)

    def _of(self, node: ast.AST, depth: int) -> int | None:
        if isinstance(node, ast.Constant):
            return node.value if type(node.value) is int else None
        if isinstance(node, ast.Name):
            text = self.constants.get(node.id)
            if text is None or depth == 0 or re.search(_PARAMETER % node.id, self.text):
                return None
            return self.value(text, depth - 1)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            operand = self._of(node.operand, depth)
            return None if operand is None else -operand
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            left, right = self._of(node.left, depth), self._of(node.right, depth)
            if left is None or right is None or (isinstance(node.op, ast.FloorDiv | ast.Mod) and right <= 0):
                return None
            return _OPERATORS[type(node.op)](left, right)
        return None


def _count(first: int, last: int, sign: str, step: int) -> int | None:
    distance = last - first
    if sign == "!=":
        return distance // step if distance % step == 0 and distance // step > 0 else None
    if (step > 0) != sign.startswith("<"):
        return None
    whole = abs(step)
    ahead = distance if step > 0 else -distance
    return max(0, (ahead // whole) + 1 if sign.endswith("=") else -(-ahead // whole))


def _is_unrolled(body: str) -> bool:
    """Whether a pragma of the loop itself copies iterations; those within its inner loops are theirs."""
    depth = 0
    for line in body.split("\n"):
        if depth <= 1 and _UNROLL.match(line):
            return True
        depth += line.count("{") - line.count("}")
    return False


def _head(lines: Sequence[str], line: int) -> str:
    """The text of a loop's head, from its word to the bracket that closes it."""
    text = " ".join(_COMMENT.sub("", one) for one in lines[line - 1 : line - 1 + MOST_HEAD_LINES])
    begin = re.search(r"\bfor\s*\(", text)
    if begin is None:
        return ""
    depth = 1
    for at in range(begin.end(), len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return text[begin.start() : at]
    return ""


def _body(lines: Sequence[str], line: int) -> str:
    """The text behind a loop's head, to the end of its block or statement."""
    text = "\n".join(_COMMENT.sub("", one) for one in lines[line - 1 :])
    begin = re.search(r"\bfor\s*\(", text)
    if begin is None:
        return ""
    rounds = curly = 0
    first = 0
    for at in range(begin.end() - 1, len(text)):
        one = text[at]
        rounds += (one == "(") - (one == ")")
        if rounds == 0 and not first:
            first = at + 1
        curly += (one == "{") - (one == "}")
        if first and at > first and rounds == 0 and curly <= 0 and one in ";}":
            return text[first : at + 1]
    return text[first:]
