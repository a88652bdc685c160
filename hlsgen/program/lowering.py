"""Graph -> tasks: each layer that computes begins one, and those behind it that only finish its results join
it.

conv2d, dense, affine     sums of products                  joins: add, clamp, cast, leaky, of a processor
                          with scales affine, sub, mul; then a function by a table, then pool2d of 2 x 2
pool2d, global_pool       largest values, or sums divided
add, clamp, cast, leaky   where nothing computes before them: a 1 x 1 kernel that is the identity;
                          likewise sub, mul, affine of a processor with scales
pad, crop, rearrange      the same with another padding, stride or repetition
concat                    a task a part, each to its channels
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import FixedType, FloatType, NumberType
from hlsgen.hardware.processor import Processor
from hlsgen.layers.affine import Affine
from hlsgen.layers.base import Layer, Shape
from hlsgen.layers.binary import Binary, Mul, Sub
from hlsgen.layers.cast import Cast
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.concat import Concat
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.leaky import Leaky
from hlsgen.layers.pool import Pool
from hlsgen.layers.pool2d import Pool2d
from hlsgen.layers.steps import Steps
from hlsgen.layers.table import Table
from hlsgen.layers.unary import Unary
from hlsgen.model.ir import Graph
from hlsgen.program.behind import with_windows
from hlsgen.program.epilogue import Epilogue, NotFused
from hlsgen.program.float_epilogue import FloatEpilogue
from hlsgen.program.parts import beside, from_channel
from hlsgen.program.regions import MOST_REGIONS, regions
from hlsgen.program.scaling import Scaling
from hlsgen.program.tasks import Stored, Task
from hlsgen.program.unfolding import unfolded
from hlsgen.program.unsupported import refused
from hlsgen.program.windows import (
    Computed,
    computed,
    has_unlike_windows,
    of_windows,
    table_of,
    why_no_table,
)

Finishing: TypeAlias = Epilogue | FloatEpilogue
NARROWER = "a narrower type for it (precision), or a processor of more bits (mapping: activation_bits)"


@dataclass(frozen=True, kw_only=True)
class Lowered:
    """The tasks of a graph in the order of their calls, and the tensors that lie in DDR, inputs first."""

    tasks: tuple[Task, ...]
    tensors: dict[str, Stored]


@dataclass(frozen=True, kw_only=True)
class Prefix:
    """Layers that a task may do together, what they do to its sums, and the tensor that joins."""

    taken: tuple[Layer, ...]
    epilogue: Finishing
    added: Stored | None

    @property
    def last(self) -> Layer:
        return self.taken[-1]


LEAST_POOLED_COLUMNS = 2
"""Of a single one, a block's last word would be read again before it is written."""


def lowered(graph: Graph, processor: Processor, *, pools: bool = True) -> Lowered:
    """The graph as tasks. pools: whether pools may join. Raises DesignError: a layer that the processor has
    no hardware for.
    """
    found = lowered_apart(graph, processor if pools else replace(processor, pool_columns=0))
    return windows_joined(found, graph, processor) if pools else found


def lowered_apart(graph: Graph, processor: Processor) -> Lowered:
    """The same with windows over another task's results as tasks of their own."""
    return _Lowering(graph, processor).run()


def windows_joined(found: Lowered, graph: Graph, processor: Processor) -> Lowered:
    """With windows joined to the tasks whose results they move over, where the processor can."""
    tasks = with_windows(found.tasks, graph, processor)
    if len(tasks) == len(found.tasks):
        return found
    written = {task.output.name for task in tasks} | {task.output.name for task in found.tasks}
    kept = {task.output.name for task in tasks}
    tensors = {name: stored for name, stored in found.tensors.items() if name in kept or name not in written}
    return Lowered(tasks=tasks, tensors=tensors)


@dataclass
class _Lowering:
    graph: Graph
    processor: Processor
    tasks: list[Task] = field(default_factory=list)
    tensors: dict[str, Stored] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.readers = self.graph.consumers()
        self.layers = {layer.name: layer for layer in self.graph.layers}
        self.joined: set[str] = set()

    def run(self) -> Lowered:
        for port in self.graph.inputs:
            type_ = port.tensor.type
            if not self._holds(type_):
                raise DesignError(
                    Problem(message=f"input {port.name} is {type_}, {self._too_wide}", fix=NARROWER)
                )
            self._store(port.name, port.tensor.shape, type_)
        waiting: list[Layer] = []
        for layer in self.graph.layers:
            waiting = self._emitted([*waiting, layer])
        for layer in waiting:
            self._layer(layer)  # raises what it lacks
        return Lowered(tasks=tuple(self.tasks), tensors=self._needed())

    def _emitted(self, layers: Sequence[Layer]) -> list[Layer]:
        """What is left of layers: those that lack a tensor which a later layer gives them, or give one too
        wide to store, which may join a layer that lacks another tensor yet.
        """
        left: list[Layer] = []
        for layer in layers:
            try:
                self._layer(layer)
            except (DesignError, KeyError):
                left.append(layer)
        return left if len(left) == len(layers) else self._emitted(left)

    def _layer(self, layer: Layer) -> None:
        """The tasks that begin with a layer, unless it has joined another one."""
        if layer.name in self.joined:
            return
        if isinstance(layer, Concat):
            self._concat(layer)
        elif isinstance(layer, Pool) and has_unlike_windows(layer):
            self._in_regions(layer)
        else:
            self._task(layer)

    def _needed(self) -> dict[str, Stored]:
        """The tensors without inputs that are only read with their columns made channels."""
        needed = {port.source for port in self.graph.outputs}
        for task in self.tasks:
            needed |= {task.source.name, task.output.name} | ({task.added.name} if task.added else set())
        return {name: stored for name, stored in self.tensors.items() if name in needed}

    def _store(self, name: str, shape: Shape, type_: NumberType) -> Stored:
        self.tensors[name] = Stored(name=name, shape=shape, type=type_, of=name)
        return self.tensors[name]

    def _task(self, layer: Layer) -> None:
        """The task that begins with `layer`."""
        found = computed(layer, self.processor)
        source = self.tensors[layer.inputs[0]]
        try:
            epilogue, added = found.epilogue, None
            if isinstance(layer, Binary):
                epilogue, added = self._with_operand(epilogue, layer, 1)
            epilogue = finished_by(layer, epilogue, begins=True)
            if isinstance(layer, Table | Steps):
                self._emit([layer], found, epilogue, source, added, layer)
                return
            self._emit_longest(self._prefixes(layer, epilogue, added), found, source)
        except NotFused as failure:
            raise refused(layer, str(failure), "another type for its results, or style: dataflow") from None

    def _prefixes(self, layer: Layer, epilogue: Finishing, added: Stored | None) -> list[Prefix]:
        """The layer alone, and with each that may join it behind the ones before."""
        prefixes = [Prefix(taken=(layer,), epilogue=epilogue, added=added)]
        while (following := self._following(prefixes[-1].last)) is not None:
            longer = self._joined_by(following, prefixes[-1])
            if longer is None:
                break
            prefixes.append(longer)
        return prefixes

    def _emit_longest(self, prefixes: Sequence[Prefix], found: Computed, source: Stored) -> None:
        """The task of the longest prefix whose results can be stored. Raises why the longest cannot."""
        failure: NotFused | DesignError | None = None
        for one in reversed(prefixes):
            function = self._function_behind(one.last)
            taken = one.taken if function is None else (*one.taken, function)
            try:
                self._emit(taken, found, one.epilogue, source, one.added, function)
                return
            except (NotFused, DesignError) as why:
                failure = failure or why
        assert failure is not None
        raise failure

    def _reader(self, layer: Layer) -> Layer | None:
        """The only reader of a layer's results; None: there are others, or an output shows them."""
        readers = self.readers[layer.name]
        if len(readers) != 1 or readers[0][1] < 0:
            return None
        return self.layers[readers[0][0]]

    def _following(self, layer: Layer) -> Layer | None:
        """The only reader of a layer's results, if it may join its task."""
        reader = self._reader(layer)
        return reader if isinstance(reader, Binary | Clamp | Cast | Leaky | Affine) else None

    def _function_behind(self, layer: Layer) -> Unary | None:
        """The only reader, if it is a function whose values stand in a table."""
        reader = self._reader(layer)
        if not isinstance(reader, Table | Steps | Clamp | Cast | Leaky):
            return None
        return None if why_no_table(reader, self.processor) else reader

    def _pool_behind(self, layer: Layer) -> Pool2d | None:
        """The only reader, if it is a pool that the processor does on the way to DDR."""
        reader = self._reader(layer)
        most = self.processor.pool_columns
        if not isinstance(reader, Pool2d) or not LEAST_POOLED_COLUMNS <= reader.output_shape[2] <= most:
            return None
        return reader if is_pooled_on_the_way(reader) else None

    def _joined_by(self, following: Layer, before: Prefix) -> Prefix | None:
        """What the task becomes with one layer more; None: it ends before that one."""
        epilogue, added = before.epilogue, before.added
        try:
            if isinstance(following, Binary):
                other = 1 - following.inputs.index(before.last.name)
                name = following.inputs[other]
                if name == before.last.name or name not in self.tensors or added is not None:
                    return None
                epilogue, added = self._with_operand(epilogue, following, other)
            taken = (*before.taken, following)
            return Prefix(taken=taken, epilogue=finished_by(following, epilogue), added=added)
        except NotFused:
            return None

    def _with_operand(self, epilogue: Finishing, layer: Binary, index: int) -> tuple[Finishing, Stored]:
        """With one of the operands of a layer, to whose results `epilogue` leads those of the other one."""
        if layer.broadcasts and not (self.processor.scales and index == 1):
            raise NotFused("one value a channel is added to all its pixels")
        if isinstance(layer, Sub) and index == 0:
            raise NotFused("it is subtracted from another tensor")
        added = self.tensors[layer.inputs[index]]
        if isinstance(layer, Mul):
            return epilogue.multiplied(layer.operand_types[1 - index], added.type), added
        return epilogue.joined(added.type, negative=isinstance(layer, Sub)), added

    def _emit(
        self,
        taken: Sequence[Layer],
        found: Computed,
        epilogue: Finishing,
        source: Stored,
        added: Stored | None,
        function: Unary | None,
    ) -> None:
        """The task of `taken`, of which the last may be a `function` that is looked up; layers at its end
        whose results are too wide to store are an error.
        """
        last = taken[-1]
        out_shape, type_ = last.output_shape, last.output_type
        stages = epilogue.finished(type_ if function is None else function.source_type)
        pool = self._pool_behind(last)
        if pool is not None:
            taken, last = [*taken, pool], pool
        self._check_width(last, type_)
        self.joined |= {layer.name for layer in taken}
        output = self._store(last.name, last.output_shape, type_)
        task = Task(
            name=last.name,
            layers=tuple(layer.name for layer in taken),
            source=source,
            output=output,
            out_shape=out_shape,
            pooled=pool is not None,
            window=found.window,
            weights=found.weights,
            groups=found.groups,
            bias=found.bias,
            stages=stages,
            table=None if function is None else table_of(function),
            added=added,
            macs=sum(layer.macs for layer in taken),
        )
        self.tasks.append(self._with_unfolded_source(task))

    def _check_width(self, layer: Layer, type_: NumberType) -> None:
        if not self._holds(type_):
            raise refused(layer, f"its results are {type_}, {self._too_wide}", NARROWER)

    def _holds(self, type_: NumberType) -> bool:
        if isinstance(type_, FloatType) or self.processor.floating:
            return isinstance(type_, FloatType) and self.processor.floating
        return (
            type_.width + (not type_.signed and not self.processor.unsigned) <= self.processor.activation_bits
        )

    @property
    def _too_wide(self) -> str:
        bits = self.processor.activation_bits
        signed = "" if self.processor.unsigned else ", which have a sign"
        return f"more than the {bits} bits of the processor's words{signed}"

    def _with_unfolded_source(self, task: Task) -> Task:
        """The task reading an input whose columns the host makes channels, where that saves time."""
        inputs = {port.name for port in self.graph.inputs if not port.fed}
        if task.source.name not in inputs:
            return task
        if self.processor.floating and not isinstance(self.layers[task.layers[0]], Conv2d):
            return task  # an average of a single channel adds pixel by pixel
        other = unfolded(task, self.processor.lanes)
        if other is not task:
            self.tensors[other.source.name] = other.source
        return other

    def _concat(self, layer: Concat) -> None:
        """Tasks for each part, which cast it and write it to its channels, rows or columns."""
        type_ = layer.result_type
        self._check_width(layer, type_)
        sources = [self.tensors[name] for name in layer.inputs]
        output = self._store(layer.name, layer.output_shape, type_)
        offset = 0
        for number, source in enumerate(sources, start=1):
            name = f"{layer.name}_{number}"
            try:
                if layer.axis == 0:
                    self.tasks += from_channel(self.processor, name, source, output, offset)
                else:
                    at = (offset, 0) if layer.axis == 1 else (0, offset)
                    self.tasks.append(beside(self.processor, name, source, output, at, first=number == 1))
            except NotFused as failure:
                raise refused(layer, str(failure), "the same type for all parts") from None
            offset += source.shape[layer.axis]
        self.tasks[-1] = replace(self.tasks[-1], layers=(layer.name,))

    def _in_regions(self, layer: Pool) -> None:
        """Tasks for each rectangle of a pool's output whose windows are alike, and those that join them."""
        type_ = layer.result_type
        self._check_width(layer, type_)
        source, found = self.tensors[layer.inputs[0]], regions(layer)
        if len(found) > MOST_REGIONS:
            message = f"its windows are of {len(found)} kinds, more than {MOST_REGIONS}"
            raise refused(layer, message, "windows of equal size, or style: dataflow")
        output = self._store(layer.name, layer.output_shape, type_)
        for number, region in enumerate(found, start=1):
            name = f"{layer.name}_region_{number}"
            try:
                part = of_windows(layer, region.window, region.count, self.processor)
                stages = part.epilogue.finished(type_)
            except NotFused as failure:
                raise refused(layer, str(failure), "narrower types, or style: dataflow") from None
            task = Task(
                name=name,
                layers=(),
                source=source,
                output=self._store(name, region.shape, type_),
                out_shape=region.shape,
                window=part.window,
                weights=part.weights,
                groups=part.groups,
                stages=stages,
            )
            at = region.row, region.column
            joined = beside(self.processor, f"{name}_joined", task.output, output, at, first=number == 1)
            self.tasks += [task, joined]
        self.tasks[-1] = replace(self.tasks[-1], layers=(layer.name,))


def is_pooled_on_the_way(pool: Pool2d) -> bool:
    """Whether a pool takes the largest of 2 x 2 values as they are, none of them in two windows."""
    plain = (pool.padding, pool.overhang, pool.dilation) == ((0, 0, 0, 0), (0, 0), (1, 1))
    windows = (pool.function, pool.kernel, pool.stride) == ("max", (2, 2), (2, 2))
    return plain and windows and pool.result_type == pool.source.type


def most_pooled_columns(graph: Graph) -> int:
    """The columns of the widest tensor that a processor could pool on its way to DDR; 0: there is none."""
    pools = [layer for layer in graph.layers if isinstance(layer, Pool2d) and is_pooled_on_the_way(layer)]
    return max((pool.output_shape[2] for pool in pools), default=0)


def needs_scales(graph: Graph, processor: Processor) -> bool:
    """Whether a processor that has no hardware for a graph would have it with `scales`."""
    try:
        lowered(graph, replace(processor, scales=False))
    except DesignError:
        return True
    return False


def needs_tables(graph: Graph) -> bool:
    """Whether a graph has functions whose values would stand in tables."""
    return any(isinstance(layer, Table | Steps) for layer in graph.layers)


def finished_by(layer: Layer, epilogue: Finishing, *, begins: bool = False) -> Finishing:
    """What `layer` does to values one by one, behind its sums. begins: these are its own. Raises NotFused."""
    if isinstance(epilogue, FloatEpilogue):
        return _floats_finished_by(layer, epilogue, begins)
    if isinstance(layer, Conv2d):
        if isinstance(layer, Affine) and not (begins and not epilogue.processor.scales):
            epilogue = epilogue.scaled(scaling_of(layer))
        assert isinstance(layer.accumulator, FixedType)
        limited = epilogue.clamped(*layer.clamp_codes, layer.accumulator.fraction)
        return limited.cast(_fixed(layer.result_type, layer.name))
    if isinstance(layer, Clamp):
        limited = epilogue.clamped(*layer.limit_codes, layer.source_type.fraction)
        return limited.cast(layer.fixed_result)
    if isinstance(layer, Leaky):
        slopes = [int(slope) for slope in layer.slopes]
        return epilogue.sloped(slopes, layer.fixed_slope.fraction).cast(layer.fixed_result)
    if isinstance(layer, Binary):
        return epilogue.cast(layer.exact_type).cast(_fixed(layer.result_type, layer.name))
    if isinstance(layer, Cast):
        return epilogue.cast(_fixed(layer.output_type, layer.name))
    return epilogue


def _floats_finished_by(layer: Layer, epilogue: FloatEpilogue, begins: bool) -> FloatEpilogue:
    """The same in float32, where a convolution's limits are part of what it computes."""
    if isinstance(layer, Conv2d) and not begins:
        raise NotFused("its channels are scaled by factors of their own")
    if isinstance(layer, Clamp):
        return epilogue.limited(layer.low, layer.high)
    if isinstance(layer, Leaky):
        if layer.slopes.size != 1:
            raise NotFused("a slope for each channel")
        return epilogue.sloped(float(layer.slopes[0]))
    return epilogue


def scaling_of(layer: Affine) -> Scaling:
    """A layer's factors and offsets. Raises NotFused: its accumulator is narrower than its sums."""
    assert isinstance(layer.weight_type, FixedType)
    if not layer.accumulator_suffices():
        raise NotFused(f"its accumulator of {layer.accumulator} is narrower than its sums")
    return Scaling(
        codes=tuple(int(code) for code in layer.weights.reshape(-1)),
        fraction=layer.weight_type.fraction,
        offsets=tuple(int(code) for code in layer.bias_codes),
        offset_fraction=layer.sum_fraction,
    )


def _fixed(type_: object, name: str) -> FixedType:
    assert isinstance(type_, FixedType), f"{name} is in floating point"
    return type_
