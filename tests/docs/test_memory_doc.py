"""docs/memory.md: its snippet runs and keeps to its budget, what it says of the plan is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from hlsgen.rematerialising.plan import SLOTS, Plan
from tests.support.documents import blocks, document

torch = pytest.importorskip("torch", reason="torch is not installed")

DOC = document("memory.md")
(SNIPPET,) = blocks(DOC, "python")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_the_snippet_trains_within_its_budget(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(compile(SNIPPET, "docs/memory.md", "exec"), names)
    plan = names["budgeted"].plan
    assert plan.again and plan.peak <= plan.budget == 10_000_000 < plan.plain_peak
    printed = capsys.readouterr().out
    assert "budget 10.0 MB: predicted peak" in printed and "computed again: " in printed
    assert int(printed.splitlines()[-1]) <= plan.budget


def test_what_is_stated_of_the_plan_is_there() -> None:
    stated = re.findall(
        r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", DOC.split("`budgeted.plan`")[1], re.M))
    )
    assert {"peak", "seconds", "least_memory", "again", "rounding"} <= set(stated)
    assert all(hasattr(Plan, name) for name in stated)
    assert f"{SLOTS} units" in DOC
