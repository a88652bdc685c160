"""What the tests of streaming stages share: cases, mutants, and the reference headers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from hlsgen.base.errors import MismatchError
from hlsgen.csim.compiler import Headers
from hlsgen.hardware.ports import DDR_ONLY, Interfaces
from hlsgen.layers.base import Layer
from hlsgen.layers.stage import Fold
from hlsgen.model.ir import run_golden
from tests.support.examples import compiled
from tests.support.pipelines import FRAMES, build_pipeline, random_codes, side_by_side

CASES = 8
"""Layers in one kernel: a compilation takes a few seconds."""
Case = tuple[Layer, Fold]
Mutant = tuple[Case, str, str]
"""Text of the case's stage, and what stands there instead."""
T = TypeVar("T")
few_kernels = settings(
    max_examples=compiled(1),
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
    return one_kernel(folded(layers), count)


def one_kernel(cases: st.SearchStrategy[T], count: int = CASES) -> st.SearchStrategy[list[T]]:
    """So many, not all alike: else the first kernel is of the simplest of them, so many times."""
    found = st.lists(cases, min_size=count, max_size=count)
    return found.filter(lambda drawn: len({repr(one) for one in drawn}) > 1)


def assert_exact_with(
    headers: Headers, cases: list[Case], folder: Path, interfaces: Interfaces = DDR_ONLY
) -> None:
    """C-simulation equals golden, compiled with these headers."""
    _run(cases, folder, headers=headers, interfaces=interfaces)


def assert_caught(case: Case, folder: Path, before: str, after: str) -> None:
    """With `before` replaced by `after` in the source of the stage the tests see it."""
    name = side_by_side([case[0]]).layers[0].name
    with pytest.raises((AssertionError, MismatchError)) as caught:
        _run([case], folder / "kernel", edit={f"src/{name}.h": (before, after)})
    assert "is not in" not in str(caught.value), "the mutant has to follow the template"


def assert_each_caught(mutants: Sequence[Mutant], folder: Path, file: str = "{}.h") -> None:
    """All in one kernel, each beside the others: every one changes a result of its stage.

    file: of the stage of this name, where `before` stands.
    """
    graph = side_by_side([layer for (layer, _), _, _ in mutants])
    named = list(zip(graph.layers, mutants, strict=True))
    folds = {layer.name: fold for layer, ((_, fold), _, _) in named}
    edit = {f"src/{file.format(layer.name)}": (before, after) for layer, (_, before, after) in named}
    inputs = {port.name: random_codes(port.tensor, FRAMES, n) for n, port in enumerate(graph.inputs)}
    found = build_pipeline(graph, folds, folder, edit=edit).run(inputs, folder).tensors
    golden = run_golden(graph, inputs)
    survivors = [
        (before, after)
        for layer, (_, before, after) in named
        if np.array_equal(found[layer.name], golden[layer.name])
    ]
    assert survivors == []


def _run(
    cases: list[Case],
    folder: Path,
    headers: Headers = Headers.FAST,
    edit: dict[str, tuple[str, str]] | None = None,
    interfaces: Interfaces = DDR_ONLY,
) -> None:
    graph = side_by_side([layer for layer, _ in cases])
    folds = {layer.name: fold for layer, (_, fold) in zip(graph.layers, cases, strict=True)}
    folder.mkdir(parents=True)
    built = build_pipeline(graph, folds, folder, headers=headers, edit=edit, interfaces=interfaces)
    inputs = {port.name: random_codes(port.tensor, FRAMES, n) for n, port in enumerate(graph.inputs)}
    run = built.run(inputs, folder)
    for name, codes in run_golden(graph, inputs).items():
        if name in run.tensors:
            np.testing.assert_array_equal(run.tensors[name], codes, err_msg=name)
    run.check_schedule(FRAMES)
