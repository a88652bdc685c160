"""A model written down without loss: its layers, how they are connected, and its parameters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.short_repr import Brief

Entry: TypeAlias = dict[str, Any]
"""A layer as JSON has it."""


@dataclass(frozen=True, kw_only=True)
class ModelDocument(Brief):
    """A model as its framework has it, before anything is fused.

    layers: every layer with its attributes. dag: in an order of computation what is computed, each entry with
    its `input`, `output` and `next`. parameters: arrays by the names that entries use. owners: the entry of
    `dag` that computes each of the framework's tensors, by `Origin.name`.
    """

    layers: list[Entry]
    dag: list[Entry]
    parameters: Mapping[str, NDArray[np.generic]]
    owners: Mapping[str, str]


def connected(entries: Iterable[tuple[str, list[str], Entry]], outputs: Mapping[str, str]) -> list[Entry]:
    """Entries (name, what it reads, its attributes) with `input`, `output` and `next`: a name, a list of
    several, NONE where nothing reads it. outputs: the entry that each output of the model shows.
    """
    every = list(entries)
    readers: dict[str, dict[str, None]] = {}
    for name, sources, _ in every:
        for source in sources:
            readers.setdefault(source, {})[name] = None
    made = []
    for name, sources, attributes in every:
        later = list(readers.get(name, ["NONE"]))
        entry: Entry = {"name": name, "input": _one_or_list(sources), "output": name}
        entry["next"] = _one_or_list(later)
        shown = [port for port, source in outputs.items() if source == name]
        if shown:
            entry["outputs"] = shown
        made.append(entry | {key: value for key, value in attributes.items() if key != "name"})
    return made


def _one_or_list(names: list[str]) -> str | list[str]:
    return names[0] if len(names) == 1 else names


def as_json(value: object) -> Any:
    """A plain value as JSON has it; an infinity is {"float": "inf"}. Raises TypeError: it is not plain."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, tuple | list):
        return [as_json(one) for one in value]
    raise TypeError(f"{type(value).__name__} is not plain")
