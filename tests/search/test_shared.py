"""The search for shared processors: the best of its list, what a design fixes is kept, what lacks is said."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.designfile.constraints import (
    LayerWeightConstraints,
    NetworkConstraints,
    NoFit,
    ProcessorConstraints,
    WeightConstraints,
)
from hlsgen.designfile.style_keys import mapping_problems
from hlsgen.model.ir import Graph
from hlsgen.search.processor_rounds import frames_together
from hlsgen.search.shared import SharedHardware, SharedSearch
from hlsgen.targets.board import Board, load_board

NET = """name: net
board: zcu102
style: shared
batch: 8
input: {shape: [3, 34, 30], type: "fixed<8,1>"}
layers:
  - {name: conv1, kind: conv2d, out_channels: 24, kernel: 3, stride: 2, padding: same}
  - {name: relu1, kind: clamp, low: 0}
  - {name: conv2, kind: conv2d, out_channels: 40, kernel: 3, padding: same}
  - {name: fc1, kind: dense, out_channels: 10}
precision: "fixed<8,3>"
"""


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    path: Path = tmp_path_factory.mktemp("shared") / "net.yaml"
    path.write_text(NET)
    return hlsgen.load(path).graph


SEPARABLE = NET.replace(
    "  - {name: conv2, kind: conv2d, out_channels: 40, kernel: 3, padding: same}\n",
    "  - {name: conv2, kind: conv2d, out_channels: 24, kernel: 3, padding: same, groups: 24}\n"
    "  - {name: relu2, kind: clamp, low: 0}\n"
    "  - {name: conv3, kind: conv2d, out_channels: 40, kernel: 1}\n"
    "  - {name: pool, kind: pool2d, function: max, kernel: 3, stride: 2, padding: 1}\n",
)


@pytest.fixture(scope="module")
def separable(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    """With windows that may move over results."""
    path: Path = tmp_path_factory.mktemp("separable") / "net.yaml"
    path.write_text(SEPARABLE)
    return hlsgen.load(path).graph


@pytest.fixture(scope="module")
def board() -> Board:
    return load_board("zcu102").for_style("shared")


def search(graph: Graph, board: Board, batch: int = 64, **constraints: object) -> SharedSearch:
    return SharedSearch(graph, board, NetworkConstraints(**constraints), 300, batch)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def free(graph: Graph, board: Board) -> SharedHardware:
    """The fastest where nothing is fixed."""
    return search(graph, board).best()


def seconds_of(batch: int, instances: int, together: int, cycles: int) -> Fraction:
    """Cycles until the last frame of a batch is there that is dealt round by round, counted one by one."""
    rounds, dealt = [0] * instances, 0
    while dealt < batch:
        rounds[rounds.index(min(rounds))] += 1
        dealt += together
    return Fraction(max(rounds) * cycles)


@pytest.mark.parametrize("batch", [1, 3, 7, 64, 1000])
def test_it_is_the_fastest_of_the_list(graph: Graph, board: Board, batch: int) -> None:
    """Than which none of all is faster for the batch, so that the bounds are true."""
    best = search(graph, board, batch).best()
    other = search(graph, board, batch)
    every = [made for one in other.candidates() for made in other.rounds(one)]
    assert len(every) > best.tried > 0
    times = [seconds_of(batch, one.candidate.count, one.together, one.cycles) for one in every]
    found = seconds_of(batch, best.instances, best.program.together, best.round_cycles)
    assert found == min(times)
    as_fast = [one for one, time in zip(every, times, strict=True) if time == found]
    assert best.frames_per_cycle == max(one.frames_per_cycle for one in as_fast)
    for made, time in zip(every, times, strict=True):
        one = made.candidate
        assert made.frames_per_cycle <= one.bound
        assert made.rate_of(batch) == pytest.approx(float(batch / time))
        assert batch / time <= one.bound_of(batch, made.together) * (1 + 1e-12)
        assert one.bound_of(batch, made.together) <= one.bound_of(batch)


@pytest.mark.parametrize("most", [*range(1, 40), 103, 1000])
def test_frames_of_a_round_deal_a_batch_evenly(most: int) -> None:
    tried = frames_together(most)
    assert tried[0] == 1 and tried[-1] <= min(16, most)
    whole = min(-(-most // one) for one in tried)
    # no count up to 16 needs fewer rounds, and of those that need so few none computes fewer frames in vain
    assert whole == -(-most // 16)
    assert min(one for one in tried if -(-most // one) == whole) == -(-most // whole)


def test_a_small_batch_gets_other_hardware(graph: Graph, board: Board) -> None:
    one, many = search(graph, board, 1).best(), search(graph, board, 512).best()
    assert one.program.together == 1 < many.program.together
    assert one.round_cycles < many.round_cycles and one.frames_per_cycle < many.frames_per_cycle


def test_windows_over_results_are_taken_where_they_are_faster(separable: Graph, board: Board) -> None:
    best, other = search(separable, board).best(), search(separable, board)
    every = [made for one in other.candidates() for made in other.rounds(one)]
    for made in every:
        assert made.frames_per_cycle <= made.candidate.bound
    without = [made for made in every if not made.candidate.processor.window_columns]
    rate = max(one.rate_of(64) for one in every)
    assert 64 / (best.round_cycles * -(-64 // (best.instances * best.program.together))) == rate
    assert rate > 1.2 * max(one.rate_of(64) for one in without)
    one = best.processor
    assert one.window_products and one.window_largest and one.window_columns == 16
    behind = [task.layers for task in best.program.tasks if task.behind]
    assert behind == [("conv1", "conv2"), ("conv3", "pool")]


FIXED: list[dict[str, int]] = [
    {"rows": 5},
    {"lanes": 8},
    {"together": 3},
    {"lanes": 16, "fabric_lanes": 4},
    {"lanes": 16, "extra_lanes": 6},
    {"rows": 3, "extra_lanes": 8, "fabric_lanes": 0},
    {"rows": 13, "pixel_words": 777},
    {"weight_words": 100},
    {"activation_bits": 16, "weight_bits": 16},
    {"rows": 7, "lanes": 16, "together": 4, "pixel_words": 2048, "weight_words": 512},
]


@pytest.mark.parametrize("keys", FIXED, ids=lambda keys: "-".join(keys))
def test_what_is_fixed_is_kept(
    graph: Graph, board: Board, free: SharedHardware, keys: dict[str, int]
) -> None:
    hardware = search(graph, board, processor=ProcessorConstraints(**keys)).best()
    assert {key: value for key, value in as_keys(hardware).items() if key in keys} == keys
    assert hardware.frames_per_cycle <= free.frames_per_cycle or "rows" in keys or "together" in keys


def as_keys(hardware: SharedHardware) -> dict[str, int]:
    one = hardware.processor
    return {
        "rows": one.rows,
        "lanes": one.lanes,
        "extra_lanes": one.extra_lanes,
        "fabric_lanes": one.fabric_lanes,
        "together": hardware.program.together,
        "pixel_words": one.pixel_depth,
        "weight_words": one.weight_depth,
        "activation_bits": one.activation_bits,
        "weight_bits": one.weight_bits,
    }


def test_instances_and_interval_are_kept(graph: Graph, board: Board, free: SharedHardware) -> None:
    two = search(graph, board, instances=2, processor=ProcessorConstraints(lanes=8)).best()
    assert two.instances == 2 and two.bottleneck == "the instances that the design asks for"
    assert search(graph, board, target_interval=free.interval).best().interval <= free.interval


def no_fit(graph: Graph, board: Board, **constraints: object) -> NoFit:
    with pytest.raises(NoFit) as caught:
        search(graph, board, **constraints).best()
    return caught.value


def test_what_lacks_is_said(graph: Graph, board: Board) -> None:
    large = no_fit(graph, board, processor=ProcessorConstraints(rows=13, lanes=32))
    assert "one of 13 rows x 32 x 32 channels takes" in str(large) and large.key == "processor"
    for kind in ("LUT", "FF", "multipliers (DSP)"):
        assert f" {kind} of " in str(large)
    wide = no_fit(graph, board, processor=ProcessorConstraints(lanes=8, extra_lanes=10))
    assert "extra_lanes of the processor is 10, more than its 8 lanes" in str(wide)
    few = no_fit(graph, board, processor=ProcessorConstraints(lanes=4, pixel_words=64))
    assert "a band of " in str(few) and "which has 64" in str(few)
    many = no_fit(graph, board, instances=500)
    assert str(many).startswith("500 processors for net do not fit") and many.key == "instances"
    slow = no_fit(graph, board, target_interval=2)
    assert slow.key == "interval" and "2 cycles a frame" in str(slow)
    least = int(slow.fix.split()[1])
    assert search(graph, board, target_interval=least).best().interval == least


def test_memory_that_lacks_is_said_with_its_layer(graph: Graph) -> None:
    board = load_board("zcu102").for_style("shared")
    slr = board.slrs[0].model_copy(update={"bram18": 120})
    small = board.model_copy(update={"slrs": (slr,)})
    found = no_fit(graph, small, processor=ProcessorConstraints(rows=9, lanes=16, pixel_words=16384))
    assert "memory (BRAM) of " in str(found) and "LUT" not in str(found)


def test_every_kind_that_binds_is_named(graph: Graph, board: Board) -> None:
    found = search(graph, board, processor=ProcessorConstraints(rows=7, lanes=16)).best()
    assert (
        "of what may be used, for more multipliers" in found.bottleneck or "of the cycles" in found.bottleneck
    )


def test_keys_that_the_style_has_no_use_for() -> None:
    constraints = NetworkConstraints(
        folds={"conv1": {"pe": 4, "simd": None}},
        weights=WeightConstraints(place="runtime", layers={"fc1": LayerWeightConstraints(storage="uram")}),
        slrs={"conv2": "SLR0"},
    )
    places = [place for place, _ in mapping_problems(constraints, "shared")]
    assert places == [("conv1", "pe"), ("fc1", "storage"), ("weights",), ("conv2", "slr")]
    assert not mapping_problems(constraints, "dataflow") and not mapping_problems(constraints, "tasks")
    processor = NetworkConstraints(processor=ProcessorConstraints(lanes=8))
    assert not mapping_problems(processor, "shared")
    for style in ("dataflow", "tasks"):
        assert [place for place, _ in mapping_problems(processor, style)] == [("processor",)]


def test_python_refuses_them_too() -> None:
    import torch

    with pytest.raises(DesignError, match="processor says what layers share in style: shared"):
        hlsgen.from_torch(
            torch.nn.ReLU(),
            (3, 8, 8),
            constraints=NetworkConstraints(processor=ProcessorConstraints(lanes=8)),
        )
    with pytest.raises(DesignError, match="lanes of the processor is 5"):
        ProcessorConstraints(lanes=5)
