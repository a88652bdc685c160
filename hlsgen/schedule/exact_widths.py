"""The text of a module as Clang writes it -> the same without what hides widths or only costs time."""

from __future__ import annotations

import re
from itertools import count

# sizes as on x86-64, but without the widths of its registers, to which an optimiser would widen integers
TARGET = """target datalayout = "e-m:e-i64:64-i128:128-S128"
target triple = "x86_64-unknown-linux-musl\""""
_TARGET = re.compile(r'^target datalayout = "[^\n]*\ntarget triple = "[^\n]*', re.MULTILINE)
_MACHINE = re.compile(
    r' "(?:target-features|target-cpu|tune-cpu|stack-protector-buffer-size|min-legal-vector-width)"="[^"]*"'
)
_ACCESS = re.compile(
    r"^  (?:store i(?P<stored>\d+) (?P<value>[^,\n]+), (?P<to>ptr [^,\n]+)"
    r"|(?P<result>%[^ \n]+) = load i(?P<loaded>\d+), (?P<from>ptr [^,\n]+))(?P<rest>[^\n]*)$",
    re.MULTILINE,
)


def with_exact_widths(module: str) -> str:
    """For no machine in particular, and with each number kept in memory in one way."""
    return _MACHINE.sub("", in_memory_form(_TARGET.sub(TARGET, module, count=1)))


def in_memory_form(module: str) -> str:
    """Numbers as they come into and leave functions are kept as all others are: in whole bytes.

    Else a variable would be written as i7 and read as i8, which no pass takes apart.
    """
    numbers = count()

    def access(found: re.Match[str]) -> str:
        width = int(found["stored"] or found["loaded"])
        wide = memory_width(width)
        if wide == width:
            return found[0]
        name = f"%inmemory{next(numbers)}"
        if found["stored"]:
            return (
                f"  {name} = zext i{width} {found['value']} to i{wide}\n"
                f"  store i{wide} {name}, {found['to']}{found['rest']}"
            )
        return (
            f"  {name} = load i{wide}, {found['from']}{found['rest']}\n"
            f"  {found['result']} = trunc i{wide} {name} to i{width}"
        )

    return _ACCESS.sub(access, module)


def memory_width(width: int) -> int:
    """The bits that Clang keeps a number of `width` bits in."""
    if width > 64:
        return -(-width // 64) * 64
    return next(bits for bits in (8, 16, 32, 64) if bits >= width)
