"""What Keras itself computes in every layer of a model: by models that share its layers and show them all."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from hlsgen.frontends.qkeras.calls import (
    Call,
    KerasModel,
    ResultNames,
    generation,
    graph_holder,
    is_model,
    model_calls,
    with_graph,
)
from hlsgen.frontends.qkeras.load import quiet
from hlsgen.model.origins import Floats, FrameworkRun, LayerValues, Origin


def layer_values(model: Any, origins: Sequence[Origin]) -> LayerValues:
    """Runs a model that `graph_of_keras` has read on frames and shows these layers of it.

    Raises DesignError: it has no graph of layers.
    """
    model = with_graph(model)
    wanted = {one.key for one in origins}

    def run(frames: Sequence[Floats]) -> FrameworkRun:
        with quiet():
            return _Run(wanted).of(model, [np.asarray(array, np.float32) for array in frames], "")

    return LayerValues(title=f"Keras {_keras_of(model).__version__}", of=run)


class _Run:
    """One run of a model and of those inside, whose names are counted as when the graph was read."""

    def __init__(self, wanted: Collection[str]) -> None:
        self._wanted = wanted
        self._names = ResultNames()

    def of(self, model: Any, inputs: list[Any], prefix: str) -> FrameworkRun:
        found: dict[str, Floats] = {}
        calls = model_calls(model)
        tensors = {id(one): one for call in calls.calls for one in (*call.inputs, *call.outputs)}
        tensors |= {id(one): one for one in calls.outputs}
        values = dict(zip(tensors, _shown(model, calls, list(tensors.values()), inputs), strict=True))
        known = {id(tensor) for tensor in calls.inputs}
        for call in calls.calls:
            if all(id(tensor) in known for tensor in call.outputs):
                continue
            known.update(id(tensor) for tensor in call.outputs)
            results = [values[id(tensor)] for tensor in call.outputs]
            found |= self._results(call, results, [values[id(tensor)] for tensor in call.inputs], prefix)
        outputs = [np.asarray(values[id(tensor)], np.float64) for tensor in calls.outputs]
        return FrameworkRun(outputs=outputs, layers=found)

    def _results(
        self, call: Call, results: list[Any], inputs: list[Any], prefix: str
    ) -> Mapping[str, Floats]:
        if is_model(call.layer):
            inside = graph_holder(call.layer) is not None
            return self.of(call.layer, inputs, f"{prefix}{call.layer.name}.").layers if inside else {}
        if type(call.layer).__name__ == "InputLayer":
            return {}
        named = zip(self._names.of_results(call, prefix), results, strict=True)
        return {name: np.asarray(value, np.float64) for name, value in named if name in self._wanted}


def _shown(model: Any, calls: KerasModel, tensors: list[Any], inputs: list[Any]) -> Iterator[Any]:
    """Arrays of these tensors of a model, for arrays of its inputs."""
    keras = _keras_of(model)
    given = list(calls.inputs)
    shown = keras.Model(given if len(given) > 1 else given[0], tensors)
    results = shown(inputs if len(inputs) > 1 else inputs[0], training=False)
    for one in results if isinstance(results, list | tuple) else [results]:
        yield keras.ops.convert_to_numpy(one) if generation(model) == 3 else np.asarray(one)


def _keras_of(model: Any) -> Any:
    """The package, tf_keras or keras, whose model it is."""
    base = next(base for base in type(model).__mro__ if base.__name__ == "Model")
    return importlib.import_module(base.__module__.partition(".")[0])
