"""Concat, crop, pad and rearrange: against NumPy and torch, in float64 and on codes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType, Overflow
from hlsgen.base.type_text import parse_type
from hlsgen.layers.concat import Concat
from hlsgen.layers.crop import Crop
from hlsgen.layers.pad import Pad
from hlsgen.layers.rearrange import Atoms, Rearrange
from tests.support.layers.exact import FLOAT, cast, fixed_types, messages, sources_of, tensor, value

FIXED = parse_type("fixed<8,4>")


@settings(max_examples=100, deadline=None)
@given(
    axis=st.integers(0, 2),
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    data=st.data(),
    result=fixed_types(),
    seed=st.integers(0, 99),
)
def test_concat(axis: int, sizes: list[int], data: st.DataObject, result: FixedType, seed: int) -> None:
    types = [data.draw(fixed_types()) for _ in sizes]
    shapes = [tuple(size if at == axis else 2 + at for at in range(3)) for size in sizes]
    parts = tuple(tensor(shape, type_) for shape, type_ in zip(shapes, types, strict=True))  # type: ignore[arg-type]
    layer = Concat(name="joined", inputs=("a",) * len(parts), parts=parts, axis=axis, result_type=result)
    assert layer.check() == []
    codes = sources_of(layer, seed)
    got = layer.golden(*codes)
    assert got.shape[1:] == layer.output_shape
    expected = [
        np.array([int(c) if type_ == result else cast(value(c, type_), result) for c in array.reshape(-1)])
        for array, type_ in zip(codes, types, strict=True)
    ]
    shaped = [flat.reshape(array.shape) for flat, array in zip(expected, codes, strict=True)]
    np.testing.assert_array_equal(got, np.concatenate(shaped, axis + 1))
    natural = layer.retyped(tuple(types), None)
    values = [type_.decode(array) for type_, array in zip(types, codes, strict=True)]
    assert isinstance(natural.result_type, FixedType)
    if all(type_.overflow is not Overflow.SAT_SYM for type_ in types):
        np.testing.assert_array_equal(
            natural.result_type.decode(natural.golden(*codes)), np.concatenate(values, axis + 1)
        )
    floats = layer.retyped((FLOAT,) * len(parts), None)
    np.testing.assert_array_equal(floats.golden(*values), np.concatenate(values, axis + 1))


def test_concat_of_equal_types_keeps_the_type() -> None:
    odd = parse_type("fixed<8,4,rnd,sat>")
    layer = Concat(name="joined", parts=(tensor((1, 2, 2)), tensor((2, 2, 2))), result_type=FLOAT)
    assert layer.retyped((odd, odd), None).result_type == odd
    assert layer.retyped((odd, parse_type("ufixed<6,6>")), None).result_type == FixedType(11, 7)


def test_concat_rules() -> None:
    parts = (tensor((1, 2, 3), FIXED), tensor((1, 4, 3), FIXED))
    layer = Concat(name="joined", parts=parts, axis=1, result_type=FIXED)
    assert layer.check() == []
    assert "joined along the channels, have 2, 4 rows" in messages(replace(layer, axis=0))
    assert "float32 is mixed" in messages(replace(layer, result_type=FLOAT))


@settings(max_examples=100, deadline=None)
@given(data=st.data(), seed=st.integers(0, 99))
def test_crop(data: st.DataObject, seed: int) -> None:
    shape = tuple(data.draw(st.integers(1, 6)) for _ in range(3))
    begin = tuple(data.draw(st.integers(0, size - 1)) for size in shape)
    step = tuple(data.draw(st.integers(1, 3)) for _ in range(3))
    size = tuple(
        data.draw(st.integers(1, (whole - 1 - first) // by + 1))
        for whole, first, by in zip(shape, begin, step, strict=True)
    )
    layer = Crop(name="cut", source=tensor(shape, FIXED), begin=begin, size=size, step=step)  # type: ignore[arg-type]
    assert layer.check() == [] and layer.output_shape == size
    (codes,) = sources_of(layer, seed)
    got = layer.golden(codes)
    assert got.shape[1:] == size
    for at in np.ndindex(*size):
        origin = tuple(first + i * by for first, i, by in zip(begin, at, step, strict=True))
        assert got[0][at] == codes[0][origin]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"begin": (0, 3, 0)}, "rows 3 to 4 are cut out of a source with rows 0 to 3"),
        ({"begin": (-1, 0, 0)}, "channels -1 to 0 are cut out"),
        ({"step": (1, 1, 4)}, "columns 0 to 4 are cut out of a source with columns 0 to 3"),
        ({"step": (1, 0, 1)}, "a crop of 2 rows with step 0 is empty or goes backwards"),
        ({"size": (0, 2, 2)}, "a crop of 0 channels"),
    ],
)
def test_crop_rules(changes: dict[str, Any], words: str) -> None:
    layer = Crop(name="cut", source=tensor((4, 4, 4), FIXED), begin=(0, 0, 0), size=(2, 2, 2))
    assert layer.check() == []
    assert words in messages(replace(layer, **changes))


@settings(max_examples=60, deadline=None)
@given(
    padding=st.tuples(*[st.integers(0, 3)] * 4),
    channels=st.tuples(*[st.integers(0, 2)] * 2),
    seed=st.integers(0, 99),
)
def test_pad_equals_torch(padding: tuple[int, int, int, int], channels: tuple[int, int], seed: int) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    top, left, bottom, right = padding
    source = tensor((2, 3, 4))
    layer = Pad(name="border", source=source, padding=padding, channels=channels, value=1.3)
    assert layer.check() == []
    (values,) = sources_of(layer, seed)
    wanted = torch.nn.functional.pad(
        torch.from_numpy(values), (left, right, top, bottom, *channels), value=1.3
    )
    assert layer.output_shape == tuple(wanted.shape[1:])
    np.testing.assert_array_equal(layer.golden(values), wanted.numpy())
    fixed = layer.retyped((FIXED,), None)
    assert fixed.value_code == 21 and fixed.output_type == FIXED  # 1.3 = 20.8 / 16
    (codes,) = sources_of(fixed, seed)
    decoded = fixed.golden(codes)
    np.testing.assert_array_equal(
        decoded == 21, layer.golden(codes / 16.0) == 1.3
    ) if 21 not in codes else None
    assert decoded.sum() == codes.sum() + 21 * (decoded.size - codes.size)


def test_pad_of_wide_codes() -> None:
    layer = Pad(name="border", source=tensor((1, 1, 1), "ufixed<64,64>"), padding=(1, 0, 0, 0), value=3)
    got = layer.golden(np.array([[[[(1 << 64) - 1]]]], object))
    assert got.reshape(-1).tolist() == [3, (1 << 64) - 1] and type(got[0, 0, 0, 0] * (1 << 70)) is int


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"padding": (0, -1, 0, 0)}, "is negative"),
        ({"value": float("-inf")}, "the value of the padding is -inf"),
        ({"value": 9.0}, "the value of the padding: 1 of 1 values leave the range of fixed<8,4>"),
    ],
)
def test_pad_rules(changes: dict[str, Any], words: str) -> None:
    layer = Pad(name="border", source=tensor((1, 2, 2), FIXED), padding=(1, 1, 1, 1), value=7.0)
    assert layer.check() == []
    assert words in messages(replace(layer, **changes))


def rearrange(
    shape: tuple[int, int, int], channel: Atoms, row: Atoms, column: Atoms, offset: int = 0
) -> Rearrange:
    return Rearrange(name="turned", source=tensor(shape), axes=(channel, row, column), offset=offset)


def test_rearrange_covers_what_networks_do() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    shape = (8, 4, 6)
    values = np.random.default_rng(0).standard_normal((2, *shape))
    x = torch.from_numpy(values)
    f = torch.nn.functional
    cases = {
        "flatten": (rearrange(shape, ((192, 1),), (), ()), x.reshape(2, 192, 1, 1)),
        "permute": (rearrange(shape, ((6, 1),), ((8, 24),), ((4, 6),)), x.permute(0, 3, 1, 2)),
        "reshape": (rearrange(shape, ((4, 48),), ((6, 8),), ((8, 1),)), x.reshape(2, 4, 6, 8)),
        "pixel shuffle": (
            rearrange(shape, ((2, 96),), ((4, 6), (2, 48)), ((6, 1), (2, 24))),
            f.pixel_shuffle(x, 2),
        ),
        "pixel unshuffle": (
            rearrange(shape, ((8, 24), (2, 6), (2, 1)), ((2, 12),), ((3, 2),)),
            f.pixel_unshuffle(x, 2),
        ),
        "channel shuffle": (
            rearrange(shape, ((4, 24), (2, 96)), ((4, 6),), ((6, 1),)),
            f.channel_shuffle(x, 2),
        ),
        "flip": (rearrange(shape, ((8, 24),), ((4, -6),), ((6, -1),), 23), x.flip(2, 3)),
        "nearest": (
            rearrange(shape, ((8, 24),), ((4, 6), (2, 0)), ((6, 1), (3, 0))),
            f.interpolate(x, scale_factor=(2, 3), mode="nearest"),
        ),
    }
    for name, (layer, wanted) in cases.items():
        assert layer.check() == [], name
        assert layer.output_shape == tuple(wanted.shape[1:]), name
        np.testing.assert_array_equal(layer.golden(values), wanted.numpy(), err_msg=name)


@settings(max_examples=80, deadline=None)
@given(
    axes=st.tuples(
        *[st.lists(st.tuples(st.integers(1, 3), st.integers(-9, 9)), max_size=3).map(tuple) for _ in range(3)]
    ),
    offset=st.integers(-20, 40),
)
def test_rearrange_by_digits(axes: tuple[Atoms, Atoms, Atoms], offset: int) -> None:
    layer = replace(rearrange((3, 4, 5), (), (), ()), axes=axes, offset=offset)
    least, most = 10**9, -(10**9)
    wanted = np.empty(layer.output_shape, int)
    for at in np.ndindex(*layer.output_shape):
        index = offset
        for coordinate, atoms in zip(at, axes, strict=True):
            rest = coordinate
            for size, stride in reversed(atoms):
                rest, digit = divmod(rest, size)
                index += digit * stride
        wanted[at] = index
        least, most = min(least, index), max(most, index)
    assert layer.reach == (least, most)
    if least < 0 or most >= 60:
        assert f"it reads elements {least} to {most} of a source that has elements 0 to 59" in messages(layer)
        return
    assert layer.check() == []
    got = layer.golden(np.arange(60.0).reshape(1, 3, 4, 5))
    np.testing.assert_array_equal(got[0], wanted)


def test_rearrange_of_nothing() -> None:
    assert "an axis of size 0" in messages(rearrange((1, 1, 1), ((0, 1),), (), ()))


def test_moving_layers_keep_the_type() -> None:
    layer = rearrange((1, 1, 1), (), (), ())
    assert layer.retyped((FIXED,), None).output_type == FIXED
    assert layer.retyped((FIXED,), FIXED).output_type == FIXED
    with pytest.raises(DesignError, match="turned: a rearrange gives the type that it reads, fixed<8,4>"):
        layer.retyped((FIXED,), parse_type("fixed<8,3>"))
