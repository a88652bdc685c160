"""hlsgen synth: steps, logs, failures, resuming; stand-ins are the vendor's tools."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import hlsgen
from hlsgen.vendor.observer import SilentObserver
from hlsgen.vendor.runner import claimed
from hlsgen.vendor.vitis import Request, synthesise
from tests.support import report_builds
from tests.support.command_line import document, failure, run, working_folder
from tests.support.small_design import DESIGN
from tests.support.sweeps import is_alive, program, wait_for
from tests.support.vendor_tools import PLATFORMS, VendorTools, host_program, vendor_tools

U200, ZCU102 = PLATFORMS
CONV = DESIGN.replace("name: small", "name: conv").replace("zcu102", "u200")
TO_XCLBIN = ("synth", "built", "--to", "xclbin")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    (folder / "conv.yaml").write_text(CONV)
    hlsgen.load(folder / "conv.yaml").build(folder / "conv", frames=1, csim=False)
    return folder / "conv"


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: Path) -> VendorTools:
    """The stand-ins in the environment; a design and its build folder in the working folder."""
    working_folder(tmp_path, monkeypatch)
    (tmp_path / "conv.yaml").write_text(CONV)
    shutil.copytree(built, tmp_path / "built")
    tools = vendor_tools(tmp_path / "tools")
    use(tools, monkeypatch)
    for name in ("MAKEFLAGS", "PLATFORM", "TARGET", "PLATFORM_REPO_PATHS"):
        monkeypatch.delenv(name, raising=False)
    return tools


def use(tools: VendorTools, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in tools.environment.items():
        monkeypatch.setenv(name, value)


def steps(found: Any) -> list[tuple[str, str]]:
    return [(step["name"], step["status"]) for step in found["steps"]]


def ran(tools: VendorTools, since: int = 0) -> list[str]:
    """What the stand-ins were called for."""
    words = [call.split() for call in tools.calls()[since:]]
    return [word[1].strip("[]") or word[2] for word in words]


def reports() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(Path("built/report.json").read_text())["synthesised"]
    return found


# ---------------------------------------------------------------- to the end


def test_to_the_bitstream(tools: VendorTools) -> None:
    found = document(*TO_XCLBIN)
    assert steps(found) == [(name, "complete") for name in ("csynth", "xo", "link", "package")]
    assert ran(tools) == ["csynth", "export", "-l", "-p"]
    assert (found["release"], found["platform"]) == ("2023.2", U200)
    assert [(one["stage"], one["file"]) for one in found["synthesised"]] == [
        ("routed", f"_x.hw.{U200}/reports/link/imp/impl_1_kernel_util_routed.rpt"),
        ("csynth", "vitis/conv_hls/solution1/syn/report/csynth.xml"),
    ]
    assert reports() == found["synthesised"]
    assert "Synthesised beside the model" in Path("built/report.md").read_text()
    assert Path(f"built/build_dir.hw.{U200}/conv.xclbin").is_file()


def test_what_is_said_without_a_terminal(tools: VendorTools) -> None:
    said = run(*TO_XCLBIN)
    assert said.exit_code == 0, said.output
    lines = said.stderr.splitlines()
    assert lines[0] == "[1/4] csynth: started, log built/synth/csynth.log"
    assert "[3/4]   vpl: impl" in lines
    assert any(line.startswith("[4/4] package: complete in ") for line in lines)
    done = re.sub(r"\d+ s", "0 s", said.stdout)
    assert "xclbin done with Vitis 2023.2: csynth 0 s, xo 0 s, link 0 s, package 0 s; in built/" in done
    assert "csynth 2022.1" in said.stdout
    log = Path(f"built/synth/link.hw.{U200}.log").read_text()
    assert "Run vpl: Step synth: Started" in log
    again = run(*TO_XCLBIN)
    assert again.stderr.splitlines()[0] == "[1/4] csynth: complete before"


def test_all_of_the_zcu102(tools: VendorTools) -> None:
    shutil.rmtree("built")
    hlsgen.load("conv.yaml", board="zcu102").build("built", frames=1, csim=False)
    host_program(Path("built"))
    found = document("synth", "built", "--to", "all", "--target", "hw_emu")
    assert [name for name, _ in steps(found)] == ["csynth", "xo", "link", "host", "package"]
    assert ran(tools) == ["csynth", "export", "-l", "--platform", "-p"], "emconfigutil before packaging"
    assert Path(f"built/package.hw_emu.{ZCU102}/sd_card.img").exists()
    again = steps(document("synth", "built", "--to", "all", "--target", "hw_emu"))
    assert [status for _, status in again] == ["kept"] * 3 + ["complete"] * 2
    assert len(tools.calls()) == 5


@pytest.mark.parametrize("kind", ["dataflow", "tasks"])
def test_networks(kind: str, tools: VendorTools, monkeypatch: pytest.MonkeyPatch) -> None:
    """One streaming kernel, or a kernel for each layer: each is synthesised, all are linked."""
    folder = report_builds.built(kind, Path())
    flow = json.loads((folder / "vitis/flow.json").read_text())
    kernels = flow["kernels"]
    assert (len(kernels) > 1) == (kind == "tasks")
    use(vendor_tools(Path("more").absolute(), kernels=tuple(kernels)), monkeypatch)
    found = document("synth", str(folder), "--to", "xclbin")
    csynth = sorted(one["top"] for one in found["synthesised"] if one["stage"] == "csynth")
    assert csynth == sorted(kernels)
    assert [one["differences"].keys() >= {"lut", "ff"} for one in found["synthesised"]] == [True] * (
        len(kernels) + 1
    )
    link = next(call for call in vendor_calls("more") if " -l " in call)
    assert link.endswith(" ".join(f"vitis/{kernel}.xo" for kernel in kernels))
    assert {step["status"] for step in document("synth", str(folder), "--to", "xclbin")["steps"]} == {"kept"}


def vendor_calls(folder: str) -> list[str]:
    return VendorTools(Path(folder)).calls()


def test_cosim_is_read_back(tools: VendorTools) -> None:
    found = document("synth", "built", "--to", "cosim")
    assert ran(tools) == ["csynth", "cosim"]
    assert [(one["stage"], one.get("passed")) for one in found["synthesised"]] == [
        ("cosim", True),
        ("csynth", None),
    ]


def test_a_design_is_built_first(tools: VendorTools) -> None:
    found = document("synth", "conv.yaml", "--to", "xo", "--board", "zcu102", "-o", "mine")
    assert (found["build"], found["platform"]) == ("mine", ZCU102)
    report = json.loads(Path("mine/report.json").read_text())
    assert (report["board"], report["csim"]["verdict"]) == ("zcu102", "equal")


def test_a_platform_by_its_file(tools: VendorTools) -> None:
    Path("it's $(touch bad).xpfm").write_text("<platform/>")
    found = document(*TO_XCLBIN, "--platform", "it's $(touch bad).xpfm")
    assert found["platform"] == os.path.abspath("it's $(touch bad).xpfm")
    assert Path("built/build_dir.hw.it_s___touch_bad_/conv.xclbin").is_file()
    assert not Path("bad").exists() and not Path("built/bad").exists()


def test_the_outer_make_has_no_say(tools: VendorTools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEFLAGS", "n -- TARGET=sw_emu PLATFORM=other")
    assert ran(tools) == []
    document("synth", "built")
    assert ran(tools) == ["csynth"]


# ---------------------------------------------------------------- what is kept


def test_steps_are_kept_while_their_inputs_are_what_they_were(tools: VendorTools) -> None:
    document(*TO_XCLBIN)
    for path in Path("built").rglob("*"):
        os.utime(path)  # as a copy without times
    assert {status for _, status in steps(document(*TO_XCLBIN))} == {"kept"}
    before = len(tools.calls())
    link = Path("built/vitis/link.cfg")
    link.write_text(link.read_text() + "\n")
    found = document(*TO_XCLBIN)
    assert steps(found) == [("csynth", "kept"), ("xo", "kept"), ("link", "complete"), ("package", "complete")]
    assert ran(tools, before) == ["-l", "-p"]
    assert steps(document(*TO_XCLBIN, "--target", "hw_emu"))[:3] == [
        ("csynth", "kept"),
        ("xo", "kept"),
        ("link", "complete"),
    ]
    before = len(tools.calls())
    with Path("built/src/conv.h").open("a") as file:
        file.write("\n")
    assert [status for _, status in steps(document(*TO_XCLBIN))] == ["complete"] * 4
    assert ran(tools, before) == ["csynth", "export", "-l", "-p"]


def test_another_release_or_option_counts(tools: VendorTools, monkeypatch: pytest.MonkeyPatch) -> None:
    document(*TO_XCLBIN)
    monkeypatch.setenv("VPP_LDFLAGS", "--jobs 8")
    document(*TO_XCLBIN)
    use(vendor_tools(Path("newer").absolute(), "2024.2"), monkeypatch)
    found = document(*TO_XCLBIN)
    assert found["release"] == "2024.2"
    assert {status for _, status in steps(found)} == {"complete"}


def test_an_option_of_linking_is_nothing_to_synthesis(
    tools: VendorTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    document(*TO_XCLBIN)
    monkeypatch.setenv("VPP_LDFLAGS", "--jobs 8")
    assert {status for _, status in steps(document("synth", "built", "--to", "xo"))} == {"kept"}
    assert [status for _, status in steps(document(*TO_XCLBIN))] == ["kept"] * 2 + ["complete"] * 2


def test_platforms_of_one_name_are_different(tools: VendorTools) -> None:
    words = ("--target", "hw_emu", "--to", "all")
    host_program(Path("built"))
    for folder in ("p1", "p2"):
        Path(folder).mkdir()
        Path(folder, "plat.xpfm").touch()
    document("synth", "built", *words, "--platform", "p1/plat.xpfm")
    before = len(tools.calls())
    found = document("synth", "built", *words, "--platform", "p2/plat.xpfm")
    assert [status for _, status in steps(found)][:4] == ["kept", "kept", "complete", "complete"]
    again = tools.calls()[before:]
    assert len(again) == 3, "link, package, emconfig"
    assert all(f"--platform {Path('p2/plat.xpfm').absolute()} " in call for call in again)
    Path("p2/plat.xpfm").write_text("another")
    found = document("synth", "built", *words, "--platform", "p2/plat.xpfm")
    assert [status for _, status in steps(found)][:4] == ["kept", "kept", "complete", "complete"]


@pytest.mark.parametrize(("board", "target"), [("u200", "hw"), ("u200", "hw_emu"), ("zcu102", "hw_emu")])
def test_all_of_a_kernel_without_a_host_program(
    board: str, target: str, tools: VendorTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It needs no XRT and no sysroot; its co-simulation, which has no end, is refused."""
    report_builds.streaming(board, Path("streams"))
    for name in ("XILINX_XRT", "EDGE_COMMON_SW"):
        monkeypatch.delenv(name)
    found = document("synth", "streams", "--to", "all", "--target", target)
    last = ["emconfig"] if (board, target) == ("u200", "hw_emu") else []
    linked = ["link", "package"] if board == "u200" else ["link"]
    assert [name for name, _ in steps(found)] == ["csynth", "xo", *linked, *last]
    refused = failure(1, "synth", "streams", "--to", "cosim")
    assert "runs by itself, without an end" in refused and "\nfix: make csim and make csim-bounded" in refused


def test_restart(tools: VendorTools) -> None:
    document(*TO_XCLBIN)
    assert {status for _, status in steps(document(*TO_XCLBIN, "--restart"))} == {"complete"}
    assert ran(tools) == ["csynth", "export", "-l", "-p"] * 2


def test_make_by_hand_counts(tools: VendorTools) -> None:
    subprocess.run(["make", "-s", "xo"], cwd="built", check=True, stdout=subprocess.DEVNULL)
    document("synth", "built", "--to", "xo")
    assert ran(tools) == ["csynth", "export"]


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2, "steps": {}}', '{"steps": {"csynth": 3}}'])
def test_a_damaged_state_is_none(text: str, tools: VendorTools) -> None:
    document("synth", "built")
    Path("built/synth/state.json").write_text(text)
    assert steps(document("synth", "built")) == [("csynth", "complete")]
    assert ran(tools) == ["csynth"], "make knows that there is nothing to do"


def test_reports_of_other_sources_are_not_taken_for_new(
    tools: VendorTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    document(*TO_XCLBIN)
    with Path("built/src/conv.h").open("a") as file:
        file.write("\n")
    monkeypatch.setenv("STAND_IN_FAIL", "link")
    failed(*TO_XCLBIN)
    assert [one["stage"] for one in reports()] == ["csynth"]


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("step", "stand_in", "log"),
    [
        ("csynth", "csynth", "csynth"),
        ("xo", "export", "xo"),
        ("link", "link", f"link.hw.{U200}"),
        ("package", "package", f"package.hw.{U200}"),
    ],
)
def test_a_step_fails_and_is_resumed(
    step: str, stand_in: str, log: str, tools: VendorTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN_FAIL", stand_in)
    said = failed(*TO_XCLBIN)
    assert f"error: {step} failed (make ended with status 2); its log is built/synth/{log}.log" in said
    assert f"ERROR: [HLS 207-3777] use of undeclared identifier 'x' in {stand_in}" in said
    assert f"fix: mend what it says, if anything; the same command goes on with {step}" in said
    assert "undeclared identifier" in Path(f"built/synth/{log}.log").read_text()
    monkeypatch.delenv("STAND_IN_FAIL")
    before = len(tools.calls())
    found = steps(document(*TO_XCLBIN))
    names = ["csynth", "xo", "link", "package"]
    assert found == [
        (name, "kept" if names.index(name) < names.index(step) else "complete") for name in names
    ]
    assert len(tools.calls()) - before == 4 - names.index(step)
    if step == "link":
        assert "ended as if all was well" not in said


def failed(*words: str) -> str:
    """What a command says that has to end with status 4, and no other than the build's files are there."""
    result = run(*words)
    assert (result.exit_code, result.stdout) == (4, ""), result.output
    assert json.loads(run(*words, "--json").stdout)["exit_code"] == 4
    return result.stderr


def test_a_tool_that_says_it_is_done_and_is_not(tools: VendorTools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_SILENT", "csynth")
    said = failed("synth", "built")
    assert "error: the tool ended as if all was well, but there is no *csynth.xml" in said


def test_all_that_is_missing(tools: VendorTools, monkeypatch: pytest.MonkeyPatch) -> None:
    if any(shutil.which(tool, path="/usr/bin:/bin") for tool in ("vitis_hls", "vitis-run", "v++")):
        pytest.skip("Vitis is installed in the system's folders")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("XILINX_VITIS", "")
    result = run(*TO_XCLBIN, "--json")
    assert result.exit_code == 4
    messages = [problem["message"] for problem in json.loads(result.stdout)["error"]]
    assert messages[:3] == [
        "neither vitis_hls nor vitis-run was found",
        "v++ was not found",
        "XILINX_VITIS is not set",
    ]
    assert messages[3].startswith(f"the platform {U200} was not found in")
    assert "fix: source the settings64.sh of Vitis" in failed(*TO_XCLBIN)


def test_without_make(tools: VendorTools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tools.folder))
    assert "error: make was not found" in failed("synth", "built")


def test_u200_on_2025_2(tools: VendorTools, monkeypatch: pytest.MonkeyPatch) -> None:
    use(vendor_tools(Path("newer").absolute(), "2025.2"), monkeypatch)
    assert "Vitis 2025.2 no longer supports AMD Alveo U200" in failed(*TO_XCLBIN)
    said = run("synth", "built")
    assert said.exit_code == 0
    assert "note: Vitis 2025.2 has no platforms of this board any more" in said.stderr


def test_no_build_folder(tools: VendorTools) -> None:
    Path("empty").mkdir()
    assert "empty holds no report.json" in failure(1, "synth", "empty")
    Path("built/vitis/flow.json").write_text(
        '{"design": "../x", "kernels": [], "flow": "alveo", "platform": "", "host": true, '
        '"free_running": false}'
    )
    assert "vitis/flow.json is damaged" in failure(1, "synth", "built")
    Path("built/vitis/flow.json").unlink()
    assert "holds no vitis/flow.json" in failure(1, "synth", "built")
    assert "does not exist" in failure(1, "synth", "missing.yaml")
    assert "go with a design file" in failure(2, "synth", "built", "--board", "u200")
    assert "is not in the range" in failure(2, "synth", "built", "--timeout", "0")
    assert "'sw_emu' is not one of" in failure(2, "synth", "built", "--target", "sw_emu")


def test_a_damaged_report_is_said(tools: VendorTools) -> None:
    (tools.folder / "csynth.xml").write_text("<profile>")
    said = run("synth", "built")
    assert said.exit_code == 0
    assert "note: the vendor's reports were not read: " in said.stderr


def test_the_makefile_is_broken(tools: VendorTools) -> None:
    Path("built/Makefile").write_text("nonsense\n")
    assert "error: the build folder's Makefile failed:" in failed("synth", "built")


# ---------------------------------------------------------------- processes


def test_a_timeout_ends_grandchildren(tools: VendorTools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_HANG", "csynth")
    result = run("synth", "built", "--timeout", "0.0006")
    assert result.exit_code == 4
    message = "error: csynth was ended, for the 0.0006 hours of --timeout for all steps are over"
    assert message in result.stderr
    assert "hanging in csynth" in result.stderr
    pids = tools.pids()
    assert len(pids) == 2
    assert not any(is_alive(pid) for pid in pids)
    assert json.loads(Path("built/synth/state.json").read_text())["steps"]["csynth"]["status"] == "timed out"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_tools_end_with_hlsgen(number: int, tools: VendorTools, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted, ended or killed: no process stays, and the next run goes on after what is complete."""
    monkeypatch.setenv("STAND_IN_HANG", "link")
    process = program("synth", "built", "--to", "xclbin")
    wait_for(lambda: len(tools.pids()) == 2)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    wait_for(lambda: not any(is_alive(pid) for pid in tools.pids()))
    if number != signal.SIGKILL:
        assert process.returncode == 130
        assert f"error: interrupted in link; its log is built/synth/link.hw.{U200}.log" in said
        assert "Traceback" not in said
    monkeypatch.delenv("STAND_IN_HANG")
    found = document(*TO_XCLBIN)
    assert steps(found)[:3] == [("csynth", "kept"), ("xo", "kept"), ("link", "complete")]


@pytest.mark.parametrize("status", ["running", "failed", "timed out", "interrupted"])
def test_a_result_that_may_be_half_written_is_made_again(status: str, tools: VendorTools) -> None:
    """The machine went down while it was linked, or make was killed: make would take the file for whole."""
    document(*TO_XCLBIN)
    path = Path("built/synth/state.json")
    state = json.loads(path.read_text())
    for key in state["steps"]:
        state["steps"][key]["status"] = status
    path.write_text(json.dumps(state))
    before = len(tools.calls())
    assert {status for _, status in steps(document(*TO_XCLBIN))} == {"complete"}
    assert ran(tools, before) == ["export", "-l", "-p"], "a stamp is there only when its results are"


def test_two_at_once(tools: VendorTools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hlsgen.vendor.runner.LOCK_SECONDS", 0.1)
    with claimed(Path("built")):
        assert "error: another synthesis is at work in built" in failed("synth", "built")
        said = failed("build", "conv.yaml", "-o", "built", "--no-csim")
        assert "a synthesis is at work in" in said
    assert run("synth", "built").exit_code == 0


def test_a_long_log_is_followed_as_it_comes(tools: VendorTools) -> None:
    """Lines with odd bytes, progress by carriage returns, an end without a line's end."""
    tool = tools.folder / "vitis_hls"
    odd = "printf 'INFO: one\\rtwo\\377 \\033[31mred\\n'"
    many = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo line $i; done"
    tool.write_text(tool.read_text() + f"{odd}; {many}; printf 'ERROR: no end'; exit 1\n")
    said = failed("synth", "built")
    assert "  ERROR: no end" in said
    assert "  line 3000\n" in said
    assert "\033" not in said
    assert b"two\xff \x1b[31mred" in Path("built/synth/csynth.log").read_bytes()


def test_on_a_terminal(tools: VendorTools) -> None:
    """With a pseudo-terminal: steps and the last lines of the log are shown while it runs."""
    script = shutil.which("script")
    if script is None:
        pytest.skip("script (bsdutils) is not installed")
    command = f"{sys.executable} -c 'from hlsgen.cli.commands import main; main()' synth built --to xclbin"
    environment = {**os.environ, "PYTHONPATH": str(Path(hlsgen.__file__).parents[1]), "TERM": "xterm"}
    begin = time.monotonic()
    done = subprocess.run(
        [script, "-qefc", command, "/dev/null"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "csynth: complete in" in done.stdout
    assert "log: built/synth/" in done.stdout
    assert time.monotonic() - begin < 60


def test_lines_of_tools_are_shown_without_their_control_characters(tools: VendorTools) -> None:
    class Lines(SilentObserver):
        def __init__(self) -> None:
            self.lines: list[str] = []

        def line(self, text: str) -> None:
            self.lines.append(text)

    tool = tools.folder / "vitis_hls"
    tool.write_text(tool.read_text() + "printf '\\033[31mred\\n'\n")
    seen = Lines()
    synthesise(Path("built"), Request(), seen)
    assert "\ufffd[31mred" in seen.lines
