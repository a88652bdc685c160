"""The framework's own tensors: under which name, in which layout, and which tensor of the graph has them.

A frontend writes them down as it reads a model; passes that join layers or change tensors keep them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.short_repr import Brief
from hlsgen.model.documents import ModelDocument

Floats = NDArray[np.float64]
Digits: TypeAlias = tuple[tuple[int, int], ...]
"""A logical axis as digits (size, stride) of a mixed radix, outermost first; () for a size of 1."""


def positions(axes: Iterable[Digits], offset: int) -> NDArray[np.int64]:
    """The position of each element of a view in its tensor's flat [C, H, W] order: [*shape]."""
    flat = np.array(offset, np.int64)
    for axis in axes:
        digits = np.zeros(1, np.int64)
        for size, stride in axis:
            digits = (digits[:, None] + np.arange(size) * stride).reshape(-1)
        flat = flat[..., None] + digits
    return flat


@dataclass(frozen=True, kw_only=True)
class Origin(Brief):
    """A tensor of the framework's model and where the graph has it.

    name: the framework's: path of a module, name of a layer, of a tensor. kind: what makes it, in the
    framework's words. key: what the framework's own run calls it. source: the tensor of the graph, an input
    or a layer's. joined: the layer `source` has computed further than this: its values are nowhere by
    themselves. Else they are, with the batch in front,

        limited(scale * source + shift)[offset + digits of the index]

    where scale and shift are one number or one for each channel of `source`, and `axes` are those of
    `positions`.
    """

    name: str
    kind: str
    key: str
    source: str
    axes: tuple[Digits, ...]
    offset: int = 0
    joined: bool = False
    scale: tuple[float, ...] = (1.0,)
    shift: tuple[float, ...] = (0.0,)
    low: float | None = None
    high: float | None = None

    @classmethod
    def whole(cls, name: str, kind: str, shape: Sequence[int]) -> Origin:
        """A tensor of the graph itself, [C, H, W], under its own name."""
        _, height, width = shape
        strides = (height * width, width, 1)
        axes = tuple(((size, stride),) for size, stride in zip(shape, strides, strict=True))
        return cls(name=name, kind=kind, key=name, source=name, axes=axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The framework's, without the batch."""
        return tuple(int(np.prod([size for size, _ in axis], dtype=np.int64)) for axis in self.axes)

    def values(self, tensor: Floats) -> Floats:
        """The framework's array [frames, *shape] from the numbers [frames, C, H, W] of `source`."""
        plain = self.scale == (1.0,) and self.shift == (0.0,) and self.low is None and self.high is None
        if not plain:
            scale, shift = (np.asarray(part).reshape(-1, 1, 1) for part in (self.scale, self.shift))
            low = -np.inf if self.low is None else self.low
            tensor = np.clip(tensor * scale + shift, low, np.inf if self.high is None else self.high)
        flat = tensor.reshape(len(tensor), -1)
        where = positions(self.axes, self.offset)
        if np.array_equal(where.reshape(-1), np.arange(flat.shape[1])):
            return flat.reshape(-1, *self.shape)
        return flat[:, where.reshape(-1)].reshape(-1, *self.shape)


class Lineage:
    """Origins by the tensor that has them, while a pass replaces tensors."""

    def __init__(self, origins: Iterable[Origin]) -> None:
        self._by_name = {one.name: one for one in origins}
        self._at: dict[str, list[str]] = {}
        for one in self._by_name.values():
            self._at.setdefault(one.source, []).append(one.name)

    def join(self, first: str, second: str) -> None:
        """The layer `first` has become itself and its reader `second`: it has the values of that."""
        before = self._at.get(first, [])
        after = self._at.pop(second, [])
        for name in before:
            self._by_name[name] = replace(self._by_name[name], joined=True)
        for name in after:
            self._by_name[name] = replace(self._by_name[name], source=first)
        self._at[first] = before + after

    @property
    def origins(self) -> tuple[Origin, ...]:
        return tuple(self._by_name.values())


@dataclass(frozen=True, kw_only=True)
class FrameworkRun(Brief):
    """What a framework computes from some frames, in its own layout.

    outputs: [N, ...] of each output, in the order of the model's outputs. layers: [N, *shape] of each origin,
    by its name; origins whose values the framework does not show are missing.
    """

    outputs: Sequence[Floats]
    layers: Mapping[str, Floats]


@dataclass(frozen=True, kw_only=True)
class LayerValues(Brief):
    """A framework, ready to run its model. title: its name and version. of: frames [N, ...] of each input in
    the framework's layout -> what the model computes from them.
    """

    title: str
    of: Callable[[Sequence[Floats]], FrameworkRun]


class FrameworkModel(Protocol):
    """The model as its framework has it."""

    def layer_values(self, origins: Sequence[Origin]) -> LayerValues:
        """What runs the model and shows these tensors. Raises DesignError, ToolError as reading it does."""

    def modules(self) -> ModelDocument | None:
        """The model written down, module by module; None: its framework has no modules."""
