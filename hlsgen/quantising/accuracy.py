"""How near a network in fixed point is to its floating-point original, on frames that chose no types."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from hlsgen.base.fixed import Codes, FixedType
from hlsgen.base.floating import HALF
from hlsgen.base.overflow_count import OverflowCount
from hlsgen.layers.argmax import ArgMax
from hlsgen.layers.base import Layer
from hlsgen.layers.softmax import Softmax
from hlsgen.layers.table import Table
from hlsgen.layers.unary import Selection
from hlsgen.model.accuracy import Accuracy, Measured, Quality, Reached
from hlsgen.model.ir import Golden, Graph, PackedCodes, Port, golden_by_layer, run_golden
from hlsgen.model.ports import tensor_codes
from hlsgen.model.precision import Floats
from hlsgen.quantising.float_run import FloatRun, SomeFrames


def _encoded(fixed: Graph, frames: Mapping[str, Floats]) -> dict[str, Codes]:
    """Frames of the inputs as codes of their types."""
    return {
        port.name: tensor_codes(port, frames[port.name], f"the calibration of {port.name}")
        for port in fixed.inputs
        if isinstance(port.tensor.type, FixedType) or port.tensor.type == HALF
    }


def judged(fixed: Graph, run: FloatRun) -> Quality:
    """The outputs of `fixed` on the frames that judge it."""
    frames = _encoded(fixed, run.inputs([run.kept[one] for one in run.judging]))
    shown = {port.source for port in fixed.outputs} | set(_scores(run.graph))
    tensors = run_golden(fixed, frames, shown)
    return _quality(fixed, run, tensors, run.judging)


def measured(fixed: Graph, run: FloatRun) -> Measured:
    """Each layer of `fixed` that floating point has too against it, then each output, on all that is kept."""
    inputs = _encoded(fixed, run.inputs(run.kept))
    types, excess = fixed.tensors(), dict[str, Mapping[FixedType, OverflowCount]]()
    ports, tensors = {port.name for port in fixed.inputs}, PackedCodes(types)
    judging = run.held_out or run.of_ranges
    wanted, layers = run.tensors(judging), []
    for name, codes in golden_by_layer(fixed, inputs, excess):
        tensors.keep(name, codes)
        if name in wanted and name not in ports:
            type_ = types[name].type
            snr_db = _snr(type_.decode(codes[judging]), wanted[name])
            layers.append(Accuracy(name=name, type=str(type_), snr_db=snr_db))
    golden = Golden(tensors=tensors, excess=excess)
    held_out, of_ranges = (
        _quality(fixed, run, SomeFrames(tensors, part), part) if part else None
        for part in (run.held_out, run.of_ranges)
    )
    assert of_ranges is not None
    return Measured(
        graph=fixed,
        layers=tuple(layers),
        inputs=inputs,
        golden=golden,
        reached=Reached(held_out=held_out, of_ranges=of_ranges, given=run.given),
    )


def _quality(fixed: Graph, run: FloatRun, tensors: Mapping[str, Codes], positions: Sequence[int]) -> Quality:
    """tensors: what the layers of `fixed` give for the frames at `positions` of those that `run` keeps."""
    wanted = run.tensors(positions)
    choosing = {layer.name for layer in fixed.layers if isinstance(layer, ArgMax)}
    found = [
        _output(
            port,
            port.tensor.type.decode(tensors[port.source]),
            wanted[shown.source],
            chooses=port.source in choosing,
        )
        for port, shown in zip(fixed.outputs, run.graph.outputs, strict=True)
        if port.source in tensors and shown.source in wanted
    ]
    types = fixed.tensors()
    scores = [
        Accuracy(
            name=name,
            type=str(types[name].type),
            snr_db=_output_snr(types[name].type.decode(tensors[name]), wanted[name]),
        )
        for name in _scores(run.graph)
        if name in tensors
    ]
    return Quality(frames=len(positions), outputs=tuple(found), scores=tuple(scores))


def _scores(graph: Graph) -> list[str]:
    """The layers that functions which saturate, or choose, make outputs of."""
    by_name = {layer.name: layer for layer in graph.layers}
    found = []
    for port in graph.outputs:
        name, hidden = port.source, False
        while (layer := by_name.get(name)) and (_saturates(layer) or isinstance(layer, Selection)):
            hidden, name = hidden or _saturates(layer), layer.inputs[0]
        if hidden and name in by_name and name not in found:
            found.append(name)
    return found


def _saturates(layer: Layer) -> bool:
    return isinstance(layer, Softmax | ArgMax) or (
        isinstance(layer, Table) and layer.function in ("sigmoid", "tanh")
    )


def _output(port: Port, values: Floats, wanted: Floats, *, chooses: bool) -> Accuracy:
    agreement = float(np.mean(values == wanted)) if chooses else _agreement(values, wanted)
    return Accuracy(
        name=port.name,
        type=str(port.tensor.type),
        snr_db=_output_snr(values, wanted),
        by_frame=None if chooses else _by_frame(values, wanted),
        variation_db=None if chooses else _variation_db(values, wanted),
        agreement=agreement,
        expected=None
        if chooses or agreement is None
        else expected_agreement(values[..., 0, 0], wanted[..., 0, 0]),
        chooses=chooses,
    )


def _snr(values: Floats, wanted: Floats) -> float:
    return _ratio_db(float(np.mean(wanted**2)), values, wanted)


def _output_snr(values: Floats, wanted: Floats) -> float:
    """What varies is the signal: small changes on a large offset are what an output is read for."""
    return _ratio_db(float(np.var(wanted)) or float(np.mean(wanted**2)), values, wanted)


def _by_frame(values: Floats, wanted: Floats) -> tuple[float, float]:
    """The signal to noise of the worst and of the best frame, the signal that of all frames."""
    signal = float(np.var(wanted)) or float(np.mean(wanted**2))
    each = [_ratio_db(signal, one, other) for one, other in zip(values, wanted, strict=True)]
    return min(each), max(each)


def _variation_db(values: Floats, wanted: Floats) -> float | None:
    """Signal to noise where an element's mean over frames is no signal; None: no element changes."""
    signal = float(np.mean(np.var(wanted, axis=0)))
    return _ratio_db(signal, values, wanted) if signal else None


def _ratio_db(signal: float, values: Floats, wanted: Floats) -> float:
    noise = float(np.mean((values - wanted) ** 2))
    return math.inf if noise == 0.0 else 10 * math.log10(signal / noise) if signal else -math.inf


def _agreement(values: Floats, wanted: Floats) -> float | None:
    if wanted.shape[1] < 2 or wanted.shape[2:] != (1, 1):
        return None
    return float(np.mean(values.argmax(axis=1) == wanted.argmax(axis=1)))


def expected_agreement(values: Floats, wanted: Floats) -> float:
    """The share of frames [N, C] whose largest score stays the largest with noise such as these values'.

    Noise of a difference is taken as spread in a triangle, which is near to normal and needs no library's
    functions: the same bits on every machine.
    """
    noise = values - wanted
    noise -= noise.mean(axis=1, keepdims=True)  # what all scores share changes no answer
    reach = math.sqrt(6 * 2 * float(np.mean(noise**2)))
    if reach == 0.0:
        return 1.0
    margins = np.sort(wanted.max(axis=1, keepdims=True) - wanted, axis=1)[:, 1:]
    lost = (np.clip(1 - margins / reach, 0, None) ** 2).sum(axis=1) / 2
    return float(np.mean(1 - np.minimum(lost, 1.0)))
