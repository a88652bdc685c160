"""Static variables as variables of the one function that uses them.

LLVM leaves what may be seen from outside in memory. A kernel's statics are registers and memories of its
own; as allocas they become values that loops carry, which is what the vendor's compiler makes of them too.
What they hold at first comes from outside, so that nothing is derived from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from hlsgen.schedule.ir import Global, Operand

_GLOBAL = re.compile(
    r"^@(?P<name>\"[^\"]+\"|[-\w$.]+) = (?P<how>[a-z_ ]*?)\bglobal (?P<rest>.+)$", re.MULTILINE
)
_NAME = re.compile(r"@(\"[^\"]+\"|[-\w$.]+)")
_ELEMENT = re.compile(
    r"getelementptr (?P<flags>(?:inbounds |nuw |nusw )*)\((?P<inner>(?:\"[^\"]*\"|[^()\"])*)\)"
)
"""Of a name in quotes parentheses are a part: `%"struct.(anonymous namespace)::Engine"`."""
STATE = "__hls_state"
_STATIC = ".static"
_COPY = "@llvm.memcpy.p0.p0.i64"


def localised(text: str) -> str:
    """The module with each global variable that varies and that one function alone uses made an alloca
    of it, and a constant where the function only reads what it holds at first."""
    initial = {
        found["name"]: found["rest"]
        for found in _GLOBAL.finditer(text)
        if "external" not in found["how"].split()
    }
    types = {name: _leading_type(rest) for name, rest in initial.items()}
    if not types:
        return text
    parts = re.split(r"(^define .*?^\}$)", text, flags=re.MULTILINE | re.DOTALL)
    owner: dict[str, int] = {}
    for at, part in enumerate(parts):
        for name in set(_NAME.findall(part)) & types.keys() if at % 2 else ():
            owner[name] = -1 if name in owner else at
    added: list[str] = []
    tables = {name for name, at in owner.items() if at >= 0 and _is_table(name, initial[name], parts[at])}
    parts[::2] = [_as_constants(part, tables) for part in parts[::2]]
    for at in range(1, len(parts), 2):
        mine = sorted(name for name, function in owner.items() if function == at and name not in tables)
        if mine:
            parts[at] = _with_allocas(parts[at], mine, types)
            added += [f"@{_state(name)} = external global {types[name]}" for name in mine]
    if added and not re.search(rf"^declare .*{re.escape(_COPY)}\(", text, re.MULTILINE):
        added.append(f"declare void {_COPY}(ptr, ptr, i64, i1)")
    return "".join(parts) + "\n".join([*added, ""])


_RESULT = re.compile(r"^  (%[-\w$.\"]+) = (getelementptr|load|phi|select|icmp)\b")
_POINTER = re.compile(r"[@%](?:\"[^\"]+\"|[-\w$.]+)")
_MARKS = "@__hls_"


def _is_table(name: str, initial: str, body: str) -> bool:
    """Whether a variable that is given values at first is read alone: the tool makes a ROM of it. What is
    zero at first may be written elsewhere, or is not written yet."""
    if initial.removeprefix(_leading_type(initial)).lstrip().startswith(("zeroinitializer", "undef")):
        return False
    uses: dict[str, list[str]] = {}
    for line in body.split("\n")[1:]:
        for pointer in set(_POINTER.findall(line)):
            uses.setdefault(pointer, []).append(line)
    waiting, seen = [f"@{name}"], {f"@{name}"}
    while waiting:
        pointer = waiting.pop()
        for line in uses.get(pointer, ()):
            found = _RESULT.match(line)
            if found is None:
                if _MARKS not in line:
                    return False
            elif found[2] != "load" and found[2] != "icmp" and found[1] not in seen:
                seen.add(found[1])
                waiting.append(found[1])
    return True


def _as_constants(text: str, names: Iterable[str]) -> str:
    """The declarations of variables with those named made constants."""
    for name in names:
        text = re.sub(
            rf"^(@{re.escape(name)} = [a-z_ ]*?)\bglobal ", r"\1constant ", text, flags=re.MULTILINE
        )
    return text


def _leading_type(text: str) -> str:
    """The type that a global variable's text starts with."""
    depth = 0
    quoted = False
    for at, character in enumerate(text):
        quoted ^= character == '"'
        if quoted:
            continue
        if character == " " and not depth:
            return text[:at]
        depth += (character in "[{<(") - (character in "]}>)")
    return text


def local_name(name: str) -> str:
    """The alloca of a static variable."""
    return f"{name.strip(chr(34))}{_STATIC}"


def is_static(name: str) -> bool:
    """Whether an alloca is that of a static variable."""
    return name.endswith(_STATIC)


def is_state(operand: Operand) -> bool:
    """Whether an operand is what a static holds at first."""
    return isinstance(operand, Global) and operand.name.strip('"').startswith(STATE)


def _state(name: str) -> str:
    return f'"{STATE}.{name.strip(chr(34))}"'


def _with_elements(line: str, element_of: Callable[[re.Match[str]], str]) -> str:
    """A line with its constant addresses replaced, of those within another the inner first."""
    while (changed := _ELEMENT.sub(element_of, line)) != line:
        line = changed
    return line


def _with_allocas(body: str, names: Iterable[str], types: dict[str, str]) -> str:
    lines = body.split("\n")
    entry: list[str] = []
    elements: dict[str, str] = {}
    for name in names:
        local = f'%"{local_name(name)}"'
        entry.append(f"  {local} = alloca {types[name]}")
        # copied, not loaded as one value: a pass makes loads of what is read, and of nothing else
        size = f"ptrtoint (ptr getelementptr ({types[name]}, ptr null, i32 1) to i64)"
        entry.append(f"  call void {_COPY}(ptr {local}, ptr @{_state(name)}, i64 {size}, i1 false)")
    replaced = re.compile("|".join(rf"@{re.escape(name)}(?![-\w$.])" for name in names))

    def local_of(found: re.Match[str]) -> str:
        return f'%"{local_name(found[0][1:])}"'

    def element_of(found: re.Match[str]) -> str:
        if not replaced.search(found["inner"]) and f'%"{STATE}.' not in found["inner"]:
            return found[0]
        address = f"getelementptr {found['flags']}{replaced.sub(local_of, found['inner'])}"
        return elements.setdefault(address, f'%"{STATE}.{len(elements)}"')

    for at, line in enumerate(lines):
        if "@" in line and at:
            lines[at] = replaced.sub(local_of, _with_elements(line, element_of))
    first = 2 if lines[1].rstrip().split(";")[0].rstrip().endswith(":") else 1
    entry += [f"  {name} = {address}" for address, name in elements.items()]
    return "\n".join([*lines[:first], *entry, *lines[first:]])
