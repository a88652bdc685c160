"""The rule on how wide the words of streams are, where that can be computed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hlsgen.lint.checking import Findings
from hlsgen.lint.program import Names
from hlsgen.lint.structure import Block, Module, Variable

WIDEST_STREAM = 4096
"""Bits of a stream's word beyond which synthesis fails."""
MAX_STEPS = 6
"""Structures within structures that are looked into."""
_PLAIN = {
    **dict.fromkeys(("bool", "char", "signed char", "unsigned char", "int8_t", "uint8_t"), 8),
    **dict.fromkeys(("short", "unsigned short", "int16_t", "uint16_t", "half"), 16),
    **dict.fromkeys(("int", "unsigned", "unsigned int", "float", "int32_t", "uint32_t"), 32),
    **dict.fromkeys(("double", "long long", "unsigned long long", "int64_t", "uint64_t"), 64),
}
_NUMBER = re.compile(r"ap_u?(?:int|fixed)")
_TEMPLATE = re.compile(r"(?P<name>[\w:]+)\s*<(?P<arguments>.*)>", re.DOTALL)
_ARRAYS = frozenset(("vector", "array"))


def check_streams(module: Module, names: Names, findings: Findings) -> None:
    """No stream's word is wider than synthesis takes; each type is named once in a file."""
    said: set[str] = set()
    for variable, block in _streams(module):
        scope = block.function.scope if block is not None else ()
        match = _TEMPLATE.fullmatch(variable.type.replace("const ", "").strip(" &*"))
        if match is None:
            continue
        word = _arguments(match["arguments"])[0]
        bits = _Widths(names, scope, block).of(word, 0)
        if bits is None or bits <= WIDEST_STREAM or word in said:
            continue
        said.add(word)
        message = f"`{variable.name}` carries words of {bits:,} bits: the most is {WIDEST_STREAM:,}"
        fix = "carry fewer elements a word, or several streams side by side"
        findings.say(
            "stream-width", message, fix, variable.start, variable.start + len(variable.name.encode())
        )


def _streams(module: Module) -> Iterator[tuple[Variable, Block | None]]:
    """Every stream that the file declares, parameters included, in the file's order."""
    found: list[tuple[Variable, Block | None]] = [(one, None) for one in module.variables.values()]
    for function in module.functions:
        found += [(one, function.body) for one in function.parameters]
    for block in module.blocks:
        found += [(one, block) for several in block.variables.values() for one in several]
    return iter(sorted((one for one in found if one[0].is_stream), key=lambda one: one[0].start))


def _arguments(text: str) -> list[str]:
    """Template arguments, at the commas that stand in no brackets."""
    found, depth = [""], 0
    for character in text:
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return [one.strip() for one in found]


class _Widths:
    """The bits of types as one place of a file sees them."""

    def __init__(self, names: Names, scope: tuple[str, ...], block: Block | None) -> None:
        self.names, self.scope, self.block = names, scope, block

    def of(self, type_: str, steps: int) -> int | None:
        """None: what the type is, or how large, is not known."""
        type_ = self.names.type(type_.strip(), self.scope).strip()
        match = _TEMPLATE.fullmatch(type_)
        if match is None:
            return _PLAIN.get(type_.removeprefix("std::")) or self._of_members(type_, [], steps)
        name, arguments = match["name"].rpartition("::")[2], _arguments(match["arguments"])
        if _NUMBER.fullmatch(name):
            return self._value(arguments[0])
        if name in _ARRAYS and len(arguments) == 2:
            return self._times(self.of(arguments[0], steps + 1), arguments[1])
        return self._of_members(name, arguments, steps)

    def _value(self, text: str) -> int | None:
        return self.names.value(text, self.scope, self.block)

    def _times(self, bits: int | None, count: str) -> int | None:
        number = self._value(count)
        return None if bits is None or number is None else bits * number

    def _of_members(self, name: str, arguments: list[str], steps: int) -> int | None:
        """A structure's members together; of a template one array of its first argument is understood."""
        members = next((one.members[name] for one in self.names.modules if name in one.members), None)
        if members is None or steps >= MAX_STEPS:
            return None
        held = [one for one in members.values() if not one.static]
        if arguments:
            lone = len(held) == 1 and len(arguments) == 2 and len(held[0].dims) == 1
            return self._times(self.of(arguments[0], steps + 1), arguments[1]) if lone else None
        total = 0
        for one in held:
            bits = self.of(one.type, steps + 1)
            for size in one.dims:
                bits = self._times(bits, size)
            if bits is None or one.pointer or one.reference:
                return None
            total += bits
        return total
