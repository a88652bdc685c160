"""A part of a network at work on a CPU: by ONNX Runtime, or by PyTorch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError, Problem, ToolError
from hlsgen.cpu.onnx_model import onnx_model
from hlsgen.cpu.packages import installed, package
from hlsgen.model.ir import Graph

Framework = Literal["onnxruntime", "torch"]
FRAMEWORKS: tuple[Framework, ...] = ("onnxruntime", "torch")
Values = NDArray[np.float32]


class CpuPart(ABC):
    """A graph compiled for the CPU. Called with values [N, C, H, W] of the tensors that it reads, by name,
    it gives those of the tensors that its outputs show, by name.

    threads: those that work on one call.
    """

    framework: ClassVar[Framework]

    def __init__(self, graph: Graph, threads: int) -> None:
        self.graph = graph
        self.threads = threads
        self.reads = tuple(port.name for port in graph.inputs)
        self.gives = tuple(dict.fromkeys(port.source for port in graph.outputs))

    @abstractmethod
    def __call__(self, values: Mapping[str, Values]) -> dict[str, Values]: ...


class OnnxSession:
    """A model of `onnx_model` in one session, whose sums have an order of their own, the same in every call.

    model: its bytes. reads, gives: tensors by name.
    """

    def __init__(self, model: bytes, reads: Sequence[str], gives: Sequence[str], threads: int) -> None:
        """Raises DesignError: it is no such model. ToolError: there is no ONNX Runtime."""
        runtime = package("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        self.reads, self.gives = tuple(reads), tuple(gives)
        try:
            self.session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # of onnxruntime's own classes, which share no base
            message = f"ONNX Runtime refuses a part: {str(error).splitlines()[0]:.200}"
            raise DesignError(Problem(message=message, fix="a model that hlsgen wrote")) from None

    def __call__(self, values: Mapping[str, Any]) -> dict[str, Values]:
        given = {f"in_{name}": np.ascontiguousarray(values[name], np.float32) for name in self.reads}
        found = self.session.run([f"out_{name}" for name in self.gives], given)
        return dict(zip(self.gives, found, strict=True))


class OnnxPart(CpuPart):
    """In ONNX Runtime."""

    framework = "onnxruntime"

    def __init__(self, graph: Graph, threads: int) -> None:
        super().__init__(graph, threads)
        self.session = OnnxSession(onnx_model(graph).SerializeToString(), self.reads, self.gives, threads)

    def __call__(self, values: Mapping[str, Values]) -> dict[str, Values]:
        return self.session(values)


class TorchPart(CpuPart):
    """By PyTorch's own kernels, one after the other. `threads` holds for the whole process."""

    framework = "torch"

    def __init__(self, graph: Graph, threads: int) -> None:
        from hlsgen.cpu.torch_functions import layer_function

        super().__init__(graph, threads)
        self.torch = package("torch")
        self.steps = [(layer.name, layer.inputs, layer_function(layer)) for layer in graph.layers]
        self.last = {source: name for name, inputs, _ in self.steps for source in inputs}

    def __call__(self, values: Mapping[str, Values]) -> dict[str, Values]:
        torch = self.torch
        if torch.get_num_threads() != self.threads:
            torch.set_num_threads(self.threads)
        with torch.inference_mode():
            known: dict[str, Any] = {
                name: torch.from_numpy(np.ascontiguousarray(values[name], np.float32)) for name in self.reads
            }
            for name, inputs, compute in self.steps:
                known[name] = compute(*(known[source] for source in inputs))
                for source in set(inputs) - set(self.gives):
                    if self.last[source] == name:
                        del known[source]
            return {name: known[name].numpy() for name in self.gives}


PARTS: dict[str, type[CpuPart]] = {"onnxruntime": OnnxPart, "torch": TorchPart}


def cpu_part(graph: Graph, framework: Framework, threads: int = 1) -> CpuPart:
    """The graph, or a part of one, for the CPU. Raises ToolError: the framework is missing. DesignError: a
    layer that no framework has.
    """
    return PARTS[framework](graph, threads)


def frameworks_here() -> tuple[Framework, ...]:
    """Those that can run here. Raises ToolError: none."""
    found = tuple(one for one in FRAMEWORKS if installed(one) and (one == "torch" or installed("onnx")))
    if not found:
        text = "running layers on the CPU needs ONNX Runtime or PyTorch, and neither is installed"
        raise ToolError(f"{text}\nfix: pip install 'hlsgen[onnx]' or 'hlsgen[torch]'")
    return found
