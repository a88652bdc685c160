"""Bits between the members of local structs.

Where structs are copied whole, LLVM makes one integer of a struct. Its members are then inserted one after
the other, and what lies between them comes from the iteration before: a recurrence that is in no hardware.
A variable may hold anything when its life begins: zeros, so that nothing is carried. (Undefined bits, or a
store member by member, LLVM would forget before it makes use of them.)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from hlsgen.schedule.ir import ArrayType, Module, StructType, Type, bytes_of

_DEFINE = re.compile(r'^define .*?@("[^"]+"|[-\w$.]+)\(')
_SET = "@llvm.memset.p0.i64"
_BEGIN = re.compile(
    r'^  call void @llvm\.lifetime\.start\.p0\((?:i64 -?\d+, )?ptr [^%]*%("[^"]+"|[-\w$.]+)\)'
)
MOST_BYTES = 4096
"""Of a variable that is looked at: larger ones are memories."""


def padding_cleared(text: str, module: Module, kept: Mapping[str, Collection[str]]) -> str:
    """The module's text with local structs cleared where their lives begin, if bits lie between members.

    Those of the function's first block are left out, for they live once. kept: the allocas
    of functions that stay memories.
    """
    padded = _padded(module, kept)
    if not any(padded.values()):
        return text
    lines: list[str] = []
    sizes: Mapping[str, int] = {}
    within = False
    for line in text.splitlines():
        lines.append(line)
        if begun := _DEFINE.match(line):
            sizes, within = padded.get(begun[1].strip('"'), {}), False
        elif line.startswith("  br "):
            within = True
        elif within and (lives := _BEGIN.match(line)) and lives[1].strip('"') in sizes:
            size = sizes[lives[1].strip('"')]
            lines.append(f"  call void {_SET}(ptr %{lives[1]}, i8 0, i64 {size}, i1 false)")
    if not re.search(rf"^declare .*{re.escape(_SET)}\(", text, re.MULTILINE):
        lines.append(f"declare void {_SET}(ptr, i8, i64, i1)")
    return "\n".join([*lines, ""])


def _padded(module: Module, kept: Mapping[str, Collection[str]]) -> dict[str, dict[str, int]]:
    """The variables of each function with bits between their members, and their bytes."""
    return {
        function.name: {
            one.name: bytes_of(one.source)
            for _, one in function.instructions()
            if one.opcode == "alloca"
            and one.source is not None
            and one.name not in kept.get(function.name, ())
            and bytes_of(one.source) <= MOST_BYTES
            and has_padding(one.source)
        }
        for function in module.functions.values()
    }


def has_padding(type_: Type) -> bool:
    """Whether bytes of a variable of that type belong to no member."""
    if isinstance(type_, ArrayType):
        return has_padding(type_.element)
    if not isinstance(type_, StructType):
        return False
    return bytes_of(type_) > sum(map(bytes_of, type_.elements)) or any(map(has_padding, type_.elements))
