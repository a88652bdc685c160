"""A trained candidate as files: the framework's own weights, and a design file that names them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from hlsgen.api.design import load
from hlsgen.base.errors import MismatchError, OutputError
from hlsgen.explore.design_file import moved_design, yaml_text
from hlsgen.layers.conv2d import Conv2d
from hlsgen.loading.importing import write_design
from hlsgen.model.ir import Graph
from hlsgen.training.trained import TrainedCandidate, TrainedFront, type_keys


def write_trained(
    found: TrainedFront,
    one: TrainedCandidate,
    source: Path,
    target: Path,
    *,
    board: str | None = None,
    clock_mhz: float | None = None,
    force: bool = False,
) -> tuple[Path, Path]:
    """Writes the design file `target` and the weights beside it, and reads them again: (design, weights).

    source: the design file that the search began with; board, clock_mhz: what its user put in place of its
    keys. force: whether files that are there are replaced.
    Raises OutputError: they are there already, or cannot be written. MismatchError: the network that the
    files say is not the trained one.
    """
    weights = target.with_suffix(found.model.ending)
    if weights.exists() and not force:
        raise OutputError(f"error: {weights} exists already\nfix: another -o, or --force")
    write_design(_text(found, one, source, target, weights, board, clock_mhz), target, force=force)
    try:
        # a link there is replaced, not followed
        fresh = weights.with_name(f".{os.getpid()}.{weights.name}")
        found.model.save(one.state, fresh)
        os.replace(fresh, weights)
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise OutputError(f"error: cannot write {weights}: {reason}\nfix: another -o") from None
    _check(load(target).graph, one.after.design.graph, target)
    return target, weights


def _text(
    found: TrainedFront,
    one: TrainedCandidate,
    source: Path,
    target: Path,
    weights: Path,
    board: str | None,
    clock_mhz: float | None,
) -> str:
    keys = type_keys(one.types)
    data = moved_design(source, target, board=board, clock_mhz=clock_mhz, precision=keys)
    data["model"] = found.model.key(data["model"], weights.name)
    text, of = found.found.metric.text, one.after.hardware
    measured = (
        f"{text(one.after.metric)} measured, {text(one.after.held_out)} on {found.found.held_out} held-out "
        f"frames (before: {text(one.before.metric)}, {text(one.before.held_out)})"
    )
    head = (
        f"# {source.name} with the widths that hlsgen quantise found ({one.before.name}) and the weights "
        f"trained for them.\n"
        f"# {found.found.metric.name}: {measured}; floating point {text(found.found.floating[1])}.\n"
        f"# One instance with a frame every {found.found.interval:,} cycles, modelled: {of.lut:,} LUT, "
        f"{of.dsp:,} DSP, {of.bram18:,} BRAM18.\n"
        "# The types stay those that the weights were trained for.\n"
    )
    return head + yaml_text(data)


def _check(read: Graph, wanted: Graph, target: Path) -> None:
    """Refuses files from which another network is read. Raises MismatchError."""
    same = [layer.name for layer in read.layers] == [layer.name for layer in wanted.layers]
    wrong = [
        layer.name
        for layer, other in zip(read.layers, wanted.layers, strict=False)
        if layer.output_type != other.output_type
        or isinstance(layer, Conv2d)
        and not (
            isinstance(other, Conv2d)
            and layer.weight_type == other.weight_type
            and np.array_equal(layer.weights, other.weights)
            and np.array_equal(_bias(layer), _bias(other))
        )
    ]
    if wrong or not same:
        named = ", ".join(wrong[:8]) or "its layers"
        text = f"error: the network in {target} is not the trained one: {named}"
        raise MismatchError(f"{text}\nfix: report this, with the design")


def _bias(layer: Conv2d) -> Any:
    return layer.bias_type.decode(layer.bias) if layer.bias.size else layer.bias
