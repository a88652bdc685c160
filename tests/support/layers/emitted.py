"""The layers that show what each template of a stage emits: their text is stored, and executed.

A test of a layer names them in its constant EMITTED: by the name of the layer and of its files the case.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import jinja2.meta

import tests.hardware
import tests.layers
from hlsgen.emit.environment import environment, source_text
from hlsgen.hardware.pipeline import Pipeline, pipeline_of
from hlsgen.hardware.weights import Place, WeightPlace, auto_places
from hlsgen.layers.base import Layer
from hlsgen.layers.stage import Fold
from hlsgen.model.ir import Graph, Port

ROOMS = (tests.layers, tests.hardware)
"""Where stages are tested: most stand in layers/, the front wave with its banks in hardware/."""
MOST_LINES = 40
"""Of constants that are stored: longer tables and weights are data, which no reviewer reads."""


@dataclass(frozen=True, kw_only=True)
class Emitted:
    """A small layer with a folding, of which the emitted files fit a reviewer's screen.

    place: of its weights, where the usual one is not meant; batch: frames of a block where they are streamed.
    mutants: (before, after) in the text of its stage; each changes a result, not when words are moved.
    """

    layer: Layer
    fold: Fold
    place: Place | None = None
    batch: int = 1
    mutants: tuple[tuple[str, str], ...] = ()


def emitted_examples() -> dict[str, Emitted]:
    """What the tests of layers and of their hardware name, in the order of the names."""
    found: dict[str, Emitted] = {}
    rooms = ((package, info) for package in ROOMS for info in pkgutil.iter_modules(package.__path__))
    for package, info in rooms:
        spec = info.module_finder.find_spec(info.name, None)
        assert spec is not None and spec.origin is not None
        if "\nEMITTED" not in Path(spec.origin).read_text(encoding="utf-8"):
            continue  # some need a framework to be imported
        named = importlib.import_module(f"{package.__name__}.{info.name}").EMITTED
        assert not found.keys() & named.keys(), f"{info.name}: a name of EMITTED is taken"
        found |= named
    return dict(sorted(found.items()))


def pipeline_of_examples(examples: Mapping[str, Emitted]) -> Pipeline:
    """All of them in one kernel, each with ports of its own, the stages called as the examples."""
    layers = [
        replace(one.layer, name=name, inputs=tuple(_ports(name, one.layer))) for name, one in examples.items()
    ]
    graph = Graph(
        name="examples",
        inputs=tuple(
            Port.of(port, tensor)
            for layer in layers
            for port, tensor in zip(layer.inputs, layer.sources, strict=True)
        ),
        layers=tuple(layers),
        outputs=tuple(Port.of(f"{layer.name}_out", layer.output, layer.name) for layer in layers),
    )
    places = auto_places(graph) | {
        name: WeightPlace(layer=name, place=one.place, batch=one.batch)
        for name, one in examples.items()
        if one.place is not None
    }
    return pipeline_of(graph, {name: one.fold for name, one in examples.items()}, places)


def _ports(name: str, layer: Layer) -> list[str]:
    return [f"{name}_in{index}" for index in range(len(layer.sources))]


def files_of(name: str, files: Mapping[str, str], pipeline: Pipeline) -> dict[str, str]:
    """Of the emitted `files` those of stage `name` that are stored, by their names.

    The number by which C-simulation counts a stage's iterations depends on the other stages: it is 0 here.
    """
    number = pipeline.counted.index(name)
    header = files[f"src/{name}.h"]
    assert header.count("iteration_of(") == 1
    found = {f"{name}.h": header.replace(f"iteration_of({number})", "iteration_of(0)")}
    for path in (f"{name}_table.h", f"{name}_weights.h"):
        text = files.get(f"src/{path}")
        if text is not None and len(text.splitlines()) <= MOST_LINES:
            found[path] = text
    return found


def unshown_templates(examples: Mapping[str, Emitted]) -> set[str]:
    """The templates of stages that none of the examples goes through."""
    shown: set[str] = set()
    for stage in pipeline_of_examples(examples).stages.values():
        shown |= _templates_behind(f"hls/stages/{stage.template}.h.j2")
    return {name for name in environment().list_templates() if name.startswith("hls/stages/")} - shown


def _templates_behind(template: str) -> set[str]:
    """A template with all that it extends and includes."""
    found, rest = {template}, [template]
    while rest:
        named = jinja2.meta.find_referenced_templates(environment().parse(source_text(rest.pop())))
        fresh = {name for name in named if name is not None} - found
        found |= fresh
        rest += fresh
    return found
