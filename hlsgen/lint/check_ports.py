"""Rules on the arguments of a top function and their interfaces."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from hlsgen.lint.check_places import variables_of
from hlsgen.lint.check_words import nearest
from hlsgen.lint.checking import Here
from hlsgen.lint.program import Names
from hlsgen.lint.structure import Function, Variable

WIDEST_AXI = 1024
WISE_AXI = 512
WIDEST_NUMBER = 64
"""A number of any width up to here lies in memory as a C type does, so the port is as wide as that."""
_BUILT_IN = {
    "char": 8, "signed char": 8, "unsigned char": 8, "int8_t": 8, "uint8_t": 8, "bool": 8,
    "short": 16, "unsigned short": 16, "int16_t": 16, "uint16_t": 16, "half": 16,
    "int": 32, "unsigned": 32, "unsigned int": 32, "int32_t": 32, "uint32_t": 32, "float": 32,
    "long long": 64, "unsigned long long": 64, "int64_t": 64, "uint64_t": 64, "double": 64,
}  # fmt: skip
_LONG = re.compile(
    r"(?:un)?signed long(?: int)?|long(?: int| unsigned)?|long unsigned int|s?size_t|std::size_t|ptrdiff_t"
)
_WRAPPER = re.compile(r"(?:hls::)?burst_maxi\s*<(.*)>", re.DOTALL)
_AP = re.compile(r"(ap_u?(?:int|fixed))\s*<(.*)>", re.DOTALL)
_VECTOR = re.compile(r"hls::vector\s*<(.*),([^,<>]*)>", re.DOTALL)
SHARED = (
    "latency",
    "num_read_outstanding",
    "num_write_outstanding",
    "max_read_burst_length",
    "max_write_burst_length",
)
"""Options of m_axi that an adapter has once, whatever ports share it."""


@dataclass(frozen=True, kw_only=True)
class Port:
    """A port of a top function with one of its interfaces."""

    name: str
    mode: str
    here: Here
    at: tuple[int, int]
    variable: Variable | None

    @property
    def bundle(self) -> str:
        word = self.here.pragma.value("bundle")
        return (word.value or "").strip('"') if word is not None else ""


def check_ports(interfaces: list[Here], others: list[Here]) -> None:
    """All rules on ports; `interfaces`: the interface pragmas of a file, `others`: the remaining ones."""
    ports: dict[Function, list[Port]] = defaultdict(list)
    for here in interfaces:
        assert here.block is not None
        ports[here.block.function] += _ports(here)
    callers = _callers(interfaces)
    for function, found in ports.items():
        if not found or not _may_be_top(function, callers.get(function.name), found[0].here):
            continue
        for port in found:
            _check_type(port)
            _check_width(port)
        _check_twice(found)
        _check_bundles(found)
        _check_arguments(function, found[0].here)
        _check_others(
            function, found, [one for one in others if one.block and one.block.function is function]
        )


def _ports(here: Here) -> Iterator[Port]:
    word = here.pragma.value("port")
    mode = here.word("mode") or ""
    assert here.block is not None
    if word is not None and word.value == "return":
        at = (word.value_start, word.value_end)
        yield Port(name="return", mode=mode, here=here, at=at, variable=None)
    for option, name, at, _ in variables_of(here):
        if option == "port":
            yield Port(name=name, mode=mode, here=here, at=at, variable=here.block.function.parameter(name))


def _may_be_top(function: Function, caller: str | None, here: Here) -> bool:
    """Says why, if a function cannot be the top."""
    why = ""
    if function.templates:
        why = "is a template"
    elif function.member_of:
        why = "is a member of a class"
    elif function.inner:
        why = "is not to be seen from outside of the file"
    elif caller is not None:
        why = f"is called by `{caller}`"
    if why:
        message = f"`{function.name}` {why}, so it is not the top function, which alone has interfaces"
        here.say("interface-not-top", message, "move the pragma to the top function")
    return not why


def _callers(interfaces: list[Here]) -> dict[str, str]:
    """{function with interfaces: another such of the file that names it}; what has none is a testbench's.

    A name that is a variable's where it stands names no function.
    """
    wanted = {here.block.function.name.encode() for here in interfaces if here.block is not None}
    found: dict[str, str] = {}
    if not wanted:
        return found
    module, names = interfaces[0].module, interfaces[0].names
    for match in re.finditer(rb"[A-Za-z_]\w*", module.source.code):
        name = match.group().decode()
        if match.group() not in wanted or name in found:
            continue
        block = module.block_at(match.start())
        if block is None or block.function.name == name or block.function.name.encode() not in wanted:
            continue
        if names.variable(name, block) is not None:
            continue
        found[name] = block.function.name
    return found


def _check_type(port: Port) -> None:
    if port.name == "return":
        if port.mode not in ("s_axilite", "ap_ctrl_none", "ap_ctrl_hs", "ap_ctrl_chain"):
            fix = "return has s_axilite, ap_ctrl_hs, ap_ctrl_chain or ap_ctrl_none"
            port.here.say("port-type", f"`return` cannot have mode `{port.mode}`", fix, port.at)
        return
    variable, function = port.variable, port.here.block.function if port.here.block else None
    assert function is not None
    if variable is None:
        known = [one.name for one in function.parameters]
        fix = f"{nearest(port.name, known)}the arguments of {function.name} are {', '.join(known) or 'none'}"
        message = f"`{port.name[:50]}` is no argument of `{function.name}`"
        port.here.say("not-a-port", message, fix, port.at)
        return
    names = port.here.names
    type_ = names.type(variable.type, function.scope).replace(" ", "")
    if port.mode.startswith("ap_ctrl"):
        fix = f"write port=return, or another mode for {port.name}"
        port.here.say("not-a-port", f"mode `{port.mode}` is for port=return", fix, port.at)
    elif "hls::stream<" in type_ and port.mode not in ("axis", "ap_fifo"):
        message = f"the stream `{port.name}` cannot have mode `{port.mode}`"
        port.here.say("port-type", message, "streams have axis or ap_fifo", port.at)
    elif port.mode in ("m_axi", "ap_memory", "bram") and not _addressed(variable, type_):
        message = f"`{port.name}` is passed by value, which mode `{port.mode}` cannot have"
        port.here.say("port-type", message, "make it a pointer or an array, or use s_axilite", port.at)


def _addressed(variable: Variable, type_: str) -> bool:
    """Whether the argument may be memory: all that is not surely a plain number."""
    if variable.dims or variable.pointer or variable.reference:
        return True
    return type_ not in {name.replace(" ", "") for name in _BUILT_IN} and not _AP.match(type_)


def _check_width(port: Port) -> None:
    if port.mode != "m_axi" or port.variable is None:
        return
    bits = width_of(port.variable.type, port.here.names, port.here.scope)
    if bits is None:
        return
    fix = "an m_axi port has 8, 16, 32, ... or 1024 bits; 512 are best"
    if bits > WIDEST_AXI:
        port.here.say("axi-width", f"the data of `{port.name}` are {bits} bits wide", fix, port.at)
    elif bits > WIDEST_NUMBER and bits & (bits - 1):
        words = 1 << bits.bit_length()
        message = f"the data of `{port.name}` are {bits} bits wide and lie in words of {words}"
        port.here.say("axi-padded", message, fix, port.at)
    elif bits > WISE_AXI:
        message = f"the data of `{port.name}` are {bits} bits wide, more than memories take in a cycle"
        port.here.say("axi-wide", message, "512 bits are best", port.at)


def width_of(type_: str, names: Names, scope: tuple[str, ...]) -> int | None:
    """Bits of an element of a port, None if they are not known."""
    resolved = names.type(type_.replace("const", " ").strip(), scope).strip()
    wrapped = _WRAPPER.fullmatch(resolved)
    if wrapped:
        resolved = names.type(wrapped.group(1).strip(), scope).strip()
    vector = _VECTOR.fullmatch(resolved)
    if vector:
        one, count = width_of(vector.group(1), names, scope), names.value(vector.group(2), scope)
        return one * count if one is not None and count is not None else None
    arbitrary = _AP.fullmatch(resolved)
    if arbitrary:
        return names.value(first_argument(arbitrary.group(2)), scope)
    return _BUILT_IN.get(" ".join(resolved.split()))


def first_argument(text: str) -> str:
    """The first of the arguments between < and >."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character in "(<[") - (character in ")>]")
        if character == "," and depth == 0:
            return text[:at]
    return text


def _check_twice(ports: list[Port]) -> None:
    modes: dict[str, str] = {}
    for port in ports:
        # an m_axi port has its address in s_axilite besides
        if port.mode == "s_axilite":
            continue
        before = modes.setdefault(port.name, port.mode)
        if before != port.mode:
            message = f"`{port.name}` has mode `{port.mode}` besides `{before}`"
            port.here.say("bundle-conflict", message, "keep one of the two", port.at)


def _check_bundles(ports: list[Port]) -> None:
    """Ports of one bundle are one adapter: it has one mode, and one value of each option."""
    first: dict[str, Port] = {}
    values: dict[tuple[str, str], tuple[int, Port]] = {}
    for port in ports:
        if not port.bundle:
            continue
        other = first.setdefault(port.bundle, port)
        if other.mode != port.mode:
            message = (
                f"bundle `{port.bundle}` is {other.mode} for `{other.name}`, {port.mode} for `{port.name}`"
            )
            port.here.say("bundle-conflict", message, "give one of the two another bundle", port.at)
            continue
        for option in SHARED if port.mode == "m_axi" else ():
            word = port.here.pragma.value(option)
            value = port.here.value(word.value) if word is not None and word.value else None
            if word is None or value is None:
                continue
            before = values.setdefault((port.bundle, option), (value, port))
            if before[0] != value:
                message = (
                    f"bundle `{port.bundle}` has {option}={before[0]} for `{before[1].name}`, {value} here"
                )
                fix = "write the same for all ports of the bundle, or give one of them another bundle"
                port.here.say("bundle-conflict", message, fix, (word.start, word.value_end))


def _check_arguments(function: Function, here: Here) -> None:
    for parameter in function.parameters:
        at = (parameter.start, parameter.start + max(1, len(parameter.name)))
        type_ = " ".join(parameter.type.replace("const", " ").split())
        if here.names.is_enum(type_):
            message = f"the argument `{parameter.name}` is an enum, which a top function cannot take"
            here.say("enum-port", message, "pass an int", at)
        elif _LONG.fullmatch(type_):
            message = f"`{type_}` of `{parameter.name}` is not as wide on every host as on the FPGA"
            here.say("long-port", message, "use int, long long or int64_t", at)


def _check_others(function: Function, ports: list[Port], others: list[Here]) -> None:
    """Pragmas on arrays that are ports."""
    memory = {port.name: port for port in ports if port.mode == "m_axi"}
    shared: dict[str, int] = defaultdict(int)
    for port in memory.values():
        shared[port.bundle] += 1
    for here in others:
        for _, name, at, variable in variables_of(here):
            if variable is not function.parameter(name):
                continue
            kind = here.form.name
            if kind in ("array_partition", "array_reshape") and name in memory:
                fix = "make its elements wider: a wide ap_uint or hls::vector"
                here.say("port-partition", f"the m_axi port `{name}` cannot be cut up", fix, at)
            elif kind == "bind_storage":
                fix = "give the interface pragma storage_type=..."
                here.say("port-storage", f"`{name}` is an argument of the top function", fix, at)
            elif kind == "dependence" and name in memory and shared[memory[name].bundle] > 1:
                bundle = memory[name].bundle
                message = f"`{name}` shares bundle `{bundle}` with another port"
                here.say("port-dependence", message, "give it a bundle of its own", at)
