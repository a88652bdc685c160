"""What the PyTorch frontend says of models that it refuses."""

# ruff: noqa: E402 (PyTorch has to be there for the imports below the first)

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="torch is not installed")

from torch import nn

from hlsgen.base.errors import DesignError, Place, Problem
from hlsgen.frontends.torch.to_graph import graph_of_module
from tests.support.frontends.torch_models import Shape

NO_LAYER = "hlsgen has no layer for this operation"
HERE = Place(file="design.yaml", line=3, column=8)


def problems_of(model: nn.Module, *shapes: Shape) -> tuple[Problem, ...]:
    with pytest.raises(DesignError) as caught:
        graph_of_module(model, list(shapes), name="net", place=HERE)
    return caught.value.problems
