"""One quantizer of QKeras as a graph, on all codes of a type."""

from __future__ import annotations

from typing import Any

import numpy as np

from hlsgen.base.fixed import FixedType
from hlsgen.frontends.qkeras.activations import activated
from hlsgen.frontends.qkeras.builder import TypedBuilder
from hlsgen.model.ir import Graph
from tests.support.frontends.keras_models import Doubles


def graph_of(quantizer: Any, source: FixedType, sigmoid: str = "hard") -> Graph:
    """One activation on a value of `source`."""
    builder = TypedBuilder("net", fixed=True)
    x = builder.input("x", (1,), source)
    with builder.at("act"):
        y = activated(builder, x, quantizer, sigmoid)
    builder.output("y", y)
    return builder.build()


def values_of(source: FixedType) -> Doubles:
    """[codes, 1]: the value of every code."""
    return source.decode(np.arange(source.min_code, source.max_code + 1)).reshape(-1, 1)
