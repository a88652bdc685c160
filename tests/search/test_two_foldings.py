"""Two foldings side by side: the search against a brute force that shares nothing with it but the figures of
single instances, and what it promises beside speed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import product

import numpy as np
import pytest

from hlsgen.cost.conv_instance import instance_resources
from hlsgen.cost.cycles import cycles, ddr_cost
from hlsgen.cost.resources import Resources
from hlsgen.designfile.constraints import NoFit
from hlsgen.hardware.conv2d import ConvMapping, mappings
from hlsgen.layers.conv2d import Conv2d
from hlsgen.search.board_limits import KINDS, allowed
from hlsgen.search.conv_kernel import WORTH, ConvConstraints, choose, foldings
from hlsgen.search.folding_candidates import candidates
from hlsgen.search.placement import Deployment, unlike_at_banks
from hlsgen.search.two_foldings import NOTABLY, Task, batch_cycles, best_pair
from hlsgen.targets.board import SLR, Board
from tests.support.kernels import U200, conv


def small_board(seed: int, *, units: int = 5, gb_per_s: float = 19.2) -> Board:
    """Two unlike SLRs of a few instances, with a bank each."""
    rng = np.random.default_rng(seed)
    slrs = tuple(
        SLR(
            name=f"SLR{number}",
            lut=int(rng.integers(40_000, 150_000)),
            ff=int(rng.integers(80_000, 300_000)),
            bram18=int(rng.integers(40, 200)),
            uram=int(rng.integers(8, 40)),
            dsp=int(rng.integers(60, 700)),
        )
        for number in range(2)
    )
    banks = tuple(
        one.model_copy(update={"slr": f"SLR{number}", "gb_per_s": gb_per_s})
        for number, one in enumerate(U200.memory.banks[:2])
    )
    memory = U200.memory.model_copy(update={"banks": banks})
    return U200.model_copy(update={"slrs": slrs, "memory": memory, "max_compute_units": units, "margin": 0})


LAYERS = {
    "float32": lambda: conv((4, 12, 16), 4),
    "fixed16": lambda: conv((4, 12, 16), 4, input_type="fixed<16,6>", weight_type="fixed<16,2>"),
    "int8": lambda: conv((4, 13, 16), 8, input_type="fixed<8,3>", weight_type="fixed<8,1>", padding=(1,) * 4),
}


def words(mapping: ConvMapping) -> tuple[int, ...]:
    simd = mapping.folding.simd if mapping.layer.is_float else 0
    return mapping.in_lanes * mapping.in_words, mapping.out_lanes * mapping.out_words, simd


def all_mappings(layer: Conv2d, board: Board) -> Iterator[tuple[ConvMapping, Resources]]:
    for folding in foldings(layer, ConvConstraints()):
        try:
            for mapping in mappings(layer, folding, board):
                yield mapping, instance_resources(mapping, board.terms)
        except NoFit:
            continue


def in_slrs(one: Resources, other: Resources, board: Board) -> set[tuple[int, int]]:
    """Every (a, b) of which both SLRs together hold a of the one and b of the other: by trying all."""
    found = {(0, 0)}
    for slr in board.slrs:
        limit, most = allowed(slr, board), board.max_compute_units
        here = [
            (a, b)
            for a, b in product(range(most + 1), repeat=2)
            if all(
                a * getattr(one, kind) + b * getattr(other, kind) <= getattr(limit, kind) for kind in KINDS
            )
        ]
        found = {(a + c, b + d) for a, b in found for c, d in here if a + b + c + d <= most}
    return found


def seconds_of(batch: int, calls: list[tuple[int, int]], hertz: float) -> float:
    """A batch dealt frame by frame to the instance that would end it first. calls: (begin, interval)."""
    ends = [begin for begin, _ in calls]
    for _ in range(batch):
        first = min(range(len(calls)), key=lambda one: ends[one] + calls[one][1])
        ends[first] += calls[first][1]
    return max(end for end, call in zip(ends, calls, strict=True) if end > call[0]) / hertz


def brute_force(layer: Conv2d, board: Board, batch: int, clock_mhz: float) -> float:
    """Frames a second of a batch of the best pair, DDR aside."""
    hertz = clock_mhz * 1e6
    taken = [
        (mapping, each, (cycles(mapping).call(1) - cycles(mapping).interval, cycles(mapping).interval))
        for mapping, each in all_mappings(layer, board)
        if (1, 0) in in_slrs(each, Resources(), board)
    ]
    best = 0.0
    for number, (first, each, call) in enumerate(taken):
        for second, other, slower in taken[number + 1 :]:
            if words(first) != words(second):
                continue
            counts = {(a, b) for a, b in in_slrs(each, other, board) if a and b}
            largest = [p for p in counts if not any(q != p and q[0] >= p[0] and q[1] >= p[1] for q in counts)]
            for a, b in largest:
                if (a / call[1] + b / slower[1]) * hertz <= best:
                    continue
                best = max(best, batch / seconds_of(batch, [call] * a + [slower] * b, hertz))
    return best


def searched(layer: Conv2d, board: Board, batch: int, clock_mhz: float, least: float = 0.0) -> Deployment:
    found = candidates(layer, board, foldings(layer, ConvConstraints()))
    task = Task(board=board, clock_mhz=clock_mhz, batch=batch, least=least)
    pair = best_pair(found, found, task)
    assert pair is not None
    return pair


@pytest.mark.parametrize(("kind", "seed"), [("float32", 1), ("fixed16", 2), ("int8", 3)])
def test_no_pair_is_notably_faster(kind: str, seed: int) -> None:
    """With memory that never binds, on boards of a few instances, where remainders are large."""
    layer, board = LAYERS[kind](), small_board(seed, gb_per_s=10_000)
    found = searched(layer, board, 40, 300)
    best = brute_force(layer, board, 40, 300)
    assert best / NOTABLY <= found.batch_frames_per_s * (1 + 1e-9) <= best * (1 + 1e-6)


@pytest.mark.parametrize("kind", LAYERS)
def test_a_second_kernel_must_be_worth_it(kind: str) -> None:
    """Never slower than one folding; where the gain is small it stays one; always the same answer."""
    layer = LAYERS[kind]()
    gains = []
    for seed in (2, 3, 4):
        board = small_board(seed)
        one = choose(layer, board, ConvConstraints(foldings=1), clock_mhz=300, batch=64).deployment
        best = choose(layer, board, ConvConstraints(), clock_mhz=300, batch=64).deployment
        assert len(one.kernels) == 1
        if len(best.kernels) > 1:
            assert best.batch_frames_per_s >= WORTH * one.batch_frames_per_s
        else:
            assert best == one
        for slr in board.slrs:
            used, limit = best.used_in(slr.name), allowed(slr, board)
            assert all(getattr(used, which) <= getattr(limit, which) for which in KINDS)
        assert len(best.instances) <= board.max_compute_units
        assert len({words(kernel.mapping) for kernel in best.kernels}) == 1
        assert best == choose(layer, board, ConvConstraints(), clock_mhz=300, batch=64).deployment
        gains.append(len(best.kernels))
    assert {1, 2} >= set(gains) and 2 in gains


def test_what_the_design_fixes_of_both() -> None:
    layer, board = LAYERS["int8"](), small_board(3)
    second = ConvConstraints(rows=2, pe=2, instances=1)
    found = choose(
        layer, board, ConvConstraints(pe=4, instances=2, second=second), clock_mhz=300, batch=64
    ).deployment
    first, other = found.kernels
    assert first.mapping.folding.pe == 4 and len(first.instances) == 2
    assert (other.mapping.folding.rows, other.mapping.folding.pe, len(other.instances)) == (2, 2, 1)
    fixed = [
        ConvConstraints(**asdict(one.mapping.folding), instances=len(one.instances)) for one in found.kernels
    ]
    again = choose(layer, board, replace(fixed[0], second=fixed[1]), clock_mhz=300, batch=64).deployment
    assert [one.mapping.folding for one in again.kernels] == [one.mapping.folding for one in found.kernels]
    assert again.instances == found.instances
    with pytest.raises(NoFit, match="do not fit .* beside each other"):
        many = ConvConstraints(pe=4, instances=4, second=replace(second, instances=9))
        choose(layer, board, many, clock_mhz=300, batch=64)


def test_one_fixed_value_means_one_folding() -> None:
    layer, board = LAYERS["fixed16"](), small_board(2)
    assert len(choose(layer, board, ConvConstraints(), clock_mhz=300, batch=64).deployment.kernels) == 2
    for constraints in (ConvConstraints(instances=2), ConvConstraints(pe=2), ConvConstraints(foldings=1)):
        found = choose(layer, board, constraints, clock_mhz=300, batch=64).deployment
        assert len(found.kernels) == 1


def test_a_batch_ends_when_the_slowest_does() -> None:
    """Against dealing frame by frame."""
    layer = LAYERS["fixed16"]()
    made = [cycles(one) for one, _ in list(all_mappings(layer, U200))[:40:13]]
    for batch in (1, 2, 7, 64, 1000):
        for counts in ((1, 1), (3, 2), (2, 9)):
            calls = [
                (one.call(1) - one.interval, one.interval)
                for one, count in zip(made[:2], counts, strict=True)
                for _ in range(count)
            ]
            expected = seconds_of(batch, calls, 1)
            assert batch_cycles(np.array([counts]), made[:2], batch)[0] == expected


def test_ddr_is_shared_by_what_instances_move() -> None:
    """Four that move 2 and four that move 1: every bank carries 3; and no frame rate is beyond the banks'."""
    moving = [("SLR0", 2.0)] * 4 + [("SLR2", 1.0)] * 4
    placed = unlike_at_banks(moving, U200)
    load = {bank.name: 0.0 for bank in U200.memory.banks}
    for one, (_, moved) in zip(placed, moving, strict=True):
        load[one.bank] += moved
    assert set(load.values()) == {3.0}
    board = small_board(3, gb_per_s=0.2)
    found = searched(LAYERS["int8"](), board, 64, 300)
    carried = 2 * 0.2e9 * board.memory.efficiency
    least = min(ddr_cost(kernel.mapping) for kernel in found.kernels)
    assert found.bottleneck == "DDR bandwidth"
    assert found.frames_per_s <= carried / least * (1 + 1e-9)
    rates = [found.frames_per_s * share for share in found.shares]
    for bank in board.memory.banks:
        moved = sum(
            rate * ddr_cost(kernel.mapping) / len(kernel.instances)
            for rate, kernel in zip(rates, found.kernels, strict=True)
            for instance in kernel.instances
            if instance.bank == bank.name
        )
        assert moved <= carried / 2 * (1 + 1e-9)
