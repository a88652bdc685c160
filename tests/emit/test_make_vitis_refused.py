"""The build folder's Makefile where something is missing, refused, fails, or has a strange name."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from hlsgen.api.design import Design
from hlsgen.api.project import build
from hlsgen.base.output import write_files
from hlsgen.designfile.constraints import InterfaceConstraints, NetworkConstraints
from hlsgen.loading.from_graph import Options, from_graph
from hlsgen.search.placement import Deployment
from tests.support.build_folders import CASES, emitted, make
from tests.support.networks import residual_network
from tests.support.places import ROOT
from tests.support.report_builds import streaming
from tests.support.vendor_tools import PLATFORMS, SYSTEM, VendorTools, vendor_tools
from tests.support.vitis_builds import both_builds, build_for_u200, build_for_zcu102, copy_of, said, stand_ins

U200, ZCU102 = PLATFORMS
builds = pytest.fixture(scope="module")(both_builds)
u200 = pytest.fixture(build_for_u200)
zcu102 = pytest.fixture(build_for_zcu102)
tools = pytest.fixture(stand_ins)


# ---------------------------------------------------------------- what is missing or refused


def test_everything_that_is_missing_is_said_at_once(u200: Path) -> None:
    if any(shutil.which(tool, path=SYSTEM) for tool in ("vitis_hls", "vitis-run", "v++", "emconfigutil")):
        pytest.skip("Vitis is installed in the system's folders")
    env = {"PATH": SYSTEM, "XILINX_VITIS": "", "XILINX_XRT": "", "PLATFORM_REPO_PATHS": ""}
    text = said(make(u200, "all", "TARGET=hw_emu", env=env))
    for message in (
        "error: neither vitis_hls nor vitis-run was found\nfix: source the settings64.sh of Vitis",
        "error: v++ was not found\nfix: source the settings64.sh of Vitis",
        "error: XILINX_VITIS is not set\nfix: source the settings64.sh of Vitis",
        f"error: the platform {U200} was not found in /opt/xilinx/platforms",
        "error: emconfigutil was not found",
    ):
        assert message in text
    assert not (u200 / "vitis/done").exists()


def test_without_xrt(u200: Path, tools: VendorTools) -> None:
    if Path("/usr/include/xrt/xrt/xrt_device.h").exists():
        pytest.skip("XRT is installed in the system's folders")
    text = said(make(u200, "host", "XILINX_XRT=", env=tools.environment))
    assert "error: XILINX_XRT is not set\nfix: source /opt/xilinx/xrt/setup.sh" in text


def test_what_the_zcu102_misses(zcu102: Path, tools: VendorTools, tmp_path: Path) -> None:
    text = said(make(zcu102, "sd_card", env={**tools.environment, "EDGE_COMMON_SW": ""}))
    assert "error: neither EDGE_COMMON_SW nor SYSROOT is set" in text
    assert "error: EDGE_COMMON_SW is not set\nfix: let it name the folder of the common image" in text
    empty = tmp_path / "empty"
    text = said(make(zcu102, "sd_card", env={**tools.environment, "EDGE_COMMON_SW": str(empty)}))
    assert f"error: there is no rootfs.ext4 in {empty}" in text
    assert f"error: there is no Image in {empty}" in text
    assert f"error: there is no sysroot at {empty}/sysroots/cortexa72-cortexa53-xilinx-linux" in text
    assert tools.calls() == []


def test_platforms_of_the_board_are_named(zcu102: Path, tools: VendorTools) -> None:
    text = said(make(zcu102, "link", "PLATFORM=xilinx_zcu102_base_202210_1", env=tools.environment))
    assert "error: the platform xilinx_zcu102_base_202210_1 was not found in" in text
    assert f"of this board there are: {ZCU102}" in text
    text = said(make(zcu102, "link", "PLATFORM=/no/such.xpfm", env=tools.environment))
    assert "error: there is no file /no/such.xpfm" in text
    assert "error: PLATFORM is empty" in said(make(zcu102, "link", "PLATFORM=", env=tools.environment))


@pytest.mark.parametrize("goal", ["xo", "xclbin", "all", "run"])
def test_u200_ends_with_2025_1(goal: str, u200: Path, tmp_path: Path) -> None:
    tools = vendor_tools(tmp_path / "bin", "2025.2")
    text = said(make(u200, goal, env=tools.environment))
    assert "error: Vitis 2025.2 no longer supports AMD Alveo U200: 2025.1 was the last release" in text
    assert "fix: source the settings64.sh of Vitis 2025.1 or older" in text
    assert tools.calls() == []


def test_hls_of_u200_runs_on_2025_2_and_says_what_comes(u200: Path, tmp_path: Path) -> None:
    tools = vendor_tools(tmp_path / "bin", "2025.2.1")
    done = make(u200, "csynth", env=tools.environment)
    assert done.returncode == 0
    assert "note: Vitis 2025.2 has no platforms of this board any more" in done.stderr


def test_zcu102_on_any_release(zcu102: Path, tmp_path: Path) -> None:
    tools = vendor_tools(tmp_path / "bin", "2025.2")
    assert make(zcu102, "xo", env=tools.environment).returncode == 0
    old = vendor_tools(tmp_path / "old", "2021.1")
    done = make(zcu102, "link", env=old.environment)
    assert "note: this build is meant for Vitis 2022.2 and newer, not 2021.1" in done.stderr


@pytest.mark.parametrize("goal", ["csynth", "xclbin", "host", "run", "test", "sd_card"])
def test_wrong_targets(goal: str, u200: Path, tools: VendorTools) -> None:
    for target, message in (
        ("sw_emu", "TARGET=sw_emu is gone: Vitis 2025.1 removed it"),
        ("hardware", 'TARGET must be hw or hw_emu, not "hardware"'),
        ("hw hw_emu", 'TARGET must be hw or hw_emu, not "hw hw_emu"'),
        ("", 'TARGET must be hw or hw_emu, not ""'),
    ):
        assert message in said(make(u200, goal, f"TARGET={target}", env=tools.environment))
    assert tools.calls() == []


def test_a_card_needs_no_sd_card(u200: Path, tools: VendorTools) -> None:
    assert "its host program needs no SD card" in said(make(u200, "sd_card", env=tools.environment))


def test_without_a_host_program(tools: VendorTools, tmp_path: Path) -> None:
    """A kernel with AXI streams is linked with others, which only their author's host program knows."""
    graph = residual_network()
    options = Options(
        board="u200",
        clock_mhz=None,
        batch=4,
        constraints=NetworkConstraints(interface=InterfaceConstraints(input="stream")),
        style="dataflow",
        calibration=np.random.default_rng(0).normal(0, 1, (2, *graph.inputs[0].shape)),
        precision="auto",
    )
    build(Design(from_graph(graph, options, "test")), tmp_path / "streams", frames=1, csim=False)
    assert not (tmp_path / "streams/host").exists()
    for goal in ("host", "run", "test", "sd_card"):
        text = said(make(tmp_path / "streams", goal, env=tools.environment))
        assert "error: this kernel has AXI streams: link it with the kernels at their other ends" in text
    shown = make(tmp_path / "streams", "help", env=tools.environment).stdout
    assert "write their host program" in shown and "\n  run " not in shown


def test_cosim_refuses_a_path_that_it_would_split(
    builds: dict[str, Path], tools: VendorTools, tmp_path: Path
) -> None:
    build = copy_of(builds["u200"], tmp_path / "a build")
    assert make(build, "csynth", env=tools.environment).returncode == 0
    assert "error: the path of this folder has a space" in said(make(build, "cosim", env=tools.environment))


@pytest.mark.parametrize(
    ("step", "goal", "missing"),
    [
        ("csynth", "csynth", "no *csynth.xml in vitis/conv_hls/"),
        ("cosim", "cosim", "no *_cosim.rpt in vitis/conv_hls/"),
        ("export", "xo", "no vitis/conv.xo, or it is empty"),
        ("link", "link", f"no build_dir.hw.{U200}/conv.link.xclbin, or it is empty"),
        ("package", "xclbin", f"no build_dir.hw.{U200}/conv.xclbin, or it is empty"),
    ],
)
def test_a_step_that_fails(step: str, goal: str, missing: str, u200: Path, tools: VendorTools) -> None:
    """With an error, and without a word or a result: the same goal then goes on from there."""
    done = make(u200, goal, env={**tools.environment, "STAND_IN_FAIL": step})
    assert f"undeclared identifier 'x' in {step}" in done.stdout
    assert done.returncode == 2
    text = said(make(u200, goal, env={**tools.environment, "STAND_IN_SILENT": step}))
    assert f"error: the tool ended as if all was well, but there is {missing}" in text
    before = len(tools.calls())
    assert make(u200, goal, env=tools.environment).returncode == 0
    assert len(tools.calls()) == before + 1


@pytest.mark.parametrize(
    ("step", "goal", "changed"),
    [
        ("csynth", "csynth", "src/conv.h"),
        ("cosim", "cosim", "tb/input.npy"),
        ("export", "xo", "src/conv.h"),
        ("link", "link", "vitis/link.cfg"),
        ("package", "xclbin", "vitis/link.cfg"),
    ],
)
def test_an_earlier_result_is_not_taken_for_a_new_one(
    step: str, goal: str, changed: str, u200: Path, tools: VendorTools
) -> None:
    assert make(u200, goal, env=tools.environment).returncode == 0
    (u200 / "vitis/nested").mkdir()
    (u200 / "vitis/nested/conv.xo").write_text("of another")
    (u200 / changed).touch()
    text = said(make(u200, goal, env={**tools.environment, "STAND_IN_SILENT": step}))
    assert "error: the tool ended as if all was well, but there is no " in text


def test_the_search_for_the_platform_is_not_shown(u200: Path, tools: VendorTools) -> None:
    done = make(u200, "all", "TARGET=hw_emu", env=tools.environment)
    traced = [line for line in done.stderr.splitlines() if line.startswith("+")]
    assert [line.split()[1] for line in traced] == ["vitis_hls", "vitis_hls", "v++", "v++", "emconfigutil"]


@pytest.mark.parametrize("target", ["hw", "hw_emu"])
def test_emconfig_needs_its_tool_and_the_platform(target: str, u200: Path, tmp_path: Path) -> None:
    alone = vendor_tools(tmp_path / "one", names=("emconfigutil",))
    assert make(u200, "emconfig", f"TARGET={target}", env=alone.environment).returncode == 0
    none = vendor_tools(tmp_path / "none", names=()).environment
    text = said(make(u200, "emconfig", f"TARGET={target}", "PLATFORM=other", env=none))
    assert "error: emconfigutil was not found" in text and "error: the platform other was not" in text
    assert "v++" not in text


@pytest.mark.parametrize("goal", ["run", "test", "sd_card", "all"])
def test_words_that_do_not_reach_the_card_are_refused(goal: str, zcu102: Path, tools: VendorTools) -> None:
    for word in ("ARGS=--repeat 10", "DATA=mine"):
        text = said(make(zcu102, goal, "TARGET=hw_emu", word, env=tools.environment))
        assert "ARGS and DATA do not reach the card: leave them out" in text
    name, _, value = word.partition("=")
    assert "do not reach the card" in said(make(zcu102, goal, env={**tools.environment, name: value}))
    assert tools.calls() == []


def test_xrt_has_to_be_where_it_is_said_to_be(u200: Path, tools: VendorTools) -> None:
    env = {**tools.environment, "XILINX_XRT": "/no/such"}
    text = said(make(u200, "host", env=env))
    assert "error: XILINX_XRT is /no/such, which has no folder include" in text


def test_cosim_of_a_kernel_that_runs_by_itself_is_refused(tools: VendorTools, tmp_path: Path) -> None:
    build = streaming("u200", tmp_path / "streams")
    text = said(make(build, "cosim", env=tools.environment))
    assert "error: this kernel runs by itself, without an end" in text
    assert tools.calls() == []
    assert "  cosim        none: this kernel" in make(build, "help", env=tools.environment).stdout
    assert make(build, "xo", env=tools.environment).returncode == 0


# ---------------------------------------------------------------- nothing is expanded


@pytest.mark.parametrize("variable", ["PLATFORM", "TARGET", "XILINX_VITIS", "PLATFORM_REPO_PATHS"])
@pytest.mark.parametrize("how", ["argument", "environment"])
def test_values_expand_nothing(variable: str, how: str, u200: Path, tools: VendorTools) -> None:
    value = "`touch bad1`;touch bad2 '\";touch bad3;'\" $$(touch bad4) & touch bad5"
    if how == "environment":  # in an argument, make's own expressions are for make
        value += "$(shell touch bad6)"
    words = [f"{variable}={value}"] if how == "argument" else []
    env = {**tools.environment, **({variable: value} if how == "environment" else {})}
    for goal in ("help", "xclbin", "clean"):
        make(u200, goal, *words, env=env)
    assert not list(u200.rglob("bad*"))


def test_folders_and_boards_expand_nothing(tools: VendorTools, tmp_path: Path) -> None:
    word = 'x}; touch bad1; [y] $(shell touch bad2) `touch bad3` "\\'
    deployment = CASES["float"].deployment()
    board = deployment.board.model_copy(
        update={"part": word, "title": word, "platform": word, "vitis_max": word}
    )
    build = tmp_path / "it's a $(shell touch bad4) `touch bad5` folder; touch bad6"
    write_files(build, emitted(Deployment(**{**deployment.__dict__, "board": board})))
    for goal in ("help", "csynth", "xclbin", "cleanall"):
        make(build, goal, env=tools.environment)
    assert make(build, "csynth", env=tools.environment).returncode == 0
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith("bad")]


# ---------------------------------------------------------------- hlsgen's own Makefile


@pytest.mark.parametrize(
    ("words", "called"),
    [
        ([], "synth|designs/conv.yaml|--to|xclbin|--target|hw|"),
        (
            [
                "DESIGN=my design's `touch bad`.yaml",
                "BOARD=zcu102",
                "TARGET=hw_emu",
                "TO=all",
                "PLATFORM=p `touch bad`",
            ],
            "synth|my design's `touch bad`.yaml|--to|all|--target|hw_emu|--board|zcu102|"
            "--platform|p `touch bad`|",
        ),
    ],
)
def test_make_bitstream(words: list[str], called: str, tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    hlsgen = tmp_path / ".venv/bin/hlsgen"
    hlsgen.parent.mkdir(parents=True)
    hlsgen.write_text("#!/bin/sh\nprintf '%s|' \"$@\"\n")
    hlsgen.chmod(0o755)
    for name in ("pyproject.toml", ".venv/bin/python", ".venv/demo.stamp"):
        (tmp_path / name).touch()
    env = {name: "" for name in ("DESIGN", "BOARD", "TARGET", "TO", "PLATFORM")} if words else {}
    done = make(tmp_path, "-s", "bitstream", *words, env=env)
    assert (done.returncode, done.stdout) == (0, called), done.stderr
    assert not (tmp_path / "bad").exists()


# ---------------------------------------------------------------- cleaning


def test_clean_keeps_what_takes_hours(u200: Path, tools: VendorTools) -> None:
    host_files = {path for path in u200.rglob("*")}
    assert make(u200, "all", "TARGET=hw_emu", env=tools.environment).returncode == 0
    assert make(u200, "clean").returncode == 0
    assert (u200 / f"build_dir.hw_emu.{U200}/conv.xclbin").is_file()
    assert (u200 / "vitis/conv.xo").is_file()
    assert not (u200 / "host/conv_host").exists()
    (u200 / "synth").mkdir()
    assert make(u200, "cleanall").returncode == 0
    assert {path for path in u200.rglob("*")} == host_files


@pytest.mark.parametrize("board", ["u200", "zcu102"])
@pytest.mark.parametrize("script", ["tools.sh", "check.sh", "run_app.sh"])
def test_scripts_are_posix_shell(script: str, board: str, builds: dict[str, Path]) -> None:
    path = builds[board] / "vitis" / script
    if board == "u200" and script == "run_app.sh":
        assert not path.exists()
        return
    assert subprocess.run(["sh", "-n", path], check=False).returncode == 0
    assert "bash" not in path.read_text()
