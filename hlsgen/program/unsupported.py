"""What a shared processor cannot do: the layer, why, and what to do about it."""

from __future__ import annotations

from hlsgen.base.errors import DesignError, Problem
from hlsgen.layers.base import Layer


class NoHardware(DesignError):
    """layer: the name of the one that has no place in a program."""

    def __init__(self, problem: Problem | tuple[Problem, ...], layer: str = "") -> None:
        super().__init__(problem)
        self.layer = layer


def refused(layer: Layer, message: str, fix: str) -> NoHardware:
    """The error that `layer` has no place in a program."""
    problem = layer.problem(f"{message}, which style: shared has no hardware for", fix)
    return NoHardware(problem, layer.name)
