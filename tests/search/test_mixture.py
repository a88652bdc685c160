"""Mixtures: where graphs can be cut, the last tasks of a program, the fastest mixture of all, what lacks."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

import hlsgen
from hlsgen.cost.resources import Resources
from hlsgen.cost.stages import total_resources
from hlsgen.designfile.constraints import NetworkConstraints, NoFit, ProcessorConstraints
from hlsgen.hardware.port_processes import StoreBlocks
from hlsgen.hardware.weights import weight_places
from hlsgen.layers.row_blocks import RowBlocks
from hlsgen.model.ir import Graph, Port, verify
from hlsgen.program.lowering import lowered
from hlsgen.search.board_limits import KINDS, allowed
from hlsgen.search.graph_cuts import after, before, cuts
from hlsgen.search.mixture import MixedHardware, _Fronts, _MixedSearch, mixed_hardware
from hlsgen.search.offchip_weights import kept_on_chip
from hlsgen.search.shared import SharedSearch
from hlsgen.search.task_placement import share_of_slr
from hlsgen.targets.board import Board, load_board

NET = """name: net
board: zcu102
style: shared
batch: 8
input: {shape: [3, 34, 30], type: "fixed<8,1>"}
layers:
  - {name: conv1, kind: conv2d, out_channels: 24, kernel: 3, padding: same, weights: {seed: 1}}
  - {name: relu1, kind: clamp, low: 0}
  - {name: conv2, kind: conv2d, out_channels: 24, kernel: 3, padding: same, weights: {seed: 2}}
  - {name: sum1, kind: add, inputs: [relu1, conv2]}
  - {name: pool1, kind: pool2d, function: max, kernel: 2, stride: 2}
  - {name: conv3, kind: conv2d, out_channels: 40, kernel: 3, padding: same, weights: {seed: 3}}
  - {name: fc1, kind: dense, out_channels: 10, weights: {seed: 4}}
precision: PRECISION
"""
FEW = NetworkConstraints(processor=ProcessorConstraints(lanes=8, weight_words=128))
"""Constraints that leave few processors, so that all of them can be looked at."""


def read(folder: Path, text: str = NET, precision: str = '"fixed<8,3>"') -> Graph:
    path = folder / "net.yaml"
    path.write_text(text.replace("PRECISION", precision))
    return hlsgen.load(path).graph


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return read(tmp_path_factory.mktemp("mixture"))


@pytest.fixture(scope="module")
def board() -> Board:
    return load_board("zcu102").for_style("shared")


def mixed(
    graph: Graph, board: Board, constraints: NetworkConstraints = FEW, least: float = 0
) -> MixedHardware:
    return mixed_hardware(graph, board, constraints, clock_mhz=300, batch=64, least=least)


def test_cuts_are_where_one_tensor_leads_on(graph: Graph) -> None:
    names = [layer.name for layer in graph.layers]
    found = cuts(graph)
    assert found
    for at, name in enumerate(names[:-1]):
        done = {"input", *(port.name for port in graph.inputs), *names[: at + 1]}
        read_later = {source for layer in graph.layers[at + 1 :] for source in layer.inputs} & done
        assert (name in found) == (read_later == {name}), name


def test_an_output_is_no_cut(graph: Graph) -> None:
    shown = Port.of("early", graph.tensors()["pool1"], "pool1")
    assert "pool1" in cuts(graph)
    assert "pool1" not in cuts(replace(graph, outputs=(*graph.outputs, shown)))


def test_both_parts_keep_the_rules_and_meet(graph: Graph, board: Board) -> None:
    processor = mixed(graph, board).back.processor
    for cut in cuts(graph):
        front, back = before(graph, cut, processor), after(graph, cut)
        assert not verify(front) and not verify(back)
        blocks = front.layers[-1]
        assert isinstance(blocks, RowBlocks) and blocks.inputs == (cut,)
        assert front.layers[:-1] + back.layers == graph.layers
        assert back.inputs[0].fed and back.inputs[0].tensor == front.tensors()[cut]


def test_the_last_tasks_are_those_of_the_last_layers(graph: Graph, board: Board) -> None:
    search = _MixedSearch(graph, board, FEW, 300, 64, 0.0, lambda *_: None)
    assert search.tails.cuts
    for cut in search.tails.cuts:
        tail, alone = search.tails.search(cut), SharedSearch(after(graph, cut), board, FEW, 300, 64)
        for lanes, pools in product((8, 16), (0, 15)):
            one, other = tail.apart(lanes, pools), alone.apart(lanes, pools)
            assert [task.name for task in one.tasks] == [task.name for task in other.tasks]
            assert [task.stages for task in one.tasks] == [task.stages for task in other.tasks]
            assert one.tensors == other.tensors


def test_no_mixture_is_faster(graph: Graph, board: Board) -> None:
    """With every cut, processor, number of them and of frames a round: what is left out is never the best."""
    search = _MixedSearch(graph, board, FEW, 300, 64, 0.0, lambda *_: None)
    best = search.best()
    places = weight_places(graph, FEW.weights, search.streaming_board)
    on_chip = kept_on_chip(graph, search.streaming_board, FEW, places)
    names = [layer.name for layer in graph.layers]
    rates = []
    for cut in search.tails.cuts:
        fronts = _Fronts.of(on_chip, names[: names.index(cut) + 1])
        tail = search.tails.search(cut)
        for candidate in tail.candidates():
            for count in range(1, candidate.count + 1):
                one = replace(candidate, count=count)
                left = search._left(one)
                interval = None
                if left is not None:
                    more, shortest = search._blocks(cut, one.processor)
                    interval = fronts.fastest(left, more)
                if interval is None:
                    continue
                interval = max(interval, shortest)
                for rounds in tail.rounds(one):
                    rate = search._ddr_rate(tail, rounds, interval)
                    if rate > 0:
                        cycles = sum(time.with_ddr(rate) for time in rounds.timed.times)
                        rates.append(min(count * rounds.together / cycles, 1 / interval))
    assert len(rates) > best.tried > 0
    assert search.best_rate == max(rates)
    assert best.frames_per_cycle >= 0.97 * max(rates)


def test_what_is_made_fits_and_keeps_pace(graph: Graph, board: Board) -> None:
    made = mixed(graph, board)
    assert made.frames_per_cycle == min(made.front_rate, made.back.frames_per_cycle)
    for slr in board.slrs:
        assert share_of_slr(made.used_by_slr[slr.name], allowed(slr, board)) <= 1
    total = made.back.each.times(made.instances) + total_resources(made.front.pipeline, made.front_board)
    assert Resources.sum(made.used_by_slr.values()) == total
    (store,) = made.front.pipeline.dma_writes
    assert isinstance(store, StoreBlocks)
    assert store.frame_bytes == made.back.program.layout(made.cut).frame_bytes
    assert "up to" in str(made) and made.bottleneck


def test_the_processors_find_their_input_at_the_beginning(graph: Graph, board: Board) -> None:
    made = mixed(graph, board)
    for rounds in (1, 3):
        for keep in (False, True):
            found = made.back.program.plan(rounds, keep=keep)
            assert found.places[made.cut] == 0
            lives = made.back.program.lives(rounds)
            for name, place in found.places.items():
                assert place >= 0 and place + lives[name].words <= found.words
                for other, there in found.places.items():
                    apart = place + lives[name].words <= there or there + lives[other].words <= place
                    assert name == other or apart or not lives[name].meets(lives[other]) and not keep


def test_nothing_moves_the_columns_of_what_a_kernel_writes(graph: Graph, board: Board) -> None:
    processor = mixed(graph, board).back.processor
    wide = replace(processor, lanes=32)
    assert any(task.source.unfolded for task in lowered(graph, wide).tasks)
    fed = replace(graph, inputs=tuple(replace(port, fed=True) for port in graph.inputs))
    assert not any(task.source.unfolded for task in lowered(fed, wide).tasks)


def test_a_board_beside_other_kernels_has_less_room(board: Board) -> None:
    (slr,) = board.slrs
    taken = {"lut": 1000, "dsp": 10**6}
    whole, left = allowed(slr, board), allowed(slr, board.beside({slr.name: taken}))
    assert {kind: getattr(left, kind) for kind in KINDS} == {
        kind: max(0, getattr(whole, kind) - taken.get(kind, 0)) for kind in KINDS
    }
    assert board.beside({slr.name: taken}).total == board.total


def test_what_lacks_is_said(graph: Graph, board: Board, tmp_path: Path) -> None:
    with pytest.raises(NoFit, match=r"no mixture of net makes more than 300,000,000 frames/s"):
        mixed(graph, board, least=1.0)
    before_last = graph.tensors()["conv3"]
    with pytest.raises(NoFit, match="no tensor of net alone leads from its first layers to the others"):
        mixed(replace(graph, layers=graph.layers[-1:], inputs=(Port.of("conv3", before_last),)), board)
    wide = NetworkConstraints(processor=ProcessorConstraints(lanes=32, rows=13))
    with pytest.raises(NoFit, match="no streaming kernel beside shared processors of net fits"):
        mixed(graph, board, wide)
    in_float = tmp_path / "float.yaml"
    text = NET.replace("PRECISION", "float32").replace(', type: "fixed<8,1>"', "")
    in_float.write_text(text.replace("style: shared", "style: tasks"))
    with pytest.raises(NoFit, match="a streaming kernel computes in fixed point"):
        mixed(hlsgen.load(in_float).graph, board)
