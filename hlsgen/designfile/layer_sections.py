"""Entries of `layers:` of a network that is written out: a section for each kind of layer of docs/layers.md.

A kind's class says its keys; `SECTIONS` finds it. frontends/builder/written_layers.py makes the layers.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Union

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError, WithJsonSchema

from hlsgen.designfile.model_schema import MAPPING_KEYS
from hlsgen.designfile.schema_values import (
    MAX_CHANNELS,
    NAME_SCHEMA,
    Channels,
    HasBias,
    KernelSize,
    Padding,
    Weights,
    WeightSeed,
    check_identifier,
    integers_of,
    pair_of,
    shape_of,
    sides_of,
)
from hlsgen.designfile.validation import (
    Entries,
    Mistake,
    Real,
    Whole,
    mistakes_in,
    must_be,
    nearest,
    needed_keys,
    refused,
)
from hlsgen.layers.functions import FUNCTIONS

NUMBER = Real(-(2.0**127), 2.0**127)
MOST_STEPS = 4096
ORDERS = ("upsample", "depth_to_space", "space_to_depth", "reshape", "axes")
"""What a rearrange may do."""
_SIDE = Whole(1, 65536)
_PLACE = Whole(0, 65535)
_STRIDE = Whole(-(2**31), 2**31)
Number = Annotated[float, NUMBER]
_WINDOW = Whole(1, 4096)


def check_layer_name(value: object) -> str:
    """An identifier that can be a key of a network's `mapping`. Raises what `refused` makes."""
    name = check_identifier(value)
    if name in MAPPING_KEYS:
        raise refused(Mistake(message=f"must not be {name}, a key of `mapping`", fix=f"write {name}1"))
    if name.endswith("_"):
        message = f"must not end with an underscore, as {name} does: what is made for it is called {name}_..."
        raise refused(Mistake(message=message, fix=f"write {name.rstrip('_')}"))
    return name


def check_numbers(value: object) -> tuple[float, ...]:
    """A number for all channels, or a list of one for each. Raises what `refused` makes."""
    if isinstance(value, list | tuple) and value:
        mistakes = [
            must_be("a number", one, "write a number", (index,))
            for index, one in enumerate(value)
            if not NUMBER.holds(one)
        ]
        if mistakes:
            raise refused(*mistakes)
        return tuple(value)
    if NUMBER.holds(value):
        return (value,)
    raise refused(must_be("a number or a list of numbers", value, "write 0.5, or one for each channel"))


def check_function(value: object) -> str:
    """A name in FUNCTIONS. Raises what `refused` makes."""
    if isinstance(value, str) and value in FUNCTIONS:
        return value
    fix = f"{nearest(value, list(FUNCTIONS))}the functions are {', '.join(FUNCTIONS)}"
    raise refused(must_be("a function of tables", value, fix))


FunctionName = Annotated[str, PlainValidator(check_function), WithJsonSchema({"enum": list(FUNCTIONS)})]
NetworkName = Annotated[str, PlainValidator(check_layer_name), NAME_SCHEMA]
Shape = Annotated[tuple[int, int, int], *shape_of(_SIDE)]
Begin = Annotated[tuple[int, int, int], *shape_of(_PLACE)]
Numbers = Annotated[
    tuple[float, ...],
    PlainValidator(check_numbers),
    WithJsonSchema(
        {"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}, "minItems": 1}]}
    ),
]
Atom = Annotated[tuple[int, int], *integers_of(("size", "stride"), (_SIDE, _STRIDE))]
Axis = Annotated[tuple[Atom, ...], Entries(0, 8)]


class Layer(BaseModel):
    """What every entry has. sources: how many tensors a layer of the kind reads, (least, most)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)
    sources: ClassVar[tuple[int, int]] = (1, 1)

    name: NetworkName = Field(examples=["conv1"])
    """C++ identifier, unique in the design."""
    kind: str = Field(examples=["conv2d"])
    """What the layer computes."""
    inputs: Annotated[tuple[NetworkName, ...], Entries(1, 64)] | None = None
    """The layers or inputs that it reads, which stand before it; default: the entry before, or the input."""


class Conv2dLayer(Layer):
    """Convolution; `kernel`, `stride` and `dilation` are (height, width)."""

    kind: Literal["conv2d"]
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
    groups: Channels = 1
    """Groups of channels that see each other; as many as input channels: depthwise."""
    bias: HasBias = True
    """Whether each output channel has a bias."""
    weights: Weights = WeightSeed(0)
    """A .npz (weight [M, C / groups, KH, KW], bias [M]) or .npy file, or {seed: n} for random weights."""


class DenseLayer(Layer):
    """A matrix times all elements of a tensor, flattened as [C, H, W]."""

    kind: Literal["dense"]
    out_channels: Channels = Field(examples=[10])
    """Number of results."""
    bias: HasBias = True
    """Whether each result has a bias."""
    weights: Weights = WeightSeed(0)
    """A .npz (weight [M, C H W], bias [M]) or .npy file, or {seed: n} for random weights."""


class AffineLayer(Layer):
    """scale * x + shift for each channel: batch normalisation with its statistics worked in."""

    kind: Literal["affine"]
    scale: Numbers = (1.0,)
    """A number, or one for each channel."""
    shift: Numbers = (0.0,)
    """A number, or one for each channel."""
    weights: Weights | None = None
    """A .npz file in place of both, with weight [C], the scale, and bias [C], the shift."""


class Pool2dLayer(Layer):
    """The largest value or the mean of a window."""

    kind: Literal["pool2d"]
    function: Literal["max", "average"] = Field(examples=["max"])
    """max or average."""
    kernel: Annotated[tuple[int, int], *pair_of(_WINDOW)] = Field(examples=[2])
    """The window: one number or [height, width]."""
    stride: Annotated[tuple[int, int], *pair_of(_WINDOW)] = (1, 1)
    """Stride: one number or [height, width]."""
    padding: Annotated[tuple[int, int, int, int], *sides_of(_PLACE)] = (0, 0, 0, 0)
    """Around the input: n, [height, width] or [top, left, bottom, right]."""
    overhang: Annotated[tuple[int, int], *pair_of(_PLACE)] = (0, 0)
    """Rows below and columns to the right of the padding, never counted: ceil_mode."""
    dilation: Annotated[tuple[int, int], *pair_of(_WINDOW)] = (1, 1)
    """Distance of a window's neighbouring places; of max only."""
    count_include_pad: bool = False
    """Whether the mean counts the padding."""
    divisor: Annotated[int, Whole(1, 1 << 24)] | None = None
    """What sums are divided by in place of the count; 1 gives sums; of average only."""


class AdaptivePoolLayer(Layer):
    """The largest values or the means of windows that give a picture of `size`."""

    kind: Literal["adaptive_pool"]
    function: Literal["max", "average"] = Field(examples=["average"])
    """max or average."""
    size: Annotated[tuple[int, int], *pair_of(_SIDE)] = Field(examples=[[7, 7]])
    """Rows and columns of the result: one number or [height, width]."""


class GlobalPoolLayer(Layer):
    """The largest value, the mean or the sum of each channel."""

    kind: Literal["global_pool"]
    function: Literal["max", "average", "sum"] = Field(examples=["average"])
    """max, average or sum."""


class ClampLayer(Layer):
    """Values below low become low, above high high; {low: 0} is a ReLU."""

    model_config = ConfigDict(json_schema_extra=needed_keys("anyOf", ("low", "high")))
    kind: Literal["clamp"]
    low: Number | None = None
    """None: no limit."""
    high: Number | None = None
    """None: no limit."""


class LeakyLayer(Layer):
    """x where it is not negative, else slopes * x."""

    kind: Literal["leaky"]
    slopes: Numbers = Field(examples=[0.125])
    """A number, or one for each channel."""


class TableLayer(Layer):
    """A function of each value."""

    kind: Literal["table"]
    function: FunctionName = Field(examples=["sigmoid"])
    """A name of the table in docs/layers.md."""
    parameters: Annotated[tuple[Number, ...], Entries(0, 8)] = ()
    """The function's parameters, in the order of that table; those left out have their defaults."""


class StepsLayer(Layer):
    """values[i], where i of the thresholds are not above x."""

    kind: Literal["steps"]
    thresholds: Annotated[tuple[Number, ...], Entries(1, MOST_STEPS)] = Field(examples=[[0.0]])
    """Ascending."""
    values: Annotated[tuple[Number, ...], Entries(2, MOST_STEPS + 1)] = Field(examples=[[-1.0, 1.0]])
    """One more than thresholds."""


class SoftmaxLayer(Layer):
    """exp(x) over the sum of exp(x) of the pixel's channels."""

    kind: Literal["softmax"]


class LogSoftmaxLayer(Layer):
    """The logarithm of the softmax over the channels."""

    kind: Literal["log_softmax"]


class ArgMaxLayer(Layer):
    """The index of the first largest channel of each pixel."""

    kind: Literal["argmax"]


class _TwoInputs(Layer):
    sources: ClassVar[tuple[int, int]] = (2, 2)


class AddLayer(_TwoInputs):
    """left + right, element by element; one of a pixel goes for every pixel."""

    kind: Literal["add"]


class SubLayer(_TwoInputs):
    """left - right, element by element; one of a pixel goes for every pixel."""

    kind: Literal["sub"]


class MulLayer(_TwoInputs):
    """left * right, element by element; one of a pixel goes for every pixel: a gate."""

    kind: Literal["mul"]


class ConcatLayer(Layer):
    """Tensors one after the other."""

    sources: ClassVar[tuple[int, int]] = (2, 64)
    kind: Literal["concat"]
    axis: Annotated[int, Whole(0, 2)] = 0
    """0 channels, 1 rows, 2 columns."""


class CropLayer(Layer):
    """out[c, y, x] = in[begin + (c, y, x) step]; all of them are [channel, row, column]."""

    kind: Literal["crop"]
    begin: Begin = Field(examples=[[0, 1, 1]])
    """Where the first element stands."""
    size: Shape = Field(examples=[[3, 6, 6]])
    """The shape of the result."""
    step: Shape = (1, 1, 1)
    """The steps from element to element."""


class PadLayer(Layer):
    """A border of a constant."""

    kind: Literal["pad"]
    padding: Annotated[tuple[int, int, int, int], *sides_of(_PLACE)] = (0, 0, 0, 0)
    """n, [height, width] or [top, left, bottom, right]."""
    channels: Annotated[tuple[int, int], *pair_of(Whole(0, MAX_CHANNELS))] = (0, 0)
    """Channels [before, after]."""
    value: Number = 0.0
    """The value of the border."""


class RearrangeLayer(Layer):
    """Elements in another order: one of upsample, depth_to_space, space_to_depth, reshape, axes."""

    model_config = ConfigDict(json_schema_extra=needed_keys("oneOf", ORDERS))
    kind: Literal["rearrange"]
    upsample: Annotated[tuple[int, int], *pair_of(_WINDOW)] | None = None
    """Each row and column so many times: nearest neighbours."""
    depth_to_space: Annotated[tuple[int, int], *pair_of(_WINDOW)] | None = None
    """Channels become blocks of so many rows and columns: PyTorch's pixel shuffle."""
    space_to_depth: Annotated[tuple[int, int], *pair_of(_WINDOW)] | None = None
    """Blocks of so many rows and columns become channels: pixel unshuffle."""
    reshape: Shape | None = None
    """The elements, row by row, as [channels, height, width]."""
    axes: Annotated[tuple[Axis, ...], Entries(3, 3)] | None = None
    """Lists of [size, stride] for channel, row and column, outermost first; stride 0 repeats."""
    offset: Annotated[int, Whole(0, 2**31)] = 0
    """The first element, with axes."""


_CLASSES: tuple[type[Layer], ...] = (
    Conv2dLayer,
    DenseLayer,
    AffineLayer,
    Pool2dLayer,
    AdaptivePoolLayer,
    GlobalPoolLayer,
    ClampLayer,
    LeakyLayer,
    TableLayer,
    StepsLayer,
    SoftmaxLayer,
    LogSoftmaxLayer,
    ArgMaxLayer,
    AddLayer,
    SubLayer,
    MulLayer,
    ConcatLayer,
    CropLayer,
    PadLayer,
    RearrangeLayer,
)


def _kind(section: type[Layer]) -> str:
    (kind,) = section.model_fields["kind"].annotation.__args__  # type: ignore[union-attr]
    return str(kind)


SECTIONS: dict[str, type[Layer]] = {_kind(section): section for section in _CLASSES}
"""The kinds of layers that a design may name."""
NOT_WRITTEN = {
    "cast": "precision: {layers: {name: type}}, which says the type of a layer's results",
    "row_blocks": "style: mixed, which puts it between its kernels",
    "thresholds": "steps, whose thresholds all channels share, or a model of QONNX with MultiThreshold",
}
"""Kinds of docs/layers.md that a design does not name, and what does their work."""


def kind_mistake(value: object) -> Mistake:
    """The mistake of an entry's `kind` that there is not, relative to the entry."""
    other = NOT_WRITTEN.get(value) if isinstance(value, str) else None
    fix = other or f"{nearest(value, list(SECTIONS))}the kinds are {', '.join(SECTIONS)}"
    return must_be("a kind of layer" if other is None else "a kind that is written", value, fix, ("kind",))


def check_layer(value: object) -> Layer:
    """An entry of `layers`, by its kind. Raises what `refused` makes, with every mistake of the entry."""
    if isinstance(value, Layer):
        return value
    section = Layer
    if isinstance(value, dict) and "kind" in value:
        kind = value["kind"]
        if not isinstance(kind, str) or kind not in SECTIONS:
            raise refused(kind_mistake(kind))
        section = SECTIONS[kind]
    try:
        found = section.model_validate(value)
    except ValidationError as error:
        details = error.errors(include_url=False)
        raise refused(*(one for each in details for one in mistakes_in(each, section))) from None
    mistakes = _combined(found)
    if mistakes:
        raise refused(*mistakes)
    return found


def _combined(entry: Layer) -> list[Mistake]:
    """What is wrong with keys that are right by themselves."""
    if isinstance(entry, ClampLayer) and entry.low is None and entry.high is None:
        return [Mistake(message="needs low or high", fix="add `low: 0` for a ReLU")]
    if isinstance(entry, AffineLayer) and entry.weights is not None:
        both = entry.model_fields_set & {"scale", "shift"}
        fix = "leave weights out, or scale and shift"
        return [Mistake(message="has a value beside weights", fix=fix, at=(key,)) for key in sorted(both)]
    if isinstance(entry, RearrangeLayer):
        given = [key for key in ORDERS if getattr(entry, key) is not None]
        if len(given) != 1:
            what = "needs" if not given else f"has {' and '.join(given)}, but takes"
            fix = f"leave {', '.join(given[1:])} out" if given else "for example `upsample: 2`"
            return [Mistake(message=f"{what} one of {', '.join(ORDERS)}", fix=fix)]
    return []


_Union: Any = Annotated[Union[_CLASSES], Field(discriminator="kind")]  # noqa: UP007  # a tuple of classes
AnyLayer = Annotated[Layer, PlainValidator(check_layer, json_schema_input_type=_Union)]
