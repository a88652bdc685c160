"""How a design's kernels are called: tensors in DDR, weights, arguments, compute units: interface.json.

Written by hlsgen/emit/xrt.py into every build folder; all that hlsgen/runtime needs of a design.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import BeforeValidator, NonNegativeInt, PositiveInt, TypeAdapter, ValidationError

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import Codes, NumberType
from hlsgen.base.type_text import parse_type
from hlsgen.designfile.validation import printable
from hlsgen.hardware.host_program import HostProgram
from hlsgen.layers import winograd
from hlsgen.model.ir import Port, Tensor

FORMAT = 3
"""The format of interface.json; another number, another meaning of its keys."""
READS = (2, FORMAT)
"""The formats that are read: bitstreams take hours, so those of earlier builds are still of use."""
INTERFACE = "interface.json"

Container = Literal["<i1", "<i2", "<i4", "<i8", "<u1", "<u2", "<u4", "<u8", "<f2", "<f4"]
"""The type of an element in .npy files, as NumPy spells it."""
Source = Literal["tensor", "constants", "reload", "frames", "memory", "tasks", "rounds"]


@dataclass(frozen=True, kw_only=True)
class HostTensor:
    """A frame in DDR: words of px pixels x ch channels, row by row, or (planar) channel by channel.

    type: the number type as designs spell it; container: that of .npy files.
    """

    name: str
    channels: PositiveInt
    height: PositiveInt
    width: PositiveInt
    px: PositiveInt
    ch: PositiveInt
    element_bytes: PositiveInt
    word_bytes: PositiveInt
    planar: bool
    type: str
    container: Container
    bits: PositiveInt

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.channels, self.height, self.width

    @property
    def groups(self) -> int:
        """Groups of `px` pixels in a row."""
        return -(-self.width // self.px)

    @property
    def folds(self) -> int:
        """Words that hold all channels of the same pixels."""
        return self.channels // self.ch

    @property
    def frame_bytes(self) -> int:
        return self.height * self.groups * self.folds * self.word_bytes

    @property
    def number(self) -> NumberType:
        return parse_type(self.type)


@dataclass(frozen=True, kw_only=True)
class HostConstants:
    """Weights or biases: the bytes of a .npy file in tb/, as they are. container: the type there."""

    name: str
    file: str
    container: Container
    bytes: NonNegativeInt


@dataclass(frozen=True, kw_only=True)
class HostPacking:
    """When two products can share a multiplier; the lower ones are those of every other channel of `pe`.

    `chain` neighbouring of their weights, of `terms` that are summed at a time, sum to at most `limit`.
    point_limits: of a kernel by Winograd's algorithm instead, with `columns` of the kernel: what `chain`
    neighbouring factors of each point may sum to, of all channels.
    """

    weights: str
    channel_weights: PositiveInt
    pe: PositiveInt
    terms: PositiveInt
    chain: PositiveInt
    limit: NonNegativeInt
    columns: NonNegativeInt = 0
    point_limits: tuple[NonNegativeInt, ...] = ()

    def holds(self, codes: Codes) -> bool:
        """Whether it is exact for these weights [M, ...]."""
        if self.point_limits:
            kernels = codes.reshape(len(codes), -1, winograd.KERNEL_ROWS, self.columns)
            return winograd.keeps_apart(
                kernels, self.terms // winograd.KERNEL_ROWS, self.chain, self.point_limits
            )
        magnitudes = np.abs(codes.astype(np.int64)).reshape(-1, self.channel_weights)
        lower = magnitudes[np.arange(len(magnitudes)) % self.pe % 2 == 0].reshape(-1, self.terms)
        sums = np.add.reduceat(lower, np.arange(0, self.terms, self.chain), axis=1)
        return int(sums.max(initial=0)) <= self.limit


@dataclass(frozen=True, kw_only=True)
class HostArgument:
    """`port`: the kernel's argument; name: of the tensor or the constants, else the port's own."""

    port: str
    source: Source
    name: str


@dataclass(frozen=True, kw_only=True)
class HostStep:
    """A call. units: compute units of the kernel; the n-th ones of all steps reach the same buffers, each
    of which lies in one memory bank.

    kernels: of each unit the kernel that it is of, where they are not all of `kernel`: kernels that give the
    same results for the same arguments, at other speeds.
    """

    kernel: str
    units: tuple[str, ...]
    arguments: tuple[HostArgument, ...]
    kernels: tuple[str, ...] = ()

    @property
    def runs_tasks(self) -> bool:
        """Whether it runs the program of a shared processor."""
        return any(argument.source == "tasks" for argument in self.arguments)

    def kernel_of(self, number: int) -> str:
        """The kernel that the unit with this number is of."""
        return self.kernels[number] if self.kernels else self.kernel


@dataclass(frozen=True, kw_only=True)
class HostPort:
    """An input or output of the design and its tensor; from shape to own as those of `hlsgen.model.ir.Port`.

    golden: the file in tb/ with what it should be; of inputs none. csim: the file that C-simulation writes.
    """

    name: str
    tensor: str
    shape: tuple[PositiveInt, ...]
    axes: tuple[int, int, int]
    scale: float
    in_float32: bool = False
    zero: int = 0
    ceil: bool = False
    odd: bool = False
    own: bool = False
    golden: str = ""
    csim: str = ""


def _of_format_2(packing: object) -> object:
    """What format 2 has in the place of a list: nothing or one."""
    return (packing,) if isinstance(packing, dict) else packing or ()


@dataclass(frozen=True, kw_only=True)
class HostInterface:
    """All that a caller has to know. streaming: which C-simulation headers the kernel needs.

    packing: what other weights must keep to; empty: nothing, or those who write them see to it.
    program: of a shared processor, whose tensors all lie in one memory; else None.
    chunk_frames: of a call. block_frames: those that weights from DDR are read once for.
    left_to_host: layers at the end that no kernel computes; the outputs are what they read.
    """

    name: str
    source: str
    board: str
    clock_mhz: float
    streaming: bool
    tensors: tuple[HostTensor, ...]
    constants: tuple[HostConstants, ...]
    steps: tuple[HostStep, ...]
    inputs: tuple[HostPort, ...]
    outputs: tuple[HostPort, ...]
    chunk_frames: PositiveInt
    block_frames: PositiveInt
    packing: Annotated[tuple[HostPacking, ...], BeforeValidator(_of_format_2)] = ()
    program: HostProgram | None = None
    left_to_host: tuple[str, ...] = ()

    @property
    def lanes(self) -> int:
        """Compute units of each kernel."""
        return len(self.steps[0].units)

    def tensor(self, name: str) -> HostTensor:
        return next(one for one in self.tensors if one.name == name)

    def port(self, port: HostPort) -> Port:
        """The port as conversions to and from the framework's layout want it."""
        tensor = self.tensor(port.tensor)
        return Port(
            name=port.name,
            source=port.tensor,
            tensor=Tensor(shape=tensor.shape, type=tensor.number),
            shape=port.shape,
            axes=port.axes,
            scale=port.scale,
            in_float32=port.in_float32,
            zero=port.zero,
            ceil=port.ceil,
            odd=port.odd,
            own=port.own,
        )

    def chunk(self, frames: int, buffers: int) -> int:
        """Frames of a call: an even share for each of all `buffers`, at most `chunk_frames`, whole blocks."""
        share = min(-(-frames // buffers), self.chunk_frames)
        return min(-(-share // self.block_frames) * self.block_frames, frames)

    def as_json(self) -> str:
        content = {"format": FORMAT, **asdict(self)}
        if self.program is None:
            del content["program"]
        if not self.left_to_host:
            del content["left_to_host"]
        return json.dumps(content, indent=2) + "\n"


def read_interface(folder: Path) -> HostInterface:
    """That of a build folder. Raises DesignError: there is none, or it is not what hlsgen writes."""
    path = folder / INTERFACE
    fix = "name a folder that hlsgen build made, or build the design again"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        message = f"cannot read {path}: {error.strerror or error}"
        raise DesignError(Problem(message=message, fix=fix)) from None
    except (ValueError, RecursionError) as error:
        message = f"{path} is no JSON document: {printable(str(error))}"
        raise DesignError(Problem(message=message, fix=fix)) from None
    if not isinstance(data, dict) or data.pop("format", None) not in READS:
        message = f"{path} is not of format {FORMAT}, which this hlsgen reads"
        raise DesignError(Problem(message=message, fix=fix))
    try:
        found = TypeAdapter(HostInterface).validate_python(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        message = f"{path}: {printable(where)}: {printable(first['msg'])}"
        raise DesignError(Problem(message=message, fix=fix)) from None
    wrong = _contradiction(found)
    if wrong:
        raise DesignError(Problem(message=f"{path}: {printable(wrong)}", fix=fix))
    return found


def _contradiction(found: HostInterface) -> str | None:
    """What does not fit together in it; None if all does."""
    tensors = {tensor.name: tensor for tensor in found.tensors}
    known = {"tensor": set(tensors), "constants": {one.name for one in found.constants}}
    for step in found.steps:
        for argument in step.arguments:
            if argument.name not in known.get(argument.source, {argument.name}):
                return f"{step.kernel} takes {argument.name}, which is not there"
    if not found.steps or {len(step.units) for step in found.steps} in ({0}, set()):
        return "there are no compute units"
    if any(len(step.kernels) not in (0, len(step.units)) for step in found.steps):
        return "there is not one kernel for each compute unit"
    if len({len(step.units) for step in found.steps}) > 1:
        return "the kernels have different numbers of compute units"
    for port in (*found.inputs, *found.outputs):
        if port.tensor not in tensors:
            return f"{port.name} is {port.tensor}, which is not there"
        if math.prod(port.shape) != math.prod(tensors[port.tensor].shape) or sorted(port.axes) != [0, 1, 2]:
            return f"{port.name} does not have the shape of {port.tensor}"
    for tensor in found.tensors:
        try:
            container = tensor.number.dtype.itemsize
        except ValueError as error:
            return f"{tensor.name}: {error}"
        used = tensor.px * tensor.ch * tensor.element_bytes
        if container != tensor.element_bytes or used > tensor.word_bytes or tensor.channels % tensor.ch:
            return f"the words of {tensor.name} do not hold its elements"
        if tensor.planar and tensor.ch != 1:
            return f"the words of {tensor.name} hold several channels, which lie apart"
    if any("/" in name or name.startswith(".") for name in _file_names(found)):
        return "a file's name leaves the folder"
    return _wrong_program(found)


def _wrong_program(found: HostInterface) -> str | None:
    """What does not fit together in the program of a shared processor."""
    used = {argument.source for step in found.steps for argument in step.arguments}
    if found.program is None:
        return "there is no program for the processor" if used & {"memory", "tasks", "rounds"} else None
    if found.chunk_frames > found.program.together * found.program.rounds:
        return "a call has more frames than the memory"
    shapes = {tensor.name: tensor.shape for tensor in found.tensors}
    # a kernel that writes into the memory reads the inputs from buffers of their own
    feeding = [step for step in found.steps if not step.runs_tasks]
    fed = any(argument.source == "memory" for step in feeding for argument in step.arguments)
    ports = found.outputs if fed else (*found.inputs, *found.outputs)
    return found.program.contradiction(shapes, [port.tensor for port in ports])


def _file_names(found: HostInterface) -> list[str]:
    names = [one.file for one in found.constants] + [found.name]
    names += [name for step in found.steps for name in (step.kernel, *step.kernels)]
    for port in (*found.inputs, *found.outputs):
        names += [port.name, port.golden, port.csim]
    return [name for name in names if name]
