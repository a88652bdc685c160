"""Tasks whose process ends, as LLVM's does where an assertion fails: they cost no other task its result."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hlsgen.base.errors import DesignError, Problem, ToolError
from hlsgen.schedule.own_processes import OwnProcesses
from tests.support.places import ROOT

ABORTS: dict[str, int] = {}
"""How often a process still ends that is given the item of that name."""


@dataclass(frozen=True)
class Item:
    """An item that ends the process that it is given to."""

    name: str

    def __reduce__(self) -> Any:
        ABORTS[self.name] = ABORTS.get(self.name, 0) - 1
        return (os.abort, ()) if ABORTS[self.name] >= 0 else (Item, (self.name,))


def task(item: Item, careful: bool) -> tuple[str, bool]:
    if item.name == "refused":
        raise DesignError(Problem(message="a wrong item", fix="another"))
    if item.name == "broken":
        raise ValueError("broken")
    if item.name == "loud":
        os.write(1, b"a word that is no reply")
    return item.name, careful


def process_of(_item: Item, _careful: bool) -> int:
    return os.getpid()


SCRIPT = """import sys
sys.path.insert(0, {root!r})
from hlsgen.schedule.own_processes import OwnProcesses
from tests.schedule.test_own_processes import Item, task
with OwnProcesses(1) as processes:
    print(processes.run(task, [Item("a")], ["a"]))
"""


def run(names: list[str], jobs: int, done: list[int] | None = None) -> list[tuple[str, bool]]:
    with OwnProcesses(jobs) as processes:
        told = [] if done is None else done
        return processes.run(task, [Item(name) for name in names], names, done=told.append)


@pytest.mark.parametrize("times", [1, 2])
def test_a_process_that_ends_costs_no_other_item(times: int) -> None:
    ABORTS["weak"] = times
    done: list[int] = []
    # the one is run with care only where it failed alone too, the others never
    assert run(["before", "weak", "behind"], 2, done) == [
        ("before", False),
        ("weak", times == 2),
        ("behind", False),
    ]
    assert sorted(done) == [0, 1, 2]


def test_an_item_that_always_ends_its_process_is_named() -> None:
    ABORTS["weak"] = 99
    done: list[int] = []
    with pytest.raises(ToolError, match="LLVM failed on weak\n") as caught:
        run(["weak", "good"], 1, done)
    assert caught.value.exit_code == 4
    assert done == [1]


def test_what_a_task_raises_is_raised() -> None:
    with pytest.raises(DesignError, match="a wrong item") as refused:
        run(["good", "refused"], 2)
    assert refused.value.problems[0].fix == "another"
    with pytest.raises(ValueError, match="broken") as caught:
        run(["broken", "good"], 2)
    assert "in task" in caught.value.__notes__[0]  # where it happened


def test_nothing_that_a_task_prints_is_taken_for_its_result() -> None:
    assert run(["loud"], 1) == [("loud", False)]


def test_processes_serve_several_tasks_and_end() -> None:
    with OwnProcesses(2) as processes:
        first = processes.run(process_of, [Item("a")], ["a"])
        assert processes.run(process_of, [Item("b")], ["b"]) == first
    with pytest.raises(ProcessLookupError):
        os.kill(first[0], 0)


def test_a_script_needs_no_guard(tmp_path: Path) -> None:
    """Processes of multiprocessing would run the script again."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(root=str(ROOT)))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.returncode) == ("[('a', False)]\n", 0), done.stderr


def within_a_daemon(queue: multiprocessing.Queue[list[tuple[str, bool]]]) -> None:
    queue.put(run(["first", "second"], 2))
    assert multiprocessing.current_process().daemon


def test_a_worker_of_a_sweep_may_have_tasks() -> None:
    context = multiprocessing.get_context("spawn")
    queue: multiprocessing.Queue[list[tuple[str, bool]]] = context.Queue()
    worker = context.Process(target=within_a_daemon, args=(queue,), daemon=True)
    worker.start()
    assert queue.get(timeout=120) == [("first", False), ("second", False)]
    worker.join(60)
    assert worker.exitcode == 0


def long_task(item: Item, _careful: bool) -> None:
    Path(item.name).write_text(str(os.getpid()))
    time.sleep(600)


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def until(condition: Callable[[], bool], seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    return condition()


def test_a_task_ends_once_who_asked_for_it_is_killed(tmp_path: Path) -> None:
    """What is killed cannot end its processes; one in the middle of LLVM's passes may take gigabytes."""
    script, told = tmp_path / "script.py", tmp_path / "process"
    lines = SCRIPT.replace("Item, task", "Item, long_task").replace("run(task", "run(long_task")
    script.write_text(lines.replace('Item("a")', f"Item({str(told)!r})").format(root=str(ROOT)))
    waiting = subprocess.Popen([sys.executable, script])
    try:
        assert until(lambda: told.is_file() and told.read_text() != "")
        worker = int(told.read_text())
        assert is_there(worker)
    finally:
        waiting.kill()
        waiting.wait()
    assert until(lambda: not is_there(worker))
