"""Objects of graphs and arrays that show themselves in a few lines: a notebook prints them, so do logs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

MOST_CHARACTERS = 400
"""The longest text that an object shows of itself."""
MOST_LINE = 110
MOST_VALUE = 48
"""Characters of one field of an object that has no words of its own."""
MOST_ITEMS = 4
"""A collection of more of them is counted."""


class Brief:
    """A base that gives classes a repr of one line: plain fields as they are, of others what they are.

    It never computes anything. Dataclasses keep it: their decorator replaces no repr that a class has.
    """

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = cls.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        text = ", ".join(_fields(self))
        return shortened(f"{type(self).__name__}({text})", MOST_CHARACTERS)


def _fields(one: object) -> Iterator[str]:
    if is_dataclass(one):
        for field in fields(one):
            if field.repr:
                yield f"{field.name}={_value(getattr(one, field.name))}"


def _value(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"<{value.dtype} {' x '.join(map(str, value.shape))}>"
    if isinstance(value, Mapping):
        return f"<{len(value)} entries>" if value else "{}"
    if isinstance(value, Collection) and not isinstance(value, str | bytes):
        return _collection(value)
    if value is None or isinstance(value, str | int | float | Enum):
        return shortened(str(value) if isinstance(value, Enum) else repr(value), MOST_VALUE)
    name = getattr(value, "name", None)
    if isinstance(name, str):
        return f"<{type(value).__name__} {shortened(name, MOST_VALUE)}>"
    own = type(value).__str__ is not object.__str__ and not isinstance(value, Brief)
    return shortened(str(value), MOST_VALUE) if own else f"<{type(value).__name__}>"


def _collection(values: Collection[Any]) -> str:
    plain = all(value is None or isinstance(value, str | int | float) for value in values)
    if len(values) <= MOST_ITEMS and plain:
        return shortened(repr(values), MOST_VALUE)
    kinds = {type(value).__name__ for value in values}
    return f"<{len(values)} of {kinds.pop()}>" if len(kinds) == 1 else f"<{len(values)} items>"


def shortened(text: str, most: int = MOST_LINE) -> str:
    """The text, or its beginning and three dots."""
    return text if len(text) <= most else f"{text[: most - 4]} ..."


def lines(head: str, *rest: str) -> str:
    """The repr of an object in lines, those that are empty left out."""
    shown = [shortened(head), *(f"  {shortened(one, MOST_LINE - 2)}" for one in rest if one)]
    return "\n".join(shown)


def some(names: Sequence[str]) -> str:
    """conv1, conv2, conv3, conv4 and 12 more"""
    more = len(names) - MOST_ITEMS
    return ", ".join(names[:MOST_ITEMS]) + (f" and {more} more" if more > 0 else "")
