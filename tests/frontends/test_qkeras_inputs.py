"""Quantizers that alone read an input: golden and C-simulation against QKeras' prediction, off the grid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType, Rounding
from hlsgen.frontends.qkeras.load import quiet
from hlsgen.frontends.qkeras.quantizers import plain_type
from tests.support.frontends.keras_models import WARNINGS, bits, packages, predicted
from tests.support.frontends.ports import assert_simulated_and_encoded
from tests.support.input_values import Singles, awkward, framed, grey_levels

Q, KERAS, QLAYERS = packages().quantizers, packages().keras, packages().qkeras

pytestmark = WARNINGS
SIZE = 8


def model_of(*quantizers: Any) -> Any:
    """Each quantizer reads an input of SIZE elements; what it gives goes through weights of one."""
    with quiet():
        sources = [KERAS.Input((SIZE,), name=f"x{index}") for index in range(len(quantizers))]
        outputs = []
        for source, quantizer in zip(sources, quantizers, strict=True):
            x = QLAYERS.QActivation(quantizer)(source)
            dense = QLAYERS.QDense(SIZE, kernel_quantizer=bits(2, 1), use_bias=False)
            outputs.append(dense(x))
            dense.set_weights([np.eye(SIZE, dtype=np.float32)])
        return KERAS.Model(sources, outputs)


def values_for(quantizer: Any, seed: int = 0) -> Singles:
    """[frames, SIZE]: what is hard to round for a quantizer, and pixels as 0..255 and as 0..1."""
    type_ = plain_type(quantizer)
    assert type_ is not None
    hard = awkward(type_.resolution, type_.min_code, type_.max_code, seed=seed)
    return framed(
        np.concatenate([hard, grey_levels(200, seed=seed), grey_levels(200, seed=seed) / 255]), SIZE
    )


def check(design: Any, model: Any, arrays: list[Singles], steps: list[float]) -> None:
    """That golden is the prediction, but for the noise of QKeras' x + (q - x) in float32."""
    golden = design.golden(arrays if len(arrays) > 1 else arrays[0])
    for got, wanted, step in zip(
        golden if len(arrays) > 1 else [golden],
        predicted(model, arrays),
        steps,
        strict=True,  # type: ignore[arg-type]
    ):
        wrong = np.abs(got - wanted) > step / 8
        assert not wrong.any(), (
            f"{wrong.sum()} of {wrong.size} differ: {got[wrong][:4]} for {wanted[wrong][:4]}"
        )


BITS = st.builds(
    lambda width, integer, symmetric, keep: Q.quantized_bits(
        width, integer, symmetric=symmetric, keep_negative=keep, alpha=1
    ),
    st.integers(2, 10),
    st.integers(0, 4),
    st.booleans(),
    st.booleans(),
)
RELU = st.builds(Q.quantized_relu, st.integers(1, 10), st.integers(0, 4))


@settings(max_examples=25, deadline=None)
@given(quantizer=st.one_of(BITS, RELU), seed=st.integers(0, 9))
def test_inputs_are_quantised_as_qkeras_does(quantizer: Any, seed: int) -> None:
    model = model_of(quantizer)
    design = hlsgen.from_qkeras(model, name="net")
    type_ = design.graph.input.type
    assert type_ == plain_type(quantizer)
    check(design, model, [values_for(quantizer, seed)], [type_.resolution])


def test_csim_the_runtime_and_golden_quantise_alike(tmp_path: Path) -> None:
    """Of one network with an input for each quantizer."""
    quantizers = [
        Q.quantized_bits(4, 0, alpha=1),
        Q.quantized_bits(4, 1, symmetric=True, alpha=1),
        Q.quantized_bits(8, 8, keep_negative=False, alpha=1),
        Q.quantized_relu(5, 2),
    ]
    model = model_of(*quantizers)
    arrays = [values_for(quantizer) for quantizer in quantizers]
    frames = min(len(array) for array in arrays)
    arrays = [array[-frames:] for array in arrays]
    design = hlsgen.from_qkeras(model, name="net", calibration=arrays)
    check(design, model, arrays, [plain_type(one).resolution for one in quantizers])  # type: ignore[union-attr]
    assert_simulated_and_encoded(design, arrays, tmp_path / "net", frames)


def test_8_bit_pixels_are_quantised_as_in_the_model() -> None:
    """The case that brought it to light: ties to even, and clipping."""
    model = model_of(Q.quantized_bits(4, 0, alpha=1))
    levels = grey_levels(2496)
    for x in (levels, levels / 255, levels / 256, (levels - 128) / 128):
        frames = framed(x, SIZE)
        np.testing.assert_array_equal(hlsgen.from_qkeras(model).golden(frames), predicted(model, [frames])[0])


OTHERS = {
    "scaled": lambda: Q.quantized_bits(8, 0, alpha=0.7),
    "binary": lambda: Q.binary(alpha=1),
    "binary of 0 and 1": lambda: Q.binary(use_01=True, alpha=0.5),
    "one bit": lambda: Q.quantized_bits(1, 0, alpha=1),
    "ternary": lambda: Q.ternary(alpha=1, threshold=0.5),
    "bounded": lambda: Q.quantized_relu(4, 2, relu_upper_bound=3, is_quantized_clip=False),
    "leaky": lambda: Q.quantized_relu(4, 1, negative_slope=0.25),
    "powers of two": lambda: Q.quantized_po2(4, 2),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_quantizers_that_are_more_than_a_type(kind: str) -> None:
    """They begin with a cast, which is the input's type, or see on which side of a tie a value was."""
    quantizer = OTHERS[kind]()
    model = model_of(quantizer)
    hard = np.clip(awkward(2.0**-7 if kind == "scaled" else 0.125, -128, 127), -30, 30)
    levels = grey_levels(400)
    x = framed(np.concatenate([hard, levels / 255, (levels - 128) / 64]).astype(np.float32), SIZE)
    check(hlsgen.from_qkeras(model), model, [x], [0.01])


def test_two_quantizers_that_read_one_input_differently() -> None:
    with quiet():
        source = KERAS.Input((SIZE,), name="x")
        outputs = []
        for quantizer in (
            Q.quantized_bits(4, 0, alpha=1),
            Q.quantized_relu(6, 1),
            Q.quantized_bits(3, 1, alpha=1),
        ):
            dense = QLAYERS.QDense(SIZE, kernel_quantizer=bits(2, 1), use_bias=False)
            outputs.append(dense(QLAYERS.QActivation(quantizer)(source)))
            dense.set_weights([np.eye(SIZE, dtype=np.float32)])
        model = KERAS.Model(source, outputs)
    design = hlsgen.from_qkeras(model)
    hard = [np.clip(awkward(step, -16, 16), -30, 30) for step in (0.125, 2.0**-5, 0.5)]
    x = framed(np.concatenate([*hard, grey_levels(400) / 255]).astype(np.float32), SIZE)
    for got, wanted in zip(design.golden(x), predicted(model, [x]), strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-4)


def test_doubles_are_rounded_to_float32_first() -> None:
    model = model_of(Q.quantized_bits(4, 0, alpha=1))
    x = np.full((1, SIZE), 0.0625 + 1e-12)  # beyond a tie that float32 cannot tell from it
    np.testing.assert_array_equal(hlsgen.from_qkeras(model).golden(x), predicted(model, [x])[0])
    assert not hlsgen.from_qkeras(model).golden(x).any()  # type: ignore[union-attr]


def test_an_input_without_quantizer_goes_to_the_nearest_and_not_beyond() -> None:
    with quiet():
        source = KERAS.Input((2,))
        dense = QLAYERS.QDense(2, kernel_quantizer=bits(2, 1), use_bias=False)
        model = KERAS.Model(source, dense(source))
        dense.set_weights([np.eye(2, dtype=np.float32)])
    design = hlsgen.from_qkeras(model)
    assert design.graph.input.type == FixedType(16, 6, rounding=Rounding.RND)
    step = 2.0**-10
    np.testing.assert_array_equal(design.golden([[0.7 * step, -0.7 * step]]), [[step, -step]])
    with pytest.raises(DesignError, match="1 of 2 values leave the range of fixed<16,6>, -32 to 31.999"):
        design.golden([[32.0, 0.0]])
