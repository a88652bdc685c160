"""Processes say what they are built of: no room asks one which class it is, so none knows them all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import hlsgen
from hlsgen.base.fixed import FixedType
from hlsgen.cost.stages import total_resources
from hlsgen.hardware import port_processes, processes
from hlsgen.hardware.pipeline import Pipeline, pipeline_of
from hlsgen.hardware.processes import Process
from hlsgen.hardware.storage import Memory, Storage
from hlsgen.layers.base import Tensor
from hlsgen.layers.clamp import Clamp
from hlsgen.layers.stage import Fold, Schedule
from hlsgen.targets.board import Board, load_board
from tests.support.pipelines import side_by_side

PACKAGE = Path(hlsgen.__file__).parent
U200 = load_board("u200")


def kinds_of_processes() -> set[str]:
    found = {
        name
        for module in (processes, port_processes)
        for name, one in vars(module).items()
        if isinstance(one, type) and issubclass(one, Process)
    }
    assert {
        "Process",
        "StageProcess",
        "DmaRead",
        "DmaWrite",
        "LoadWeights",
        "Fork",
        "WidthConverter",
    } <= found
    return found


def questions(source: str, names: set[str]) -> Iterator[int]:
    """Lines that ask whether something is one of `names`."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) != "isinstance":
            continue
        if names & {one.id for one in ast.walk(node.args[1]) if isinstance(one, ast.Name)}:
            yield node.lineno


def test_no_room_asks_a_process_which_class_it_is() -> None:
    names = kinds_of_processes()
    assert list(questions("x = isinstance(one, DmaRead | DmaWrite)", names)) == [1]
    found = {
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line in questions(path.read_text(encoding="utf-8"), names)
    }
    assert not found


@dataclass(frozen=True, kw_only=True)
class Recorder(Process):
    """Keeps the last 1,024 words of 18 bits and writes 8 bytes of each frame to DDR."""

    def schedule(self, frames: int) -> Schedule:
        times = np.arange(frames * 1000, dtype=np.int64)
        return Schedule(iterations=len(times), reads=(times,), writes=())

    @property
    def frame_bytes(self) -> int:
        return 8

    def memories(self, board: Board) -> tuple[Memory, ...]:
        return (Memory(name="last", depth=1024, bits=18, copies=2, storage=Storage.BRAM),)


def narrowed() -> Pipeline:
    tensor = Tensor(shape=(4, 3, 5), type=FixedType(8, 4))
    layer = Clamp(name="c", inputs=("x",), source=tensor, result_type=FixedType(6, 3))
    graph = side_by_side([layer])
    return pipeline_of(graph, {one.name: Fold() for one in graph.layers})


def test_a_process_of_a_new_kind_is_counted_by_what_it_says() -> None:
    plain = narrowed()
    recorder = Recorder(name="record", reads=(), writes=())
    more = replace(plain, processes=(*plain.processes, recorder))
    added = total_resources(more, U200)
    before = total_resources(plain, U200)
    # a BRAM18 is 1024 x 18
    assert (added.bram18 - before.bram18, added.dsp - before.dsp) == (2, 0)
    assert added.lut > before.lut
    assert more.frame_bytes == plain.frame_bytes + 8
    assert more.interval == 1000 and more.slowest is recorder
    assert recorder in more.adapters and recorder.name in more.counted
