"""The design judged from outside: by the framework that its model came from, run on the same frames.

Golden and the emitted C++ share what a frontend understood of a model, so that they agree over a model that
was read wrongly. The framework does not share it. Two things are compared with it: the answers of the design
on the frames that are simulated, and, layer by layer, the model as it was read, on frames off the grid of
the input's type.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from hlsgen.base.errors import JudgeError, ToolError
from hlsgen.base.fixed import Codes, FixedType
from hlsgen.base.progress import Progress, silent
from hlsgen.model.ir import Graph, Port, run_golden
from hlsgen.model.origins import Floats, FrameworkRun, LayerValues
from hlsgen.model.ports import stand_in_codes
from hlsgen.model.simulation_frames import SimulationFrames
from hlsgen.report.judge import JudgeFigures, OutputAgreement, TieFigures, skipped
from hlsgen.styles.style import Style
from hlsgen.tracing.difference import decibels
from hlsgen.tracing.replay import OUTPUT_STEPS, Departure, Replay, departure, differing

FRAMES = 4
"""Frames off the grid of either kind: samples that were moved, and random numbers in their range."""
MOST_MACS = 1 << 31
"""Multiply-accumulates of the frames of a kind; one frame is run in any case."""
CHANGED = (
    "make the design again if the model has changed since; else hlsgen reads the model wrongly: please "
    "report it with the model; --no-judge (judge=False) builds it all the same"
)


def judged(
    style: Style[object],
    frames: SimulationFrames,
    golden: Mapping[str, Codes],
    progress: Progress = silent,
) -> JudgeFigures:
    """What the model's framework says of a design. frames: what is simulated, golden: its codes by tensor.

    Raises JudgeError: the framework computes something else than hlsgen has read.
    """
    original, graph = style.original, style.graph
    if original is None:
        return skipped("the design file has the layers, and there is no model of one")
    progress("running the model in its framework")
    reading = style.reference or graph
    try:
        theirs = original.layer_values(reading.origins)
        given = frozenset() if reading is not graph else _given(style)
        judge = _Judge(theirs, reading, graph, given)
        most = max(1, MOST_MACS // max(1, graph.macs))
        agreement = judge.agreement(_some(frames, most), golden)
        return judge.verdict(agreement, _off_grid(reading, graph, _some(frames, min(FRAMES, most))))
    except ToolError as error:
        message, _, _ = str(error).removeprefix("error: ").partition("\nfix: ")
        return skipped(" ".join(message.split()))


def _given(style: Style[object]) -> frozenset[str]:
    """Of a model that brings its types, the tensors that the user's have changed: theirs, and what is made
    from those that have other types than the model's.
    """
    graph = style.graph
    readers = {layer.name for layer in graph.layers if not style.overridden.isdisjoint(layer.inputs)}
    return (frozenset(graph.tensors()) - style.own_types) | readers


def _some(frames: SimulationFrames, count: int) -> SimulationFrames:
    return SimulationFrames(
        values={name: array[:count] for name, array in frames.values.items()},
        codes={name: array[:count] for name, array in frames.codes.items()},
    )


def _off_grid(reading: Graph, graph: Graph, few: SimulationFrames) -> dict[str, Floats]:
    """Frames [N, C, H, W] of each input, in units of its tensor: the samples moved off the grid of the type,
    and random numbers in their range.
    """
    rng = np.random.default_rng(0)
    found = {}
    for port, own in zip(reading.inputs, graph.inputs, strict=True):
        values = few.values[own.name] * own.scale / port.scale
        type_ = own.tensor.type
        step = type_.resolution * own.scale / port.scale if isinstance(type_, FixedType) else 0.0
        moved = values + rng.uniform(-0.5, 0.5, values.shape) * step
        random = rng.uniform(values.min(), values.max(), values.shape)
        found[port.name] = np.concatenate([moved, random])
    return found


class _Judge:
    """A framework ready to run the model, the graph as it was read, and the design's own.

    given: of a model that brings its types, the tensors whose types are the user's.
    """

    def __init__(
        self, theirs: LayerValues, reading: Graph, graph: Graph, given: frozenset[str] = frozenset()
    ) -> None:
        self._theirs, self._reading, self._graph = theirs, reading, graph
        inputs = {port.name for port in graph.inputs}
        self._given = given - inputs
        self._chosen = graph is not reading or graph.inputs[0].tensor.is_float or bool(self._given)

    def agreement(self, few: SimulationFrames, golden: Mapping[str, Codes]) -> list[OutputAgreement]:
        """Each output of the design on frames that are simulated, beside the framework's.

        The framework gets the values that a quantiser of the model's own gets; other inputs it gets as the
        design's type holds them only where the model brings its types. Raises JudgeError: a value is
        infinite or NaN on one side only.
        """
        count = len(next(iter(few.codes.values())))
        values = few.values if self._graph is not self._reading else self._fed(few.values, few.codes)
        run = self._run(self._graph.inputs, values)
        return [
            _output(self._graph.name, port, golden[port.source][:count], wanted)
            for port, wanted in zip(self._graph.outputs, run.outputs, strict=True)
        ]

    def verdict(self, outputs: Sequence[OutputAgreement], frames: Mapping[str, Floats]) -> JudgeFigures:
        """The section. frames: off the grid, [N, C, H, W] by input. Raises JudgeError: it is read wrongly."""
        inputs = self._reading.inputs
        codes = {port.name: _codes(port, frames[port.name]) for port in inputs}
        run = self._run(inputs, self._fed(frames, codes))
        replay = Replay(self._reading, codes, run, self._given)
        found = list(replay.departures())
        wrong = next((one for one in found if not one.explained), None)
        if wrong is not None:
            raise JudgeError(self._message(wrong))
        if not self._chosen:
            self._check_outputs(codes, run, found)
        exact = not found and not any(one.differing for one in outputs)
        return JudgeFigures(
            verdict="agrees" if self._chosen else "exact" if exact else "ties",
            by=self._theirs.title,
            frames=outputs[0].compared // math.prod(self._graph.outputs[0].shape),
            read_frames=len(next(iter(frames.values()))),
            layers=replay.compared,
            outputs=tuple(outputs),
            ties=tuple(_tie(one) for one in found),
        )

    def _check_outputs(
        self, codes: Mapping[str, Codes], run: FrameworkRun, ties: Sequence[Departure]
    ) -> None:
        """Refuses outputs of a whole run that differ though no layer shows a tie."""
        if ties:
            return
        tensors = run_golden(self._graph, codes, {port.source for port in self._graph.outputs})
        for port, wanted in zip(self._graph.outputs, run.outputs, strict=True):
            ours = np.asarray(port.tensor.type.decode(tensors[port.source]), np.float64)
            theirs = port.to_tensor(wanted) / port.scale
            marks = differing(ours, theirs, OUTPUT_STEPS)
            if marks.any():
                apart = np.abs(ours - theirs)
                wrong = departure(f"output {port.name}", "output", apart, marks, scale=port.scale)
                raise JudgeError(self._message(wrong))

    def _fed(self, values: Mapping[str, Floats], codes: Mapping[str, Codes]) -> dict[str, Floats]:
        """What the framework is given: as it is where its own quantiser reads it, else as the type has it."""
        return {
            port.name: values[port.name]
            if port.own or port.tensor.is_float
            else np.asarray(port.tensor.type.decode(codes[port.name]))
            for port in self._reading.inputs
        }

    def _run(self, ports: Sequence[Port], values: Mapping[str, Floats]) -> FrameworkRun:
        run = self._theirs.of([port.from_tensor(values[port.name]) * port.scale for port in ports])
        if len(run.outputs) != len(self._graph.outputs):
            raise JudgeError(
                f"error: {self._graph.name}: {self._theirs.title} gives {len(run.outputs)} outputs, and "
                f"hlsgen has read {len(self._graph.outputs)}\nfix: {CHANGED}"
            )
        for port, array in zip(self._graph.outputs, run.outputs, strict=True):
            if array.shape[1:] != port.shape:
                there, here = (" x ".join(map(str, shape)) for shape in (array.shape[1:], port.shape))
                raise JudgeError(
                    f"error: {self._graph.name}: output {port.name} is {there} in {self._theirs.title}, and "
                    f"hlsgen has read {here}\nfix: {CHANGED}"
                )
        return run

    def _message(self, wrong: Departure) -> str:
        frame, channel, row, column = wrong.where
        return (
            f"error: {self._graph.name} is not what {self._theirs.title} computes: it departs first in "
            f"{wrong.layer} ({wrong.kind}), in {wrong.values:,} of {wrong.compared:,} values from equal "
            f"inputs, by up to {wrong.largest:.4g}; frame {frame}, channel {channel}, row {row}, "
            f"column {column}\nfix: {CHANGED}"
        )


def _codes(port: Port, values: Floats) -> Codes:
    """Values in units of the tensor as its codes; floating point as float32 holds it."""
    if port.tensor.is_float:
        return values.astype(np.float32).astype(np.float64)
    return stand_in_codes(port, values * port.scale)


def _shown(port: Port, codes: Codes) -> Floats:
    """An output in the framework's layout."""
    shown: Floats = port.from_tensor(np.asarray(port.tensor.type.decode(codes), np.float64)) * port.scale
    return shown


def _output(network: str, port: Port, codes: Codes, wanted: Floats) -> OutputAgreement:
    ours = _shown(port, codes)
    same = (ours == wanted) | (np.isnan(ours) & np.isnan(wanted))
    errors = np.abs(np.subtract(ours, wanted, out=np.zeros(ours.shape), where=~same))
    lost = int((~np.isfinite(errors)).sum())
    if lost:
        raise JudgeError(
            f"error: {network}: {lost:,} of {ours.size:,} values of output {port.name} are infinite or no "
            "numbers in the design or in its framework, not in both\n"
            "fix: float32 or a wider type where the numbers overflow; --no-judge (judge=False) builds it all "
            "the same"
        )
    signal = float(np.square(wanted - wanted.mean()).sum()) or float(np.square(wanted).sum())
    db = decibels(signal, float(np.square(errors).sum()))
    scores = wanted.ndim == 2 and wanted.shape[1] > 1
    return OutputAgreement(
        name=port.name,
        compared=ours.size,
        differing=int(differing(ours, wanted, OUTPUT_STEPS).sum()),
        largest_error=_rounded(float(errors.max(initial=0.0))),
        snr_db=round(db, 1) if math.isfinite(db) else None,
        agreement=float(np.mean(ours.argmax(axis=1) == wanted.argmax(axis=1))) if scores else None,
    )


def _rounded(value: float) -> float:
    """To three digits, as the framework's last bits depend on the processor."""
    return float(f"{value:.3g}")


def _tie(one: Departure) -> TieFigures:
    why = f"float32 decides ties of {one.kind}, by up to {one.largest:.3g}"
    return TieFigures(layer=one.layer, values=one.values, compared=one.compared, why=why)
