"""The cost model's arithmetic, the placement on SLRs and DDR banks, and the search."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hlsgen.cost.conv_instance import instance_resources
from hlsgen.cost.cycles import cycles, ddr_bursts, ddr_bytes, ddr_cost, interval, iterations
from hlsgen.cost.resources import Resources
from hlsgen.designfile.constraints import NoFit
from hlsgen.hardware.conv2d import ConvMapping, map_conv2d
from hlsgen.hardware.conv_folding import Folding
from hlsgen.layers.conv2d import Conv2d
from hlsgen.search.board_limits import KINDS, capacity, usable
from hlsgen.search.conv_kernel import ConvConstraints, choose, foldings
from hlsgen.search.placement import at_banks, ddr_bytes_per_s, deploy
from hlsgen.targets.device_family import DSP48E2
from hlsgen.targets.terms import packaged_terms
from tests.support.kernels import U200, ZCU102, conv

SEED = (16, 64, 64)
TYPES = {
    "float32": {},
    "fixed16": {"input_type": "fixed<16,6>", "weight_type": "fixed<16,2>"},
    "int8": {"input_type": "fixed<8,3>", "weight_type": "fixed<8,1>"},
}


def seed_layer(kind: str) -> Conv2d:
    return conv(SEED, 16, **TYPES[kind])


def mapped(kind: str, **folding: int) -> ConvMapping:
    return map_conv2d(seed_layer(kind), Folding(**{"rows": 1, "pe": 16, "simd": 1, **folding}), U200)


def test_cycles_of_the_seed_layer() -> None:
    mapping = mapped("float32")
    # 62 rows x 16 input channels x 64 columns, of which two fill the window
    assert interval(mapping) == 62 * 16 * 64
    assert iterations(mapping, 3).compute == 3 * 62 * 16 * 64
    assert cycles(mapping).call(5) - cycles(mapping).call(4) == interval(mapping)
    assert cycles(mapping).latency == cycles(mapping).call(1)


def test_ddr_bytes_are_whole_words() -> None:
    mapping = mapped("float32", rows=2, pe=4, simd=4)
    assert mapping.in_lanes == 8  # with 4 the last word would come too late to be read
    assert mapping.out_lanes == 4  # with 2 nothing would be left for refreshes
    assert ddr_bytes(mapping) == 4 * (16 * 64 * 64 + 16 * 62 * 64)
    # a burst for each tile of each channel, in and out, costs 64 bytes more
    assert ddr_bursts(mapping) == 2 * 16 * 31
    assert ddr_cost(mapping) == ddr_bytes(mapping) + 64 * 2 * 16 * 31


@pytest.mark.parametrize(
    ("kind", "folding", "dsp"),
    [
        ("float32", {}, 144 * 5),  # a multiplier of 3 and an adder of 2
        ("float32", {"fabric_pe": 16}, 144 * 3),
        ("float32", {"fabric_pe": 4}, 144 * 3 + 108 * 2),
        ("fixed16", {}, 144),
        ("fixed16", {"fabric_pe": 4}, 108),
        ("int8", {}, 72),  # two multiply-accumulates a DSP
        ("int8", {"fabric_pe": 4}, 54),
        ("int8", {"fabric_pe": 3}, 117),  # an odd number of channels cannot be paired
    ],
)
def test_dsps_follow_from_the_structure(kind: str, folding: dict[str, int], dsp: int) -> None:
    assert instance_resources(mapped(kind, **folding), packaged_terms()).dsp == dsp


@pytest.mark.parametrize(
    ("a", "w", "dsps"),
    [(16, 16, 1), (27, 18, 1), (18, 27, 1), (19, 19, 2), (28, 18, 2), (32, 32, 4), (8, 8, 1)],
)
def test_dsps_of_a_product(a: int, w: int, dsps: int) -> None:
    assert DSP48E2.blocks(a, w) == dsps


def test_capacity_names_what_runs_out() -> None:
    limit = Resources(lut=1000, ff=1000, bram18=10, dsp=10)
    assert capacity(Resources(lut=100, dsp=4), limit) == (2, "dsp")
    assert capacity(Resources(lut=600, dsp=1), limit) == (1, "lut")
    assert capacity(Resources(lut=1, uram=1), limit) == (0, "uram")


@pytest.mark.parametrize("board", [U200, ZCU102], ids=["u200", "zcu102"])
@pytest.mark.parametrize("kind", list(TYPES))
def test_the_choice_keeps_to_every_slr_and_to_ddr(board, kind: str) -> None:  # type: ignore[no-untyped-def]
    deployment = choose(seed_layer(kind), board, ConvConstraints(), clock_mhz=300, batch=1024).deployment
    for slr in board.slrs:
        used, limit = deployment.used_in(slr.name), usable(slr, board)
        assert all(getattr(used, which) <= getattr(limit, which) for which in KINDS), slr.name
    ddr = deployment.ddr_rate / deployment.ddr_cost
    assert deployment.frames_per_s <= ddr * (1 + 1e-9)
    assert deployment.batch_frames_per_s <= deployment.frames_per_s * (1 + 1e-9)
    assert len(deployment.instances) <= board.max_compute_units
    assert {instance.bank for instance in deployment.instances} <= {bank.name for bank in board.memory.banks}
    for kernel in deployment.kernels:
        assert kernel.mapping.bank_map.proves(kernel.mapping.patterns)


def test_ddr_bandwidth_binds_on_the_zcu102() -> None:
    deployment = choose(
        seed_layer("fixed16"), ZCU102, ConvConstraints(), clock_mhz=300, batch=1024
    ).deployment
    assert deployment.bottleneck == "DDR bandwidth"


def test_the_search_beats_every_fixed_folding() -> None:
    layer = conv((4, 20, 20), 4, **TYPES["fixed16"])
    best = choose(layer, ZCU102, ConvConstraints(), clock_mhz=200, batch=64).deployment.batch_frames_per_s
    for folding in foldings(layer, ConvConstraints()):
        try:
            found = deploy(map_conv2d(layer, folding, ZCU102), ZCU102, clock_mhz=200, batch=64)
        except NoFit:
            continue
        assert found.batch_frames_per_s <= best * 1.005  # speeds are compared to three digits


def test_a_design_may_fix_everything() -> None:
    constraints = ConvConstraints(rows=1, pe=8, simd=2, fabric_pe=3, order="channels", instances=3)
    choice = choose(seed_layer("fixed16"), U200, constraints, clock_mhz=300, batch=64)
    folding = choice.deployment.mapping.folding
    assert (folding.rows, folding.pe, folding.simd, folding.fabric_pe, folding.order) == (
        1,
        8,
        2,
        3,
        "channels",
    )
    assert len(choice.deployment.instances) == 3
    assert choice.tried == 1
    assert choice.deployment.bottleneck == "the number of instances that the design fixes"


def test_instances_are_no_more_than_the_batch_needs() -> None:
    deployment = choose(
        seed_layer("fixed16"), U200, ConvConstraints(rows=1, pe=4, simd=1), clock_mhz=300, batch=2
    ).deployment
    assert len(deployment.instances) == 2
    assert "batch" in deployment.bottleneck


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(NoFit, match="instances: 99 do not fit"):
        choose(
            seed_layer("fixed16"),
            U200,
            ConvConstraints(pe=16, simd=1, rows=1, instances=99),
            clock_mhz=300,
            batch=64,
        )
    with pytest.raises(NoFit, match="one instance does not fit.*DSP"):
        choose(seed_layer("float32"), ZCU102, ConvConstraints(pe=16, simd=4, rows=7), clock_mhz=300, batch=64)


def test_large_weights_may_stay_in_ddr() -> None:
    """With output channels outermost only PE of them have their weights on chip."""
    layer = conv((64, 7, 7), 64, **TYPES["fixed16"])
    folding = Folding(rows=1, pe=4, simd=4)
    every = instance_resources(map_conv2d(layer, folding, ZCU102), packaged_terms())
    folding = replace(folding, order="channels")
    some = instance_resources(map_conv2d(layer, folding, ZCU102), packaged_terms())
    assert some.bram18 + some.lut < every.bram18 + every.lut


def test_the_fullest_bank_sets_what_ddr_carries() -> None:
    """Nine instances at four banks: three at one of them have a third of its speed each."""
    placed = at_banks(["SLR0"] * 9, U200)
    banks = [one.bank for one in placed]
    assert sorted(banks.count(bank.name) for bank in U200.memory.banks) == [2, 2, 2, 3]
    each = 19.2e9 * 0.8 / 3
    assert ddr_bytes_per_s(placed, U200, 300) == pytest.approx(9 * each)


def test_the_ports_of_a_soc_bound_its_ddr() -> None:
    placed = at_banks(["PL"], ZCU102)
    assert ddr_bytes_per_s(placed, ZCU102, 200) == pytest.approx(4 * 16 * 200e6 * 0.8)
    # its DRAM is slower than four ports at this clock
    assert ddr_bytes_per_s(placed, ZCU102, 300) == pytest.approx(17.06e9 * 0.8)
