"""Synthesis jobs in sweeps: stand-ins are the vendor's tools, processes of this machine the cluster."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from hlsgen.sweep.jobs import Job
from hlsgen.sweep.store import Store
from hlsgen.sweep.sweep import Request as SweepRequest
from hlsgen.sweep.sweep import jobs_of
from hlsgen.vendor.vitis import Request as Synthesis
from tests.support.command_line import document, failure, run, working_folder
from tests.support.places import ROOT
from tests.support.sweeps import (
    cluster,
    contents,
    design_files,
    is_alive,
    meanwhile,
    program,
    swept,
    wait_for,
)
from tests.support.vendor_tools import VendorTools, vendor_tools
from tests.vendor.test_synth import use

XO = {"run": "synth", "synthesis": Synthesis(to="xo")}


@pytest.fixture(autouse=True)
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VendorTools:
    working_folder(tmp_path, monkeypatch)
    design_files(tmp_path)
    tools = vendor_tools(tmp_path / "tools", kernels=("small",))
    # the stand-ins' reports are of a kernel that they are told the name of
    for name in ("vitis_hls", "vitis-run"):
        path = tools.folder / name
        path.write_text(path.read_text().replace("HLSGEN_KERNELS:-conv", "HLSGEN_KERNELS"))
    use(tools, monkeypatch)
    compiler = tools.folder / "quick"
    compiler.write_text('#!/bin/sh\nexec g++ "$@" -O0\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return tools


def results(folder: str) -> dict[str, Any]:
    """The outcomes' files and the table."""
    found = contents(folder)
    return {name: found[name] for name in found if name.startswith(("jobs/", "sweep.json"))}


def test_each_job_in_its_own_folder(tools: VendorTools) -> None:
    words = ("sweep", "a.yaml", "b.yaml", "--synth", "xo", "--scheduler", "serial", "-o", "out")
    rows = document(*words)["jobs"]
    assert len({row["build"] for row in rows}) == 2
    for row in rows:
        assert row["csim"] == "equal"
        synthesis = row["synthesis"]
        assert (synthesis["to"], synthesis["release"], synthesis["stage"]) == ("xo", "2023.2", "csynth")
        assert (synthesis["lut"], synthesis["dsp"]) == (28240, 156)
        build = Path("out", row["build"])
        report = json.loads((build / "report.json").read_text())
        assert json.loads(Path("out", row["file"]).read_text())["figures"] == report
        assert (build / "vitis/small.xo").is_file()
    assert "28,240" in run(*words).stdout
    before = len(tools.calls())
    (again,) = document("sweep", "a.yaml", "--synth", "xclbin", "--scheduler", "serial", "-o", "out")["jobs"]
    assert (again["build"], again["synthesis"]["stage"]) == (rows[0]["build"], "routed")
    assert len(tools.calls()) - before == 1, "linking alone"


def test_what_fails_is_kept_by_job(tools: VendorTools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_FAIL", "export")
    found, _ = swept(["a", "wrong"], "out", scheduler="serial", **XO)
    (_, failed), (_, wrong) = found.outcomes
    assert (failed.exit_code, wrong.exit_code, found.exit_code) == (4, 1, 4)
    assert "error: xo failed" in failed.text
    assert "undeclared identifier 'x' in export" in failed.text
    monkeypatch.delenv("STAND_IN_FAIL")
    again, seen = swept(["a"], "out", scheduler="serial", **XO)
    assert (seen.kept, again.exit_code) == (0, 0)
    assert [call.split()[1] for call in tools.calls()] == ["[csynth]", "[export]", "[export]"]


def test_missing_tools_are_each_job_s_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    found, _ = swept(["a"], "out", scheduler="serial", **XO)
    assert found.exit_code == 4
    assert "neither vitis_hls nor vitis-run was found" in found.outcomes[0][1].text


def test_the_key_has_what_the_result_depends_on() -> None:
    def job(**options: Any) -> Job:
        request = SweepRequest(designs=(Path("a.yaml"),), run="synth", synthesis=Synthesis(**options))
        (found,) = jobs_of(request, Store(Path("out")))
        return found

    plain = job()
    assert job(hours=9.0).key == plain.key
    others = [job(to="xo"), job(target="hw_emu"), job(platform="mine")]
    others += [job(platform="/a/mine.xpfm"), job(platform="/b/mine.xpfm")]
    assert len({plain.key, *(other.key for other in others)}) == 6
    assert {other.folder for other in others} == {plain.folder}


def test_usage() -> None:
    assert "'sw' is not one of" in failure(2, "sweep", "a.yaml", "--synth", "sw")
    assert "--run explore does not go with it" in failure(
        2, "sweep", "a.yaml", "--synth", "xo", "--run", "explore"
    )
    assert "--target, --platform and --timeout need --synth" in failure(
        2, "sweep", "a.yaml", "--target", "hw_emu"
    )


def test_ctrl_c_ends_the_tools_and_keeps_what_is_done(
    tools: VendorTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN_HANG", "export")
    process = program("sweep", "a.yaml", "b.yaml", "--synth", "xo", "--scheduler", "serial", "-o", "out")
    wait_for(lambda: len(tools.pids()) == 2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130, said
    assert "interrupted; 0 of 2 jobs are done" in said
    wait_for(lambda: not any(is_alive(pid) for pid in tools.pids()))
    monkeypatch.delenv("STAND_IN_HANG")
    swept(["a"], "out", scheduler="serial", **XO)
    assert [call.split()[1] for call in tools.calls()] == ["[csynth]", "[export]", "[export]"]


def test_a_lost_worker_s_job_runs_again_where_it_was(
    tools: VendorTools, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its tools end with it; the result is that of a serial sweep, byte for byte."""
    pytest.importorskip("distributed", reason="needs dask: pip install 'hlsgen[cluster]'")
    swept(["a"], "serial", scheduler="serial", **XO)
    before = len(tools.calls())
    monkeypatch.setenv("STAND_IN_HANG", "export")
    with cluster(tmp_path / "cluster", 1) as there:
        worker = there.processes[1]

        def lose_it() -> None:
            wait_for(lambda: len(tools.pids()) == 2)
            monkeypatch.delenv("STAND_IN_HANG")
            os.kill(worker.pid, signal.SIGKILL)
            there.add_worker()

        with meanwhile(lose_it):
            _, seen = swept(["a"], "several", scheduler=there.address, **XO)
    assert any("a worker was lost" in note for note in seen.notes)
    assert not any(is_alive(pid) for pid in tools.pids())
    assert results("serial") == results("several")
    steps = [call.split()[1] for call in tools.calls()[before:]]
    assert steps == ["[csynth]", "[export]", "[export]"], "what was complete is kept"
