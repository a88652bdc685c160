"""The memories of a function, from its variables and what pragmas say of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod

from hlsgen.schedule.ir import (
    ArrayType,
    Function,
    Global,
    Local,
    Module,
    PointerType,
    StructType,
    Type,
    bits_of,
    bytes_of,
)
from hlsgen.schedule.memories import AXI_LITE, BLOCK, COMPLETE, CYCLIC, Dimension, Memories, Memory
from hlsgen.schedule.names import variable_name
from hlsgen.schedule.shapes import Shapes
from hlsgen.schedule.sites import Sites, VariableSite

_PIECE = re.compile(r"\.sroa\.")
"""In the names of variables that LLVM has cut off others. It leaves memories whole: these are registers."""
BYTE = 8
SPLIT_ELEMENTS = 4
"""Arrays of no more elements are registers without a pragma: config_array_partition's complete_threshold."""

Described = Mapping[tuple[Local | Global, int], list[VariableSite]]
"""Pragmas about variables, by where what they name begins in these."""
GivenMemories = Callable[[str, Type | None], list[Memory]]
"""Tells of an argument, and of what the code takes it to point to, which arrays of the caller it is."""


def nothing_given(argument: str, shape: Type | None) -> list[Memory]:
    """Of a function whose callers are not known."""
    return []


def memories_of(
    module: Module,
    function: Function,
    sites: Sites,
    bundle: str = "",
    shapes: Shapes | None = None,
    given: GivenMemories = nothing_given,
) -> Memories:
    """The memories that a function of the module uses: its allocas and arguments, and the global variables.

    `bundle` is the AXI port of pointer arguments that no pragma gives an interface; empty if they are no
    AXI ports. `given` tells what the function's caller gives it.
    """
    found: list[Memory] = []
    described = _described(sites, function)
    for _, one in function.instructions():
        if one.opcode == "alloca" and one.source is not None:
            if _PIECE.search(one.name) and isinstance(one.source, ArrayType):
                found.append(_piece(one.name, one.source))
            else:
                found += memories_of_variable(Local(one.name), one.source, described, constant=False)
    for name, variable in module.variables.items():
        found += memories_of_variable(Global(name), variable.type, described, constant=variable.constant)
    for name, type_ in function.arguments:
        if isinstance(type_, PointerType):
            shape = (shapes or {}).get((function.name, name))
            own = any(known == Local(name) for known, _ in described)
            callers = [] if own else given(name, shape)
            found += callers or memories_of_pointer(Local(name), described, bundle, shape)
    return Memories(found)


def _piece(name: str, type_: ArrayType) -> Memory:
    """A word that LLVM has cut off a larger variable and only copies, as bytes."""
    size = bytes_of(type_)
    return Memory(
        name=variable_name(name),
        base=Local(name),
        start=0,
        dimensions=(),
        element_bits=8 * size,
        element_bytes=size,
    )


def _described(sites: Sites, function: Function) -> Described:
    """The pragmas about each variable, by where what they name begins in it.

    An interface is that of an argument: one in a function that is given an array of the kernel's own counts
    for nothing (0K-Chinmay/ML_KEM-on-PYNQ-board-using-HLS, 2024.1: a local array, II 1).
    """
    found: dict[tuple[Local | Global, int], list[VariableSite]] = {}
    arguments = {Local(name) for name, _ in function.arguments}
    for site in sites.variables:
        if not (isinstance(site.base, Global) or site.function == function.name):
            continue
        if site.pragma.name != "interface" or site.base in arguments:
            found.setdefault((site.base, site.offset), []).append(site)
    return found


def memories_of_variable(
    base: Local | Global,
    type_: Type,
    described: Described,
    *,
    constant: bool,
) -> list[Memory]:
    """The memory of a variable; several if pragmas name members of it, or split an array of structs."""
    starts = [offset for known, offset in described if known == base]
    if starts == [0] and (parts := _split_parts(base, type_, described[base, 0], constant=constant)):
        return parts
    apart = {one.start: one for one in _fields(base, type_, 0, constant=constant, apart=True)}
    within = {
        start
        for start in starts
        if start in apart and all(_is_of_elements(apart[start], site) for site in described[base, start])
    }
    found = [
        _within(apart[start], described[base, start])
        if start in within
        else _marked(base, start, described[base, start], constant=constant, type_=type_)
        for start in sorted(starts)
    ]
    if starts != [0] or isinstance(type_, StructType):
        fields = _fields(base, type_, 0, constant=constant, apart=bool(within))
        found += [one for one in fields if one.start not in starts]
    return found


def _is_of_elements(memory: Memory, site: VariableSite) -> bool:
    """Whether a pragma is about an array in the elements of an array, which is one memory of more
    dimensions."""
    return memory.element_bytes == site.element_bytes and len(memory.dimensions) > len(site.extents) > 0


def _fields(
    base: Local | Global, type_: Type, start: int, *, constant: bool, apart: bool = False
) -> list[Memory]:
    """A memory for each field of a struct, as the vendor's compiler takes them apart; one for any other
    variable. apart: one for each field of an array's elements, too, where some of these are arrays."""
    if isinstance(type_, StructType):
        offsets = type_.offsets
        return [
            memory
            for offset, element in zip(offsets, type_.elements, strict=False)
            for memory in _fields(base, element, start + offset, constant=constant, apart=apart)
        ]
    parts = _parts(base, type_, start, constant=constant) if apart else []
    if parts:
        return parts
    extents, element = _shape_in_structs(type_)
    dimensions = dimensions_of(extents, bytes_of(element))
    if 1 < prod(extents) <= SPLIT_ELEMENTS:
        dimensions = tuple(replace(dimension, split=COMPLETE) for dimension in dimensions)
    memory = Memory(
        name=variable_name(base.name),
        base=base,
        start=start,
        dimensions=dimensions,
        element_bits=bits_of(element),
        element_bytes=bytes_of(element),
        constant=constant,
    )
    return [memory]


def _parts(base: Local | Global, type_: Type, start: int, *, constant: bool) -> list[Memory]:
    """A memory for each field of the elements of an array, where some of the fields are arrays; none of any
    other variable.

    Of each the tool makes one of more dimensions, where a pragma splits one of these arrays ("adding into
    disaggregation list": `sw_manager.output_ports.calendar.schedule` of AndyWanna/switching_algorithms,
    2024.1). Else such an element is one word (shinepsunny/SpectralBlaze, 2021.1: eight numbers are written at
    once, II 1).
    """
    extents, element = _shape_in_structs(type_)
    if not extents or not isinstance(element, StructType) or not _has_arrays(element):
        return []
    outer = dimensions_of(extents, bytes_of(element))
    found = _fields(base, element, start, constant=constant, apart=True)
    return [replace(one, dimensions=(*outer, *one.dimensions)) for one in found]


def _split_parts(
    base: Local | Global, type_: Type, sites: list[VariableSite], *, constant: bool
) -> list[Memory]:
    """As `_parts`, of an array that a pragma splits itself: it splits the arrays in its elements alike
    (francesco-ratti/heterogeneousRTOS_faultDetector_HLS, 2022.1: "Applying array_partition to
    'regions.center'", and to the two others of its structs)."""
    extents, element = _shape_in_structs(type_)
    whole = all(site.extents == extents and site.element_bytes == bytes_of(element) for site in sites)
    if not whole or not any(site.pragma.name == "array_partition" for site in sites):
        return []
    found = []
    for part in _parts(base, type_, 0, constant=constant):
        outer = replace(part, dimensions=part.dimensions[: len(extents)])
        for site in sites:
            outer = _applied(outer, site)
        inner = part.dimensions[len(extents) :]
        found.append(replace(outer, dimensions=(*outer.dimensions, *inner), marked=True))
    return found


def _has_arrays(type_: StructType) -> bool:
    """Whether one of the fields is an array, or a struct with one. A number of more than 128 bits is none,
    which LLVM keeps as bytes."""
    if len(type_.elements) == 1 and isinstance(type_.elements[0], ArrayType):
        return bits_of(type_.elements[0].element) != BYTE
    return any(
        isinstance(field, ArrayType) or (isinstance(field, StructType) and _has_arrays(field))
        for field in type_.elements
    )


def _within(memory: Memory, sites: list[VariableSite]) -> Memory:
    """A field of an array's elements with what pragmas within the struct say of it: of its own dimensions."""
    for site in sites:
        at = len(memory.dimensions) - len(site.extents)
        own = _applied(replace(memory, dimensions=memory.dimensions[at:]), site)
        memory = replace(own, dimensions=(*memory.dimensions[:at], *own.dimensions))
    return replace(memory, name=sites[0].pragma.variable or memory.name, marked=True)


def shape_of(type_: Type) -> tuple[tuple[int, ...], Type]:
    """The extents of an array type, and the type of its elements."""
    extents = []
    while isinstance(type_, ArrayType):
        extents.append(type_.count)
        type_ = type_.element
    return tuple(extents), type_


def _shape_in_structs(type_: Type) -> tuple[tuple[int, ...], Type]:
    """As `shape_of`, of an array whose elements are structs of one array (std::array) with the dimensions of
    that behind its own: the tool takes such structs apart (dingdingye/GIM_Diabetes, 2024.1: ten words that
    are copied to a row have II 5)."""
    extents, element = shape_of(type_)
    while extents and isinstance(element, StructType) and len(element.elements) == 1:
        inner, within = shape_of(element.elements[0])
        if not inner:
            break
        extents, element = (*extents, *inner), within
    return extents, element


def dimensions_of(extents: tuple[int, ...], element_bytes: int) -> tuple[Dimension, ...]:
    """Dimensions that are not split, the last with neighbours beside each other."""
    found = []
    stride = element_bytes
    for extent in reversed(extents):
        found.append(Dimension(extent=extent, stride=stride))
        stride *= max(1, extent)
    return tuple(reversed(found))


def _marked(
    base: Local | Global, start: int, sites: list[VariableSite], *, constant: bool, type_: Type | None
) -> Memory:
    widest = max(sites, key=lambda site: (len(site.extents), site.extents))
    extents = widest.extents
    if type_ is not None and start == 0:
        whole, element = shape_of(type_)
        rows = len(whole) > len(extents) and bytes_of(element) == widest.element_bytes
        extents = whole if rows or (extents and not extents[0]) else extents
    memory = Memory(
        name=widest.pragma.variable or variable_name(base.name),
        base=base,
        start=start,
        dimensions=dimensions_of(extents, widest.element_bytes),
        element_bits=widest.element_bits,
        element_bytes=widest.element_bytes,
        constant=constant,
        marked=True,
    )
    for site in sites:
        memory = _applied(memory, site)
    return memory


def _applied(memory: Memory, site: VariableSite) -> Memory:
    pragma = site.pragma
    if pragma.name in ("array_partition", "array_reshape"):
        above = _dimensions_above(memory, site)
        split = _partitioned(memory.dimensions[above:], site)
        return replace(memory, dimensions=(*memory.dimensions[:above], *split))
    if pragma.name in ("bind_storage", "resource"):
        kind = pragma.texts.get("type", pragma.texts.get("core", "")).lower()
        implementation = pragma.texts.get("impl", "").lower()
        for name, meant in (
            ("_lutram", "lutram"),
            ("_uram", "uram"),
            ("_bram", "bram"),
            ("xpm_memory", "uram"),
        ):
            implementation = meant if name in kind else implementation
        for ending in ("_lutram", "_uram", "_bram"):
            kind = kind.removesuffix(ending)
        return replace(memory, kind=kind, implementation=implementation)
    if pragma.name in ("aggregate", "data_pack"):
        return replace(memory, aggregated=True)
    if pragma.name == "interface" and "storage_type" in pragma.texts:
        kind, implementation = (
            pragma.texts["storage_type"].lower(),
            pragma.texts.get("storage_impl", "").lower(),
        )
        return replace(memory, kind=kind, implementation=implementation, argument=True)
    if pragma.name == "interface" and _is_mode(site, AXI_LITE):
        is_array = memory.bytes > memory.element_bytes
        return replace(memory, kind=memory.kind or AXI_LITE) if is_array else memory
    if pragma.name == "interface" and _is_mode(site, "m_axi"):
        return replace(
            memory,
            bundle=pragma.texts.get("bundle", "gmem"),
            latency=site.values.get("latency"),
            widest=site.values.get("max_widen_bitwidth"),
            argument=True,
        )
    return memory


def _dimensions_above(memory: Memory, site: VariableSite) -> int:
    """How many dimensions a memory has that a pragma's variable has not: a function that is given a row
    splits the dimension of its words (pedromsferreira/FPGA-MixedPrecision-CNN, 2022.2, in its log: "Cyclic
    partitioning with factor 4 on dimension 2" of an array, by a pragma about filter[currPE])."""
    return max(0, len(memory.dimensions) - len(site.extents)) if site.extents else 0


def _is_mode(site: VariableSite, mode: str) -> bool:
    return site.pragma.texts.get("mode", "") == mode or mode in site.pragma.words


def _partitioned(dimensions: tuple[Dimension, ...], site: VariableSite) -> tuple[Dimension, ...]:
    pragma = site.pragma
    split = pragma.texts.get("type", "").lower()
    for word in (COMPLETE, CYCLIC, BLOCK):
        split = word if word in pragma.words else split
    split = split or COMPLETE
    chosen = site.values.get("dim", 1)
    reshaped = pragma.name == "array_reshape"
    return tuple(
        replace(dimension, split=split, factor=site.values.get("factor", 1), reshaped=reshaped)
        if chosen in (0, at)
        else dimension
        for at, dimension in enumerate(dimensions, start=1)
    )


def memories_of_pointer(
    base: Local,
    described: Described,
    bundle: str,
    shape: Type | None,
) -> list[Memory]:
    """The memories that a pointer of the function's arguments leads to, as far as pragmas or `shape` tell."""
    starts = [offset for known, offset in described if known == base]
    told = any(site.pragma.name == "interface" for start in starts for site in described[base, start])
    bundle = "" if told else bundle
    if not starts and not bundle and shape is not None:
        return [replace(memory, argument=True) for memory in _fields(base, shape, 0, constant=False)]
    if not starts:
        return [
            Memory(
                name=variable_name(base.name),
                base=base,
                start=0,
                dimensions=(),
                element_bits=0,
                element_bytes=0,
                bundle=bundle,
                argument=True,
            )
        ]
    found = [
        _marked(base, start, described[base, start], constant=False, type_=None) for start in sorted(starts)
    ]
    return [replace(memory, argument=True, bundle=memory.bundle or bundle) for memory in found]
