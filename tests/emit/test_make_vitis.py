"""The build folder's Makefile on a machine with Vitis, which stand-ins for its tools are."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.build_folders import make, write_build
from tests.support.vendor_tools import PLATFORMS, SYSTEM, VendorTools, vendor_tools
from tests.support.vitis_builds import (
    both_builds,
    build_for_u200,
    build_for_zcu102,
    copy_of,
    said,
    stand_ins,
)

U200, ZCU102 = PLATFORMS
builds = pytest.fixture(scope="module")(both_builds)
u200 = pytest.fixture(build_for_u200)
zcu102 = pytest.fixture(build_for_zcu102)
tools = pytest.fixture(stand_ins)


# ---------------------------------------------------------------- the tools of both generations


@pytest.mark.parametrize(
    ("release", "names", "command"),
    [
        ("2022.2", ("vitis_hls", "v++"), "vitis_hls [csynth] -f run_hls.tcl"),
        ("2024.1", ("vitis_hls", "vitis-run", "v++"), "vitis_hls [csynth] -f run_hls.tcl"),
        ("2024.2", ("vitis_hls", "vitis-run", "v++"), "vitis-run [csynth] --mode hls --tcl run_hls.tcl"),
        ("2025.1", ("vitis-run", "v++"), "vitis-run [csynth] --mode hls --tcl run_hls.tcl"),
        ("2024.2", ("vitis_hls", "v++"), "vitis_hls [csynth] -f run_hls.tcl"),
        ("2025.1.1", ("vitis-run",), "vitis-run [csynth] --mode hls --tcl run_hls.tcl"),
    ],
)
def test_the_tool_of_the_release(
    release: str, names: tuple[str, ...], command: str, u200: Path, tmp_path: Path
) -> None:
    tools = vendor_tools(tmp_path / "bin", release, names=names)
    done = make(u200, "csynth", env=tools.environment)
    assert done.returncode == 0, done.stderr
    assert tools.calls() == [command]
    assert f"Vitis {release[:6]}" in done.stdout
    assert list(u200.glob("vitis/conv_hls/**/csynth.xml"))


def test_cosim_and_xo_go_on_from_csynth(u200: Path, tools: VendorTools) -> None:
    for goal in ("csynth", "csynth", "cosim", "xo", "xo"):
        assert make(u200, goal, env=tools.environment).returncode == 0
    assert tools.calls() == [f"vitis_hls [{step}] -f run_hls.tcl" for step in ("csynth", "cosim", "export")]
    (u200 / "src/conv.h").touch()
    assert make(u200, "xo", env=tools.environment).returncode == 0
    assert len(tools.calls()) == 5, "synthesis and export again"


# ---------------------------------------------------------------- to the bitstream


@pytest.mark.parametrize("target", ["hw", "hw_emu"])
def test_all_of_u200(target: str, u200: Path, tools: VendorTools) -> None:
    done = make(u200, "all", f"TARGET={target}", env=tools.environment)
    assert done.returncode == 0, done.stderr
    folder = f"build_dir.{target}.{U200}"
    platform = f"--platform {tools.folder}/vitis/base_platforms/{U200}/{U200}.xpfm"
    debug = "" if target == "hw" else " -g"
    expected = [
        "vitis_hls [csynth] -f run_hls.tcl",
        "vitis_hls [export] -f run_hls.tcl",
        f"v++ [] -l -t {target} {platform} --save-temps{debug} --config vitis/link.cfg "
        f"--temp_dir _x.{target}.{U200} -o {folder}/conv.link.xclbin vitis/conv.xo",
        f"v++ [] -p {folder}/conv.link.xclbin -t {target} {platform} --save-temps{debug} "
        f"--package.out_dir package.{target}.{U200} -o {folder}/conv.xclbin",
    ]
    if target == "hw_emu":
        expected.append(f"emconfigutil [] {platform} --od {folder}")
    assert tools.calls() == expected
    assert (u200 / folder / "conv.xclbin").is_file()
    assert (u200 / "host/conv_host").is_file()
    assert make(u200, "all", f"TARGET={target}", env=tools.environment).returncode == 0
    assert tools.calls() == expected, "nothing is made twice"


def test_two_foldings_are_two_kernels_of_one_bitstream(tools: VendorTools, tmp_path: Path) -> None:
    build = copy_of(write_build("foldings", tmp_path / "written"), tmp_path / "build")
    for goal in ("cosim", "all"):
        done = make(build, goal, env=tools.environment)
        assert done.returncode == 0, done.stderr
    steps = [f"vitis_hls [{step}] -f run_hls.tcl" for step in ("cosim", "csynth", "export") for _ in range(2)]
    assert sorted(tools.calls()[:6]) == steps, "each once for each kernel"
    (link,) = (call for call in tools.calls() if " -l " in call)
    assert link.endswith(" vitis/conv.xo vitis/conv_b.xo")


@pytest.mark.parametrize(("target", "frames"), [("hw", ""), ("hw_emu", "--frames 2")])
def test_run_and_test(target: str, frames: str, u200: Path, tools: VendorTools) -> None:
    done = make(u200, "test", f"TARGET={target}", env=tools.environment)
    assert done.returncode == 0, done.stderr
    assert f"ran ../build_dir.{target}.{U200}/conv.xclbin {target} ../tb {frames}" in done.stdout
    silent = make(u200, "test", f"TARGET={target}", env={**tools.environment, "STAND_IN_SAYS": "no result"})
    assert "error: the run did not say TEST PASSED" in said(silent)
    (u200 / "host/Makefile").write_text("host:\nrun:\n\tfalse\n")
    assert "error: the run failed; see work/run.log" in said(
        make(u200, "test", f"TARGET={target}", env=tools.environment)
    )


def test_run_needs_no_vitis_once_it_is_linked(u200: Path, tools: VendorTools) -> None:
    assert make(u200, "xclbin", env=tools.environment).returncode == 0
    card = {"PATH": SYSTEM, "XILINX_XRT": tools.environment["XILINX_XRT"], "STAND_IN_SAYS": "TEST PASSED"}
    done = make(u200, "test", "XILINX_VITIS=", env=card)
    assert done.returncode == 0, done.stderr


def test_sd_card(zcu102: Path, tools: VendorTools) -> None:
    done = make(zcu102, "all", env=tools.environment)
    assert done.returncode == 0, done.stderr
    folder, common = f"build_dir.hw.{ZCU102}", tools.folder / "common"
    hls, export, link, card = tools.calls()
    assert link.endswith(f" --temp_dir _x.hw.{ZCU102} -o {folder}/conv.xclbin vitis/conv.xo")
    assert card.startswith(f"v++ [] -p {folder}/conv.xclbin -t hw --platform ")
    assert card.endswith(
        f" --package.out_dir package.hw.{ZCU102} "
        f"--package.rootfs {common}/rootfs.ext4 --package.sd_file {common}/Image "
        f"--package.sd_dir tb --package.sd_file host/conv_host --package.sd_file {folder}/conv.xclbin "
        "--package.sd_file vitis/run_app.sh"
    )
    assert f"SYSROOT={common}/sysroots/cortexa72-cortexa53-xilinx-linux" in done.stdout
    assert make(zcu102, "sd_card", env=tools.environment).returncode == 0
    assert len(tools.calls()) == 4, "nothing is made twice"
    told = make(zcu102, "run", env=tools.environment)
    assert f"write package.hw.{ZCU102}/sd_card.img to an SD card" in told.stdout
    assert "did not say TEST PASSED" in said(make(zcu102, "test", env=tools.environment))


def test_emulation_of_zcu102(zcu102: Path, tools: VendorTools) -> None:
    done = make(zcu102, "test", "TARGET=hw_emu", env=tools.environment)
    assert done.returncode == 0, done.stderr
    assert "launched -run-app run_app.sh" in done.stdout
    card = next(call for call in tools.calls() if call.startswith("v++ [] -p"))
    assert card.endswith(f"--package.sd_file build_dir.hw_emu.{ZCU102}/emconfig.json")


@pytest.mark.parametrize("emulated", [True, False])
def test_run_app(emulated: bool, tmp_path: Path) -> None:
    """What the card starts, as it lies there: a program beside it tells how it was called."""
    card = tmp_path / "my card"
    card.mkdir()
    shutil.copy(write_build("channels", tmp_path / "build") / "vitis/run_app.sh", card)
    (card / "conv_host").write_text('#!/bin/sh\necho "$XCL_EMULATION_MODE $*"\nexit 3\n')
    (card / "conv_host").chmod(0o755)
    if emulated:
        (card / "emconfig.json").touch()
        (card / "tb").mkdir()
    done = subprocess.run(["sh", card / "run_app.sh"], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == ("hw_emu conv.xclbin tb --frames 2" if emulated else "conv.xclbin .")
    assert done.returncode == 3


def test_a_platform_by_its_file(u200: Path, tools: VendorTools, tmp_path: Path) -> None:
    file = tmp_path / "my platforms/it's $(mine).xpfm"
    file.parent.mkdir()
    file.touch()
    done = make(u200, "xclbin", env={**tools.environment, "PLATFORM": str(file)})
    assert done.returncode == 0, done.stderr
    assert f"--platform {file} " in tools.calls()[2]
    assert (u200 / "build_dir.hw.it_s___mine_/conv.xclbin").is_file()


def test_platform_repositories(u200: Path, tools: VendorTools, tmp_path: Path) -> None:
    for name, folder in (("one", "a/one"), ("two", "b/two")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / f"{name}.xpfm").touch()
    env = {**tools.environment, "PLATFORM_REPO_PATHS": f"{tmp_path}/a:{tmp_path}/b/two"}
    for name, folder in (("one", "a/one"), ("two", "b/two")):
        assert make(u200, "link", f"PLATFORM={name}", env=env).returncode == 0
        assert f"--platform {tmp_path}/{folder}/{name}.xpfm" in tools.calls()[-1]


def test_another_platform_of_the_same_name_is_linked_for_anew(
    u200: Path, tools: VendorTools, tmp_path: Path
) -> None:
    files = [tmp_path / folder / "mine.xpfm" for folder in ("a", "b")]
    for file in files:
        file.parent.mkdir()
        file.touch()

    def linked(file: Path, *goals: str) -> int:
        """How often `make` links and makes emconfig.json."""
        before = len(tools.calls())
        done = make(u200, *goals, "TARGET=hw_emu", env={**tools.environment, "PLATFORM": str(file)})
        assert done.returncode == 0, done.stderr
        return sum(f"--platform {file}" in call and " -p " not in call for call in tools.calls()[before:])

    assert linked(files[0], "xclbin", "emconfig") == 2
    assert linked(files[0], "xclbin", "emconfig") == 0
    assert linked(files[1], "xclbin", "emconfig") == 2
    assert linked(files[1], "link") == 0
    # where it only runs, the platform's place does not count
    assert linked(files[0], "run") == 0
