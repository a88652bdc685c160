"""Answers and hardware of one network by precision: floating point, the design's own types, and widths."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hlsgen.api.design import Design
from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import FixedType
from hlsgen.base.progress import Progress, silent
from hlsgen.designfile.precision_grammar import Written, section_of
from hlsgen.loading.from_graph import calibrated, with_precision
from hlsgen.model.confidence import least_agreement
from hlsgen.model.ir import Graph, golden_by_layer
from hlsgen.model.ports import Arrays, Floats, outputs_of, tensor_codes
from hlsgen.model.precision import Bits, Precision
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.widths.frames import Judged, judged_frames
from hlsgen.widths.metric import Function, Metric, answers
from hlsgen.widths.signs import Counted, Extremes, added, clipped_tensors, dead_layers
from hlsgen.widths.table import AccuracyTable, Hardware, Row

PRECISIONS = (16, 8, 6, 4)
"""Bits that a network is looked at with, unless told otherwise."""
MOST_ELEMENTS = 1 << 24
"""Elements of all tensors of the frames that golden is computed for together."""


def accuracy(
    design: Design,
    x: ArrayLike | Sequence[ArrayLike] | Path | None = None,
    labels: Any = None,
    *,
    metric: Function | str | None = None,
    precisions: Sequence[Written] = PRECISIONS,
    frames: int | None = None,
    hardware: bool = True,
    progress: Progress = silent,
) -> AccuracyTable:
    """What a network's answers are worth on frames x, and its modelled hardware, by precision.

    x, labels: arrays (x in the framework's layout, several inputs as a list) or paths of .npy files; None:
    those of the design. metric: function(outputs, labels) -> float, larger is better, or file.py:function,
    which is run; None: the share of frames whose largest score is the label's, or nothing without labels.
    precisions: beside floating point and the design's own. frames: at most so many. hardware: whether it is
    looked for. Types are chosen from the design's own calibration frames alone.
    Raises DesignError: as `judged_frames`; a precision that cannot be.
    """
    judged = judged_frames(design, x, labels, metric, frames)
    style = design.given
    assert isinstance(style, NetworkStyle)
    wished = _wished(style, precisions)
    floating, rows = None, []
    if style.reference is not None:
        floating = _floating(style.reference, judged, progress)
        rows.append(floating.row("float", "float64", None, None))
    made = [(f"own: {_own(style)}", style, _own(style))]
    run = calibrated(style, progress) if wished else None
    for one in wished:
        assert run is not None
        progress(f"{one.default}: choosing number types")
        made.append((_name(one), with_precision(style, one, run, progress), str(one.default)))
    for name, of, text in made:
        answered = _fixed(of, judged, floating, text, progress)
        rows.append(answered.row(name, text, floating, _hardware(of, text, progress) if hardware else None))
    return AccuracyTable(
        design=design.name,
        board=design.board.name,
        clock_mhz=design.clock_mhz,
        frames=judged.frames,
        source=judged.source,
        choosing=_choosing(style, judged),
        metric=judged.metric,
        rows=tuple(rows),
        notes=tuple(_notes(style, judged, bool(precisions))),
    )


def _own(style: NetworkStyle[Any]) -> str:
    """The design's own number types, in a word."""
    if style.reference is None:
        return "the network's quantizers"
    return str(style.precision.default)


def _name(precision: Precision) -> str:
    default = precision.default
    return f"{default.width} bits" if isinstance(default, Bits) else str(default)


def _wished(style: NetworkStyle[Any], precisions: Sequence[Written]) -> list[Precision]:
    """The precisions beside the design's own, with its input, accumulators, headroom and channels."""
    if style.reference is None:
        return []
    own, found = style.precision, []
    for one in precisions:
        section = section_of(one)
        asked = section.precision
        given = section.model_fields_set
        kept = {key: getattr(own, key) for key in ("input", "accumulator", "headroom") if key not in given}
        # channels are those of the network that is there
        asked = replace(asked, **kept, balance=own.balance)
        if asked != own and asked not in found:
            found.append(asked)
    return found


def _notes(style: NetworkStyle[Any], judged: Judged, widths: bool) -> Iterator[str]:
    if style.reference is None and widths:
        yield (
            "the network brings its own number types, so that there is only its own row: other widths need "
            "the network in floating point, without quantizers"
        )
    if judged.metric is None:
        yield "no labels are at hand: the answers are compared with floating point alone"
    if style.calibration is not None and style.calibration.warning:
        yield style.calibration.warning


def _choosing(style: NetworkStyle[Any], judged: Judged) -> int:
    """How many of the judged frames are equal to calibration frames."""
    if style.calibration is None:
        return 0
    names = list(judged.values)
    known = {
        tuple(array[index].tobytes() for array in (style.samples[name] for name in names))
        for index in range(min(len(style.samples[name]) for name in names))
    }
    frames = (
        tuple(judged.values[name][index].astype(np.float64).tobytes() for name in names)
        for index in range(judged.frames)
    )
    return sum(one in known for one in frames)


# ---------------------------------------------------------------- answers


@dataclass(frozen=True, kw_only=True)
class _Answers:
    """What a network gave for the judged frames, and what that is worth."""

    outputs: Arrays
    seen: Extremes
    metric: Metric | None
    signs: tuple[str, ...] = ()

    def row(self, name: str, precision: str, floating: _Answers | None, hardware: Hardware | None) -> Row:
        value = None if self.metric is None else self.metric(self.outputs)
        frames = len(_arrays(self.outputs)[0])
        return Row(
            name=name,
            precision=precision,
            metric=value,
            at_least=least_agreement(math.floor(value * frames + 1e-9), frames)
            if value is not None and self.metric is not None and self.metric.is_share
            else None,
            agreement=None if floating is None else _agreement(self.outputs, floating.outputs),
            output_db=None if floating is None else _worst_db(self.outputs, floating.outputs),
            signs=(*self.signs, *_one_answer(self.outputs, floating)),
            hardware=hardware,
        )


def _arrays(outputs: Arrays) -> list[Floats]:
    return outputs if isinstance(outputs, list) else [outputs]


def _agreement(outputs: Arrays, floating: Arrays) -> float | None:
    """The share of frames with the same answer as in floating point; None: there are no answers."""
    mine, theirs = answers(outputs), answers(floating)
    return None if mine is None or theirs is None else float(np.mean(mine == theirs))


def _worst_db(outputs: Arrays, floating: Arrays) -> float:
    """The least signal to noise of an output; what varies is the signal. inf: they are equal."""
    found = [math.inf]
    for got, wanted in zip(_arrays(outputs), _arrays(floating), strict=True):
        noise = float(np.mean((got - wanted) ** 2))
        signal = float(np.var(wanted)) or float(np.mean(wanted**2))
        if noise:
            found.append(10 * math.log10(signal / noise) if signal else -math.inf)
    return min(found)


def _one_answer(outputs: Arrays, floating: _Answers | None) -> list[str]:
    mine = answers(outputs)
    theirs = None if floating is None else answers(floating.outputs)
    if mine is None or theirs is None or len(set(mine)) > 1 or len(set(theirs)) < 2:
        return []
    return [f"every frame gets the answer {mine[0]}"]


def _parts(graph: Graph, judged: Judged) -> list[slice]:
    """The frames in parts that memory holds."""
    elements = sum(math.prod(tensor.shape) for tensor in graph.tensors().values())
    size = max(1, MOST_ELEMENTS // elements)
    return [slice(first, first + size) for first in range(0, judged.frames, size)]


def _floating(reference: Graph, judged: Judged, progress: Progress) -> _Answers:
    outputs, seen = [], Extremes()
    for part in _parts(reference, judged):
        progress("floating point: running the frames", part.start, judged.frames)
        given = {name: array[part] for name, array in judged.values.items()}
        outputs.append(_seen(reference, given, seen, None))
    return _Answers(outputs=_joined(outputs), seen=seen, metric=judged.metric)


def _fixed(
    style: NetworkStyle[Any], judged: Judged, floating: _Answers | None, text: str, progress: Progress
) -> _Answers:
    graph, outputs, seen = style.graph, [], Extremes()
    counted: Counted = {}
    for part in _parts(graph, judged):
        progress(f"{text}: computing golden", part.start, judged.frames)
        given = {
            port.name: tensor_codes(port, judged.values[port.name][part], f"the frames of {port.name}")
            for port in graph.inputs
        }
        of_part: Counted = {}
        outputs.append(_seen(graph, given, seen, of_part))
        added(counted, of_part)
    signs: list[str] = []
    if isinstance(graph.inputs[0].tensor.type, FixedType):
        values = {port.name: judged.values[port.name] / port.scale for port in graph.inputs}
        signs = dead_layers(graph, seen, None if floating is None else floating.seen)
        signs += clipped_tensors(graph, values, counted, style.own_types)
    return _Answers(outputs=_joined(outputs), seen=seen, metric=judged.metric, signs=tuple(signs))


def _seen(graph: Graph, inputs: Mapping[str, Any], seen: Extremes, excess: Counted | None) -> list[Floats]:
    """The outputs of some frames; of every layer the extremes are kept, and what it clips."""
    shown, layers = {port.source for port in graph.outputs}, {layer.name for layer in graph.layers}
    kept = {}
    for name, codes in golden_by_layer(graph, inputs, excess):
        if name in layers:
            seen.see(name, codes)
        if name in shown:
            kept[name] = codes
    return _arrays(outputs_of(graph.outputs, kept))


def _joined(parts: Sequence[Sequence[Floats]]) -> Arrays:
    joined = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
    return joined[0] if len(joined) == 1 else joined


def _hardware(style: NetworkStyle[Any], text: str, progress: Progress) -> Hardware:
    def told(what: str, done: int = 0, total: int = 0, /) -> None:
        progress(f"{text}: {what}", done, total)

    design = Design(style)
    try:
        design.choose(told)
        found = design.estimate()
    except DesignError as error:
        return Hardware(refusal=_first(error.problems))
    used = found.used
    return Hardware(
        frames_per_s=round(found.frames_per_s, 3),
        instances=found.instances,
        lut=used.lut,
        dsp=used.dsp,
        bram18=used.bram18,
        uram=used.uram,
    )


def _first(problems: Sequence[Problem]) -> str:
    return (problems[0].message.splitlines() or ["nothing fits"])[0]
