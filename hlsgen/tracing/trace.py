"""Every layer's values in the framework's layout and under its names, beside what the framework computes."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import Codes
from hlsgen.base.progress import Progress, silent
from hlsgen.base.short_repr import Brief
from hlsgen.model.ir import Golden, Graph, golden_by_layer
from hlsgen.model.origins import Floats, FrameworkModel, LayerValues, Origin
from hlsgen.tracing.difference import Difference
from hlsgen.tracing.frames import Frames, Part
from hlsgen.tracing.tables import data_frame, finite

KEPT_ELEMENTS = 1 << 26
"""Values that a trace keeps, and the framework's beside them: half a GiB each."""
RunGolden: TypeAlias = Callable[[Mapping[str, Codes]], Golden]
"""A design's golden of all tensors, from codes of its inputs."""
FLOAT_WORD = "hlsgen's floating point"
INPUT = "input"
"""The kind of the rows of a design's inputs."""
CONVERTED_DB = 60.0
"""Signal to noise of hlsgen's floating point against the framework below which they compute other things."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TracedLayer(Brief):
    """A tensor of the framework's and what the design has in its place.

    name, kind, shape (without the batch): the framework's. tensor, type: of the design. with_layers: the
    names that are computed on the way to this one in the layer `tensor`. fused: that computes further than
    this tensor, whose values are nowhere by themselves. error: of the design against the trace's judge;
    conversion: of hlsgen's floating point against the framework. values, wanted: of the design and of the
    judge, [frames, *shape]; None: fused, or not kept.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    tensor: str
    type: str
    with_layers: tuple[str, ...] = ()
    fused: bool = False
    error: Difference | None = None
    conversion: Difference | None = None
    values: Floats | None = field(default=None, repr=False)
    wanted: Floats | None = field(default=None, repr=False)

    @property
    def note(self) -> str:
        """What became of it in the design, where that is more than a layer of its own."""
        if self.fused:
            return f"fused into {self.tensor}"
        return f"{', '.join(self.with_layers)} fused into it" if self.with_layers else ""

    def as_json(self) -> dict[str, Any]:
        """The figures, without the values; a signal to noise of null: no noise."""
        error, conversion = self.error, self.conversion
        return {
            "name": self.name,
            "kind": self.kind,
            "shape": list(self.shape),
            "tensor": self.tensor,
            "type": self.type,
            "fused": self.fused,
            "with_layers": list(self.with_layers),
            "compared": error is not None,
            "snr_db": None if error is None else finite(error.snr_db),
            "largest_error": None if error is None else finite(error.largest),
            "largest_error_at": None if error is None else list(error.where),
            "conversion_db": None if conversion is None else finite(conversion.snr_db),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Trace(Mapping[str, Floats], Brief):
    """What `Design.trace` gives: a mapping from the framework's names to values [frames, *shape].

    judge: what the values are compared with; None: with nothing. layers: in the order of the framework, the
    inputs first.
    """

    design: str
    frames: int
    judge: str | None
    layers: tuple[TracedLayer, ...]

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from hlsgen.tracing.notebook import trace_card

        return trace_card(self).html()

    def __getitem__(self, name: str) -> Floats:
        """Raises DesignError: there is no such layer, or its values are not there."""
        layer = self.layer(name)
        if layer.values is None:
            raise DesignError(self._missing(layer))
        return layer.values

    def __contains__(self, name: object) -> bool:
        return any(one.name == name and one.values is not None for one in self.layers)

    def __iter__(self) -> Iterator[str]:
        return (one.name for one in self.layers if one.values is not None)

    def __len__(self) -> int:
        return sum(one.values is not None for one in self.layers)

    def layer(self, name: str) -> TracedLayer:
        """The layer that the framework calls `name`. Raises DesignError: there is none."""
        for one in self.layers:
            if one.name == name:
                return one
        raise DesignError(unknown_layer(name, [one.name for one in self.layers]))

    def _missing(self, layer: TracedLayer) -> Problem:
        if not layer.fused:
            message = f"the values of {layer.name} were not kept: all {self.frames} frames of every layer"
            fix = f'trace(x, layers=["{layer.name}"]), or fewer frames'
            return Problem(message=f"{message} are more than {KEPT_ELEMENTS:,}", fix=fix)
        message = f"{layer.name} is {layer.note}, so that its values are nowhere by themselves"
        shown = [one.name for one in self.layers if one.tensor == layer.tensor and not one.fused]
        fix = f"what {layer.tensor} gives: {', '.join(shown)}" if shown else "another layer"
        return Problem(message=message, fix=fix)

    @property
    def first_wrong(self) -> TracedLayer | None:
        """The first layer whose errors are more than a tenth of its signal; None: there is none."""
        return next((one for one in self.layers if one.error is not None and one.error.is_wrong), None)

    def first_below(self, snr_db: float) -> TracedLayer | None:
        """The first layer whose signal to noise is less; None: there is none."""
        compared = (one for one in self.layers if one.error is not None)
        return next((one for one in compared if one.error and not one.error.snr_db >= snr_db), None)

    @property
    def misread(self) -> TracedLayer | None:
        """The first layer in which hlsgen's own floating point is not the framework's; None: there is none.

        Then the model has changed since the design was made of it, or hlsgen reads it wrongly.
        """
        compared = (one for one in self.layers if one.conversion is not None)
        return next(
            (one for one in compared if one.conversion and not one.conversion.snr_db >= CONVERTED_DB), None
        )

    def verdict(self) -> list[str]:
        """What a person should know of the comparison, in sentences."""
        if self.judge is None:
            return ["Compared with nothing: there is neither the framework's model nor a floating-point one."]
        found = []
        if self.misread is not None:
            found.append(
                f"From {self.misread.name} on hlsgen's own floating point is not {self.judge}'s: the model "
                "has changed since the design was made of it, or hlsgen reads it wrongly (please report that)"
            )
        wrong = self.first_wrong
        compared = [one for one in self.layers if one.error is not None]
        own = [one for one in compared if one.kind != INPUT]
        if wrong is not None and wrong.error is not None:
            found.append(
                f"It goes wrong in {wrong.name} first: {wrong.error.snr_db:.1f} dB, errors up to "
                f"{wrong.error.largest:.4g} (frame {wrong.error.where[0]}, index {wrong.error.where[1:]})"
            )
        elif own and all(one.error and one.error.noise == 0.0 for one in own):
            found.append(f"All {len(own)} layers that are not fused equal {self.judge}'s, bit for bit")
        else:
            worst = min(compared, key=lambda one: one.error.snr_db if one.error else math.inf, default=None)
            if worst is not None and worst.error is not None:
                found.append(f"No layer is wrong; {worst.name} is worst: {worst.error.snr_db:.1f} dB")
        return found

    def as_json(self) -> dict[str, Any]:
        """The figures, without the values."""
        wrong = self.first_wrong
        return {
            "design": self.design,
            "frames": self.frames,
            "judge": self.judge,
            "first_wrong": None if wrong is None else wrong.name,
            "verdict": self.verdict(),
            "layers": [one.as_json() for one in self.layers],
        }

    def to_frame(self) -> Any:
        """The figures as a pandas.DataFrame, a row for each layer. Raises ToolError: pandas is missing."""
        return data_frame([one.as_json() | {"note": one.note} for one in self.layers], index="name")


def unknown_layer(name: str, known: Sequence[str]) -> Problem:
    """The problem that no layer has a name, with the names that are near it."""
    near = difflib.get_close_matches(name, known, 5, 0.4) or list(known[:10])
    more = ", ..." if len(known) > len(near) else ""
    return Problem(message=f"there is no layer {name!r:.80}", fix=f"one of {', '.join(near)}{more}")


def traced(
    graph: Graph,
    golden: RunGolden,
    x: ArrayLike | Sequence[ArrayLike],
    *,
    reference: Graph | None = None,
    original: FrameworkModel | None = None,
    layers: Sequence[str] | None = None,
    progress: Progress = silent,
) -> Trace:
    """The trace of a design's graph on frames x in the framework's layout. golden: the design's.

    The framework is given the frames as the types of the inputs hold them, as the design is: what these types
    round away is the inputs' own row, and not blamed on a layer.

    reference: the same in floating point, with the same names of tensors; original: the framework's model.
    layers: the names whose values are kept; None: all, if they are no more than KEPT_ELEMENTS.
    Raises DesignError: as `inputs_of`; layers that there are not, or too many values of them. ToolError: the
    framework cannot run its model.
    """
    frames = Frames(graph, x)
    origins = graph.origins or _own_names(graph)
    kept = _kept(graph, origins, frames.count, layers)
    progress("preparing the framework's own run")
    theirs = None if original is None else original.layer_values([one for one in origins if not one.joined])
    run = _Run(graph, golden, reference, theirs, origins, kept)
    for part in frames.parts():
        progress(f"tracing {frames.count} frames", part.first, frames.count)
        run.add(part)
    return Trace(
        design=graph.name,
        frames=frames.count,
        judge=theirs.title if theirs else FLOAT_WORD if reference else None,
        layers=tuple(run.layers()),
    )


def _own_names(graph: Graph) -> tuple[Origin, ...]:
    """The layers of a graph that has no framework, as they are."""
    return tuple(Origin.whole(one.name, one.kind, one.output_shape) for one in graph.layers)


def _kept(
    graph: Graph, origins: Sequence[Origin], frames: int, layers: Sequence[str] | None
) -> frozenset[str]:
    """The names whose values are kept. Raises DesignError: there is no such layer, or they are too many."""
    sizes = {port.name: math.prod(port.shape) for port in graph.inputs}
    sizes |= {one.name: math.prod(one.shape) for one in origins}
    if layers is None:
        return frozenset(sizes) if frames * sum(sizes.values()) <= KEPT_ELEMENTS else frozenset()
    unknown = [name for name in layers if name not in sizes]
    if unknown:
        raise DesignError([unknown_layer(name, list(sizes)) for name in unknown])
    needed = frames * sum(sizes[name] for name in layers)
    if needed > KEPT_ELEMENTS:
        message = f"{needed:,} values of {len(layers)} layers are more than {KEPT_ELEMENTS:,}"
        raise DesignError(Problem(message=message, fix="fewer layers, or fewer frames"))
    return frozenset(layers)


class _Run:
    """The layers of a trace as they are found, part by part of the frames."""

    def __init__(
        self,
        graph: Graph,
        golden: RunGolden,
        reference: Graph | None,
        theirs: LayerValues | None,
        origins: Sequence[Origin],
        kept: frozenset[str],
    ) -> None:
        self._graph, self._golden, self._reference = graph, golden, reference
        self._theirs, self._kept = theirs, kept
        self._by_name = {one.name: one for one in origins}
        there: dict[str, list[Origin]] = {}
        for one in origins:
            there.setdefault(one.source, []).append(one)
        tensors = graph.tensors()
        self._found = {one.name: _entry(one, there, str(tensors[one.source].type)) for one in origins}
        self._inputs = {
            port.name: TracedLayer(
                name=port.name, kind=INPUT, shape=port.shape, tensor=port.name, type=str(port.tensor.type)
            )
            for port in graph.inputs
        }
        self._values: dict[str, list[Floats]] = {}
        self._wanted: dict[str, list[Floats]] = {}

    def add(self, part: Part) -> None:
        """Runs some frames and compares what every layer gives."""
        theirs = self._theirs.of(part.held).layers if self._theirs else {}
        exact = self._in_floats(part)
        types = self._graph.tensors()
        for port, given, held in zip(self._graph.inputs, part.arrays, part.held, strict=True):
            self._inputs[port.name] = self._compared(self._inputs[port.name], held, given, part)
        codes = self._golden(part.codes).tensors
        for name, layer in self._found.items():
            if layer.fused:
                continue
            origin = self._by_name[name]
            values = origin.values(types[origin.source].type.decode(codes[origin.source]))
            floats, wanted = exact.get(name), theirs.get(name)
            layer = self._compared(layer, values, floats if self._theirs is None else wanted, part)
            if wanted is not None and floats is not None:
                one = Difference.of(floats, wanted, part.first)
                layer = replace(layer, conversion=(layer.conversion or Difference()) + one)
            self._found[name] = layer

    def _in_floats(self, part: Part) -> dict[str, Floats]:
        """What hlsgen's floating point gives for each name."""
        if self._reference is None:
            return {}
        values: Mapping[str, Codes] = {
            port.name: port.to_tensor(held) / port.scale
            for port, held in zip(self._reference.inputs, part.held, strict=True)
        }
        sources = {
            one.name: one for one in self._reference.origins or _own_names(self._reference) if not one.joined
        }
        by_tensor: dict[str, list[Origin]] = {}
        for one in sources.values():
            by_tensor.setdefault(one.source, []).append(one)
        return {
            origin.name: origin.values(np.asarray(tensor, np.float64))
            for name, tensor in golden_by_layer(self._reference, values)
            for origin in by_tensor.get(name, [])
        }

    def _compared(self, layer: TracedLayer, values: Floats, wanted: Floats | None, part: Part) -> TracedLayer:
        if layer.name in self._kept:
            self._values.setdefault(layer.name, []).append(values)
            if wanted is not None:
                self._wanted.setdefault(layer.name, []).append(wanted)
        if wanted is None:
            return layer
        one = Difference.of(values, wanted, part.first)
        return replace(layer, error=(layer.error or Difference()) + one)

    def layers(self) -> Iterator[TracedLayer]:
        """Every layer, with the values that are kept."""
        for one in (*self._inputs.values(), *self._found.values()):
            values, wanted = (
                np.concatenate(parts[one.name]) if one.name in parts else None
                for parts in (self._values, self._wanted)
            )
            yield replace(one, values=values, wanted=wanted)


def _entry(origin: Origin, at: Mapping[str, Sequence[Origin]], type_: str) -> TracedLayer:
    there = at[origin.source]
    joined = tuple(one.name for one in there if one.joined)
    first = next((one for one in there if not one.joined), None)
    return TracedLayer(
        name=origin.name,
        kind=origin.kind,
        shape=origin.shape,
        tensor=origin.source,
        type=type_,
        with_layers=joined if origin is first else (),
        fused=origin.joined,
    )
