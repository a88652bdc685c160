"""What a shared processor cannot do: the layer, why, and what to do about it."""

from __future__ import annotations

from hlsgen.base.errors import DesignError
from hlsgen.layers.base import Layer


def refused(layer: Layer, message: str, fix: str) -> DesignError:
    """The error that `layer` has no place in a program."""
    return DesignError(layer.problem(f"{message}, which style: shared has no hardware for", fix))
