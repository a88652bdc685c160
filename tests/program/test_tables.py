"""Functions by a table: behind sums, alone, before a pool; the entries against the layers' own golden."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType
from hlsgen.base.type_text import parse_type
from hlsgen.layers.base import Layer, Tensor
from hlsgen.layers.leaky import Leaky
from hlsgen.layers.pool2d import Pool2d
from hlsgen.layers.steps import Steps
from hlsgen.layers.table import Table
from hlsgen.layers.unary import Unary
from hlsgen.program.lowering import lowered
from hlsgen.program.windows import table_of
from tests.support.kernels import conv
from tests.support.shared_processor import (
    PACKED,
    SIGNED,
    WIDE,
    Building,
    assert_program_exact,
    chain,
)

RESULT = "fixed<8,2,rnd,sat>"


def convolution(result: str, rows: int = 11, columns: int = 5) -> Layer:
    return conv(
        (6, rows, columns),
        5,
        padding=(1, 1, 1, 1),
        input_type="fixed<8,3>",
        weight_type="fixed<8,1>",
        result_type=result,
        seed=3,
    )


def sigmoid(source: Tensor, name: str = "sigmoid") -> Unary:
    return Table(
        name=name, inputs=("input",), source=source, result_type=parse_type(RESULT), function="sigmoid"
    )


def steps(source: Tensor) -> Unary:
    return Steps(
        name="steps",
        inputs=("input",),
        source=source,
        result_type=parse_type("ufixed<3,3>"),
        thresholds=(-1.5, 0.0, 0.25, 2.0),
        values=(0.0, 1.0, 3.0, 4.0, 7.0),
    )


def after(layer: Layer, unary: Unary) -> Unary:
    return replace(unary, inputs=(layer.name,))


@pytest.mark.parametrize("name", ["packed", "wide"])
@pytest.mark.parametrize("source", ["fixed<8,4,rnd,sat>", "ufixed<8,4,rnd,sat>", "fixed<5,3,rnd,sat>"])
@pytest.mark.parametrize("function", [sigmoid, steps])
def test_functions_behind_sums_equal_golden(
    built: Building, name: str, source: str, function: object
) -> None:
    assert callable(function)
    layer = convolution(source)
    made, _ = assert_program_exact(
        built(name), chain(layer, after(layer, function(layer.output))), together=2, rounds=2
    )
    assert [task.layers for task in made.tasks] == [(layer.name, made.tasks[0].name)]
    assert_program_exact(built(name), made.graph, options=("--bounded",))


@pytest.mark.parametrize("name", ["packed", "wide"])
@pytest.mark.parametrize("function", [sigmoid, steps])
def test_functions_of_an_input_equal_golden(built: Building, name: str, function: object) -> None:
    assert callable(function)
    source = Tensor(shape=(7, 8, 10), type=parse_type("fixed<8,4>"))
    assert_program_exact(built(name), chain(function(source)), together=1, rounds=2)


def test_a_pool_behind_a_function_is_done_on_the_way(built: Building) -> None:
    layer = convolution("fixed<8,4,rnd,sat>", 12, 4)
    function = after(layer, sigmoid(layer.output))
    pool = Pool2d(
        name="pool",
        inputs=("sigmoid",),
        source=function.output,
        result_type=function.result_type,
        function="max",
        kernel=(2, 2),
        stride=(2, 2),
    )
    made, _ = assert_program_exact(built("wide"), chain(layer, function, pool), together=2)
    assert len(made.tasks) == 1 and made.tasks[0].pooled


def test_what_the_roundings_cannot_take_in_is_looked_up(built: Building) -> None:
    """A third rounding, behind a convolution's and a slope's."""
    layer = convolution("fixed<8,4,rnd,sat>")
    first = Leaky(
        name="first",
        inputs=(layer.name,),
        source=layer.output,
        result_type=parse_type("fixed<8,3,rnd,sat>"),
        slopes=np.array([13]),
        slope_type=parse_type("fixed<8,1>"),
    )
    second = replace(first, name="second", inputs=("first",), source=first.output, slopes=np.array([-90]))
    made, _ = assert_program_exact(built("packed"), chain(layer, first, second))
    assert len(made.tasks) == 1 and made.tasks[0].table is not None


@pytest.mark.parametrize("source", ["fixed<8,4>", "ufixed<8,0>", "fixed<3,3>", "ufixed<1,1>"])
def test_entries_stand_where_their_code_is(source: str) -> None:
    type_ = parse_type(source)
    assert isinstance(type_, FixedType)
    layer = sigmoid(Tensor(shape=(2, 3, 4), type=type_))
    entries = table_of(layer)
    for code in range(type_.min_code, type_.max_code + 1):
        alone = replace(layer, source=replace(layer.source, shape=(1, 1, 1)))
        assert entries[code % 256] == alone.golden(np.array([[[[code]]]])).item()


def test_without_tables_or_with_wider_values_functions_are_refused() -> None:
    layer = convolution("fixed<8,4,rnd,sat>")
    with pytest.raises(DesignError, match=r"sigmoid: .*table, which the processor has none of"):
        lowered(chain(layer, after(layer, sigmoid(layer.output))), SIGNED)
    wide = convolution("fixed<9,4,rnd,sat>")
    with pytest.raises(DesignError, match=r"sigmoid: it reads fixed<9,4.*a table has 256 entries"):
        lowered(chain(wide, after(wide, sigmoid(wide.output))), WIDE)
    assert lowered(chain(layer, after(layer, sigmoid(layer.output))), PACKED).tasks[0].table is not None
