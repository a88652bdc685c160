"""What joins a convolution's task, and what a processor refuses, with the reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.base.type_text import parse_type
from hlsgen.layers.base import Layer, Tensor
from hlsgen.layers.binary import Add, Mul
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.concat import Concat
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.leaky import Leaky
from hlsgen.layers.pad import Pad
from hlsgen.layers.thresholds import Thresholds
from hlsgen.model.ir import Graph, Port
from hlsgen.program.lowering import lowered
from tests.support.kernels import conv
from tests.support.shared_processor import PACKED, SIGNED, chain

SAT = FixedType(8, 4, True, Rounding.RND, Overflow.SAT)
WIDER = FixedType(16, 8, True, Rounding.RND, Overflow.SAT)
SHAPE = (8, 6, 6)


def convolution(name: str, source: str, result: FixedType = SAT, input_type: str = "fixed<8,4>") -> Conv2d:
    layer = conv(SHAPE, 8, padding=(1, 1, 1, 1), input_type=input_type, weight_type="fixed<6,1>", bias=False)
    return replace(layer, name=name, inputs=(source,), result_type=result)


def tensor(type_: FixedType = SAT) -> Tensor:
    return Tensor(shape=SHAPE, type=type_)


def unary(kind: type[Any], source: str, type_: FixedType = SAT, **fields: Any) -> Layer:
    given = {"name": kind.__name__.lower(), "inputs": (source,), "source": tensor(type_), **fields}
    found: Layer = kind(**given)
    return found


def addition(left: str, right: str, type_: FixedType = SAT) -> Add:
    return Add(name="add", inputs=(left, right), left=tensor(type_), right=tensor(), result_type=SAT)


def graph(*layers: Layer, outputs: tuple[str, ...] = ()) -> Graph:
    """Reading `x`; the outputs are those named, or the last layer's."""
    by_name = {layer.name: layer.output for layer in layers}
    shown = outputs or (layers[-1].name,)
    ports = tuple(Port.of(f"out_{name}", by_name[name], name) for name in shown)
    return Graph(name="g", inputs=(Port.of("x", tensor()),), layers=layers, outputs=ports)


def tasks_of(*layers: Layer, outputs: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The layers of each task, of a processor without tables, which would take in one more."""
    plain = replace(PACKED, tables=False)
    return [task.layers for task in lowered(graph(*layers, outputs=outputs), plain).tasks]


RELU = unary(Clamp, "add", low=0.0, result_type=SAT)


def test_an_addition_and_an_activation_join_the_convolution_before_them() -> None:
    first, second = convolution("one", "x"), convolution("two", "one")
    assert tasks_of(first, second, addition("two", "x"), RELU) == [("one",), ("two", "add", "clamp")]
    # the same whichever of its operands the convolution gives
    assert tasks_of(first, second, addition("x", "two"), RELU) == [("one",), ("two", "add", "clamp")]


def test_what_joins_may_be_wider_than_a_word() -> None:
    wide = convolution("one", "x", WIDER)
    assert tasks_of(wide, addition("one", "x", WIDER)) == [("one", "add")]
    with pytest.raises(DesignError, match="one: its results are fixed<16,8,rnd,sat>, more than the 8 bits"):
        tasks_of(wide, addition("one", "x", WIDER), outputs=("one", "add"))


def test_results_that_others_read_are_written_before_anything_joins() -> None:
    first = convolution("one", "x")
    second = convolution("two", "one")
    third = addition("one", "two")
    assert tasks_of(first, second, third) == [("one",), ("two", "add")]
    assert tasks_of(first, addition("one", "x"), outputs=("one", "add")) == [("one",), ("add",)]
    # an addition of a tensor to itself is none of another one
    double = replace(addition("one", "one"), right=tensor())
    assert tasks_of(first, double) == [("one",), ("add",)]


def test_a_task_takes_no_more_than_two_roundings() -> None:
    layers: list[Layer] = [convolution("one", "x")]
    for number in range(4):
        source = layers[-1].name
        leaky = unary(Leaky, source, slopes=np.array([3]), slope_type=FixedType(6, 1), result_type=SAT)
        layers.append(replace(leaky, name=f"leaky{number}"))
    assert tasks_of(*layers) == [("one", "leaky0"), ("leaky1", "leaky2"), ("leaky3",)]


REFUSED: list[tuple[str, Layer]] = [
    ("of kind mul", Mul(name="mul", inputs=("x", "x"), left=tensor(), right=tensor(), result_type=SAT)),
    (
        "one value a channel is added",
        Add(
            name="add",
            inputs=("x", "x"),
            left=tensor(),
            right=Tensor(shape=(8, 1, 1), type=SAT),
            result_type=SAT,
        ),
    ),
    ("a slope for each channel", unary(Leaky, "x", slopes=np.arange(8), slope_type=SAT, result_type=SAT)),
    (
        "thresholds for each channel",
        unary(Thresholds, "x", thresholds=np.arange(8.0).reshape(8, 1), result_type=FixedType(1, 1, False)),
    ),
    ("with another value than 0", unary(Pad, "x", padding=(1, 1, 1, 1), value=1.0)),
    ("it pads channels", unary(Pad, "x", channels=(1, 0))),
    ("its results are fixed<9,4,rnd,sat>", convolution("c", "x", replace(SAT, width=9))),
    ("does not saturate", convolution("c", "x", FixedType(8, 4))),
    ("its accumulator of", replace(convolution("c", "x"), accumulator=FixedType(12, 6))),
]


@pytest.mark.parametrize(("reason", "layer"), REFUSED, ids=[reason for reason, _ in REFUSED])
def test_refusals_name_the_layer_and_the_reason(reason: str, layer: Layer) -> None:
    assert not layer.check()
    with pytest.raises(DesignError, match=reason) as error:
        tasks_of(layer)
    assert layer.name in str(error.value) and "fix:" in str(error.value)


@pytest.mark.parametrize("type_", ["fixed<9,3>", "ufixed<8,3>"])
def test_inputs_wider_than_a_word_are_refused(type_: str) -> None:
    """Not packed into fewer bits without a word."""
    layer = replace(convolution("one", "input", input_type=type_), accumulator=parse_type("fixed<40,20>"))
    wide = chain(layer.retyped((parse_type(type_),), SAT))
    with pytest.raises(DesignError, match=r"input input is u?fixed<., ?3>, more than the 8 bits"):
        lowered(wide, SIGNED)
    if type_.startswith("u"):
        assert lowered(wide, PACKED).tasks


def test_parts_of_a_concatenation_begin_anywhere() -> None:
    """A part that begins within a word joins what is there, and what follows begins a word."""
    part = Tensor(shape=(4, 6, 6), type=SAT)
    ports = (Port.of("a", part), Port.of("b", part))
    joined = Concat(name="c", inputs=("a", "b"), parts=(part, part), axis=0, result_type=SAT)
    both = Graph(name="g", inputs=ports, layers=(joined,), outputs=(Port.of("y", joined.output, "c"),))
    first, second = lowered(both, PACKED).tasks
    assert (first.offset, first.added, second.offset) == (0, None, 0)
    assert second.added is not None and second.added.name == "c" and second.out_shape == (8, 6, 6)
    assert [task.offset for task in lowered(both, SIGNED).tasks] == [0, 4]
