"""No more weights than a file can hold: counted when Keras is asked for them, before it takes the memory.

A description of a few bytes may ask for Dense(10**9), and only its layers know what weights that makes: every
one of them is made by Layer.add_weight, of legacy Keras and of Keras 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hlsgen.base.errors import DesignError
from hlsgen.frontends.qkeras.files import KerasFile, problem

LEAST_WEIGHTS = 1 << 20
"""Weights that any description may ask for: what the file lacks of them is named when they are read."""


@contextmanager
def limited_weights(layer_class: Any, file: KerasFile, size: int) -> Iterator[None]:
    """Inside, layers make no more weights than a file of `size` bytes holds, of a byte each at least.

    layer_class: from which all layers derive. Raises DesignError: they would.
    """
    most, wanted, add_weight = max(size, LEAST_WEIGHTS), 0, layer_class.add_weight
    refused: list[DesignError] = []

    def counted(layer: Any, *arguments: Any, **named: Any) -> Any:
        nonlocal wanted
        shape = _shape_of(arguments, named)
        wanted += math.prod(shape)
        if wanted > most:
            sizes = " x ".join(map(str, shape))
            message = (
                f"{file.path}: its description has {wanted:,} weights, those of layer {layer.name} "
                f"({sizes}) included, and {file.weights} holds {size:,} bytes"
            )
            refused.append(problem(message, "the description and the weights of one and the same model"))
            raise refused[0]
        return add_weight(layer, *arguments, **named)

    layer_class.add_weight = counted
    try:
        yield
    except Exception:
        if refused:  # Keras tells of its own errors around it
            raise refused[0] from None
        raise
    finally:
        layer_class.add_weight = add_weight


def _shape_of(arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[int, ...]:
    """The shape that add_weight is called with: the first argument, or the second after a name."""
    given = [named.get("shape"), *(one for one in arguments if not isinstance(one, str))]
    found: Any = next((one for one in given if one is not None), ())
    sizes = found.as_list() if hasattr(found, "as_list") else found
    return tuple(
        int(size) for size in (sizes if hasattr(sizes, "__iter__") else (sizes,)) if size is not None
    )
