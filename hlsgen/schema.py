"""The design file: its keys, their limits and defaults, as frozen models with normalised values.

`load_design_file` reads one and reports every mistake at its line; `design_json_schema` describes the
same keys to editors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from hlsgen.board import load_board
from hlsgen.document import (
    Document,
    Entries,
    Location,
    Mistake,
    Real,
    Whole,
    in_order,
    must_be,
    nearest,
    refused,
    shown,
    unknown_key,
)
from hlsgen.errors import DesignError, Problem
from hlsgen.fixed import ACCEPTED, NumberType, parse_type

KINDS: tuple[str, ...] = ("conv2d",)
"""Every kind of layer that a design may name."""

# C++11 to C++20: keywords, alternative tokens, and identifiers with special meaning.
# fmt: off
CPP_KEYWORDS = frozenset({
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
    "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield",
    "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue",
    "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export",
    "extern", "false", "final", "float", "for", "friend", "goto", "if", "import", "inline", "int", "long",
    "module", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
    "or_eq", "override", "private", "protected", "public", "register", "reinterpret_cast", "requires",
    "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch",
    "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union",
    "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
})
# fmt: on
RESERVED_NAMES = frozenset({"main", "std", "hls", "hlsgen"})
"""Names that emitted C++ needs for itself."""

MAX_CHANNELS = 16384
Channels = Annotated[int, Whole(1, MAX_CHANNELS)]
_SIDE = Whole(1, 65536)
_KERNEL_SIDE = Whole(1, 64)
_PADDING_SIDE = Whole(0, 64)

Pair = tuple[int, int]
Sides = tuple[int, int, int, int]


@dataclass(frozen=True)
class WeightFile:
    """Weights from a .npz or .npy file; `path` is as the design writes it, relative to the design."""

    path: Path


@dataclass(frozen=True)
class WeightSeed:
    """Random weights from a generator with this seed."""

    seed: int


@dataclass(frozen=True)
class SampleFile:
    """Input frames from a .npy file; `path` is as the design writes it, relative to the design."""

    path: Path


# ---------------------------------------------------------------- single values


def check_identifier(value: object) -> str:
    """`value` if it can name things in C++ and in file names. Raises what `refused` makes."""
    fix = "use up to 63 letters, digits and single underscores, starting with a letter"
    if not isinstance(value, str):
        raise refused(must_be("a name", value, fix))
    if re.fullmatch("[A-Za-z][A-Za-z0-9_]{0,62}", value) is None:
        raise refused(must_be("a C++ identifier of at most 63 characters", value, fix))
    if "__" in value:
        message = f"must not hold two underscores in a row, as {shown(value)} does: C++ keeps such names"
        raise refused(Mistake(message=message, fix=fix))
    if value in CPP_KEYWORDS:
        raise refused(
            Mistake(message=f"must not be the C++ keyword {value}", fix=f"write {value}1 or another name")
        )
    if value in RESERVED_NAMES:
        message = f"must not be {value}, which the emitted C++ uses itself"
        raise refused(Mistake(message=message, fix=f"write {value}1 or another name"))
    return value


def check_layer_name(value: object) -> str:
    """An identifier that can be a key of `mapping`. Raises what `refused` makes."""
    name = check_identifier(value)
    if name in MappingSection.model_fields:
        raise refused(Mistake(message=f"must not be {name}, a key of `mapping`", fix=f"write {name}1"))
    return name


def check_type(value: object) -> NumberType:
    """The number type that `value` names. Raises what `refused` makes."""
    if not isinstance(value, str) or len(value) > 80 or not value.isprintable():
        raise refused(must_be("a number type", value, ACCEPTED))
    try:
        return parse_type(value)
    except ValueError as error:
        reason = str(error).removesuffix(f"; {ACCEPTED}")
        raise refused(Mistake(message=f"must be a number type: {reason}", fix=ACCEPTED)) from None


def check_accumulator(value: object) -> Literal["exact", "tight"] | NumberType:
    """`exact`, `tight` or a type. Raises what `refused` makes."""
    if value == "exact" or value == "tight":
        return "exact" if value == "exact" else "tight"
    try:
        return check_type(value)
    except ValueError:
        if isinstance(value, str) and "<" in value:
            raise  # It was meant as a type, and parse_type says what is wrong with it.
        fix = f"{nearest(value, ['exact', 'tight'])}write exact, tight or a type; {ACCEPTED}"
        raise refused(must_be("exact, tight or a number type", value, fix)) from None


def check_shape(value: object) -> tuple[int, int, int]:
    """[channels, height, width] of one input frame. Raises what `refused` makes."""
    fix = "write [channels, height, width], for example [16, 64, 64]"
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise refused(must_be("[channels, height, width]", value, fix))
    channels, height, width = _within((Whole(1, MAX_CHANNELS), _SIDE, _SIDE), value)
    return channels, height, width


def check_pair(side: Whole) -> Callable[[object], Pair]:
    """The check of `n` or `[height, width]`, each within `side`, that returns (height, width)."""

    def check(value: object) -> Pair:
        if isinstance(value, list | tuple) and len(value) == 2:
            return _pair_within(side, value)
        if type(value) is int and side.low <= value <= side.high:
            return value, value
        fix = "write one number, or [height, width]"
        raise refused(must_be(f"{side}, or a list of two", value, fix))

    return check


def check_padding(value: object) -> Literal["same", "valid"] | Sides:
    """ "same", "valid" or (top, left, bottom, right). Raises what `refused` makes."""
    if value == "same" or value == "valid":
        return "same" if value == "same" else "valid"
    if isinstance(value, list | tuple) and len(value) == 4:
        top, left, bottom, right = _within((_PADDING_SIDE,) * 4, value)
        return top, left, bottom, right
    if isinstance(value, list | tuple) and len(value) == 2:
        height, width = _pair_within(_PADDING_SIDE, value)
        return height, width, height, width
    if type(value) is int and _PADDING_SIDE.low <= value <= _PADDING_SIDE.high:
        return value, value, value, value
    words = nearest(value, ["same", "valid"]) if isinstance(value, str) else ""
    fix = f"{words}write one number, [height, width], [top, left, bottom, right], same or valid"
    wanted = f"{_PADDING_SIDE}, a list of two or four, same or valid"
    raise refused(must_be(wanted, value, fix))


def check_weights(value: object) -> WeightFile | WeightSeed:
    """A path that ends in .npz or .npy, or {seed: n}. Raises what `refused` makes."""
    fix = "write a path such as conv1.npz, or {seed: 7} for random weights"
    if isinstance(value, str):
        return WeightFile(_path(value, (".npz", ".npy"), fix))
    if not isinstance(value, dict):
        raise refused(must_be("a path or {seed: number}", value, fix))
    mistakes = [unknown_key((key,), ["seed"]) for key in value if key != "seed"]
    if "seed" not in value:
        mistakes.append(Mistake(message="needs a seed", fix=fix))
    if mistakes:
        raise refused(*mistakes)
    return WeightSeed(Whole(0, 2**32 - 1).check(value["seed"], ("seed",)))


def check_samples(value: object) -> Literal["photograph", "random"] | SampleFile:
    """`photograph`, `random` or a path that ends in .npy. Raises what `refused` makes."""
    if value == "photograph" or value == "random":
        return "photograph" if value == "photograph" else "random"
    fix = f"{nearest(value, ['photograph', 'random'])}write photograph, random or a path that ends in .npy"
    if not isinstance(value, str):
        raise refused(must_be("photograph, random or a path", value, fix))
    return SampleFile(_path(value, (".npy",), fix))


def check_board_name(value: object) -> str:
    """Text that `load_board` may look up. Raises what `refused` makes."""
    if not isinstance(value, str) or not value.isprintable():
        raise refused(
            must_be("the name of a board or a path that ends in .yaml", value, "write for example u200")
        )
    return value


def _path(text: str, endings: tuple[str, ...], fix: str) -> Path:
    if not text.isprintable():
        raise refused(must_be("a path without control characters", text, fix))
    if not text.endswith(endings) or text in endings:
        raise refused(must_be(f"a path that ends in {' or '.join(endings)}", text, fix))
    return Path(text)


def _pair_within(side: Whole, values: Sequence[object]) -> Pair:
    height, width = _within((side, side), values)
    return height, width


def _within(limits: tuple[Whole, ...], values: Sequence[object]) -> list[int]:
    """The values, each within its limit. Raises one error that holds every mistake."""
    mistakes = [
        limit.mistake(value, (index,))
        for index, (limit, value) in enumerate(zip(limits, values, strict=True))
        if not limit.holds(value)
    ]
    if mistakes:
        raise refused(*mistakes)
    return [value for limit, value in zip(limits, values, strict=True) if limit.holds(value)]


# ---------------------------------------------------------------- their JSON schemas


def _integers(side: Whole, count: int) -> dict[str, Any]:
    return {"type": "array", "items": _integer(side), "minItems": count, "maxItems": count}


def _integer(side: Whole) -> dict[str, Any]:
    return {"type": "integer", "minimum": side.low, "maximum": side.high}


def _pair(side: Whole) -> tuple[PlainValidator, WithJsonSchema]:
    return PlainValidator(check_pair(side)), WithJsonSchema({"anyOf": [_integer(side), _integers(side, 2)]})


_NAME_SCHEMA = WithJsonSchema({"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_]{0,62}$"})
_TYPE_SCHEMA: dict[str, Any] = {"type": "string", "description": ACCEPTED}
_SEED_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"seed": _integer(Whole(0, 2**32 - 1))},
    "required": ["seed"],
    "additionalProperties": False,
}

Name = Annotated[str, PlainValidator(check_identifier), _NAME_SCHEMA]
LayerName = Annotated[str, PlainValidator(check_layer_name), _NAME_SCHEMA]
BoardName = Annotated[str, PlainValidator(check_board_name), WithJsonSchema({"type": "string"})]
Type = Annotated[NumberType, PlainValidator(check_type), WithJsonSchema(_TYPE_SCHEMA)]
Accumulator = Annotated[
    Literal["exact", "tight"] | NumberType,
    PlainValidator(check_accumulator),
    WithJsonSchema({"anyOf": [{"enum": ["exact", "tight"]}, _TYPE_SCHEMA]}),
]
Shape = Annotated[tuple[int, int, int], PlainValidator(check_shape), WithJsonSchema(_integers(_SIDE, 3))]
KernelSize = Annotated[Pair, *_pair(_KERNEL_SIDE)]
Padding = Annotated[
    Literal["same", "valid"] | Sides,
    PlainValidator(check_padding),
    WithJsonSchema(
        {
            "anyOf": [
                _integer(_PADDING_SIDE),
                _integers(_PADDING_SIDE, 2),
                _integers(_PADDING_SIDE, 4),
                {"enum": ["same", "valid"]},
            ]
        }
    ),
]
Weights = Annotated[
    WeightFile | WeightSeed,
    PlainValidator(check_weights),
    WithJsonSchema({"anyOf": [{"type": "string", "pattern": r"\.np[yz]$"}, _SEED_SCHEMA]}),
]
Samples = Annotated[
    Literal["photograph", "random"] | SampleFile,
    PlainValidator(check_samples),
    WithJsonSchema({"anyOf": [{"enum": ["photograph", "random"]}, {"type": "string", "pattern": r"\.npy$"}]}),
]


# ---------------------------------------------------------------- the file


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)


class InputSection(_Section):
    """The one input of the network."""

    shape: Shape = Field(examples=[[16, 64, 64]])
    """[channels, height, width] of a frame."""
    type: Type = Field(examples=["fixed<16,6>"])
    """Number type of the input; in quotes inside { }."""
    samples: Samples = "photograph"
    """Frames to simulate with: photograph, random, or a .npy file."""


class LayerSection(_Section):
    """One layer. `kernel`, `stride` and `dilation` are (height, width)."""

    name: LayerName = Field(examples=["conv1"])
    """C++ identifier, unique in the design."""
    kind: str = Field(examples=["conv2d"], json_schema_extra={"enum": list(KINDS)})
    """What the layer computes."""
    out_channels: Channels = Field(examples=[16])
    """Number of output channels."""
    kernel: KernelSize = Field(examples=[3])
    """Kernel size: one number or [height, width]."""
    stride: KernelSize = (1, 1)
    """Stride: one number or [height, width]."""
    padding: Padding = (0, 0, 0, 0)
    """Zeros around the input: n, [height, width], [top, left, bottom, right], same or valid."""
    dilation: KernelSize = (1, 1)
    """Distance of neighbouring taps: one number or [height, width]."""
    bias: bool = True
    """Whether each output channel has a bias."""
    weights: Weights = WeightSeed(0)
    """A .npz or .npy file, or {seed: n} for random weights."""

    @model_validator(mode="before")
    @classmethod
    def check_kind(cls, data: object) -> object:
        """A kind that does not exist makes every other message about the layer pointless."""
        if isinstance(data, dict) and "kind" in data and data["kind"] not in KINDS:
            fix = f"{nearest(data['kind'], list(KINDS))}the kinds are {', '.join(KINDS)}"
            raise refused(must_be("a kind of layer", data["kind"], fix, ("kind",)))
        return data


class PrecisionSection(_Section):
    """Number types of what is not the input. None: chosen by hlsgen."""

    weights: Type | None = None
    """Type of the weights."""
    bias: Type | None = None
    """Type of the biases."""
    output: Type | None = None
    """Type of each layer's output."""
    accumulator: Accumulator = "exact"
    """exact: no overflow for any weights; tight: none for these weights; or a type."""


class LayerMapping(_Section):
    """How one layer becomes hardware. None: chosen by hlsgen."""

    rows: Annotated[int, Whole(1, 65536)] | None = None
    """Output rows computed at once."""
    pe: Channels | None = None
    """Output channels computed at once."""
    simd: Channels | None = None
    """Input channels read at once."""
    fabric_pe: Annotated[int, Whole(0, MAX_CHANNELS)] | None = None
    """How many of `pe` have their adders (fp32) or multipliers (fixed point) in LUTs instead of DSPs."""
    order: Literal["rows", "channels"] | None = None
    """Outermost loop: tiles of rows (all weights on chip), or output channels (the weights of `pe` on chip)."""


class MappingSection(BaseModel):
    """Folding of the layers, by layer name; `auto` is the same as an empty mapping."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, use_attribute_docstrings=True)
    __pydantic_extra__: dict[str, LayerMapping] = Field(init=False)

    instances: Annotated[int, Whole(1, 1024)] | None = None
    """Copies of the kernel; None: chosen by hlsgen."""

    @property
    def layers(self) -> dict[str, LayerMapping]:
        """The fixed values of each layer that has any, by layer name."""
        return dict(self.__pydantic_extra__)


def _mapping(value: object) -> object:
    if value == "auto":
        return {}
    if not isinstance(value, dict | MappingSection):
        fix = f"{nearest(value, ['auto'])}write auto, or for example {{instances: 4, conv1: {{pe: 8}}}}"
        raise refused(must_be("auto or a mapping", value, fix))
    return value


class DesignFile(_Section):
    """A network of layers, the board it is for, and what is fixed about its hardware."""

    name: Name = Field(examples=["conv"])
    """C++ identifier; names the kernel and the build folder."""
    board: BoardName = Field(examples=["u200"])
    """A board by name, or the path of a board file ending in .yaml."""
    clock_mhz: Annotated[float, Real(50, 800)] | None = None
    """Target clock; None: the board's."""
    style: Literal["tasks", "dataflow"] = "tasks"
    """tasks: a kernel that is called layer by layer; dataflow: one streaming kernel."""
    batch: Annotated[int, Whole(1, 1_000_000)] = 64
    """Frames in one run."""
    input: InputSection = Field(examples=[{"shape": [16, 64, 64], "type": "fixed<16,6>"}])
    """The network's input."""
    layers: Annotated[tuple[LayerSection, ...], Entries(1, 1000)] = Field(
        examples=[[{"name": "conv1", "kind": "conv2d", "out_channels": 16, "kernel": 3}]]
    )
    """The layers, first to last."""
    precision: PrecisionSection = PrecisionSection()
    """Number types of weights, biases, outputs and sums."""
    mapping: Annotated[
        MappingSection,
        BeforeValidator(_mapping, json_schema_input_type=Literal["auto"] | MappingSection),
    ] = MappingSection()
    """auto, or fixed values: {instances: 4, conv1: {pe: 8}}."""

    @model_validator(mode="after")
    def check_names(self) -> Self:
        mistakes = _name_mistakes([layer.name for layer in self.layers], self.mapping.layers)
        if mistakes:
            raise refused(*mistakes)
        return self


def _name_mistakes(names: list[object], mapped: Iterable[str]) -> list[Mistake]:
    """Layer names used twice, and names under `mapping` that are no layer's."""
    mistakes = []
    first: dict[str, int] = {}
    for index, name in enumerate(names):
        if isinstance(name, str) and first.setdefault(name, index) != index:
            at: Location = ("layers", index, "name")
            message = f"must be unique, but layer {first[name] + 1} is called {shown(name)} too"
            mistakes.append(Mistake(message=message, fix="give each layer its own name", at=at))
    known = sorted(first)
    for name in mapped:
        if name not in first:
            fix = f"{nearest(name, known)}the layers are {', '.join(known[:20]) or 'missing'}"
            mistakes.append(
                Mistake(message="is no layer of this design", fix=fix, at=("mapping", name), key=True)
            )
    return mistakes


# ---------------------------------------------------------------- loading


def load_design_file(path: Path) -> tuple[DesignFile, Document]:
    """The design in the file, and the document that knows its positions.

    Raises DesignError with all independent mistakes, by line and column; the board is looked up too.
    """
    document = Document.read(path)
    problems: list[Problem] = []
    design: DesignFile | None = None
    try:
        design = DesignFile.model_validate(document.data)
    except ValidationError as error:
        problems += document.problems(error, DesignFile)
        problems += map(document.problem, _name_mistakes_in(document.data))
    board_problems = _board_problems(document)
    if design is None or problems or board_problems:
        # Mistakes in a board file stand after the design's own, whose line numbers they do not share.
        own = [one for one in board_problems if one.place and one.place.file == str(path)]
        other = [one for one in board_problems if one not in own]
        raise DesignError(in_order(problems + own) + other)
    return design, document


def _name_mistakes_in(data: Mapping[str, Any]) -> list[Mistake]:
    """`_name_mistakes` of data that is wrong elsewhere, so far as it has names."""
    layers = data.get("layers")
    mapping = data.get("mapping")
    entries = layers if isinstance(layers, list) else []
    names = [entry.get("name") if isinstance(entry, dict) else None for entry in entries]
    mapped = (
        [key for key in mapping if key not in MappingSection.model_fields]
        if isinstance(mapping, dict)
        else []
    )
    # Without the names of all layers it cannot be said which are unknown.
    complete = bool(names) and all(isinstance(name, str) for name in names)
    return _name_mistakes(names, mapped if complete else [])


def _board_problems(document: Document) -> list[Problem]:
    name = document.data.get("board")
    if not isinstance(name, str) or not name.isprintable():
        return []
    try:
        load_board(name, folder=document.path.parent, place=document.place(("board",)))
    except DesignError as error:
        return list(error.problems)
    return []


def design_json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a design file, for editors."""
    schema = DesignFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "hlsgen design"}
