"""The OmpSs-2@FPGA applications against the real AIT of PyPI: its flags, its own checks, on both boards.

What AIT starts has stand-ins: vitis_hls answers with a report of the resources that hlsgen models, and
tests/support/stand_in_clang.py does what the compiler's driver does.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from hlsgen.base.output import write_files
from hlsgen.designfile.constraints import WeightConstraints
from hlsgen.targets.board import load_board
from tests.support.build_folders import make, write_build
from tests.support.host_builds import network_design
from tests.support.places import ROOT, TESTS

AIT = shutil.which("ait") or shutil.which("ait", path=str(Path(sys.executable).parent))
BOARDS = ("u200", "zcu102")
CASES = {"u200": "int8", "zcu102": "channels"}
"""Of tests.support.build_folders, by their board."""
HLS_ONLY = "--to_step=HLS --disable_IP_caching --disable_board_support_check"
VITIS_HLS = """#!/bin/sh
if [ "$1" = -version ]; then
    echo "Vitis HLS - High-Level Synthesis from C, C++ and OpenCL v2023.2 (64-bit)"
    exit 0
fi
cat "$1" >> "{folder}/scripts.txt"
top=$(sed -n 's/^set_top //p' "$1")
project=$(sed -n 's/^open_project //p' "$1")
mkdir -p "$project/solution1/syn/report"
cat > "$project/solution1/syn/report/${{top}}_csynth.xml" <<END
<profile><AreaEstimates>
<Resources><DSP>${{USED_DSP:-7}}</DSP></Resources>
<AvailableResources><DSP>{dsp}</DSP></AvailableResources>
</AreaEstimates></profile>
END
"""


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with `ait` and the stand-ins."""
    if AIT is None:
        pytest.skip("ait is not installed: pip install 'hlsgen[deploy]'")
    folder = tmp_path / "bin"
    folder.mkdir()
    stand_in = TESTS / "support" / "stand_in_clang.py"
    clang = f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" "{stand_in}" "$@"\n'
    scripts = {"vivado": "#!/bin/sh\n", "clang++": clang, "ait": f'#!/bin/sh\nexec "{AIT}" "$@"\n'}
    for name, text in scripts.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def run_ait(
    build: Path, tools: Path, board: str, *, target: str = "bitstream-p", flags: str = "", **env: str
) -> subprocess.CompletedProcess[str]:
    """The Makefile's target, as far as the HLS step. flags: of AIT, more than the Makefile's own."""
    vitis_hls = tools / "vitis_hls"
    vitis_hls.write_text(VITIS_HLS.format(folder=tools, dsp=load_board(board).total.dsp))
    vitis_hls.chmod(0o755)
    path = {"PATH": f"{tools}:/usr/bin:/bin"}
    return make(build / "ompss", target, f"AIT_EXTRA_FLAGS={HLS_ONLY} {flags}", env={**path, **env})


def network_build(folder: Path, board: str) -> Path:
    pytest.importorskip("torch")
    from tests.styles.test_task_network import residual

    given = residual("tasks").given
    design = replace(given, board=load_board(board), clock_mhz=load_board(board).clock_mhz)
    inputs = design.sample_inputs(1)
    write_files(folder, design.plan(inputs, design.golden_codes(inputs)))
    return folder


def scripts(tools: Path) -> str:
    return (tools / "scripts.txt").read_text()


@pytest.mark.parametrize("board", BOARDS)
def test_a_layer(tools: Path, tmp_path: Path, board: str) -> None:
    done = run_ait(write_build(CASES[board], tmp_path / "build"), tools, board)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Synthesizing 2 accelerators" in done.stdout
    assert scripts(tools).count(f"set_part {{{load_board(board).part}}}") == 2
    clock = int(load_board(board).clock_mhz)
    assert scripts(tools).count(f"create_clock -period {clock}MHz") == 2
    assert "set_top conv_instance_wrapper\n" in scripts(tools)


@pytest.mark.parametrize("board", BOARDS)
def test_a_network(tools: Path, tmp_path: Path, board: str) -> None:
    build = network_build(tmp_path / "build", board)
    done = run_ait(build, tools, board)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Synthesizing 7 accelerators" in done.stdout
    config = json.loads((build / "ompss/net_ait/ait_config.json").read_text())
    assert config["num_accs"] == 7 and config["num_instances"] == 13
    assert config["task_creation"] and config["deps_hwruntime"]
    placed = config["user_config"]
    if board == "u200":
        assert Path(placed) == (build / "ompss/placement.json").resolve()
        assert config["memory_interleaving_stride"] == 4096
    else:
        assert placed is None and config["memory_interleaving_stride"] == 0
        assert not (build / "ompss/placement.json").exists()


@pytest.mark.parametrize("board", BOARDS)
def test_a_shared_processor(tools: Path, tmp_path: Path, board: str) -> None:
    given = network_design("shared", WeightConstraints()).given
    design = replace(given, board=load_board(board), clock_mhz=load_board(board).clock_mhz)
    inputs = design.sample_inputs(1)
    write_files(tmp_path / "build", design.plan(inputs, design.golden_codes(inputs)))
    done = run_ait(tmp_path / "build", tools, board)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Synthesizing 2 accelerators" in done.stdout
    config = json.loads((tmp_path / "build/ompss/net_ait/ait_config.json").read_text())
    assert config["num_accs"] == 2 and config["num_instances"] == 3
    assert config["task_creation"] and config["deps_hwruntime"]


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ({"HLSGEN_SAME_TYPE": "1"}, "Two accelerators use the same type"),
        ({"HLSGEN_MORE_ACCELERATORS": "15"}, "Max number of accelerator types supported by POM is 16"),
        ({"HLSGEN_NAME": "_conv"}, "'_conv' is an invalid accelerator name"),
        ({"USED_DSP": "1000"}, "Resource utilization over 100%"),
    ],
)
def test_what_ait_refuses(tools: Path, tmp_path: Path, env: Mapping[str, str], message: str) -> None:
    """The stand-ins let AIT's own checks run."""
    done = run_ait(write_build(CASES["zcu102"], tmp_path / "build"), tools, "zcu102", **env)
    assert done.returncode == 2
    assert message in done.stdout


def test_all_flags_are_those_of_ait_8(tools: Path, tmp_path: Path) -> None:
    build = write_build(CASES["u200"], tmp_path / "build")
    options = {"INTERCONNECT_PRIORITIES": "1", "INTERCONNECT_REGSLICES": "1"}
    for target in ("bitstream-i", "bitstream-d"):
        done = run_ait(build, tools, "u200", target=target, **options)
        assert done.returncode == 0, done.stdout + done.stderr
    refused = run_ait(build, tools, "u200", flags="--placement_file=placement.json")
    assert refused.returncode == 2
    assert "unrecognized arguments: --placement_file=placement.json" in refused.stderr


def test_ait_looks_for_the_placement(tools: Path, tmp_path: Path) -> None:
    refused = run_ait(write_build("int8", tmp_path / "build"), tools, "u200", USER_CONFIG="none.json")
    assert refused.returncode == 2 and "argument --user_config: invalid file" in refused.stderr
