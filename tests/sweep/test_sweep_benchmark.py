"""benchmarks/sweep.py on few jobs: a worker killed, the sweep interrupted and resumed, and nothing lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import ROOT

pytest.importorskip("distributed", reason="needs dask: pip install 'hlsgen[cluster]'")
JOBS = 16


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Any:
    """benchmarks/sweep.py as a module, found as when it is run."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import sweep

    return sweep


def test_nothing_is_lost_of_a_disturbed_sweep(benchmark: Any, tmp_path: Path) -> None:
    assert (
        benchmark.main(["--jobs", str(JOBS), "--folder", str(tmp_path), "--json", f"{tmp_path}/found.json"])
        == 0
    )
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["jobs"] == JOBS
    assert JOBS // 3 <= found["done_when_killed"] <= found["done_when_interrupted"] <= found["kept"] < JOBS
    assert (found["lost"], found["again"], found["differing"]) == (0, 0, 0)
    assert not list(tmp_path.glob("hlsgen-sweep-*")), "what it made is gone"


def test_a_file_that_differs_is_seen(benchmark: Any, tmp_path: Path) -> None:
    for name, text in (("one", "a"), ("other", "b")):
        (tmp_path / name / "jobs").mkdir(parents=True)
        (tmp_path / name / "jobs" / "x.json").write_text(text)
    assert benchmark.contents(tmp_path / "one") != benchmark.contents(tmp_path / "other")
    assert benchmark.contents(tmp_path / "one") == {"jobs/x.json": b"a"}


def test_a_sweep_that_ends_otherwise_is_no_result(benchmark: Any, tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text("name: 1\n")
    with pytest.raises(benchmark.WrongError, match="the sweep ended with 1, not 0"):
        benchmark.Sweep(tmp_path, ["wrong.yaml"], "out", "serial").end()
