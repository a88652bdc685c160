"""What is built as one: groups as public reports show them, written out by hand."""

from __future__ import annotations

import pytest

from hlsgen.schedule.delays import Delays
from hlsgen.schedule.groups import Graph, Node, charged, lut_groups, products_in_sums, ternary_sums
from hlsgen.schedule.operation import Operation

DELAYS = Delays(part="xcu200-fsgd2104-2-e", version="2023.2", clock_ns=10 / 3)


def node(
    kind: str,
    *operands: int,
    bits: int = 1,
    outside: int = 0,
    widths: tuple[int, ...] = (),
    constants: int = 0,
) -> Node:
    operation = Operation(kind=kind, widths=widths or (bits, bits), result=bits, constants=constants)
    return Node(operation=operation, operands=operands, outside=outside)


def test_a_chain_of_logic_fills_luts_of_six_inputs() -> None:
    """As in a report of a pooling layer: ten bits or-ed one behind the other take two LUTs."""
    chain = [node("or", outside=2)] + [node("or", place, outside=1) for place in range(8)]
    merged = lut_groups(Graph(nodes=chain))
    assert set(merged.values()) == {8, 3}
    assert sorted(merged) == [0, 1, 2, 4, 5, 6, 7]
    total = sum(timing.first_ns for timing in charged(Graph(nodes=chain), DELAYS))
    assert total == pytest.approx(2 * 0.12)


def test_a_result_that_others_read_ends_a_lut() -> None:
    shared = Graph(nodes=[node("xor", outside=2), node("and", 0, outside=1), node("or", 0, outside=1)])
    assert lut_groups(shared) == {}
    assert [one.first_ns for one in charged(shared, DELAYS)] == [0.12, 0.12, 0.12]


def test_a_lut_takes_as_long_as_its_slowest_node() -> None:
    """As in a report: a logic gate of .33 ns in front of a choice of .29 makes .33 of both (kintexu)."""
    old = Delays(part="xcku115-flva1517-2-e", version="2022.2", clock_ns=5.0)
    graph = Graph(nodes=[node("or", outside=2), node("select", 0, bits=8, widths=(1, 8, 8), outside=2)])
    assert lut_groups(graph) == {0: 1}
    assert [one.first_ns for one in charged(graph, old)] == [0.0, 0.33]


def test_conversions_are_looked_through_and_cost_nothing() -> None:
    chain = Graph(
        nodes=[
            node("select", bits=8, widths=(1, 8, 8), outside=3),
            node("zext", 0, bits=16, widths=(8,)),
            node("select", 1, bits=16, widths=(1, 16, 16), outside=2),
            node("shl", 2, bits=16, constants=1),
        ]
    )
    assert lut_groups(chain) == {0: 2, 1: 2}
    assert [one.first_ns > 0 for one in charged(chain, DELAYS)] == [False, False, True, False]


def test_only_nodes_of_one_cycle_share_a_lut() -> None:
    graph = Graph(nodes=[node("or", outside=2), node("and", 0, outside=1)])
    assert lut_groups(graph, lambda first, second: False) == {}


def test_three_words_are_added_in_one_row_of_luts() -> None:
    direct = Graph(nodes=[node("add", bits=32, outside=2), node("add", 0, bits=32, outside=1)])
    assert ternary_sums(direct) == {0: 1}
    assert [one.first_ns for one in charged(direct, DELAYS)] == [0.0, 0.73]
    assert DELAYS.timing(direct.nodes[1].operation).first_ns > 0.73, "a sum of two takes longer"


def test_an_extension_between_two_sums_keeps_them_apart() -> None:
    """In none of 2,230 such pairs in reports are they one."""
    extended = Graph(
        nodes=[
            node("add", bits=15, outside=2),
            node("sext", 0, bits=16, widths=(15,)),
            node("add", 1, bits=16, outside=1),
        ]
    )
    assert ternary_sums(extended) == {}


def test_a_sum_takes_part_in_one_ternary_sum() -> None:
    tree = Graph(
        nodes=[node("add", bits=8, outside=2), node("add", bits=8, outside=2), node("add", 0, 1, bits=8)]
    )
    assert len(ternary_sums(tree)) == 1
    chain = [node("add", bits=8, outside=2)] + [node("add", place, bits=8, outside=1) for place in range(3)]
    assert ternary_sums(Graph(nodes=chain)) == {0: 1, 2: 3}


def test_a_product_and_the_sum_that_reads_it_share_a_dsp() -> None:
    graph = Graph(
        nodes=[
            node("mul", bits=32, widths=(16, 16), outside=2),
            node("sext", 0, bits=40, widths=(32,)),
            node("add", 1, bits=40, outside=1),
        ]
    )
    assert products_in_sums(graph, DELAYS) == {0: 2}
    product, _, total = charged(graph, DELAYS)
    # the sum's cycle stands with the product's: a sum that reads itself takes none, the DSP feeds it back
    assert (product.cycles, product.first_ns, product.last_ns) == (3, 0.99, 0.0)
    assert (total.cycles, total.first_ns, total.last_ns) == (0, 0.64, 0.0)


def test_operands_are_as_wide_as_before_they_are_extended() -> None:
    graph = Graph(
        nodes=[
            node("sext", bits=40, widths=(12,), outside=1),
            node("zext", bits=40, widths=(17,), outside=1),
            node("mul", 0, 1, bits=40),
            node("add", 2, bits=40, outside=1),
        ]
    )
    assert graph.operation(2).widths == (12, 18)
    assert products_in_sums(graph, DELAYS) == {2: 3}
    wide = Graph(nodes=[node("mul", bits=64, widths=(32, 32), outside=2), node("add", 0, bits=64, outside=1)])
    assert products_in_sums(wide, DELAYS) == {}


def test_one_product_of_two_goes_into_the_dsp_of_their_sum() -> None:
    graph = Graph(
        nodes=[
            node("mul", bits=16, widths=(8, 8), outside=2),
            node("mul", bits=16, widths=(8, 8), outside=2),
            node("add", 0, 1, bits=16),
        ]
    )
    assert products_in_sums(graph, DELAYS) == {0: 2}
    assert charged(graph, DELAYS)[1].first_ns == 1.55


def test_a_wire_may_be_left_without_an_operation() -> None:
    graph = Graph(
        nodes=[
            node("mul", bits=16, widths=(8, 8), outside=2),
            Node(operation=None, operands=(0,)),
            node("add", 1, bits=24, outside=1),
            Node(operation=None, operands=(2,)),
            node("or", 3, bits=24, outside=1),
            node("and", 4, bits=24, outside=1),
        ]
    )
    assert products_in_sums(graph, DELAYS) == {0: 2}
    found = charged(graph, DELAYS)
    assert [one.cycles for one in found] == [3, 0, 0, 0, 0, 0]
    assert [one.first_ns > 0 for one in found] == [True, False, True, False, False, True]
