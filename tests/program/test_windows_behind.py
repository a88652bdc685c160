"""Windows over the results of a task on their way to DDR: depthwise convolutions and largest values."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from hlsgen.base.errors import MismatchError
from hlsgen.base.fixed import FixedType, Overflow, Rounding
from hlsgen.base.type_text import parse_type
from hlsgen.emit.shared import program_data
from hlsgen.hardware.processor import Processor
from hlsgen.layers.base import Layer
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.pool2d import Pool2d
from hlsgen.model.ir import Graph
from hlsgen.program.behind import windows_behind
from hlsgen.program.lowering import lowered
from hlsgen.program.program import program
from tests.support.kernels import conv
from tests.support.shared_graphs import Case, cases, network, pooled, single_layer, windowed
from tests.support.shared_processor import (
    PACKED,
    WINDOWED,
    WINDOWS,
    Building,
    assert_outputs_exact,
    assert_program_exact,
    chain,
    random_inputs,
)

every_processor = pytest.mark.parametrize("name", WINDOWS)
DRAWN = 60


@every_processor
def test_windows_equal_golden(built: Building, name: str) -> None:
    for case in cases(windowed, WINDOWS[name], DRAWN):
        assert_program_exact(built(name), case.graph, together=case.together, rounds=case.rounds)


@every_processor
def test_what_has_no_window_equals_golden(built: Building, name: str) -> None:
    for builder in (network, pooled, single_layer):
        for case in cases(builder, WINDOWS[name], 8):
            assert_program_exact(built(name), case.graph, together=case.together, rounds=case.rounds)
            assert_outputs_exact(built(name), case.graph, together=case.together, rounds=case.rounds)


def test_what_is_drawn_covers_what_windows_do() -> None:
    found: Counter[str] = Counter()
    for processor in WINDOWS.values():
        for case in cases(windowed, processor, DRAWN):
            found.update(features(case))
    assert set(found) == FEATURES
    assert min(found.values()) >= 3, found


FEATURES = {
    *("depthwise", "largest", "smaller kernel", "stride 2", "stride 3 or more", "no padding", "full padding"),
    *("frames at once", "frames in sequence", "rounds", "several groups", "added before", "beside the image"),
    *("in bands", "groups in bands"),
    *(
        "below the image",
        "blocks that end with the image",
        "biases",
        "unsigned",
        "apart",
        "one behind the other",
    ),
}


def features(case: Case) -> list[str]:
    found = ["rounds"] * (case.rounds > 1)
    behind = [tiling for tiling in case.program.tilings if tiling.task.behind]
    for tiling in behind:
        task, rows = tiling.task, tiling.task.out_shape[1]
        one = task.behind
        assert one is not None
        facts = {
            "depthwise": one.weights is not None,
            "largest": one.weights is None,
            "smaller kernel": one.window.taps < 9,
            "stride 2": one.stride == 2,
            "stride 3 or more": one.stride > 2,
            "no padding": one.window.top == one.window.left == 0,
            "full padding": one.first_row == 0 and one.window.top > 0,
            "frames at once": tiling.frames > 1,
            "frames in sequence": tiling.sequels > 1,
            "several groups": tiling.out_groups > 1,
            "added before": task.added is not None,
            "beside the image": one.across(task.out_shape[2]) > task.out_shape[2],
            "below the image": tiling.passed_blocks > tiling.out_blocks,
            "blocks that end with the image": rows % tiling.processor.rows == 0,
            "in bands": tiling.bands > 1,
            "groups in bands": tiling.bands > 1 and tiling.out_groups > 1,
            "biases": one.bias is not None and np.size(one.bias) > 0,
            "unsigned": not one.type.signed,
        }
        found += [name for name, holds in facts.items() if holds]
    layers = {layer.name: layer for layer in case.graph.layers}
    windows = [name for name in layers if name.startswith("window")]
    first_of = {task.layers[0] for task in case.program.tasks}
    found += ["apart"] * (not behind and len(windows) == 1 and windows[0] in first_of)
    found += ["one behind the other"] * (len(windows) == 2)
    return found


def extreme(processor: Processor, source: str) -> Graph:
    """The identity, then 3 x 3 depthwise by weights that are all least, all largest, or both in turn."""
    lanes, bits = processor.lanes, processor.weight_bits
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    type_ = parse_type(source)
    assert isinstance(type_, FixedType)
    shape = (2 * lanes, 8, 7)
    identity = conv(
        shape, shape[0], (1, 1), input_type=source, weight_type="fixed<2,2>", result_type=source, bias=False
    )
    identity = replace(
        identity, name="first", inputs=("input",), weights=np.eye(shape[0], dtype=np.int64)[:, :, None, None]
    ).retyped((type_,), type_)
    weights = np.full((shape[0], 1, 3, 3), low, np.int64)
    weights[1::4] = high
    weights[2::4, :, ::2] = high
    weights[3::4, :, :, 1] = high
    layer = Conv2d(
        name="extreme",
        inputs=("first",),
        in_shape=shape,
        out_channels=shape[0],
        kernel=(3, 3),
        padding=(1, 1, 1, 1),
        groups=shape[0],
        input_type=type_,
        weight_type=FixedType(bits, bits),
        bias_type=FixedType(bits, bits),
        accumulator=FixedType(bits, bits),
        result_type=FixedType(bits, bits),
        weights=weights,
        bias=np.zeros(0, np.int64),
    ).retyped((type_,), None)
    kept = max(abs(end) for end in layer.worst_case_sum).bit_length() + 1
    return chain(
        identity, replace(layer, result_type=FixedType(bits, kept, True, Rounding.RND, Overflow.SAT))
    )


@pytest.mark.parametrize("name", ["windowed", "depthwise"])
@pytest.mark.parametrize("signed", [True, False])
def test_sums_of_extremes_are_exact(built: Building, name: str, signed: bool) -> None:
    """What packed products collide at first."""
    processor = WINDOWS[name]
    bits = processor.activation_bits
    graph = extreme(processor, f"{'' if signed else 'u'}fixed<{bits},{bits},rnd,sat>")
    type_ = graph.inputs[0].tensor.type
    assert isinstance(type_, FixedType)
    codes = np.full((4, *graph.inputs[0].tensor.shape), type_.min_code, np.int64)
    codes[1] = type_.max_code
    codes[2, ::2] = type_.max_code
    codes[3, :, ::2] = type_.max_code
    made, _ = assert_program_exact(built(name), graph, together=4, inputs={"input": codes})
    assert [task.behind is not None for task in made.tasks] == [True]


@every_processor
def test_all_processes_at_once_give_the_same(built: Building, name: str) -> None:
    """With FIFOs of the declared depths nothing stands still."""
    for case in cases(windowed, WINDOWS[name], 12, first_seed=1000):
        assert_program_exact(
            built(name), case.graph, together=case.together, rounds=case.rounds, options=("--bounded",)
        )


def test_too_short_a_fifo_is_a_deadlock(built: Building) -> None:
    """The weights of a window come before those that the array needs to end the group before."""
    graph = extreme(WINDOWED, "fixed<8,8,rnd,sat>")
    data = program_data(program(graph, WINDOWED, 1), random_inputs(graph, 1, 0), 1)
    built("windowed").run(data, "--bounded", "--depth", f"kernels={WINDOWED.window_fifo}")
    with pytest.raises(MismatchError, match="load_weights waits to write kernels, which is full"):
        built("windowed").run(data, "--bounded", "--depth", "kernels=1")


def layers(channels: int = 8, rows: int = 9, columns: int = 8) -> tuple[Conv2d, Conv2d, Pool2d]:
    """A convolution, and a depthwise one and a pool that read it."""
    type_ = "fixed<8,4,rnd,sat>"
    first = conv(
        (4, rows, columns),
        channels,
        (1, 1),
        input_type="fixed<8,3>",
        weight_type="fixed<8,1>",
        result_type=type_,
    )
    first = replace(first, name="first", inputs=("input",))
    second = conv(
        (1, rows, columns),
        channels,
        padding=(1, 1, 1, 1),
        input_type=type_,
        weight_type="fixed<8,1>",
        result_type=type_,
    )
    depthwise = replace(
        second, name="second", inputs=("first",), in_shape=first.output_shape, groups=channels
    )
    pool = Pool2d(
        name="second",
        inputs=("first",),
        source=first.output,
        function="max",
        kernel=(3, 3),
        stride=(2, 2),
        padding=(1, 1, 1, 1),
        result_type=parse_type(type_),
    )
    return first, depthwise, pool


def joined(processor: Processor, *chained: Layer) -> int:
    """Tasks that have a second window."""
    return sum(task.behind is not None for task in lowered(chain(*chained), processor).tasks)


@pytest.mark.parametrize("name", ["windowed", "largest"])
@pytest.mark.parametrize("blocks", [3, 13])
def test_last_windows_reach_below_an_image_in_bands(built: Building, name: str, blocks: int) -> None:
    """Of an odd height that ends with a block: the window's last row has a block of its own to pass."""
    processor = WINDOWS[name]
    first, _, pool = layers(2 * processor.lanes, blocks * processor.rows, 14)
    made, _ = assert_program_exact(built(name), chain(first, pool), together=2, rounds=2)
    (tiling,) = made.tilings
    assert tiling.task.behind and tiling.passed_blocks == blocks + 1 and tiling.out_groups == 2
    assert (tiling.bands > 1) == (blocks == 13)


def test_which_windows_move_over_results() -> None:
    first, depthwise, pool = layers()
    assert joined(WINDOWED, first, depthwise) == joined(WINDOWED, first, pool) == 1
    assert joined(PACKED, first, depthwise) == joined(WINDOWED.without_windows, first, pool) == 0
    only_pools = replace(WINDOWED, window_products=False)
    assert joined(only_pools, first, depthwise) == 0 and joined(only_pools, first, pool) == 1
    assert joined(replace(WINDOWED, window_columns=7), first, depthwise) == 0
    assert joined(replace(WINDOWED, window_results=3), first, pool) == 0
    bands = replace(WINDOWED, pixel_depth=23)
    assert joined(bands, first, depthwise) == 0, "results of a band end within a block"
    assert joined(bands, first, pool) == 1 and joined(replace(bands, pixel_depth=8), first, pool) == 0
    dilated = replace(depthwise, dilation=(2, 2), padding=(2, 2, 2, 2))
    assert joined(WINDOWED, first, dilated) == joined(WINDOWED, first, replace(pool, dilation=(2, 2))) == 0
    assert joined(WINDOWED, first, replace(pool, stride=(2, 1))) == 0


def test_what_a_graph_needs_for_its_windows() -> None:
    first, depthwise, pool = layers()
    found = windows_behind(chain(first, depthwise))
    assert (found.columns, found.results, found.products, found.largest) == (9, 8, True, False)
    found = windows_behind(chain(first, pool))
    assert (found.columns, found.results, found.products, found.largest) == (8, 4, False, True)
    found = windows_behind(chain(first, pool), 4)
    assert (found.columns, found.results) == (16, 4), "two channel groups go on from band to band"
    assert windows_behind(chain(first, depthwise), 4) == windows_behind(chain(first, depthwise))
    small = replace(pool, kernel=(2, 2), padding=(0, 0, 0, 0))
    assert not windows_behind(chain(first, small)).columns, "a pool of 2 x 2 takes less hardware"
    assert not windows_behind(chain(replace(depthwise, inputs=("input",)))).columns, (
        "there is nothing before it"
    )
