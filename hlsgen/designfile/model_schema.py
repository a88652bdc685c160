"""The design file of a network: its keys, their limits and defaults; with `model` it is a framework's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)

from hlsgen.designfile.clock import CLOCKS_MHZ, DEFAULT_UNCERTAINTY, UNCERTAINTIES, UNCERTAINTY_EXAMPLE
from hlsgen.designfile.constraints import (
    PORT_KINDS,
    PROCESSOR_VALUES,
    ConstrainedPlace,
    ConstrainedStorage,
    InterfaceConstraints,
    LayerWeightConstraints,
    PortKind,
    ProcessorConstraints,
    WeightConstraints,
)
from hlsgen.designfile.margins import MarginKey
from hlsgen.designfile.precision_grammar import Default, InputType, PrecisionSection, written
from hlsgen.designfile.schema_values import MAX_CHANNELS, BoardName, Name, Samples
from hlsgen.designfile.validation import (
    Entries,
    Mistake,
    Real,
    Whole,
    must_be,
    nearest,
    needed_keys,
    refused,
)
from hlsgen.layers.conv2d_stream import MOST_BATCH

FRAMEWORKS = ("torch", "qkeras", "onnx")
_SIDE = Whole(1, 65536)
_FRAME_SHAPE: dict[str, Any] = {
    "type": "array",
    "items": {"type": "integer", "minimum": _SIDE.low, "maximum": _SIDE.high},
    "minItems": 1,
    "maxItems": 3,
}
TEXT_SCHEMA = WithJsonSchema({"type": "string", "minLength": 1})


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class TorchSource(BaseModel):
    """A function of a Python file that makes the network."""

    model_config = ConfigDict(frozen=True)
    path: Path
    function: str


def check_torch(value: object) -> TorchSource:
    """ "net.py:make_net" """
    fix = "the file and the function that makes the network, such as net.py:make_net"
    if not isinstance(value, str):
        raise refused(must_be("a file and a function", value, fix))
    found = re.fullmatch(r"(.+\.py):([A-Za-z_]\w*)", value)
    if found is None or not value.isprintable():
        raise refused(must_be("a file and a function", value, fix))
    return TorchSource(path=Path(found[1]), function=found[2])


def check_metric(value: object) -> TorchSource:
    """ "metric.py:efficiency" """
    try:
        return check_torch(value)
    except ValueError:
        fix = "the file and the function of (outputs, labels), such as metric.py:efficiency"
        raise refused(must_be("a file and a function", value, fix)) from None


def check_file(value: object) -> Path:
    """The path of a file, relative to the design."""
    if not isinstance(value, str) or not value or not value.isprintable():
        raise refused(must_be("the path of a file", value, "a path, relative to this design file"))
    return Path(value)


def check_frame_shape(value: object) -> tuple[int, ...]:
    """One to three sizes: the framework's shape of a frame, the batch left out."""
    fix = "the shape without the batch, such as [3, 32, 32]"
    if not isinstance(value, list) or not 1 <= len(value) <= 3:
        raise refused(must_be("a list of one to three sizes", value, fix))
    for index, size in enumerate(value):
        if not isinstance(size, int) or isinstance(size, bool) or not _SIDE.low <= size <= _SIDE.high:
            raise refused(must_be(f"a size from {_SIDE.low} to {_SIDE.high}", size, fix, (index,)))
    return tuple(value)


_TORCH_SCHEMA = WithJsonSchema({"type": "string", "pattern": r"^.+\.py:[A-Za-z_]\w*$"})
FilePath = Annotated[Path, PlainValidator(check_file), TEXT_SCHEMA]


class ModelSection(_Section):
    """Where the network comes from: one of torch, qkeras, onnx."""

    model_config = ConfigDict(json_schema_extra=needed_keys("oneOf", FRAMEWORKS))
    torch: Annotated[TorchSource, PlainValidator(check_torch), _TORCH_SCHEMA] | None = None
    """file.py:function of your own, which is run to make the network."""
    qkeras: FilePath | None = None
    """A QKeras or Keras model: .h5, .keras, a SavedModel folder, or .json beside weights."""
    onnx: FilePath | None = None
    """An ONNX or QONNX model."""
    weights: FilePath | None = None
    """With torch: a state_dict, or a checkpoint that holds one, for the network; nothing in it is run. With
    a .json file of Keras: the .h5 file of its weights."""

    @model_validator(mode="after")
    def check_one(self) -> Self:
        given = [name for name in FRAMEWORKS if getattr(self, name) is not None]
        if len(given) != 1:
            what = "names none of" if not given else "names more than one of"
            message = f"{what} {', '.join(FRAMEWORKS)}"
            raise refused(Mistake(message=message, fix="for example {torch: net.py:make_net}"))
        described = self.qkeras is not None and self.qkeras.suffix == ".json"
        if self.weights is not None and self.torch is None and not described:
            message = f"has weights besides {given[0]}, whose file holds them"
            raise refused(Mistake(message=message, fix="leave weights out"))
        return self

    @property
    def framework(self) -> str:
        """The one that is named."""
        return next(name for name in FRAMEWORKS if getattr(self, name) is not None)

    @property
    def file(self) -> Path:
        """The model's file; of PyTorch the one that makes it."""
        found: Path | TorchSource = getattr(self, self.framework)
        return found.path if isinstance(found, TorchSource) else found


class ModelInput(_Section):
    """The input of the network."""

    shape: (
        Annotated[tuple[int, ...], PlainValidator(check_frame_shape), WithJsonSchema(_FRAME_SHAPE)] | None
    ) = None
    """The shape of a frame, the batch left out: with torch, and with onnx where the file leaves it open."""
    type: InputType | None = None
    """Number type of the input; None: as the other activations. float32: as precision: float32."""
    samples: Samples = "photograph"
    """Frames to simulate with: photograph, random, or a .npy file in the framework's layout."""


class NetworkPrecision(PrecisionSection):
    """Number types of a floating-point network; any other key is a layer's name, as in `layers`."""

    calibration: FilePath | None = None
    """A .npy file of typical frames; None: the input's samples."""

    def replaced(self, given: PrecisionSection) -> NetworkPrecision:
        """What is given in its place, with the calibration frames of this."""
        said = {key: getattr(given, key) for key in given.model_fields_set}
        if self.calibration is not None:
            said["calibration"] = str(self.calibration)
        return NetworkPrecision.model_validate(said)


class AccuracySection(_Section):
    """What `hlsgen accuracy` judges the network's answers by."""

    frames: FilePath | None = None
    """A .npy file of frames in the framework's layout; None: the input's samples."""
    labels: FilePath | None = None
    """A .npy file whose first axis is those frames: classes, or whatever the metric takes."""
    metric: Annotated[TorchSource, PlainValidator(check_metric), _TORCH_SCHEMA] | None = None
    """file.py:function of your own, which is run: function(outputs, labels) -> float, larger is better; None:
    the share of frames whose largest score is the label's."""


class StageMapping(_Section):
    """How one layer becomes hardware. None: chosen by hlsgen."""

    px: Annotated[int, Whole(1, 65536)] | None = None
    """Neighbouring output pixels computed at once."""
    pe: Annotated[int, Whole(1, MAX_CHANNELS)] | None = None
    """Output channels computed at once."""
    simd: Annotated[int, Whole(1, MAX_CHANNELS)] | None = None
    """Input channels read at once."""
    multipliers: Literal["auto", "dsp", "packed", "quad", "fabric", "popcount", "constants", "thresholds"] = (
        "auto"
    )
    """What multiplies weights: a DSP a product, a DSP for two or four (where exact), logic cells, logic
    cells that count bits, or shifts and adders for weights that never change; thresholds: comparisons instead
    of a scale.
    """
    rows: Annotated[int, Whole(0, 65536)] | None = None
    """Output rows that a convolution of `style: tasks` computes at once (front wave); 0: a window slides."""
    fabric_pe: Annotated[int, Whole(0, MAX_CHANNELS)] | None = None
    """How many of a front wave's `pe` have their adders (fp32) or multipliers (fixed point) in LUTs."""
    weights: ConstrainedPlace = "auto"
    """Where its weights lie: constant (source), runtime (loaded by a call), stream (DDR); auto: as all."""
    storage: ConstrainedStorage = "auto"
    """What primitive holds its weights; ddr: none, the weights at hand are streamed."""
    slr: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """The SLR that it lies in, of a kernel that needs several: of all layers or of none."""
    batch_reuse: Annotated[int, Whole(1, MOST_BATCH)] | None = None
    """The frames that each word of streamed weights is used for; None: as many as use it 16 times."""

    @property
    def fold(self) -> dict[str, object]:
        """What is fixed of its folding; None: free."""
        multipliers = None if self.multipliers == "auto" else self.multipliers
        return {
            "px": self.px,
            "pe": self.pe,
            "simd": self.simd,
            "multipliers": multipliers,
            "rows": self.rows,
            "fabric_pe": self.fabric_pe,
        }

    @property
    def weight_wish(self) -> LayerWeightConstraints:
        return LayerWeightConstraints(place=self.weights, storage=self.storage, batch_reuse=self.batch_reuse)


class ProcessorMapping(_Section):
    """The processor of `style: shared`. None: chosen by hlsgen."""

    rows: Annotated[int, PROCESSOR_VALUES["rows"]] | None = None
    """Neighbouring output rows computed at once."""
    lanes: Annotated[int, PROCESSOR_VALUES["lanes"]] | None = None
    """Output channels computed at once, and input channels read at once for each."""
    extra_lanes: Annotated[int, PROCESSOR_VALUES["extra_lanes"]] | None = None
    """Output channels computed at once beside those."""
    fabric_lanes: Annotated[int, PROCESSOR_VALUES["fabric_lanes"]] | None = None
    """Of the output channels those whose products (of floats: additions) are logic cells', not DSPs'."""
    together: Annotated[int, PROCESSOR_VALUES["together"]] | None = None
    """Frames of a round, which share what is read of weights."""
    pixel_words: Annotated[int, PROCESSOR_VALUES["pixel_words"]] | None = None
    """Words of a bank for the rows of an image that are on chip; there is twice that."""
    weight_words: Annotated[int, PROCESSOR_VALUES["weight_words"]] | None = None
    """Words of weights of a group of output channels; there is twice that."""
    activation_bits: Annotated[int, PROCESSOR_VALUES["activation_bits"]] | None = None
    """Bits of an activation; None: as few as the network needs."""
    weight_bits: Annotated[int, PROCESSOR_VALUES["weight_bits"]] | None = None
    """Bits of a weight; None: as few as the network needs."""

    @property
    def constraints(self) -> ProcessorConstraints:
        return ProcessorConstraints(**self.model_dump())


class ModelMapping(BaseModel):
    """Folding of the layers, by layer name; `auto` is as an empty mapping, `best` as {search: best}."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)
    __pydantic_extra__: dict[str, StageMapping] = Field(init=False)

    instances: Annotated[int, Whole(1, 1024)] | None = None
    """Copies of the kernel, or of all kernels; None: chosen by hlsgen."""
    interval: Annotated[int, Whole(1, 1 << 40)] | None = None
    """Cycles a frame that every stage must keep to, or all tasks together; None: the fewest that fit."""
    weights: Literal["auto", "constant", "runtime"] = "auto"
    """Where the weights of all layers lie; auto: in the source up to 8,192 a layer, more loaded by a call."""
    search: Literal["quick", "best"] = "quick"
    """How what is not fixed is chosen: in seconds, or as `hlsgen explore` does, up to minutes."""
    processor: ProcessorMapping = ProcessorMapping()
    """With `style: shared`: the processor that all layers share."""

    @property
    def layers(self) -> dict[str, StageMapping]:
        return dict(self.__pydantic_extra__)

    @property
    def weight_constraints(self) -> WeightConstraints:
        return WeightConstraints(
            place=self.weights, layers={name: one.weight_wish for name, one in self.layers.items()}
        )


MAPPING_KEYS = frozenset(ModelMapping.model_fields) | {"auto", "best"}
"""Words of a network's `mapping` that are no layer."""


def _mapping(value: object) -> object:
    if value in ("auto", "best"):
        return {} if value == "auto" else {"search": "best"}
    if not isinstance(value, dict | ModelMapping):
        near = nearest(value, ["auto", "best"])
        fix = f"{near}write auto or best, or for example {{instances: 4, conv1: {{pe: 8}}}}"
        raise refused(must_be("auto, best or a mapping", value, fix))
    return value


def as_list(value: object) -> object:
    """One input as a list of one."""
    return value if isinstance(value, list) else [value]


class InterfaceSection(_Section):
    """How frames come into the kernel and how results leave it, for all inputs and for all outputs."""

    input: PortKind = "memory"
    """memory: from DDR; stream: through AXI streams, from another kernel."""
    output: PortKind = "memory"
    """memory: to DDR; stream: through AXI streams, to another kernel."""

    @property
    def constraints(self) -> InterfaceConstraints:
        return InterfaceConstraints(input=self.input, output=self.output)


def _interface(value: object) -> object:
    if isinstance(value, dict | InterfaceSection):
        return value
    if value in PORT_KINDS:
        return {"input": value, "output": value}
    fix = f"{nearest(value, list(PORT_KINDS))}write memory, stream, or for example {{input: stream}}"
    raise refused(must_be("memory, stream or a mapping", value, fix))


class NetworkFile(_Section):
    """A network, wherever its graph comes from: the board it is for, and what is fixed about its hardware."""

    name: Name = Field(examples=["resnet18"])
    """C++ identifier; names the kernel and the build folder."""
    board: BoardName = Field(examples=["u200"])
    """A board by name, or the path of a board file ending in .yaml."""
    clock_mhz: Annotated[float, Real(*CLOCKS_MHZ)] | None = None
    """Target clock; None: the board's."""
    uncertainty: Annotated[float, Real(*UNCERTAINTIES, UNCERTAINTY_EXAMPLE)] = DEFAULT_UNCERTAINTY
    """Share of the clock's period that HLS keeps back for routing: 0.27 leaves 2.43 of 3.33 ns."""
    margin: MarginKey | None = None
    """Share of the usable LUTs and FFs that stays free for the model's error, or auto; None: the board's."""
    style: Literal["dataflow", "tasks", "shared", "mixed", "auto"] = "dataflow"
    """dataflow: one streaming kernel, every layer a stage; tasks: every layer a kernel, called in turn;
    shared: processors that run the layers of any network as a program; mixed: the first layers as a
    streaming kernel that feeds such processors with the rest; auto: the fastest of these.
    """
    interface: Annotated[
        InterfaceSection, BeforeValidator(_interface, json_schema_input_type=PortKind | InterfaceSection)
    ] = InterfaceSection()
    """memory: DDR at both ends; stream: AXI streams from and to other kernels; or each side by itself."""
    batch: Annotated[int, Whole(1, 1_000_000)] = 64
    """Frames in one run."""
    input: Annotated[
        tuple[ModelInput, ...],
        Entries(1, 16),
        BeforeValidator(as_list, json_schema_input_type=ModelInput | list[ModelInput]),
    ] = (ModelInput(),)
    """The input, or a list of them."""
    precision: Annotated[
        NetworkPrecision, BeforeValidator(written, json_schema_input_type=Default | NetworkPrecision)
    ] = NetworkPrecision()
    """auto, a type for all, or a mapping; only for networks in floating point."""
    accuracy: AccuracySection = AccuracySection()
    """Frames, labels and metric of `hlsgen accuracy`."""
    mapping: Annotated[
        ModelMapping, BeforeValidator(_mapping, json_schema_input_type=Literal["auto", "best"] | ModelMapping)
    ] = ModelMapping()
    """auto, best, or fixed values: {instances: 4, interval: 1000, conv1: {pe: 8}}."""

    @property
    def precision_given(self) -> bool:
        return "precision" in self.model_fields_set


class ModelFile(NetworkFile):
    """A network of a framework."""

    model: ModelSection = Field(examples=[{"torch": "net.py:make_net"}])
    """The network."""
