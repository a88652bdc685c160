"""Tasks whose process ends, as LLVM's does where an assertion fails: they cost no other task its result."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import pytest

from hlsgen.base.errors import ToolError
from hlsgen.schedule.own_processes import in_own_processes

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
    if item.name == "wrong":
        raise ValueError("wrong")
    return item.name, careful


@pytest.mark.parametrize("times", [1, 2])
def test_a_process_that_ends_costs_no_other_item(times: int) -> None:
    names = ["before", "weak", "behind"]
    ABORTS["weak"] = times
    done: list[int] = []
    found = in_own_processes(task, [Item(name) for name in names], names, jobs=2, done=done.append)
    # the one is run with care only where it failed alone too, the others never
    assert found == [("before", False), ("weak", times == 2), ("behind", False)]
    assert sorted(done) == [0, 1, 2]


def test_an_item_that_always_ends_its_process_is_named() -> None:
    ABORTS["weak"] = 99
    done: list[int] = []
    with pytest.raises(ToolError, match="LLVM failed on weak\n") as caught:
        in_own_processes(task, [Item("weak"), Item("good")], ["weak", "good"], jobs=1, done=done.append)
    assert caught.value.exit_code == 4
    assert done == [1]


def test_what_a_task_raises_is_raised() -> None:
    with pytest.raises(ValueError, match="wrong"):
        in_own_processes(task, [Item("good"), Item("wrong")], ["good", "wrong"], jobs=2)
