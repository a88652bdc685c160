"""Which global arrays a module only reads, and which it writes, as far as the attributes tell that LLVM gives
functions for what they do with the pointers that they are given.

On the kernels of digits and vgg_cifar it takes a tenth to a seventh of the time of inlining everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from hlsgen.schedule.ir_text import SYMBOL, cut, module_text

_POINTER = re.compile(rf"[%@]{SYMBOL}")
_RESULT = re.compile(rf"^  (%{SYMBOL}) = (?:tail |musttail |notail )?(\w+)")
_CALL = re.compile(rf"\bcall [^@]*@({SYMBOL})\(")
_STORE = re.compile(r"^  store (?:volatile )?.*, ptr (.+?)(?:, align \d+)?(?:, !.*)?$")
_HEADER = re.compile(rf"^(?:define|declare) [^@\n]*@({SYMBOL})\(")
_READS = ("readonly", "readnone")
_KEEPS_NONE = ("captures(none)", "nocapture")
_RETURNS = "captures(ret: "


@dataclass(frozen=True)
class Uses:
    """What a module does with some of its global variables; of those that are in neither set more is to be
    looked at."""

    read: frozenset[str]
    written: frozenset[str]


def uses_of(text: str, names: frozenset[str]) -> Uses:
    """The uses of the global variables of these names, in a module after `post_order_function_attributes`."""
    whole = module_text(text)
    declared = [line for line in whole.symbols.values() if line.startswith("declare ")]
    headers = [body.split("\n", 1)[0] for body in whole.functions.values()]
    parameters = dict(filter(None, map(_parameters, (*declared, *headers))))
    written: set[str] = set()
    unknown: set[str] = set()
    for symbol, line in whole.symbols.items():
        # an address in another variable
        unknown |= {name for name in _names_in(line, names) if f"@{name}" != symbol}
    for body in whole.functions.values():
        if any(f"@{name}" in body for name in names):
            found = _Body(names=names, parameters=parameters)
            known = -1
            while known < len(found.addresses):  # a block may stand before the one that makes its address
                known = len(found.addresses)
                for line in body.split("\n")[1:]:
                    found.look_at(line)
            written |= found.written
            unknown |= found.unknown
    return Uses(read=names - written - unknown, written=frozenset(written))


@dataclass
class _Body:
    names: frozenset[str]
    parameters: Mapping[str, tuple[str, ...]]
    addresses: dict[str, str] = field(default_factory=dict)
    """The variables that local names lead to."""
    written: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)

    def look_at(self, line: str) -> None:
        """Addresses that it makes are known from then on."""
        used = set(self._within(line))
        if not used:
            return
        result = _RESULT.match(line)
        if result and result[2] == "getelementptr" and len(used) == 1:
            self.addresses[result[1]] = next(iter(used))
        elif result and result[2] == "load":
            pass
        elif stored := _STORE.match(line):
            to = set(self._within(stored[1]))
            self.written |= to
            self.unknown |= set(self._within(line[: stored.start(1)]))
        elif called := _CALL.search(line):
            self._called(called[1], line[called.end() : line.rindex(")")], result[1] if result else "")
        else:
            self.unknown |= used

    def _called(self, name: str, arguments: str, result: str) -> None:
        """A function that keeps no address writes there, unless LLVM finds that it reads alone."""
        known = self.parameters.get(name, ())
        for at, argument in enumerate(cut(arguments)):
            used = set(self._within(argument))
            attributes = known[at] if at < len(known) else ""
            reads, returns = _has(attributes, _READS), _RETURNS in attributes and result and len(used) == 1
            if not used or not (returns or _has(attributes, _KEEPS_NONE)):
                self.unknown |= used
                continue
            if returns:
                self.addresses[result] = next(iter(used))
            self.written |= set() if reads else used

    def _within(self, text: str) -> Iterator[str]:
        for found in _POINTER.findall(text):
            if found[0] == "%" and found in self.addresses:
                yield self.addresses[found]
            elif found[0] == "@" and found[1:] in self.names:
                yield found[1:]


def _has(attributes: str, words: tuple[str, ...]) -> bool:
    return any(word in attributes for word in words)


def _names_in(line: str, names: frozenset[str]) -> Iterator[str]:
    return (found[1:] for found in _POINTER.findall(line) if found[0] == "@" and found[1:] in names)


def _parameters(header: str) -> tuple[str, tuple[str, ...]] | None:
    found = _HEADER.match(header)
    if found is None:
        return None
    depth, end = 1, found.end()
    while depth and end < len(header):
        depth += (header[end] == "(") - (header[end] == ")")
        end += 1
    return found[1], tuple(cut(header[found.end() : end - 1]))
