"""The exact choice: against brute force over every kernel, over every choice, and against greedy."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType
from hlsgen.cost.stages import total_resources
from hlsgen.designfile.constraints import LayerWeightConstraints, NetworkConstraints, WeightConstraints
from hlsgen.explore.explore import explore
from hlsgen.explore.knapsack import cheapest, most_even
from hlsgen.explore.options import non_dominated, vector
from hlsgen.explore.over_slrs import anywhere, crossings, in_runs, with_few_crossings
from hlsgen.hardware.pipeline import pipeline_of
from hlsgen.hardware.storage import Storage
from hlsgen.hardware.weights import WeightPlace
from hlsgen.layers.base import Tensor
from hlsgen.layers.binary import Add
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph, Port
from hlsgen.search.board_limits import KINDS, usable
from hlsgen.styles.streaming import StreamingNetwork
from hlsgen.targets.board import SLR, Board, load_board
from hlsgen.timing.fifos import fifo_depths

NUMBERS = FixedType(8, 2)
WIDE = FixedType(24, 12)
PRICES = np.ones(len(KINDS))


def convolution(name: str, source: str, shape: tuple[int, int, int], channels: int, kernel: int) -> Conv2d:
    weights = np.random.default_rng(len(name)).integers(-100, 100, (channels, shape[0], kernel, kernel))
    return Conv2d(
        name=name,
        inputs=(source,),
        in_shape=shape,
        out_channels=channels,
        kernel=(kernel, kernel),
        padding=(kernel // 2,) * 4,
        input_type=NUMBERS,
        weight_type=NUMBERS,
        bias_type=WIDE,
        accumulator=WIDE,
        result_type=NUMBERS,
        weights=weights,
        bias=np.zeros(0, np.int64),
    )


def small_graph() -> Graph:
    """Two convolutions and a sum with a residual branch: few foldings, a fork, converters."""
    tensor = Tensor(shape=(2, 2, 2), type=NUMBERS)
    layers = (
        convolution("c1", "x", (2, 2, 2), 2, 3),
        convolution("c2", "c1", (2, 2, 2), 2, 1),
        Add(name="sum", inputs=("c2", "c1"), left=tensor, right=tensor, result_type=NUMBERS),
    )
    return Graph(
        name="tiny",
        inputs=(Port.of("x", tensor),),
        layers=layers,
        outputs=(Port.of("y", layers[-1].output, "sum"),),
    )


def board_of(*slrs: tuple[int, int, int, int, int]) -> Board:
    """A board with SLRs of (LUT, FF, BRAM18, URAM, DSP), all of them usable."""
    u200 = load_board("u200")
    shares = u200.usable.model_copy(update={kind: 1.0 for kind in ("lut", "ff", "bram", "uram", "dsp")})
    made = tuple(
        SLR(name=f"SLR{number}", lut=lut, ff=ff, bram18=bram, uram=uram, dsp=dsp)
        for number, (lut, ff, bram, uram, dsp) in enumerate(slrs)
    )
    banks = tuple(bank.model_copy(update={"slr": "SLR0"}) for bank in u200.memory.banks)
    memory = u200.memory.model_copy(update={"banks": banks})
    more = {"usable": shares, "margin": 0, "memory": memory, "max_compute_units": 6}
    return u200.model_copy(update={"slrs": made, **more})


def design_on(board: Board, graph: Graph | None = None) -> StreamingNetwork:
    return StreamingNetwork(
        name="tiny", graph=graph or small_graph(), board=board, clock_mhz=300, batch=64, source="test"
    )


@pytest.fixture(scope="module")
def every_kernel() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of every kernel of the small graph, all foldings and memories: intervals [n], resources [n, 5]."""
    graph = small_graph()
    board = load_board("u200")
    intervals, amounts = [], []
    names = [layer.name for layer in graph.layers]
    for combination in product(*(list(layer.folds()) for layer in graph.layers)):
        folds = dict(zip(names, combination, strict=True))
        depths = None
        memories = [
            (Storage.REGISTER,)
            if (shape := graph.layers[number].stage(combination[number]).weight_shape()) and shape[0] == 1
            else (Storage.LUTRAM, Storage.BRAM, Storage.URAM)
            for number in (0, 1)
        ]
        for storages in product(*memories):
            places = {
                name: WeightPlace(layer=name, place="runtime", storage=storage)
                for name, storage in zip(names, storages, strict=False)
            }
            pipeline = pipeline_of(graph, folds, places)
            depths = fifo_depths(pipeline) if depths is None else depths
            pipeline = pipeline.with_depths(depths)
            intervals.append(pipeline.interval)
            amounts.append(vector(total_resources(pipeline, board)))
    return np.array(intervals), np.array(amounts)


def brute_rate(board: Board, kernels: tuple[NDArray[np.int64], NDArray[np.int64]]) -> float:
    """Frames a cycle of the best kernel and number of instances, each in one SLR or one over all of them."""
    intervals, amounts = kernels
    limits = [vector(usable(slr, board)) for slr in board.slrs]
    counts = sum(np.min(limit // np.maximum(amounts, 1) + (amounts == 0) * 99, axis=1) for limit in limits)
    counts = np.minimum(counts, board.max_compute_units)
    return float((counts / intervals).max())


SLR_SIZES = st.tuples(
    st.integers(5_000, 40_000),
    st.integers(8_000, 60_000),
    st.integers(2, 30),
    st.integers(0, 4),
    st.integers(0, 80),
)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(sizes=st.lists(SLR_SIZES, min_size=1, max_size=2))
def test_as_good_as_every_kernel_tried(
    sizes: list[tuple[int, int, int, int, int]],
    every_kernel: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> None:
    board = board_of(*sizes)
    best = brute_rate(board, every_kernel) * 300e6
    try:
        found = explore(design_on(board))
    except DesignError:
        assert best == 0
        return
    # neither one kernel over two SLRs nor weights as constants are among those that brute force has
    assert isinstance(found.chosen, StreamingNetwork)
    places = found.chosen.hardware.pipeline.weights.values()
    if found.point.by_slr is None or any(one.place == "constant" for one in places):
        assert found.point.frames_per_s >= best * (1 - 1e-9)
        return
    assert found.point.frames_per_s == pytest.approx(best)
    assert found.bound >= best * (1 - 1e-9)
    assert found.greedy is None or found.greedy.frames_per_s <= found.point.frames_per_s * (1 + 1e-9)


def random_costs(seed: int, layers: int, options: int) -> list[NDArray[np.int64]]:
    generator = np.random.default_rng(seed)
    return [generator.integers(0, 30, (options, len(KINDS))) for _ in range(layers)]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10_000),
    layers=st.integers(1, 4),
    options=st.integers(1, 6),
    room=st.integers(0, 110),
    relaxed=st.booleans(),
)
def test_knapsack_equals_brute_force(seed: int, layers: int, options: int, room: int, relaxed: bool) -> None:
    costs = random_costs(seed, layers, options)
    capacity = np.array([room, room + 9, 60, 25 if seed % 3 else 0, 90])
    sums = [
        (picks, sum(one[pick] for one, pick in zip(costs, picks, strict=True)))
        for picks in product(range(options), repeat=layers)
    ]
    fitting = [int(total.sum()) for _, total in sums if (total <= capacity).all()]
    found = cheapest(costs, capacity, PRICES, relaxed=relaxed)
    if relaxed:
        assert found.bound <= min(fitting, default=np.inf) + 1e-6
        return
    assert found.proven
    if not fitting:
        assert found.picks is None
        return
    assert found.objective == min(fitting)
    assert found.bound <= found.objective
    chosen = dict(sums)[found.picks]
    assert (chosen <= capacity).all() and int(chosen.sum()) == min(fitting)


@pytest.mark.parametrize("seed", range(12))
def test_most_even_choice(seed: int) -> None:
    costs = [one + 1 for one in random_costs(seed, 4, 6)]
    limit = np.array([100, 150, 60, 90, 120])
    shares = [
        float((sum(one[pick] for one, pick in zip(costs, picks, strict=True)) / limit).max())
        for picks in product(range(6), repeat=4)
    ]
    found = most_even(costs, limit, PRICES)
    assert found.bound <= min(shares) + 1e-9 <= found.objective + 2e-9
    assert found.objective <= min(shares) * 1.25


@settings(max_examples=60, deadline=None, derandomize=True)
@given(rows=st.lists(st.tuples(*[st.integers(0, 4)] * 4), min_size=1, max_size=30))
def test_non_dominated_rows(rows: list[tuple[int, ...]]) -> None:
    kept = non_dominated(np.array(rows))
    for index, row in enumerate(rows):
        beaten = any(all(a <= b for a, b in zip(rows[one], row, strict=True)) for one in kept if one != index)
        assert beaten == (index not in kept)
    assert len(kept) == len({rows[one] for one in kept})


def test_layers_over_slrs() -> None:
    """Runs take each SLR in turn; where only a mixed order fits, layers go anywhere within the limits."""
    one = np.zeros(len(KINDS), np.int64)
    sizes = [6, 2, 2, 6, 2]
    costs = [(one + size)[None, :] for size in sizes]
    edges = [(number, number + 1) for number in range(4)]
    room = [one + 10, one + 8]
    found = in_runs(costs, room, PRICES)
    assert found is not None and found.slrs in ((0, 0, 0, 1, 1), (1, 1, 0, 0, 0))
    sizes = [6, 3, 6]
    costs = [(one + size)[None, :] for size in sizes]
    tight = [one + 12, one + 3]
    assert in_runs(costs, tight, PRICES) is None
    edges = [(0, 1), (1, 2)]
    found = anywhere(costs, tight, PRICES)
    assert found is not None
    mixed = with_few_crossings(found, costs, tight, edges)
    assert mixed.picks == found.picks
    for slr, limit in enumerate(tight):
        assert sum(size for size, at in zip(sizes, mixed.slrs, strict=True) if at == slr) <= limit[0]
    assert crossings(mixed.slrs, edges) == 2
    assert anywhere(costs, [one + 11, one + 3], PRICES) is None


def test_a_kernel_larger_than_an_slr_lies_over_both() -> None:
    board = board_of((7_000, 11_000, 20, 4, 60), (7_000, 11_000, 20, 4, 60))
    found = explore(design_on(board.model_copy(update={"max_compute_units": 1})))
    assert found.point.by_slr is None and found.crossings >= 1
    for slr in board.slrs:
        used = [layer.used for layer in found.layers if layer.slr == slr.name]
        assert used, "an SLR without layers"
        for kind in KINDS:
            assert sum(one[kind] for one in used) <= getattr(usable(slr, board), kind)


def test_same_design_same_result() -> None:
    results: list[Any] = [explore(design_on(load_board("u200"))).as_json() for _ in range(2)]
    assert results[0] == results[1]


def test_what_the_design_fixes_stays() -> None:
    constraints = NetworkConstraints(
        instances=2,
        folds={"c1": {"px": 2, "pe": None, "simd": 1}},
        weights=WeightConstraints(layers={"c2": LayerWeightConstraints(storage="bram")}),
    )
    found = explore(replace(design_on(load_board("u200")), constraints=constraints))
    mapping = found.mapping
    assert mapping["instances"] == 2
    assert (mapping["c1"]["px"], mapping["c1"]["simd"]) == (2, 1)
    assert mapping["c2"]["storage"] == "bram"


def test_a_fixed_interval_is_kept_and_one_too_short_refused() -> None:
    design = design_on(load_board("u200"))
    found = explore(replace(design, constraints=NetworkConstraints(target_interval=16)))
    assert found.point.interval_cycles <= 16
    with pytest.raises(DesignError, match="cycles a frame at its fastest folding"):
        explore(replace(design, constraints=NetworkConstraints(target_interval=1)))
