"""What the tests of streaming stages share: cases, mutants, and the reference headers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from hlsgen.base.errors import MismatchError
from hlsgen.csim.compiler import Headers
from hlsgen.layers.base import Layer
from hlsgen.layers.stage import Fold
from hlsgen.model.ir import run_golden
from tests.support.examples import compiled
from tests.support.pipelines import FRAMES, build_pipeline, random_codes, side_by_side

CASES = 14
"""Layers in one kernel: a compilation takes a few seconds."""
Case = tuple[Layer, Fold]
few_kernels = settings(
    max_examples=compiled(2),
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # shrinking would compile for many minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


@st.composite
def folded(draw: st.DrawFn, layers: st.SearchStrategy[Layer]) -> Case:
    """A layer that keeps its rules, with one of its foldings."""
    layer = draw(layers.filter(lambda one: not one.check()))
    return layer, draw(st.sampled_from(list(layer.folds())))


def every_fold(*layers: Layer) -> list[Case]:
    """Each of the layers in each of its foldings."""
    return [(layer, fold) for layer in layers for fold in layer.folds()]


def cases_of(layers: st.SearchStrategy[Layer], count: int = CASES) -> st.SearchStrategy[list[Case]]:
    """So many folded layers, for one kernel."""
    return st.lists(folded(layers), min_size=count, max_size=count)


def assert_exact_with(headers: Headers, cases: list[Case], folder: Path) -> None:
    """C-simulation equals golden, compiled with these headers."""
    _run(cases, folder, headers=headers)


def assert_caught(case: Case, folder: Path, before: str, after: str) -> None:
    """With `before` replaced by `after` in the source of the stage the tests see it."""
    name = side_by_side([case[0]]).layers[0].name
    with pytest.raises((AssertionError, MismatchError)):
        _run([case], folder / "kernel", edit={f"src/{name}.h": (before, after)})


def _run(
    cases: list[Case],
    folder: Path,
    headers: Headers = Headers.FAST,
    edit: dict[str, tuple[str, str]] | None = None,
) -> None:
    graph = side_by_side([layer for layer, _ in cases])
    folds = {layer.name: fold for layer, (_, fold) in zip(graph.layers, cases, strict=True)}
    folder.mkdir(parents=True)
    built = build_pipeline(graph, folds, folder, headers=headers, edit=edit)
    inputs = {port.name: random_codes(port.tensor, FRAMES, n) for n, port in enumerate(graph.inputs)}
    run = built.run(inputs, folder)
    for name, codes in run_golden(graph, inputs).items():
        if name in run.tensors:
            np.testing.assert_array_equal(run.tensors[name], codes, err_msg=name)
    run.check_schedule(FRAMES)
