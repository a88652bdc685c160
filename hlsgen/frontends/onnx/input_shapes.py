"""Shapes of an ONNX model's inputs: what the file says of them, and what its user fixes of open ones."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hlsgen.base.errors import DesignError, Problem, collecting

Shape: TypeAlias = tuple[int, ...]
InputShapes: TypeAlias = Sequence[Shape] | Mapping[str, Shape]
"""Shapes of a frame of each input: in the model's order, or by name of those that are open; or none."""
LETTERS = {1: "F", 2: "CL", 3: "CHW"}
"""What the axes of a frame are called where the model does not say it, by their number."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What a file says of an input's shape: a number for each axis, the name of an open one, "" without."""

    name: str
    axes: tuple[int | str, ...]

    @classmethod
    def of(cls, value: Any) -> Sizes:
        """The sizes that a ValueInfoProto of a tensor gives."""
        tensor = value.type.tensor_type
        axes = tuple(
            int(dim.dim_value) if dim.HasField("dim_value") and dim.dim_value > 0 else dim.dim_param
            for dim in tensor.shape.dim
        )
        return cls(name=value.name, axes=axes)

    def __str__(self) -> str:
        return "[" + ", ".join(str(size or "?") for size in self.axes) + "]"


def fixed_sizes(inputs: Sequence[Sizes], given: InputShapes, title: str) -> dict[str, Sizes]:
    """The inputs by name, their open sizes fixed as `given`; the batch, axis 0, stays what it is.

    An open size that a name stands for is the same wherever the name does. Raises DesignError: shapes of
    other inputs or another number, sizes that contradict the file's or each other, sizes that stay open.
    """
    problems: list[Problem] = []
    by_name = _by_name(inputs, given, title)
    meant: dict[str, int] = {}
    for one in inputs:
        with collecting(problems):
            if one.name in by_name:
                _take(one, by_name[one.name], meant, title)
    if problems:
        raise DesignError(problems)
    fixed = {}
    for one in inputs:
        with collecting(problems):
            fixed[one.name] = _closed(one, by_name.get(one.name), meant, inputs, title)
    if problems:
        raise DesignError(problems)
    return fixed


def _refuse(title: str, message: str, fix: str) -> DesignError:
    return DesignError(Problem(message=f"{title}: {message}", fix=fix))


def _by_name(inputs: Sequence[Sizes], given: InputShapes, title: str) -> Mapping[str, Shape]:
    names = [one.name for one in inputs]
    if isinstance(given, Mapping):
        strangers = [name for name in given if name not in names]
        if strangers:
            message = f"a shape is given for {', '.join(map(str, strangers))}, and it has no such input"
            raise _refuse(title, message, f"its inputs are {', '.join(names)}")
        return given
    if given and len(given) != len(names):
        message = f"{len(given)} input shapes are given, and it has {len(names)} inputs"
        raise _refuse(title, message, f"one shape for each of {', '.join(names)}, in this order")
    return dict(zip(names, given, strict=False))


def _take(one: Sizes, shape: Shape, meant: dict[str, int], title: str) -> None:
    """Notes what the names of open sizes stand for; refuses a shape that contradicts the file."""
    said = f"input {one.name} of {title} has the shape {one}"
    if len(shape) != len(one.axes) - 1:
        message = (
            f"{said}, and the shape that is given, {list(shape)}, has {len(shape)} axes without the batch"
        )
        raise DesignError(Problem(message=message, fix=f"{len(one.axes) - 1} sizes, the batch left out"))
    for size, wished in zip(one.axes[1:], shape, strict=False):
        if (isinstance(size, int) and size != wished) or meant.get(str(size), wished) != wished:
            message = f"{said}, and the shape that is given, {list(shape)}, contradicts it"
            where = f"{size} there" if isinstance(size, int) else f"the same size wherever it says {size}"
            raise DesignError(Problem(message=message, fix=f"{where}; only open sizes can be chosen"))
        if isinstance(size, str) and size.strip("?"):
            meant[size] = wished


def _closed(
    one: Sizes, shape: Shape | None, meant: Mapping[str, int], inputs: Sequence[Sizes], title: str
) -> Sizes:
    batch, rest = one.axes[0], one.axes[1:]
    if shape is not None:
        return Sizes(name=one.name, axes=(batch, *shape))
    sizes = tuple(meant.get(size, size) if isinstance(size, str) else size for size in rest)
    if any(isinstance(size, str) for size in sizes):
        raise _refuse(title, f"input {one.name} has the shape {one}, whose size is open", remedy(one, inputs))
    return Sizes(name=one.name, axes=(batch, *sizes))


def remedy(one: Sizes, inputs: Sequence[Sizes]) -> str:
    """How a user fixes open sizes: the known ones as they are, letters for the others."""
    rest = one.axes[1:]
    letters = LETTERS.get(len(rest), "")
    shown = [
        str(size) if isinstance(size, int) else size if re.fullmatch(r"[A-Za-z]\w*", size) else letter
        for size, letter in zip(rest, letters.ljust(len(rest), "?"), strict=True)
    ]
    plain, spaced = ",".join(shown), ", ".join(shown)
    python = f"({spaced},)" if len(shown) == 1 else f"({spaced})"
    if len(inputs) > 1:
        python = f'{{"{one.name}": {python}}}'
    each = " (of several inputs each in turn)" if len(inputs) > 1 else ""
    return (
        f"sizes for a frame, the batch left out: input_shape={python} in Python, --shape {plain} of "
        f"hlsgen import{each}, or input: {{shape: [{spaced}]}} in a design file"
    )


def elements(one: Sizes) -> int:
    """The elements of a frame."""
    return math.prod(int(size) for size in one.axes[1:])
