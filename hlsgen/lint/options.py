"""The pragmas of the vendor's front end and their options, as data.

From its own tables (XlxPragmaOption.td, and the platform's operations and memories) and UG1399.
Words that are accepted alone and as key=value (type=, mode=, ...) are a CHOICE with `alone`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """What an option's value is."""

    PRESENT = "no value"
    CHOICE = "a word of a list"
    INTEGER = "a constant whole number"
    NUMBER = "a constant number"
    VARIABLE = "a variable"
    NAME = "a name"


class Scope(StrEnum):
    """Where a pragma may stand."""

    ANY = "in a function"
    FUNCTION = "directly in the function's body"
    LOOP = "directly in a loop's body"
    REGION = "directly in the body of a function or a loop"
    BLOCK = "in a block of its own inside the function"


@dataclass(frozen=True, kw_only=True)
class Option:
    """An option. `alone`: a word of a CHOICE may stand without its key; `low`, `high`: limits of an INTEGER;
    `instead`: what to write if the option is deprecated.
    """

    name: str
    kind: Kind = Kind.PRESENT
    required: bool = False
    words: tuple[str, ...] = ()
    alone: bool = False
    low: int | None = None
    high: int | None = None
    power_of_two: bool = False
    instead: str = ""


@dataclass(frozen=True, kw_only=True)
class Form:
    """A pragma: its options, where it may stand, what replaces it if it is deprecated."""

    name: str
    options: tuple[Option, ...] = ()
    scope: Scope = Scope.ANY
    instead: str = ""
    modes: dict[str, tuple[Option, ...]] = field(default_factory=dict)

    def option(self, name: str) -> Option | None:
        """The option by its name, or the choice that has the word alone."""
        lowered = name.lower()
        for option in self.options:
            if option.name == lowered and not (option.alone and lowered in option.words):
                return option
        return next((one for one in self.options if one.alone and lowered in one.words), None)

    @property
    def accepted(self) -> list[str]:
        """What may stand in the pragma, as messages name it."""
        found: list[str] = []
        for option in self.options:
            if option.alone:
                found += option.words
            found.append(option.name if option.kind is Kind.PRESENT else f"{option.name}=")
        return found


UINT32 = 2**32 - 1


def flag(name: str, instead: str = "") -> Option:
    return Option(name=name, instead=instead)


def integer(
    name: str, low: int = 0, high: int = UINT32, *, required: bool = False, instead: str = ""
) -> Option:
    return Option(name=name, kind=Kind.INTEGER, low=low, high=high, required=required, instead=instead)


def choice(name: str, *words: str, alone: bool = False, required: bool = False) -> Option:
    return Option(name=name, kind=Kind.CHOICE, words=words, alone=alone, required=required)


def name_(name: str, *, required: bool = False) -> Option:
    return Option(name=name, kind=Kind.NAME, required=required)


def variable(name: str = "variable", *, required: bool = True) -> Option:
    return Option(name=name, kind=Kind.VARIABLE, required=required)


def number(name: str) -> Option:
    return Option(name=name, kind=Kind.NUMBER)


STORAGE: dict[str, tuple[str, ...]] = {
    "fifo": ("bram", "lutram", "memory", "srl", "uram"),
    "ram_1p": ("bram", "lutram", "uram"),
    "ram_1wnr": ("bram", "lutram", "uram"),
    "ram_2p": ("bram", "lutram", "uram"),
    "ram_s2p": ("bram", "bram_ecc", "lutram", "uram", "uram_ecc"),
    "ram_t2p": ("bram", "uram"),
    "rom_1p": ("bram", "lutram"),
    "rom_2p": ("bram", "lutram"),
    "rom_np": ("bram", "lutram"),
}
"""Memories by type, and what each may be made of; every one may also be left to the tool (auto)."""

_DOUBLE_UNARY = ("meddsp", "fabric")
OPERATIONS: dict[str, tuple[str, ...]] = {
    "add": ("dsp", "fabric"),
    "mul": ("dsp", "fabric"),
    "sub": ("dsp", "fabric"),
    "hmul": ("fulldsp", "maxdsp", "fabric"),
    "fmul": ("fulldsp", "meddsp", "maxdsp", "primitivedsp", "fabric"),
    "dmul": ("fulldsp", "meddsp", "maxdsp", "fabric"),
    "hadd": ("fulldsp", "meddsp", "fabric"),
    "fadd": ("fulldsp", "meddsp", "primitivedsp", "fabric"),
    "dadd": ("fulldsp", "fabric"),
    "hsub": ("fulldsp", "meddsp", "fabric"),
    "fsub": ("fulldsp", "meddsp", "primitivedsp", "fabric"),
    "dsub": ("fulldsp", "fabric"),
    **dict.fromkeys(("hdiv", "fdiv", "ddiv", "hsqrt", "fsqrt", "dsqrt"), ("fabric",)),
    **dict.fromkeys(("fexp", "dexp", "flog", "dlog"), _DOUBLE_UNARY),
    **dict.fromkeys(("frsqrt", "drsqrt", "frecip", "drecip"), ("fulldsp", "fabric")),
}
"""Operations of bind_op, and what each may be built of; dsp is the most that floating point can use."""

_PARTITION = choice("type", "block", "cyclic", "complete", alone=True)
_M_AXI = (
    name_("bundle"),
    integer("depth"),
    choice("offset", "slave", "direct", "off"),
    integer("num_read_outstanding", 1),
    integer("num_write_outstanding", 1),
    integer("max_read_burst_length", 1, 256),
    integer("max_write_burst_length", 1, 256),
    integer("latency"),
    Option(name="max_widen_bitwidth", kind=Kind.INTEGER, low=0, high=1024, power_of_two=True),
    integer("channel"),
)
_SCALAR = (flag("register"), integer("depth"), integer("latency"))
_HANDSHAKE = (*_SCALAR, integer("interrupt", 0, 31))
_MEMORY = (integer("depth"), integer("latency", -1), choice("storage_type", *list(STORAGE)[1:]))
MODES: dict[str, tuple[Option, ...]] = {
    "m_axi": _M_AXI,
    "s_axilite": (
        name_("bundle"),
        integer("offset"),
        name_("clock"),
        name_("storage_impl"),
        flag("register"),
    ),
    "axis": (
        flag("register"),
        choice("register_mode", "forward", "reverse", "both", "off", alone=True),
        integer("depth"),
    ),
    "ap_memory": _MEMORY,
    "bram": _MEMORY,
    "ap_none": _SCALAR,
    "ap_fifo": _SCALAR,
    "ap_ack": _SCALAR,
    "ap_vld": _SCALAR,
    "ap_stable": _SCALAR,
    "ap_hs": _HANDSHAKE,
    "ap_ovld": _HANDSHAKE,
    "ap_ctrl_none": (),
    "ap_ctrl_hs": (),
    "ap_ctrl_chain": (),
}
"""Modes of an interface, and the options that only they have."""

OLD_MODES = {"ap_bus": "m_axi", "ap_stable": "#pragma HLS stable"}
"""Modes that are deprecated, and what replaces them."""


def _all_mode_options() -> tuple[Option, ...]:
    found: dict[str, Option] = {}
    for options in MODES.values():
        found |= {option.name: option for option in options}
    return tuple(found.values())


FORMS: dict[str, Form] = {
    form.name: form
    for form in (
        Form(
            name="aggregate",
            options=(variable(), choice("compact", "bit", "byte", "none", "auto", alone=True)),
        ),
        Form(
            name="alias",
            options=(
                variable("ports"),
                variable("offset", required=False),
                variable("distance", required=False),
            ),
            scope=Scope.FUNCTION,
        ),
        Form(
            name="allocation",
            options=(
                choice("type", "function", "operation", alone=True, required=True),
                name_("instances", required=True),
                integer("limit", 1, required=True),
            ),
        ),
        Form(
            name="array_partition",
            options=(variable(), integer("factor", 1), integer("dim"), _PARTITION, choice("off", "true")),
        ),
        Form(
            name="array_reshape",
            options=(variable(), integer("factor", 1), integer("dim"), _PARTITION, flag("object")),
        ),
        Form(
            name="bind_op",
            options=(
                variable(),
                choice("op", *OPERATIONS, required=True),
                choice(
                    "impl", "dsp", "fabric", "fulldsp", "maxdsp", "meddsp", "primitivedsp", "auto"
                ),
                integer("latency", -1),
            ),
        ),
        Form(
            name="bind_storage",
            options=(
                variable(),
                choice("type", *STORAGE, required=True),
                choice(
                    "impl", "auto", "bram", "bram_ecc", "lutram", "memory", "srl", "uram", "uram_ecc"
                ),
                integer("latency", -1),
            ),
        ),
        Form(
            name="dataflow",
            options=(
                flag("disable_start_propagation"),
                integer("interval", 1, instead="nothing: it is ignored"),
            ),
            scope=Scope.REGION,
        ),
        Form(
            name="dependence",
            options=(
                variable(required=False),
                choice("class", "array", "pointer", alone=True),
                choice("type", "intra", "inter", alone=True),
                choice("direction", "raw", "war", "waw", alone=True),
                integer("distance", 1),
                choice("dependent", "true", "false", alone=True),
            ),
        ),
        Form(name="disaggregate", options=(variable(),)),
        Form(name="expression_balance", options=(flag("off"),)),
        Form(name="function_instantiate", options=(variable(),), scope=Scope.FUNCTION),
        Form(
            name="inline",
            options=(
                flag("recursive"),
                flag("off"),
                flag("region", "inline in the functions that are called"),
                flag("self", "plain inline"),
                flag("all", "inline recursive"),
            ),
        ),
        Form(
            name="interface",
            options=(
                variable("port"),
                name_("name"),
                choice("mode", *MODES, "ap_bus", alone=True),
                *_all_mode_options(),
                flag("direct_io"),
            ),
            scope=Scope.FUNCTION,
            modes=MODES,
        ),
        Form(name="latency", options=(integer("min"), integer("max"))),
        Form(name="loop_flatten", options=(flag("off"),), scope=Scope.LOOP),
        Form(name="loop_merge", options=(flag("force"),)),
        Form(
            name="loop_tripcount",
            options=(integer("min"), integer("max", required=True), integer("avg")),
            scope=Scope.LOOP,
        ),
        Form(name="occurrence", options=(integer("cycle", 1),), scope=Scope.BLOCK),
        Form(
            name="performance",
            options=(number("target_ti"), number("target_tl"), number("assume_ti"), number("assume_tl"))
            + (choice("scope", "loop", "region"),),
        ),
        Form(
            name="pipeline",
            options=(
                integer("ii", 1),
                flag("rewind"),
                flag("off"),
                choice("style", "stp", "flp", "frp"),
                flag("enable_flush", "style=flp"),
            ),
            scope=Scope.REGION,
        ),
        Form(
            name="protocol",
            options=(choice("mode", "floating", "fixed", alone=True),),
            scope=Scope.BLOCK,
        ),
        Form(name="reset", options=(variable(), flag("off"))),
        Form(name="stable", options=(variable(),)),
        Form(
            name="stream",
            options=(
                variable(),
                integer("depth", 1),
                choice("type", "fifo", "pipo", "shared", "unsync"),
                flag("off", "type=pipo"),
                integer("dim", instead="nothing: it is ignored"),
            ),
        ),
        Form(name="top", options=(name_("name"),), scope=Scope.FUNCTION),
        Form(
            name="unroll",
            options=(
                integer("factor", 1),
                flag("skip_exit_check"),
                flag("complete", "plain unroll"),
                flag("partial", "factor=N"),
                flag("region", "an unroll in each of the loops"),
            ),
            scope=Scope.LOOP,
        ),
        # what is no longer supported: its options are not looked at
        Form(name="resource", instead="bind_op or bind_storage"),
        Form(name="data_pack", instead="aggregate"),
        Form(name="shared", instead="stream with type=shared"),
        Form(name="array_map", instead="one array that holds both"),
        Form(name="clock", instead="nothing: a kernel has one clock"),
        Form(name="stable_content", instead="stable"),
    )
}  # fmt: skip
"""Every pragma by its name."""
