"""Which keys of a network's `mapping` a style obeys: what it would ignore is refused, with the reason."""

from __future__ import annotations

from collections.abc import Iterator

from hlsgen.base.errors import Problem
from hlsgen.designfile.constraints import LayerWeightConstraints, NetworkConstraints
from hlsgen.designfile.validation import Location

KeyProblem = tuple[Location, Problem]
"""A problem, and the key of `mapping` that asks for what there is not."""
WEIGHT_KEYS = {"place": "weights", "storage": "storage", "batch_reuse": "batch_reuse"}
"""The keys of a layer that say where its weights lie, by field."""


def mapping_problems(constraints: NetworkConstraints, style: str) -> list[KeyProblem]:
    """The keys that this style has no use for."""
    if style == "shared":
        return list(_of_layers(constraints))
    if style == "mixed":
        return list(_of_mixtures(constraints))
    given = constraints.processor.given
    if not given:
        return []
    message = f"processor says what layers share in style: shared, and style: {style} has none"
    fix = f"style: shared, or no {', '.join(given)}"
    return [(("processor",), Problem(message=message, fix=fix))]


def _of_mixtures(constraints: NetworkConstraints) -> Iterator[KeyProblem]:
    """The keys that say what a search for where streaming ends cannot obey."""
    fix = "leave it out, or style: dataflow or shared"
    if constraints.target_interval is not None:
        message = "interval is of one kernel, and in style: mixed the slower of two sides sets the speed"
        yield ("interval",), Problem(message=message, fix=fix)
    for name in constraints.slrs:
        message = f"{name}: slr is of a kernel that holds all layers, and in style: mixed it holds the first"
        yield (name, "slr"), Problem(message=message, fix=fix)


def _of_layers(constraints: NetworkConstraints) -> Iterator[KeyProblem]:
    """The keys of single layers, and of all weights, in a network whose layers share processors."""
    for name, fold in (constraints.folds or {}).items():
        for key, value in fold.items():
            if value is not None:
                message = (
                    f"{name}: {key} folds a layer's own hardware, and in style: shared all layers share it"
                )
                fix = "mapping: {processor: {rows: 7, lanes: 16}}, or style: dataflow or tasks"
                yield (name, key), Problem(message=message, fix=fix)
    why = "and in style: shared DDR has all weights, which each task brings"
    fix = "leave it out, or style: dataflow or tasks"
    for name, wish in constraints.weights.layers.items():
        for field, key in WEIGHT_KEYS.items():
            value = getattr(wish, field)
            if value != getattr(LayerWeightConstraints, field):
                yield (name, key), Problem(message=f"{name}: {key} is {value}, {why}", fix=fix)
    if constraints.weights.place != "auto":
        yield ("weights",), Problem(message=f"weights is {constraints.weights.place}, {why}", fix=fix)
    for name, slr in constraints.slrs.items():
        message = f"{name}: slr is {slr:.80}, and in style: shared no layer has a place of its own"
        yield (name, "slr"), Problem(message=message, fix="leave slr out, or style: dataflow")
