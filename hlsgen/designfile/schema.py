"""The design file: its keys, their limits and defaults, as frozen models with normalised values.

`read_design_file` reads one and finds every mistake, with its line. A layer by itself, a convolution; layers
that make a network are layers_file.py's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    model_validator,
)

from hlsgen.base.errors import Problem
from hlsgen.designfile.clock import CLOCKS_MHZ, DEFAULT_UNCERTAINTY, UNCERTAINTIES, UNCERTAINTY_EXAMPLE
from hlsgen.designfile.document import Document
from hlsgen.designfile.layer_sections import kind_mistake
from hlsgen.designfile.margins import MarginKey
from hlsgen.designfile.schema_values import (
    MAX_CHANNELS,
    NAME_SCHEMA,
    Accumulator,
    BoardName,
    Channels,
    HasBias,
    KernelSize,
    Name,
    Padding,
    Samples,
    Shape,
    Type,
    Weights,
    WeightSeed,
    check_identifier,
)
from hlsgen.designfile.validation import (
    Entries,
    Location,
    Mistake,
    Real,
    Whole,
    must_be,
    nearest,
    refused,
    shown,
)

KINDS: tuple[str, ...] = ("conv2d",)
"""Every kind of layer that is a kernel by itself; those of networks are `layer_sections.SECTIONS`."""


def check_layer_name(value: object) -> str:
    """An identifier that can be a key of `mapping`. Raises what `refused` makes."""
    name = check_identifier(value)
    if name in MappingSection.model_fields:
        raise refused(Mistake(message=f"must not be {name}, a key of `mapping`", fix=f"write {name}1"))
    return name


LayerName = Annotated[str, PlainValidator(check_layer_name), NAME_SCHEMA]


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
    bias: HasBias = True
    """Whether each output channel has a bias."""
    weights: Weights = WeightSeed(0)
    """A .npz or .npy file, or {seed: n} for random weights."""

    @model_validator(mode="before")
    @classmethod
    def check_kind(cls, data: object) -> object:
        """A kind that does not exist makes every other message about the layer pointless."""
        if isinstance(data, dict) and "kind" in data and data["kind"] not in KINDS:
            raise refused(kind_mistake(data["kind"]))
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


class FoldingMapping(_Section):
    """A folding. None: chosen by hlsgen."""

    rows: Annotated[int, Whole(1, 65536)] | None = None
    """Output rows computed at once."""
    pe: Channels | None = None
    """Output channels computed at once."""
    simd: Channels | None = None
    """Input channels read at once."""
    fabric_pe: Annotated[int, Whole(0, MAX_CHANNELS)] | None = None
    """How many of `pe` have their adders (fp32) or multipliers (fixed point) in LUTs instead of DSPs."""
    order: Literal["rows", "channels"] | None = None
    """Outermost loop: tiles of rows (all weights on chip), or output channels (those of `pe` on chip)."""
    algorithm: Literal["direct", "winograd"] | None = None
    """winograd: two rows by four products of a column instead of six, for kernels of three rows."""


class SecondFolding(FoldingMapping):
    """A second folding of the layer, a kernel of its own. None: chosen by hlsgen."""

    instances: Annotated[int, Whole(1, 1024)] | None = None
    """Copies of this kernel; those of the first are `instances` of the mapping."""


class LayerMapping(FoldingMapping):
    """How one layer becomes hardware. None: chosen by hlsgen."""

    second: SecondFolding | None = None
    """A second folding, whose instances fill what those of the first leave; None: none is asked for."""


class MappingSection(BaseModel):
    """Folding of the layers, by layer name; `auto` is the same as an empty mapping."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, use_attribute_docstrings=True)
    __pydantic_extra__: dict[str, LayerMapping] = Field(init=False)

    instances: Annotated[int, Whole(1, 1024)] | None = None
    """Copies of the kernel; None: chosen by hlsgen."""
    foldings: Annotated[int, Whole(1, 2)] | None = None
    """The most foldings that instances may have; None: two where the mapping fixes nothing, else one."""

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
    """A convolution as a kernel, the board it is for, and what is fixed about its hardware."""

    name: Name = Field(examples=["conv"])
    """C++ identifier; names the kernel and the build folder."""
    board: BoardName = Field(examples=["u200"])
    """A board by name, or the path of a board file ending in .yaml."""
    clock_mhz: Annotated[float, Real(*CLOCKS_MHZ)] | None = None
    """Target clock; None: the board's."""
    uncertainty: Annotated[float, Real(*UNCERTAINTIES, UNCERTAINTY_EXAMPLE)] = DEFAULT_UNCERTAINTY
    """Share of the clock's period that HLS keeps back for routing: 0.27 leaves 2.43 of 3.33 ns."""
    margin: MarginKey | None = None
    """Share of the usable LUTs and FFs that stays free for the model's error, or auto; None: the board's."""
    style: Literal["tasks", "dataflow"] = "tasks"
    """tasks: a kernel that is called layer by layer; dataflow: one streaming kernel."""
    interface: Literal["memory", "stream"] = "memory"
    """memory: DDR at both ends; stream is for networks, see `model`."""
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
        mistakes = name_mistakes(self.name, [layer.name for layer in self.layers], self.mapping.layers)
        if mistakes:
            raise refused(*mistakes)
        return self


def name_mistakes(design: object, names: list[object], mapped: Iterable[str]) -> list[Mistake]:
    """Layer names used twice or for the design, and names under `mapping` that are no layer's."""
    mistakes = []
    first: dict[str, int] = {}
    for index, name in enumerate(names):
        if isinstance(name, str) and name == design:
            message = f"must not be {shown(name)}, the name of the design and of its kernel"
            mistakes.append(Mistake(message=message, fix=f"write {name}1", at=("layers", index, "name")))
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


def read_design_file(path: Path) -> tuple[DesignFile | None, Document, list[Problem]]:
    """The design in the file, the document that knows its positions, and every mistake of its form.

    None: there are mistakes. Raises DesignError: it is no YAML.
    """
    document = Document.read(path)
    try:
        return DesignFile.model_validate(document.data), document, []
    except ValidationError as error:
        problems = document.problems(error, DesignFile)
        known = frozenset(MappingSection.model_fields)
        problems += map(document.problem, name_mistakes_in(document.data, known))
        return None, document, problems


def name_mistakes_in(data: Mapping[str, Any], mapping_keys: frozenset[str]) -> list[Mistake]:
    """`name_mistakes` of data that is wrong elsewhere, so far as it has names.

    mapping_keys: those of `mapping` that are no layer's.
    """
    layers = data.get("layers")
    mapping = data.get("mapping")
    entries = layers if isinstance(layers, list) else []
    names = [entry.get("name") if isinstance(entry, dict) else None for entry in entries]
    mapped = [key for key in mapping if key not in mapping_keys] if isinstance(mapping, dict) else []
    # Without the names of all layers it cannot be said which are unknown.
    complete = bool(names) and all(isinstance(name, str) for name in names)
    return name_mistakes(data.get("name"), names, mapped if complete else [])
