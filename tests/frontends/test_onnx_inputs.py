"""Inputs of quantised ONNX models: quantised first, on values off the grid, or computed with before that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("onnx", reason="needs onnx: pip install 'hlsgen[onnx]'")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'hlsgen[onnx]'")

import hlsgen  # noqa: E402
from hlsgen.base.errors import DesignError  # noqa: E402
from hlsgen.frontends.onnx.to_graph import graph_of_onnx  # noqa: E402
from tests.support.frontends.onnx_models import QONNX, Array, expected, model, node, normal, onnx  # noqa: E402
from tests.support.frontends.onnx_networks import FRAMES, Net, executed  # noqa: E402
from tests.support.frontends.ports import assert_simulated_and_encoded  # noqa: E402
from tests.support.input_values import Singles, awkward, framed, grey_levels  # noqa: E402

SIDE = 4
PIXELS = "ufixed<8,0>"


def first_layers(bits: int, ahead: bool = True) -> Any:
    """2x - 1 of a picture as a vector (or not, `ahead`), a quantiser, weights of one bit, a quantiser."""
    net = Net((1, SIDE, SIDE))
    flat = net.add("Reshape", f"x {net.constant([FRAMES, SIDE * SIDE], np.int64)}")
    if ahead:
        flat = net.add("Mul", f"{flat} {net.constant(2.0)}")
        flat = net.add("Sub", f"{flat} {net.constant(1.0)}")
    x = _quantised(net, flat, bits)
    signs = net.constant(normal(1, 6, SIDE * SIDE))
    weights = net.add("BipolarQuant", f"{signs} {net.constant(1.0)}", domain=QONNX)
    turned = net.add("Transpose", weights, perm=[1, 0])
    scores = net.add("MatMul", f"{x} {turned}")
    return net.qonnx(_quantised(net, net.add("Mul", f"{scores} {net.constant(0.125)}"), bits), (6,))


def _quantised(net: Net, x: str, bits: int) -> str:
    if bits == 1:
        return net.add("BipolarQuant", f"{x} {net.constant(1.0)}", domain=QONNX)
    return net.quant(x, 0.5, bits, narrow=1)


def pixels() -> Array:
    """Codes of 8 bits as numbers from 0 up to 1, one half among them."""
    codes = np.random.default_rng(0).integers(0, 256, (FRAMES, 1, SIDE, SIDE))
    codes[0, 0, 0] = [0, 127, 128, 255]
    return (codes / 256).astype(np.float32)


@pytest.mark.parametrize("bits", [1, 2, 8])
def test_the_type_that_the_input_comes_in_is_said(bits: int) -> None:
    made = first_layers(bits)
    design = hlsgen.from_onnx(made, precision={"input": PIXELS})
    assert str(design.graph.input.type) == "ufixed<8,0,rnd,wrap>"
    np.testing.assert_array_equal(design.golden(pixels()), executed(made, pixels()))


def test_the_refusal_says_how() -> None:
    with pytest.raises(DesignError, match="reads the input x of the quantised model as it is") as caught:
        hlsgen.from_onnx(first_layers(2))
    assert 'precision={"input": "ufixed<8,0>"}' in str(caught.value)


def test_a_design_file_says_it_as_the_inputs_type(tmp_path: Path) -> None:
    onnx.save(first_layers(2), tmp_path / "net.onnx")
    text = f'name: net\nboard: u200\nmodel: {{onnx: net.onnx}}\ninput: {{type: "{PIXELS}"}}\n'
    (tmp_path / "net.yaml").write_text(text)
    design = hlsgen.load(tmp_path / "net.yaml")
    np.testing.assert_array_equal(design.golden(pixels()), executed(first_layers(2), pixels()))


def test_what_a_quantiser_reads_first_has_its_type_already() -> None:
    with pytest.raises(DesignError, match="the network's own quantizers make x fixed<2,1"):
        hlsgen.from_onnx(first_layers(2, ahead=False), precision={"input": PIXELS})


def test_nothing_else_can_be_said_of_a_quantised_network() -> None:
    with pytest.raises(DesignError, match="brings its own number types"):
        hlsgen.from_onnx(first_layers(2, ahead=False), precision="fixed<16,6>")


def test_what_leaves_a_wished_type_is_refused() -> None:
    design = hlsgen.from_onnx(first_layers(2), precision={"input": PIXELS})
    with pytest.raises(DesignError, match=r"leave the range of ufixed<8,0>.*\n.*ufixed<8,0,rnd,sat> clips"):
        design.golden(pixels() * 2)


# off the grid

SIZE = 96
POWERS = st.sampled_from([0.5, 2.0**-4, 1.0, 2.0**3])
SCALES = st.floats(2.0**-8, 3.0, width=32)


def through_ones(net: Net, x: str) -> str:
    """`x` through a product with weights of one."""
    weights = net.quant(net.constant(np.eye(SIZE)), 1.0, 2)
    return net.add("MatMul", f"{x} {weights}")


def values_for(step: float, low: int, high: int, seed: int = 0) -> Singles:
    """[FRAMES, SIZE]: what is hard to round, and pixels as 0..255 and as 0..1."""
    hard = awkward(step, low, high, seed=seed, far=1e30)
    parts = [hard, grey_levels(100, seed=seed), grey_levels(100, seed=seed) / 255]
    filled = framed(np.concatenate(parts), SIZE)
    return np.concatenate([filled, np.zeros((FRAMES - len(filled), SIZE), np.float32)])


def assert_steps(got: Any, wanted: Array, step: float) -> None:
    """Equal codes; the values are float32 products in the framework and real ones here."""
    codes = np.rint(np.asarray(wanted, np.float64) / step)
    wrong = np.rint(np.asarray(got) / step) != codes
    assert not wrong.any(), f"{wrong.sum()} of {wrong.size}: {(got / step)[wrong][:4]} for {codes[wrong][:4]}"


@settings(max_examples=40, deadline=None)
@given(
    bits=st.integers(2, 9),
    signed=st.booleans(),
    narrow=st.booleans(),
    scale=st.one_of(POWERS, SCALES),
    zero=st.sampled_from([0, 0, 0, 1, 2, -3, 100]),
    mode=st.sampled_from(["ROUND", "FLOOR", "CEIL", "DOWN", "ROUND_TO_ZERO", "HALF_UP", "HALF_DOWN"]),
    seed=st.integers(0, 9),
)
def test_quant_nodes(
    bits: int, signed: bool, narrow: bool, scale: float, zero: int, mode: str, seed: int
) -> None:
    # of 0.49999997 qonnx makes 1 with HALF_UP: adding 0.5 rounds in float32
    mode, executed_mode = (mode, "DOWN") if mode == "ROUND_TO_ZERO" else (mode, mode)
    zero = zero if mode in ("ROUND", "FLOOR", "CEIL") else 0
    step = float(np.float32(scale))

    def made(rounding: str) -> Any:
        net = Net((SIZE,))
        attributes = {"signed": int(signed), "narrow": int(narrow), "rounding_mode": rounding}
        return net.qonnx(through_ones(net, net.quant("x", step, bits, zero, **attributes)), (SIZE,))

    x = values_for(step, -(1 << bits - 1) - zero, (1 << bits) - zero, seed)
    x[np.abs(x / np.float32(step)) == np.nextafter(np.float32(0.5), np.float32(0))] = 0
    design = hlsgen.from_onnx(made(mode), name="net")
    assert_steps(design.golden(x), executed(made(executed_mode), x), step)


@settings(max_examples=15, deadline=None)
@given(
    dtype=st.sampled_from([np.uint8, np.int8]),
    scale=st.one_of(POWERS, SCALES),
    zero=st.integers(0, 127),
    seed=st.integers(0, 9),
)
def test_quantize_linear(dtype: Any, scale: float, zero: int, seed: int) -> None:
    step = float(np.float32(scale))
    net = Net((SIZE,))
    weights = net.integers(np.eye(SIZE), 1.0, axis=1)
    y = net.add("MatMul", f"{net.qdq('x', step, zero, dtype)} {weights}")
    made = net.onnx(y)
    ends = np.iinfo(dtype)
    x = values_for(step, int(ends.min) - zero, int(ends.max) - zero, seed)
    assert_steps(hlsgen.from_onnx(made, name="net").golden(x), expected(made, x)[0], step)


@pytest.mark.parametrize("mode", ["ROUND", "FLOOR"])
def test_zero_points_decide_ties_in_the_middle_of_a_network(mode: str) -> None:
    """QONNX adds them before it rounds: with an odd one halves go to the odd code."""
    for zero in (1, 3, 8):
        net = Net((SIZE,))
        x = net.quant("x", 0.25, 10)
        made = net.qonnx(through_ones(net, net.quant(x, 1.0, 5, zero, rounding_mode=mode)), (SIZE,))
        array = values_for(0.25, -100, 100)
        assert_steps(hlsgen.from_onnx(made, name="net").golden(array), executed(made, array), 1.0)


def test_weights_are_divided_in_float32() -> None:
    """Quotients that float32 makes ties of: the weights that the model computes with."""
    rng = np.random.default_rng(0)
    scale = rng.uniform(0.01, 0.02, 4000).astype(np.float32)
    near = ((rng.integers(-100, 100, 4000) + 0.5) * scale).astype(np.float32)
    quotients = near / scale
    tied = (quotients == np.rint(quotients * 2) / 2) & (near.astype(float) / scale != quotients)
    weights, step = near[tied][:SIZE], scale[tied][:SIZE]
    assert len(weights) == SIZE
    net = Net((1, SIZE))
    w = net.quant(net.constant(weights.reshape(SIZE, 1, 1)), step.reshape(SIZE, 1, 1), 8)
    y = net.add("Conv", f"{net.quant('x', 1.0, 4)} {w}")
    layer = graph_of_onnx(net.qonnx(y, (SIZE, SIZE)), name="net").layers[0]
    codes = layer.weights.reshape(-1)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(codes, np.clip(np.rint(weights / step), -128, 127))


def test_csim_the_runtime_and_golden_quantise_alike(tmp_path: Path) -> None:
    """Of one network with an input for each quantiser."""
    kinds: list[tuple[float, dict[str, Any]]] = [
        (0.25, {"rounding_mode": "FLOOR"}),
        (0.0173, {"narrow": 1}),
        (0.031, {"rounding_mode": "CEIL", "signed": 0}),
        (0.5, {"zero": 3}),
    ]
    net, names, size = Net((SIZE,)), [f"x{index}" for index in range(len(kinds))], SIZE // 3
    parts = [
        net.quant(name, step, 5, **attributes) for name, (step, attributes) in zip(names, kinds, strict=True)
    ]
    for index, part in enumerate(parts):
        net.nodes.append(
            node("MatMul", f"{part} {net.quant(net.constant(np.eye(size)), 1.0, 2)}", f"y{index}")
        )
    made = model(
        net.nodes,
        dict.fromkeys(names, (FRAMES, size)),
        net.constants,
        outputs=" ".join(f"y{index}" for index in range(len(kinds))),
        domains={QONNX: 1},
    )
    arrays = [values_for(step, -16, 31)[:, :size] for step, _ in kinds]
    design = hlsgen.from_onnx(made, name="net", calibration=arrays)
    assert_simulated_and_encoded(design, arrays, tmp_path / "net", FRAMES)
