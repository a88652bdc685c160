"""A graph written down: each layer with all its fields, as the frontend read it, before anything is fused."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.fixed import FixedType, FloatType
from hlsgen.layers.base import Layer
from hlsgen.model.documents import Entry, ModelDocument, as_json, connected
from hlsgen.model.ir import Graph

APART = ("name", "inputs", "place")
"""Fields that an entry has in other words, or that say where the design file is."""


def graph_document(graph: Graph) -> ModelDocument:
    """The layers of a graph; their arrays are parameters, called layer.field."""
    parameters: dict[str, NDArray[np.generic]] = {}
    layers = [_entry(layer, parameters) for layer in graph.layers]
    connections = [
        (layer.name, list(layer.inputs), entry) for layer, entry in zip(graph.layers, layers, strict=True)
    ]
    owners = {layer.name: layer.name for layer in graph.layers}
    owners |= {one.name: one.source for one in graph.origins if not one.joined and one.source in owners}
    return ModelDocument(
        layers=layers,
        dag=connected(connections, {port.name: port.source for port in graph.outputs}),
        parameters=parameters,
        owners=owners,
    )


def _entry(layer: Layer, parameters: dict[str, NDArray[np.generic]]) -> Entry:
    own = {
        one.name: _value(getattr(layer, one.name), f"{layer.name}.{one.name}", parameters)
        for one in fields(layer)
        if one.name not in APART
    }
    shape = list(layer.output_shape)
    return {"sequential": "no", "name": layer.name, "type": layer.kind, **own, "output_shape": shape}


def _value(value: object, name: str, parameters: dict[str, NDArray[np.generic]]) -> Any:
    """A field as JSON; an array goes to `parameters`, as text where its numbers are exact fractions."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return np.vectorize(str, otypes=[object])(value).tolist()
        parameters[name] = value
        return {"parameter": name}
    if isinstance(value, np.generic):
        return _value(value.item(), name, parameters)
    if isinstance(value, FixedType | FloatType):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        inside = {one.name: getattr(value, one.name) for one in fields(value)}
        return {key: _value(one, f"{name}.{key}", parameters) for key, one in inside.items()}
    if isinstance(value, tuple | list):
        return [_value(one, f"{name}.{place}", parameters) for place, one in enumerate(value)]
    try:
        return as_json(value)
    except TypeError:
        return str(value)
