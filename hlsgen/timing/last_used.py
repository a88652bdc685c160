"""What was computed last, by what it depends on."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class LastUsed(Generic[Value]):
    """The last `most` values that were kept or found."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._values: OrderedDict[Hashable, Value] = OrderedDict()

    def find(self, key: Hashable) -> Value | None:
        found = self._values.get(key)
        if found is not None:
            self._values.move_to_end(key)
        return found

    def keep(self, key: Hashable, value: Value) -> None:
        self._values[key] = value
        if len(self._values) > self.most:
            self._values.popitem(last=False)
