"""Rules on sizes: partitions of an array, and widths of numbers, where they can be computed."""

from __future__ import annotations

import re
from collections import defaultdict
from math import prod

from hlsgen.lint.check_places import variables_of
from hlsgen.lint.check_ports import first_argument
from hlsgen.lint.checking import Findings, Here
from hlsgen.lint.program import Names
from hlsgen.lint.structure import Module, Variable

MOST_PARTITIONS = 1024
"""Vivado HLS refuses more (XFORM 203-103)."""
AP_INT_MAX_W = 1024
"""ap_int's widest, unless AP_INT_MAX_W is defined before its header is included."""
WIDEST_AP_INT = 4096
_NUMBER = re.compile(rb"\bap_(?:u?int|u?fixed)\s*<")
_PLAIN = re.compile(r"(?:un)?signed|bool|char|short|int|float|double|long|ap_u?(?:int|fixed)<.*>|u?int\d+_t")
MAX_TYPE = 400
"""Characters of a type's arguments that are looked at."""


def check_partitions(all_of_them: list[Here]) -> None:
    """No array is cut into more pieces than the tools take, or along a dimension it does not have."""
    # by variable and dimension: one that is cut in two functions is not cut twice as much
    pieces: dict[int, dict[int, int]] = defaultdict(dict)
    for here in all_of_them:
        if here.form.name not in ("array_partition", "array_reshape"):
            continue
        dim = here.number("dim", 1)
        for _, name, at, variable in variables_of(here):
            if dim is None or variable is None or variable.pointer or variable.reference:
                continue
            sizes = [here.value(size) for size in variable.dims]
            if dim > len(sizes):
                _missing_dimension(here, name, dim, variable, at)
            elif here.form.name == "array_partition":
                cuts = pieces[variable.start]
                before = prod(cuts.values())
                for one in [dim] if dim else range(1, len(sizes) + 1):
                    cuts[one] = max(cuts.get(one, 1), _pieces(here, sizes[one - 1]))
                now = prod(cuts.values())
                if now > MOST_PARTITIONS >= before:
                    message = f"`{name}` is cut into {now:,} parts"
                    fix = f"keep to {MOST_PARTITIONS}: cyclic factor=N, or only one of its dimensions"
                    here.say("partition-size", message, fix, at)


def _pieces(here: Here, size: int | None) -> int:
    """Into how many parts the pragma cuts a dimension; what is not known counts as 1."""
    factor = here.number("factor", 1) or 1
    parts = size if (here.word("type") or "complete") == "complete" else min(factor, size or factor)
    return max(1, parts or 1)


def _missing_dimension(here: Here, name: str, dim: int, variable: Variable, at: tuple[int, int]) -> None:
    type_ = here.names.type(variable.type, here.scope).replace(" ", "")
    if not _PLAIN.fullmatch(type_):
        return  # the type may be an array
    count = len(variable.dims)
    what = "is no array" if count == 0 else f"has {count} dimension{'s' if count > 1 else ''}, not {dim}"
    word = here.pragma.value("dim")
    place = at if word is None else (word.start, word.value_end)
    here.say("partition-dim", f"`{name}` {what}", "dim counts from 1, the outermost; 0 means all", place)


def check_numbers(module: Module, names: Names, findings: Findings) -> None:
    """No ap_int or ap_fixed is wider than the headers take."""
    macro = names.macro("AP_INT_MAX_W")
    widest = AP_INT_MAX_W
    if macro is not None:
        widest = min(WIDEST_AP_INT, _rounded_up(names.value(macro.text, ()) or AP_INT_MAX_W))
    code = module.source.code
    known: dict[tuple[bytes, tuple[str, ...]], int | None] = {}
    for match in _NUMBER.finditer(code):
        begin = match.end()
        text = _arguments(code, begin)
        if text is None:
            continue
        if text.strip().isdigit():
            width: int | None = int(text[:12])
        else:
            block = module.block_at(begin)
            scope = block.function.scope if block is not None else ()
            if block is not None:
                width = names.value(text.decode(errors="replace"), scope, block)
            else:
                key = (text, scope)
                if key not in known:
                    known[key] = names.value(text.decode(errors="replace"), scope)
                width = known[key]
        if width is not None and width > widest:
            message = (
                f"{match.group().decode().rstrip('<').strip()} of {width:,} bits: the most is {widest:,}"
            )
            fix = "use an array or hls::vector"
            if widest < width <= WIDEST_AP_INT:
                fix += f", or #define AP_INT_MAX_W {width} before its header"
            findings.say("int-width", message, fix, begin, begin + len(text))


def _rounded_up(width: int) -> int:
    """The header counts in steps of 1024 bits; FINN defines AP_INT_MAX_W below what its streams carry."""
    return -(-width // AP_INT_MAX_W) * AP_INT_MAX_W


def _arguments(code: bytes, begin: int) -> bytes | None:
    """The first template argument behind `<`."""
    text = code[begin : begin + MAX_TYPE].decode(errors="replace")
    depth, found = 1, None
    for at, character in enumerate(text):
        depth += (character == "<") - (character == ">")
        if depth == 0:
            found = first_argument(text[:at])
            break
        if character in ";{}":
            break
    return None if found is None else found.encode()
