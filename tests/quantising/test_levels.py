"""Tensors of a few known values: what they are, against the values of a run, and the types that they get."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import hlsgen
from hlsgen.base.fixed import FixedType
from hlsgen.frontends.builder.builder import GraphBuilder, Value
from hlsgen.model.ir import run_golden
from hlsgen.quantising.levels import levels_of

Made = Callable[[GraphBuilder, Value], Value]


def sign(builder: GraphBuilder, x: Value) -> Value:
    return builder.table(x, "sign")


CASES: dict[str, tuple[Made, tuple[float, ...]]] = {
    "sign": (sign, (-1, 0, 1)),
    "bipolar": (lambda b, x: b.table(x, "bipolar"), (-1, 1)),
    "steps": (lambda b, x: b.steps(x, (-0.3, 0.4), (-0.5, 0, 0.75)), (-0.5, 0, 0.75)),
    "times and plus": (lambda b, x: b.affine(sign(b, x), 0.5, 1.0), (0.5, 1, 1.5)),
    "limits": (lambda b, x: b.clamp(b.affine(sign(b, x), 4.0), -1.0, 3.0), (-1, 0, 3)),
    "sum": (lambda b, x: b.add(sign(b, x), b.table(x, "bipolar")), (-2, -1, 0, 1, 2)),
    "difference": (lambda b, x: b.sub(b.steps(x, (0.5,), (0, 1)), b.steps(x, (-0.5,), (1, 0))), (-1, 0, 1)),
    "product": (lambda b, x: b.mul(sign(b, x), b.steps(x, (0.5,), (0.25, 2))), (-2, -0.25, 0, 0.25, 2)),
    "largest": (lambda b, x: b.pool2d(sign(b, x), "max", (2, 2)), (-1, 0, 1)),
    "padded": (lambda b, x: b.pad(b.table(x, "bipolar"), [(0, 0), (1, 1), (1, 1)]), (-1, 0, 1)),
}


@pytest.mark.parametrize("case", CASES)
def test_levels_are_all_values_that_occur(case: str) -> None:
    made, wanted = CASES[case]
    builder = GraphBuilder("net", False)
    builder.output("y", made(builder, builder.input("x", (3, 6, 6))))
    graph = builder.build()
    found = levels_of(graph)[graph.outputs[0].source]
    assert found == tuple(map(float, wanted))
    frames = np.random.default_rng(1).integers(-8, 9, (40, 3, 6, 6)) / 8
    values = run_golden(graph, {graph.inputs[0].name: frames})[graph.outputs[0].source]
    assert set(np.unique(values)) <= set(found)


@pytest.mark.parametrize("function", ["sigmoid", "abs"])
def test_other_tensors_have_none(function: str) -> None:
    builder = GraphBuilder("net", False)
    x = builder.input("x", (1, 2, 2))
    builder.output("y", builder.add(builder.table(x, function), sign(builder, x)))
    builder.output("z", builder.affine(sign(builder, x), 0.7))
    graph = builder.build()
    assert {levels for levels in levels_of(graph).values()} == {(-1.0, 0.0, 1.0)}


BINARY = """
name: binary
board: u200
input: {shape: [3, 8, 8], type: "fixed<8,1>", samples: random}
precision: {default: 8, weights: 1}
layers:
  - {name: conv1, kind: conv2d, out_channels: 16, kernel: 3, weights: {seed: 1}}
  - {name: s1, kind: table, function: bipolar}
  - {name: conv2, kind: conv2d, out_channels: 16, kernel: 3, weights: {seed: 2}}
  - {name: s2, kind: table, function: bipolar}
  - {name: fc, kind: dense, out_channels: 10, weights: {seed: 3}}
"""


def test_a_binary_network_takes_no_dsp(tmp_path: Path) -> None:
    (tmp_path / "binary.yaml").write_text(BINARY)
    design = hlsgen.load(tmp_path / "binary.yaml")
    types = {layer.name: layer.output_type for layer in design.graph.layers}  # type: ignore[attr-defined]
    widths = {name: type_.width for name, type_ in types.items() if isinstance(type_, FixedType)}
    assert widths == {"conv1": 1, "s1": 2, "conv2": 1, "s2": 2, "fc": 8}
    assert design.estimate().as_json()["total"]["dsp"] == 0
