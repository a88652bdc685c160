"""What layers each operation of the frameworks becomes, recorded while the frontends read small examples.

For every entry of the frontends' tables: the kinds of the layers that its converter makes itself (`made`),
and those of all layers that the results of its examples need (`needed`). docs/layers.md is held against this.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hlsgen.base.fixed import FixedType
from hlsgen.model.ir import Graph

Kinds = set[str]


@dataclass
class Operations:
    """Kinds of layers by operation."""

    made: dict[str, Kinds] = field(default_factory=dict)
    needed: dict[str, Kinds] = field(default_factory=dict)

    def note(self, op: str, needed: Kinds) -> None:
        self.needed.setdefault(op, set()).update(needed)


class Recorder:
    """Replaces entries of tables by ones that note which layers they make, and what they are called for.

    Layers of an entry called inside another are only the inner one's.
    """

    def __init__(self) -> None:
        self.called: list[tuple[str, str]] = []
        """(operation, what the builder calls its layers after) of the calls since the last `clear`."""
        self._inner: list[Kinds] = [set()]

    def wrapped(self, op: str, entry: Callable[..., Any], into: Operations) -> Callable[..., Any]:
        @functools.wraps(entry)
        def call(first: Any, *rest: Any, **named: Any) -> Any:
            builder = getattr(first, "builder", first)
            before = len(builder._layers)
            self.called.append((op, builder._wish))
            self._inner.append(set())
            result = entry(first, *rest, **named)
            made = {layer.name: layer.kind for layer in builder._layers[before:]}
            inner = self._inner.pop()
            into.made.setdefault(op, set()).update(kind for name, kind in made.items() if name not in inner)
            self._inner[-1] |= set(made)
            return result

        return call

    @contextmanager
    def watching(self, *tables: tuple[dict[str, Any], Operations]) -> Iterator[None]:
        """Inside, the entries of these tables are recorded."""
        before = [dict(table) for table, _ in tables]
        for table, into in tables:
            table.update({op: self.wrapped(op, entry, into) for op, entry in table.items()})
        try:
            yield
        finally:
            for (table, _), entries in zip(tables, before, strict=True):
                table.update(entries)


def kinds_of(graph: Graph, outputs: Sequence[str] | None = None) -> Kinds:
    """The kinds of the layers that these outputs (all, if None) need."""
    needed = {port.source for port in graph.outputs if outputs is None or port.name in outputs}
    found = set()
    for layer in reversed(graph.layers):
        if layer.name in needed:
            needed.update(layer.inputs)
            found.add(layer.kind)
    return found


# ---------------------------------------------------------------- PyTorch


def torch_operations() -> tuple[Operations, Operations]:
    """Of PyTorch's modules, and of its aten operations. Modules have no converters: only `needed`."""
    import torch

    from hlsgen.frontends.torch.call import CONVERTERS
    from hlsgen.frontends.torch.to_graph import graph_of_module
    from tests.support.torch_examples import EXAMPLES, Examples

    torch.set_num_threads(1)
    modules, operations = Operations(), Operations()
    recorder = Recorder()
    for shapes, cases in EXAMPLES.items():
        recorder.called.clear()
        with recorder.watching((CONVERTERS, operations)):
            graph = graph_of_module(Examples(cases).eval(), list(shapes), name="net")
        for number, case in enumerate(cases):
            ports = [port.name for port in graph.outputs if port.name.split("_")[0] == f"case{number}"]
            needed = kinds_of(graph, ports)
            if isinstance(case, torch.nn.Module):
                modules.note(type(case).__name__, needed)
            for op, path in recorder.called:
                if f"{path}.".startswith(f"cases.{number}."):
                    operations.note(op, needed)
    return modules, operations


# ---------------------------------------------------------------- Keras and QKeras


def keras_operations() -> dict[str, Operations]:
    """Of layers, of Keras' activation functions, and of QKeras' functions and quantizers of activations."""
    from hlsgen.frontends.qkeras.activations import FUNCTIONS, PIECEWISE, QUANTIZERS
    from hlsgen.frontends.qkeras.layers import LAYERS
    from hlsgen.frontends.qkeras.to_graph import graph_of_keras
    from tests.support.keras_examples import examples

    layers, functions, qkeras = Operations(), Operations(), Operations()
    recorder = Recorder()
    tables = ((LAYERS, layers), (FUNCTIONS, functions), (PIECEWISE, qkeras), (QUANTIZERS, qkeras))
    for model in examples():
        recorder.called.clear()
        with recorder.watching(*tables):
            graph = graph_of_keras(model, name="net", input_type=FixedType(8, 3))
        for op, path in recorder.called:
            case = path.split("_")[0]
            for table, into in tables:
                if op in table:
                    into.note(op, kinds_of(graph, [f"{case}_output"]))
    return {
        "Keras and QKeras layers": layers,
        "Keras activations": functions,
        "QKeras activations": qkeras,
    }


# ---------------------------------------------------------------- ONNX


def onnx_operations() -> Operations:
    """Of ONNX's operators and QONNX's quantisers."""
    from hlsgen.frontends.onnx.to_graph import OPERATIONS, QUANTISERS, graph_of_onnx
    from tests.support.onnx_examples import examples

    operations = Operations()
    recorder = Recorder()
    for model in examples():
        recorder.called.clear()
        with recorder.watching((OPERATIONS, operations), (QUANTISERS, operations)):
            graph = graph_of_onnx(model, name="net")
        for op, _ in recorder.called:
            operations.note(op, kinds_of(graph))
    return operations


def normal(seed: int, *shape: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Normal numbers in float32."""
    return np.random.default_rng(seed).normal(0, 1, shape).astype(np.float32)
