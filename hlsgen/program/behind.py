"""A window over the results of a task, on their way to DDR: a depthwise convolution or largest values.

What a task would write and another one read again stays on chip so, and depthwise products, of which the
array has one in LANES, have multipliers of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hlsgen.base.fixed import FixedType
from hlsgen.hardware.processor import LEAST_WINDOW_RESULTS, LEAST_WINDOWED_COLUMNS, WINDOW_SIDE, Processor
from hlsgen.layers.base import Layer
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.pool2d import Pool2d
from hlsgen.model.ir import Graph
from hlsgen.program.tasks import Behind, Task, Window
from hlsgen.program.tiling import MOST_STRIDE, is_whole


def is_window_behind(layer: Layer) -> bool:
    """Whether a layer may be a window over the results of the one before it, by its shape."""
    if isinstance(layer, Conv2d):
        channels, columns = layer.in_shape[0], layer.in_shape[2]
        if layer.groups != channels or layer.out_channels != channels:
            return False
    elif isinstance(layer, Pool2d):
        columns = layer.source.shape[2]
        if layer.function != "max" or layer.result_type != layer.source.type:
            return False
    else:
        return False
    top, left, _, _ = layer.padding
    (rows, across), stride = layer.kernel, layer.stride
    return (
        1 < max(rows, across) <= WINDOW_SIDE
        and layer.dilation == (1, 1)
        and stride[0] == stride[1] <= MOST_STRIDE
        and top < rows
        and left < across
        and columns >= LEAST_WINDOWED_COLUMNS
        and layer.output_shape[2] >= LEAST_WINDOW_RESULTS
    )


def window_behind(layer: Layer) -> Window:
    """The window of such a layer."""
    assert isinstance(layer, Conv2d | Pool2d)
    top, left, _, _ = layer.padding
    return Window(kernel=layer.kernel, stride=layer.stride, top=top, left=left)


def with_windows(tasks: Sequence[Task], graph: Graph, processor: Processor) -> tuple[Task, ...]:
    """The tasks with those that are windows over another one's results joined to it, where the processor
    can.
    """
    if not processor.window_columns:
        return tuple(tasks)
    layers = {layer.name: layer for layer in graph.layers}
    readers = Counter(stored.name for task in tasks for stored in (task.source, task.added) if stored)
    readers.update(port.source for port in graph.outputs)
    writers = Counter(task.output.name for task in tasks)
    found: list[Task] = []
    place: dict[str, int] = {}
    for task in tasks:
        name = task.source.name
        if name in place and readers[name] == writers[name] == 1:
            both = _joined(found[place[name]], task, layers)
            if both is not None and has_window(processor, both):
                found[place[name]] = both
                place[both.output.name] = place[name]
                continue
        place[task.output.name] = len(found)
        found.append(task)
    return tuple(found)


def _joined(first: Task, task: Task, layers: Mapping[str, Layer]) -> Task | None:
    """Both as one; None: `task` does more than the hardware behind `first` can."""
    if not task.layers or not is_window_behind(layers[task.layers[0]]):
        return None
    if first.offset or first.behind is not None or first.pooled:
        return None
    if len(task.stages) > 1 or task.added is not None or task.table is not None or task.pooled:
        return None
    stage = task.stages[0]
    plain = (stage.slope, stage.offset, stage.tie, stage.joining) == (stage.factor, 0, 0, 0)
    if not plain if task.weights is not None else len(task.layers) > 1:
        return None
    assert isinstance(first.output.type, FixedType)
    behind = Behind(
        window=task.window,
        type=first.output.type,
        shape=task.out_shape,
        weights=task.weights,
        bias=task.bias,
        stage=None if task.weights is None else stage,
    )
    return replace(
        first,
        name=task.name,
        layers=(*first.layers, *task.layers),
        output=task.output,
        macs=first.macs + task.macs,
        behind=behind,
    )


def has_window(processor: Processor, task: Task) -> bool:
    """Whether a processor can move a task's second window, if it has one."""
    if task.behind is None:
        return True
    kind = processor.window_largest if task.behind.weights is None else processor.window_products
    across = task.behind.across(task.out_shape[2])
    fits = across <= processor.window_columns and task.behind.shape[2] <= processor.window_results
    return kind and fits and is_whole(processor, task)


@dataclass(frozen=True, kw_only=True)
class Windows:
    """What a processor needs for windows over results: fields of Processor.

    columns: those that they pass, the most. results: those that they make. products, largest: whether there
    are depthwise convolutions, largest values.
    """

    columns: int = 0
    results: int = 0
    products: bool = False
    largest: bool = False

    def of(self, processor: Processor) -> Processor:
        """A processor with them."""
        return replace(
            processor,
            window_columns=self.columns,
            window_results=self.results,
            window_products=self.products,
            window_largest=self.largest,
        )


def windows_behind(graph: Graph) -> Windows:
    """What all those of a graph need. Pools of 2 x 2 alone need none of it: less hardware does them."""
    found = Windows()
    others = False
    readers = graph.consumers()
    made = {layer.name for layer in graph.layers}
    for layer in graph.layers:
        source = layer.inputs[0]
        if is_window_behind(layer) and source in made and len(readers[source]) == 1:
            window = window_behind(layer)
            one = Behind(window=window, type=FixedType(8, 8), shape=layer.output_shape)
            others |= isinstance(layer, Conv2d) or max(window.kernel) > 2
            found = Windows(
                columns=max(found.columns, one.across(layer.sources[0].shape[2])),
                results=max(found.results, layer.output_shape[2]),
                products=found.products or isinstance(layer, Conv2d),
                largest=found.largest or isinstance(layer, Pool2d),
            )
    return found if others else Windows()
