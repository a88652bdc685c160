"""One aten operation while it is converted: its arguments, checked as they are taken."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError
from hlsgen.base.real_numbers import REAL_PART
from hlsgen.frontends.builder.builder import GraphBuilder, Value
from hlsgen.frontends.torch.package import torch

Array = NDArray[np.float64]
Number = TypeVar("Number", bound=np.generic)
BLOCK = 1 << 16
"""Numbers of a constant that are looked at together."""
KEPT_TYPES = (torch.float32, torch.float64)
"""Types between which a cast changes nothing here."""
TYPES = "the design chooses the number types"


@dataclass(frozen=True, kw_only=True)
class Missing:
    """What a model computes and a graph does not have; an operation that takes it is refused."""

    what: str
    fix: str


BATCH = Missing(
    what="the number of frames",
    fix="operations that treat each frame by itself; hardware does not know how many there are",
)


@dataclass(frozen=True, kw_only=True)
class Call:
    """builder: where layers go; shapes: of the results without the batch, one of each."""

    builder: GraphBuilder
    op: str
    shapes: tuple[tuple[int, ...], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the only result, without the batch."""
        return self.shapes[0]

    def refusal(self, message: str, fix: str) -> DesignError:
        return self.builder.refusal(message, fix)

    def value(self, argument: object, what: str = "input") -> Value:
        """An argument that depends on the model's inputs."""
        if isinstance(argument, Missing):
            raise self.refusal(f"it takes {argument.what}", argument.fix)
        if not isinstance(argument, Value):
            message = f"its {what} is a constant, and only its other operands come from the model's inputs"
            raise self.refusal(message, "an operation whose constants are parameters, as weights are")
        return argument

    def constant(self, argument: object, what: str) -> Array:
        """An argument that does not depend on the model's inputs, as float64: finite numbers."""
        if isinstance(argument, Missing):
            raise self.refusal(f"it takes {argument.what}", argument.fix)
        if isinstance(argument, Value):
            message = f"its {what} is computed from the model's inputs; it has to be constant"
            raise self.refusal(message, f"a parameter or buffer as {what}")
        if isinstance(argument, complex) or (isinstance(argument, torch.Tensor) and argument.is_complex()):
            raise self.refusal(f"its {what} holds complex numbers", REAL_PART)
        # a copy even of float64: the model may be trained further
        if isinstance(argument, torch.Tensor):
            # NumPy has no bfloat16 and no float8
            argument = (argument.double() if argument.is_floating_point() else argument).numpy()
        array: Array = np.array(argument, np.float64)
        return self._finite(array, what)

    def weights(self, argument: object, what: str = "weight") -> NDArray[np.floating[Any]]:
        """A constant as `constant` gives it, but as float32 if it is: of large layers it is half as large."""
        if isinstance(argument, torch.Tensor) and argument.dtype == torch.float32:
            shared: NDArray[np.float32] = argument.numpy()
            shared.flags.writeable = False  # the model's own, which may be trained further: layers copy it
            return self._finite(shared, what)
        return self.constant(argument, what)

    def _finite(self, array: NDArray[Number], what: str) -> NDArray[Number]:
        flat = array.reshape(-1)
        if not all(np.isfinite(flat[at : at + BLOCK]).all() for at in range(0, flat.size, BLOCK)):
            raise self.refusal(f"its {what} holds NaN or infinity", "finite numbers")
        return array

    def optional(self, argument: object, what: str) -> Array | None:
        return None if argument is None else self.constant(argument, what)

    def number(self, argument: object, what: str) -> float:
        """A constant of one element."""
        array = self.constant(argument, what)
        if array.size != 1:
            raise self.refusal(f"its {what} has {array.size} elements", "a single number")
        return float(array.reshape(()))

    def limit(self, argument: object, what: str) -> float | None:
        """A limit of a clamp: None if there is none, or an infinite one."""
        if argument is None or (isinstance(argument, float) and math.isinf(argument)):
            return None
        return self.number(argument, what)

    def whole(self, argument: object, what: str) -> int:
        """A number known before the model runs."""
        if isinstance(argument, Missing):
            raise self.refusal(f"its {what} depends on {argument.what}", argument.fix)
        if not isinstance(argument, int):
            raise self.refusal(f"its {what} is {argument}", "a whole number")
        return argument

    def sizes(self, argument: object, what: str) -> tuple[int, ...]:
        """Numbers known before the model runs; a single one counts as a list of one."""
        each = argument if isinstance(argument, list | tuple) else [argument]
        return tuple(self.whole(size, what) for size in each)

    def spatial(self, argument: object, what: str, axes: int, single: int) -> tuple[int, int]:
        """A size per spatial axis as (vertical, horizontal); a signal has `single` vertically."""
        sizes = self.sizes(argument, what)
        if len(sizes) == 1:
            sizes *= axes
        return (single, sizes[0]) if axes == 1 else (sizes[0], sizes[1])

    def axis(self, x: Value, dim: object) -> int:
        """The axis of a value without batch that PyTorch calls `dim`; the batch itself is refused."""
        number = self.whole(dim, "dim") % (x.rank + 1)
        if number == 0:
            message = "it works along the batch, but each frame is computed by itself"
            raise self.refusal(message, "a dim of 1 or more")
        return number - 1

    def axes(self, x: Value, dims: object) -> tuple[int, ...]:
        """Several axes, each as `axis` gives it; none mean all, the batch included."""
        if dims is None or dims == []:
            dims = list(range(x.rank + 1))
        return tuple(self.axis(x, dim) for dim in (dims if isinstance(dims, list | tuple) else [dims]))

    def broadcast(self, array: Array, rank: int) -> Array:
        """A constant, broadcast to values of `rank` axes and the batch, without its own batch axis."""
        if array.ndim == rank + 1 and array.shape[0] == 1:
            return np.asarray(array[0])
        if array.ndim > rank:
            sizes = " x ".join(map(str, array.shape))
            message = f"its constant of {sizes} has other values for each frame, or more axes than the input"
            raise self.refusal(message, "a constant that is the same for all frames")
        return array

    def keep_type(self, dtype: object) -> None:
        """Refuses a cast to another type than float32 or float64. Raises DesignError."""
        if dtype is not None and dtype not in KEPT_TYPES:
            message = f"it casts to {str(dtype).removeprefix('torch.')}"
            raise self.refusal(message, "leave it out: " + TYPES)


Converter = Callable[..., Any]
Registered = TypeVar("Registered", bound=Converter)
CONVERTERS: dict[str, Converter] = {}
"""What builds an aten operation, by its name; called with a Call and the schema's arguments by name."""


def converts(*names: str) -> Callable[[Registered], Registered]:
    """Registers a converter for aten operations."""

    def register(converter: Registered) -> Registered:
        for name in names:
            assert name not in CONVERTERS, f"two converters of {name}"
            CONVERTERS[name] = converter
        return converter

    return register
