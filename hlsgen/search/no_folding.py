"""Why a layer has no folding that its design allows, and the nearest one that it has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from hlsgen.designfile.constraints import LayerWeightConstraints, NetworkConstraints, NoFit
from hlsgen.hardware.ports import WIDEST_STREAM, ddr_port
from hlsgen.hardware.weights import placed
from hlsgen.layers.base import Layer
from hlsgen.layers.constant_products import has_adders, too_many_digits
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.stage import Fold
from hlsgen.search.candidates import every_folding, fixed_keys
from hlsgen.targets.board import Board

CONSTANT = LayerWeightConstraints(place="constant")
NO_ADDERS: Mapping[str, object] = {"multipliers": "auto"}


def nothing_fits(layer: Layer, board: Board, constraints: NetworkConstraints) -> NoFit:
    """Why no folding of `layer` that the design allows fits; the remedy names one that does."""
    wishes = {key: value for key, value in fixed_keys(layer, constraints).items() if value is not None}
    if wishes.get("multipliers") == "constants" and isinstance(layer, Conv2d):
        return _without_adders(layer, board, constraints, wishes)
    if not wishes:
        return NoFit(
            f"{layer.name}: even its smallest folding takes more than {board.title} has",
            "narrower types, a smaller layer, or a larger board",
        )
    asked = ", ".join(f"{key}: {value}" for key, value in wishes.items())
    own = constraints.weights.of(layer.name) if isinstance(layer, Conv2d) else None
    changes = None if layer.is_float else _changes(layer, board, constraints, own, wishes, {})
    free = f"mapping: auto (words have at most {WIDEST_STREAM:,} bits)"
    return NoFit(
        f"{layer.name}: no folding with {asked} fits it and {board.title}",
        f"{_said(changes)}, or {free}" if changes else free,
    )


def _without_adders(
    layer: Conv2d, board: Board, constraints: NetworkConstraints, wishes: Mapping[str, object]
) -> NoFit:
    """Why the products of `layer` cannot be adders, which its design asks for."""
    if not has_adders(layer):
        problem = too_many_digits(layer)
        return NoFit(problem.message, problem.fix)
    own = constraints.weights.of(layer.name)
    adders = {"multipliers": "constants"}
    if not any(fold.multipliers == "constants" for fold in layer.folds()):
        inputs = layer.read_shape[0]
        return NoFit(
            f"{layer.name}: multipliers: constants takes all of the layer's {inputs:,} inputs in a cycle, "
            "but a word of a stream carries at most a row of the image that it reads",
            _said(_changes(layer, board, constraints, own, wishes, {}) or NO_ADDERS),
        )
    message = f"{layer.name}: multipliers: constants is for weights in the source that are all used at once"
    changes = _changes(layer, board, constraints, own, wishes, adders)
    if changes is not None:
        return NoFit(message, _said(changes))
    changes = _changes(layer, board, constraints, CONSTANT, wishes, adders)
    if changes is not None:
        steps = ["weights: constant"] if own.place != "constant" else []
        steps += ["no storage"] if own.storage != "auto" else []
        return NoFit(message, " and ".join([*steps, *([_said(changes)] if changes else [])]))
    return NoFit(
        f"{layer.name}: with multipliers: constants it takes more than {board.title} and its streams have",
        _said(_changes(layer, board, constraints, own, wishes, {}) or NO_ADDERS),
    )


def _changes(
    layer: Layer,
    board: Board,
    constraints: NetworkConstraints,
    weights: LayerWeightConstraints | None,
    wishes: Mapping[str, object],
    kept: Mapping[str, object],
) -> dict[str, object] | None:
    """What differs from the wishes in the folding that is nearest to them; None: nothing fits either way.

    weights: where they lie. kept: wishes that it must obey.
    """
    place = placed(layer, weights, ddr_port(board)) if isinstance(layer, Conv2d) and weights else None
    loose = replace(constraints, folds={layer.name: dict(kept)})
    found = [one.fold for one in every_folding(layer, board, loose, place)]
    if not found:
        return None
    best = min(found, key=lambda fold: _distance(fold, wishes))
    return {key: getattr(best, key) for key, value in wishes.items() if getattr(best, key) != value}


def _distance(fold: Fold, wishes: Mapping[str, object]) -> tuple[int, float]:
    """How many wishes a folding lacks, and how far its numbers are from them."""
    missed, far = 0, 0.0
    for key, value in wishes.items():
        found = getattr(fold, key)
        missed += found != value
        if isinstance(value, int) and isinstance(found, int):
            far += abs(math.log2((1 + found) / (1 + value)))
    return missed, far


def _said(changes: Mapping[str, object]) -> str:
    return " and ".join(
        "multipliers: auto" if key == "multipliers" else f"{key}: {value}" for key, value in changes.items()
    )
