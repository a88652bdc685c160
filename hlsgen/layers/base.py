"""What every kind of layer has; a kind registers itself by `class Conv2d(Layer, kind="conv2d")`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hlsgen.errors import Place, Problem
from hlsgen.fixed import NumberType

Codes = NDArray[Any]
"""Integer codes of a fixed-point tensor (int64, or Python ints where those are too short), or float32 values.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Layer(ABC):
    """One layer of the graph: fields, shapes, golden result and work. Immutable."""

    kind: ClassVar[str]
    kinds: ClassVar[dict[str, type[Layer]]] = {}

    name: str
    place: Place | None = None

    def __init_subclass__(cls, *, kind: str, **rest: object) -> None:
        super().__init_subclass__(**rest)
        cls.kind = kind
        Layer.kinds[kind] = cls

    @property
    @abstractmethod
    def output_shape(self) -> tuple[int, int, int]:
        """(channels, height, width) of one output frame."""

    @property
    @abstractmethod
    def output_type(self) -> NumberType:
        """The type of an output element."""

    @property
    @abstractmethod
    def macs(self) -> int:
        """Multiply-accumulates that one frame needs, those with padding zeros included."""

    @abstractmethod
    def check(self) -> list[Problem]:
        """The rules of this kind that this layer breaks."""

    def problem(self, message: str, fix: str) -> Problem:
        """A problem at this layer's place in the design."""
        return Problem(message=f"{self.name}: {message}", fix=fix, place=self.place)


def frames_of(codes: Codes, shape: tuple[int, int, int]) -> Codes:
    """`codes` as [frames, channels, height, width]; one frame may come without its batch axis."""
    array = np.asarray(codes)
    return array.reshape((-1, *shape))
