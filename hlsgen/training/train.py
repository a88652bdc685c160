"""Quantisation-aware fine-tuning of what `hlsgen quantise` found: the choice, and what is cheaper than it.

Every network is trained with the very types it was found with, as a module of Brevitas or of QKeras; golden
of the design with its trained weights equals that module's own evaluation. The cheapest that keeps the metric
on the frames that choose is the choice; frames that are held out train nothing and choose nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hlsgen.api.design import Design
from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import FixedType
from hlsgen.base.progress import Progress, Say, silent
from hlsgen.layers.conv2d import Conv2d
from hlsgen.loading.from_graph import calibrated, with_precision
from hlsgen.model.ir import Graph
from hlsgen.model.ports import Floats
from hlsgen.model.precision import LayerPrecision, Precision
from hlsgen.quantising.float_run import FloatRun
from hlsgen.quantising.value_ranges import ValueRanges
from hlsgen.styles.streaming import StreamingNetwork
from hlsgen.training.backend import Backend, Weights, backend_of, weights_of
from hlsgen.training.frames import TrainingFrames, training_frames
from hlsgen.training.judge import compared
from hlsgen.training.recipe import Recipe, load_recipe
from hlsgen.training.trained import TrainedCandidate, TrainedFront
from hlsgen.widths.candidates import candidate, chosen_of, front_of
from hlsgen.widths.quantised import Candidate, Quantised
from hlsgen.widths.rerun import answers_of
from hlsgen.widths.tensors import Typing, variables

MOST_TRAINED = 6
"""Networks that are trained, evenly over all that are no dearer than the choice."""


def train(
    found: Quantised,
    recipe: Recipe | Path | str,
    *,
    most: int = MOST_TRAINED,
    memory: str | int | None = None,
    progress: Progress = silent,
    say: Say = silent,
) -> TrainedFront:
    """Trains what `hlsgen.quantise` chose, and up to `most` - 1 that are cheaper, as a recipe says.

    recipe: its Python file, which is run (`say` is told); what it may hold is docs/training.md's matter.
    memory: the most that a training step may take, such as "400MB" (docs/memory.md); None: what it takes.

    Raises DesignError: no PyTorch module and no Keras model, layers or types that training cannot follow, a
    recipe that fails; MismatchError: golden differs from the trained module. ToolError: Brevitas or QKeras is
    missing.
    """
    if not isinstance(recipe, Recipe):
        say(f"running {recipe}, your own code, for frames()")
        recipe = load_recipe(Path(recipe))
    backend = backend_of(_trainable(found.design))
    if memory is not None:
        backend = backend.within(memory, say, progress)
    with backend.random_numbers():
        return _Training(found, recipe, backend, progress).front(most)


def check(design: Design) -> None:
    """Refuses a network that cannot be trained, before a search takes its time. Raises DesignError, ToolError
    as `train` does.
    """
    style = _trainable(design)
    if style.reference is not None:
        _check_precision(style)
        backend_of(style).own_model(style)


def _trainable(design: Design) -> StreamingNetwork:
    """Raises DesignError: the design has another style."""
    style = design.given
    if not isinstance(style, StreamingNetwork):
        message = "what is trained are widths by tensor, which are searched for style: dataflow alone"
        raise DesignError(Problem(message=message, fix="style: dataflow, or no --train"))
    return style


class _Training:
    def __init__(self, found: Quantised, recipe: Recipe, backend: Backend, progress: Progress) -> None:
        style = _trainable(found.design)
        assert style.reference is not None
        self.found, self.recipe, self.backend, self.progress = found, recipe, backend, progress
        self.style, self.reference = style, style.reference
        _check_precision(style)
        progress("reading the model that trained weights go back into")
        self.model = backend.own_model(style)
        run = calibrated(style, progress)
        self.typing = Typing(
            reference=run.graph,
            own=style.precision,
            ranges=ValueRanges(run, style.precision.headroom),
            any_weights=style.constraints.weights.any_weights(run.graph),
        )
        self.weights: Weights = weights_of(self.reference)
        backend.network(found.chosen.design.graph, self.weights)  # refuses what it cannot follow

    def front(self, most: int) -> TrainedFront:
        found = self.found
        some = _trained(found, most)
        frames = training_frames(found.chosen.design.graph, self.recipe, found.parts)
        rows = [self._trained(one, frames) for one in some]
        best = chosen_of([one.after for one in rows], found.allowed)
        untouched = [one for one in (*found.front, *found.uniform) if one not in some]
        return TrainedFront(
            found=found,
            recipe=self.recipe.path,
            rows=tuple(rows),
            front=tuple(front_of([*(row.after for row in rows), *untouched])),
            chosen=next((one for one in rows if one.after is best), rows[-1]),
            frames=frames.count,
            dropped=frames.dropped,
            model=self.model,
        )

    def _trained(self, one: Candidate, frames: TrainingFrames) -> TrainedCandidate:
        graph = one.design.graph
        network = self.backend.network(graph, self.weights)
        fitted = self.backend.fit(network, frames, self.recipe, self._wanted(frames), one.name, self.progress)
        self.progress(f"{one.name}: making its hardware")
        after, types, state = self._candidate(one, network.weights())
        better = after.metric >= one.metric
        if not better:
            network = self.backend.network(graph, self.weights)
            after, types, state = self._candidate(one, network.weights())
        parts = self.found.parts
        return TrainedCandidate(
            before=one,
            after=after,
            types=types,
            state=state,
            losses=fitted.losses,
            seconds=fitted.seconds,
            compared=compared(network, after.design.graph, [part.values for part in parts]),
            better=better,
        )

    def _wanted(self, frames: TrainingFrames) -> list[Floats]:
        """What the network in floating point gives for the frames; for one of them, if they have labels."""
        count = frames.count if frames.labels is None else 1
        ports = self.reference.inputs
        values = {port.name: port.to_tensor(one[:count]) for port, one in zip(ports, frames.x, strict=True)}
        return answers_of(self.reference, values)

    def _candidate(self, one: Candidate, weights: Weights) -> tuple[Candidate, Precision, Mapping[str, Any]]:
        """The candidate with other weights, its types, and the framework's own weights."""
        types = self._types(one)
        reference = with_values(self.reference, weights)
        state = self.model.state(weights)
        style = replace(self.style, reference=reference, precision=types, original=self.model.original(state))
        run = FloatRun(reference, style.samples)
        typed = with_precision(style, types, run, self.progress)
        assert isinstance(typed, StreamingNetwork)
        _check_types(typed.graph, one.design.graph)
        after = candidate(
            f"{one.name}, trained",
            one.widths,
            typed,
            self.found.parts,
            self.found.interval,
            self.found.prices,
            progress=self.progress,
        )
        return after, types, state

    def _types(self, one: Candidate) -> Precision:
        """The types that a candidate has, each named: its ranges are chosen once, before the training."""
        given = one.design.given
        assert isinstance(given, StreamingNetwork)
        precision = given.precision
        graph = self.typing.unfused(precision)
        tensors: dict[str, Any] = graph.tensors()
        by_name = {layer.name: layer for layer in graph.layers}
        layers: dict[str, LayerPrecision] = dict(precision.layers)
        for variable in variables(self.typing):
            if variable.part == "input":
                precision = replace(precision, input=tensors[variable.name].type)
                continue
            known = layers.get(variable.name, LayerPrecision())
            layer = by_name[variable.name]
            if variable.part == "weights":
                assert isinstance(layer, Conv2d) and isinstance(layer.weight_type, FixedType)
                known = replace(known, weights=layer.weight_type)
            else:
                assert isinstance(layer.output_type, FixedType)
                known = replace(known, output=layer.output_type)
            layers[variable.name] = known
        return replace(precision, layers=layers)


def with_values(reference: Graph, weights: Weights) -> Graph:
    """A network in floating point with other weights and biases."""
    return reference.with_layers(
        replace(layer, weights=weights[layer.name][0], bias=weights[layer.name][1])
        if isinstance(layer, Conv2d)
        else layer
        for layer in reference.layers
    )


def _trained(found: Quantised, most: int) -> list[Candidate]:
    """The choice and what is cheaper, the cheapest first: at most so many, evenly spread."""
    every = {id(one): one for one in (*found.front, *found.uniform, found.chosen)}
    able = sorted(
        (one for one in every.values() if not one.hardware.refusal and one.price <= found.chosen.price),
        key=lambda one: (one.price, -one.metric),
    )
    distinct = list({tuple(sorted(one.widths.items())): one for one in reversed(able)}.values())[::-1]
    others = [one for one in distinct if one.widths != found.chosen.widths]
    count = min(len(others), most - 1)
    # the dearest of them, and evenly down to the cheapest
    steps = [len(others) - 1 - at * (len(others) - 1) // max(1, count - 1) for at in range(count)]
    return [*(others[at] for at in sorted(steps)), found.chosen]


def _check_precision(style: StreamingNetwork) -> None:
    """Refuses sums that are narrowed, as training adds up exactly, and weights that are not the model's."""
    if style.precision.balance:
        message = "balance: the weights are scaled, and trained ones could not go back into the model"
        raise DesignError(Problem(message=message, fix="no balance, or no --train"))
    wish = style.precision.accumulator
    if wish not in (None, "exact", "tight"):
        message = f"accumulator is {wish}: sums that are narrowed to a type cannot be trained"
        raise DesignError(Problem(message=message, fix="accumulator: tight, or exact"))


def _check_types(found: Graph, wanted: Graph) -> None:
    """What was trained has the types of what was to be trained; accumulators follow the weights."""
    for layer, other in zip(found.layers, wanted.layers, strict=True):
        assert layer.name == other.name and layer.output_type == other.output_type, layer.name
        if isinstance(layer, Conv2d) and isinstance(other, Conv2d):
            assert layer.weight_type == other.weight_type, layer.name
