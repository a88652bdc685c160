"""What notebooks, errors and logs show of an object: a few lines, and nothing is computed for them."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlsgen
from hlsgen.api.design import Design
from hlsgen.api.project import build
from hlsgen.base.short_repr import MOST_CHARACTERS
from hlsgen.layers.base import Layer
from hlsgen.loading.from_graph import Options, from_graph
from hlsgen.model.ir import Graph
from tests.support.networks import convolution, relu, tensor
from tests.support.small_design import DESIGN

MOST_LINES = 5
DEEP = 12
"""Convolutions of the large network."""


def large_network() -> Graph:
    shape = (8, 8, 8)
    layers: list[Layer] = []
    for number in range(DEEP):
        source = f"relu{number - 1}" if number else "input"
        layers.append(convolution(f"conv{number}", source, shape, 8, seed=number % 2))
        layers.append(relu(f"relu{number}", f"conv{number}", shape))
    return Graph.chain("large", tensor(shape), tuple(layers))


def reached(*roots: object) -> Iterator[object]:
    """hlsgen's own objects that the roots hold, they included."""
    known: dict[int, object] = {}
    pending: list[Any] = list(roots)
    while pending:
        one = pending.pop()
        if id(one) in known:
            continue
        known[id(one)] = one
        if isinstance(one, Mapping):
            pending += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple | set | frozenset):
            pending += one
        elif type(one).__module__.startswith("hlsgen"):
            yield one
            pending += [getattr(one, field.name) for field in fields(one)] if is_dataclass(one) else []
            pending += vars(one).values() if hasattr(one, "__dict__") else []


def assert_short(one: object) -> None:
    text = repr(one)
    assert len(text) <= MOST_CHARACTERS + 50, f"{type(one).__name__}: {len(text)} characters: {text[:200]}"
    assert text.count("\n") < MOST_LINES, text


@pytest.mark.parametrize("style", ["dataflow", "tasks"])
def test_all_that_a_large_network_is_made_of_shows_itself_in_a_few_lines(style: str, tmp_path: Path) -> None:
    graph = large_network()
    frames = np.random.default_rng(0).normal(0, 1, (2, 8, 8, 8))
    options = Options(
        board="u200",
        clock_mhz=None,
        batch=8,
        constraints=None,
        style=style,
        calibration=frames,
        precision="fixed<16,6>",
    )
    design = Design(from_graph(graph, options, "test"))
    assert "hardware not chosen yet" in repr(design)
    assert not {"explored", "style"} & set(vars(design))
    assert "hardware" not in set(vars(design.given))
    project = build(design, tmp_path / "b", frames=1, csim=False)
    found = list(reached(design, project, design.estimate(), graph))
    assert len(found) > 10 * DEEP
    for one in found:
        assert_short(one)
    assert design.name in repr(project) and str(tmp_path / "b") in repr(project)
    seconds = project.report["performance"]["frames_per_s"]
    assert f"{seconds:,.0f} frames/s" in repr(design.estimate())
    assert f"{DEEP} layers" in repr(design) and "input 8 x 8 x 8 of fixed<16,6,rnd,sat>" in repr(design)
    assert "accuracy of the types judged on calibration= in Python: 2 frames" in repr(design)


def test_a_layer_alone(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(DESIGN)
    design = hlsgen.load(path)
    project = design.build(tmp_path / "b", csim=False)
    for one in reached(design, project, design.estimate()):
        # what a design file holds is pydantic's, and has no arrays
        if not type(one).__module__.startswith("hlsgen.designfile.schema"):
            assert_short(one)
    assert "for zcu102 at" in repr(design) and "C-simulation: skipped" in repr(project)


def test_designs_and_projects_can_be_kept_copied_and_sent(tmp_path: Path) -> None:
    """As keys, and by processes that get them pickled; a copy says and estimates the same."""
    (tmp_path / "small.yaml").write_text(DESIGN)
    layer = hlsgen.load(tmp_path / "small.yaml")
    options = Options(
        board="u200", clock_mhz=None, batch=8, constraints=None, style="dataflow", precision="fixed<16,6>"
    )
    graph = Graph.chain("two", tensor((8, 8, 8)), (convolution("c", "input", (8, 8, 8), 8, seed=0),))
    for design in (layer, Design(from_graph(graph, options, "test"))):
        project = build(design, tmp_path / design.name, frames=1, csim=False)
        assert {design: 1, project: 2} == {design: 1, project: 2}
        for other in (pickle.loads(pickle.dumps(design)), copy.deepcopy(design)):
            assert other not in [design]
            assert repr(other) == repr(design)
            assert other.estimate().as_json() == design.estimate().as_json()
        assert repr(pickle.loads(pickle.dumps(project))) == repr(project)


def test_what_the_package_offers_is_listed() -> None:
    """In a fresh interpreter, where nothing has been used yet; and NumPy is not imported for it."""
    program = (
        "import sys, hlsgen; print(*dir(hlsgen)); print('numpy' in sys.modules)\n"
        "from hlsgen import *\n"
        "print(all(eval(name) is getattr(hlsgen, name) for name in hlsgen.__all__))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    names, numpy, same = done.stdout.splitlines()
    offered = {"load", "from_torch", "from_qkeras", "from_onnx", "Design", "Project", "ClippingWarning"}
    assert offered <= set(names.split()) and numpy == "False" and same == "True"
    assert set(hlsgen.__all__) == {name for name in names.split() if not name.startswith("__")} | {
        "__version__"
    }
    with pytest.raises(AttributeError, match="no attribute 'from_tensorflow'"):
        _ = hlsgen.from_tensorflow
