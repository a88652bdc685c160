"""The Tcl scripts and configuration files of every kind of design, run with and read by strict stand-ins."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from hlsgen.api.design import load
from hlsgen.base.output import write_files
from tests.support.build_folders import CASES, write_build
from tests.support.places import TESTS
from tests.support.stand_ins.config_files import Refused, kernels_in, read_hls, read_link

STAND_INS = TESTS / "support" / "stand_ins" / "vitis_hls.tcl"
GENERATIONS = ("open_project", "open_component")
ALL_STEPS = "csim csynth cosim export"
FLAGS = "{-std=c++14 -I../src}"
NETWORK = """
name: net
board: {board}
batch: 8
style: {style}
uncertainty: 0.125
model: {{torch: "net.py:make_net"}}
input: {{shape: [2, 6, 6], type: "fixed<8,3>", samples: random}}
precision: "fixed<8,3>"
mapping: {{instances: {instances}}}
"""
NET_PY = """
import torch


def make_net():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Conv2d(2, 4, 3), torch.nn.ReLU(), torch.nn.Conv2d(4, 2, 3))
"""


@dataclass(frozen=True)
class Build:
    """A build folder, and what is in it."""

    folder: Path
    name: str
    kernels: tuple[str, ...]
    part: str
    period: str
    uncertainty: str

    @property
    def tasks(self) -> bool:
        return self.kernels != (self.name,)


def layer_build(folder: Path, case: str, part: str, period: str) -> Build:
    return Build(write_build(case, folder), "conv", ("conv",), part, period, "27%")


def network_build(folder: Path, style: str, board: str, part: str, period: str) -> Build:
    pytest.importorskip("torch")
    folder.mkdir()
    (folder / "net.py").write_text(NET_PY)
    (folder / "net.yaml").write_text(NETWORK.format(board=board, style=style, instances=2))
    design = load(folder / "net.yaml")
    inputs = design.sample_inputs(2)
    write_files(folder, design.style.plan(inputs, design.golden_codes(inputs)))
    kernels = tuple(re.findall(r"^nk=(\w+):", (folder / "vitis/link.cfg").read_text(), re.MULTILINE))
    return Build(folder, "net", kernels, part, period, "12.5%")


@pytest.fixture(scope="module", params=["layer", "layer of zcu102", "network", "network of zcu102", "tasks"])
def build(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """One of every kind of design; the folder's name has a blank in it where the vendor's tools bear that."""
    folder = tmp_path_factory.mktemp("builds") / "build"
    u200, zcu102 = ("xcu200-fsgd2104-2-e", "4.545"), ("xczu9eg-ffvb1156-2-e", "5.000")
    kinds = {
        "layer": lambda: layer_build(folder, "fixed16", *u200),
        "layer of zcu102": lambda: layer_build(folder, "channels", *zcu102),
        "network": lambda: network_build(folder, "dataflow", "u200", *u200),
        "network of zcu102": lambda: network_build(folder, "dataflow", "zcu102", *zcu102),
        "tasks": lambda: network_build(folder, "tasks", "u200", *u200),
    }
    return kinds[request.param]()


def run_tcl(
    build: Build, generation: str, steps: str | None = None, kernels: str | None = None
) -> subprocess.CompletedProcess[str]:
    """run_hls.tcl under tclsh with the stand-ins of a generation, from the folder that users start it in."""
    tclsh = shutil.which("tclsh")
    if tclsh is None:
        pytest.skip("tclsh is not installed")
    env = {name: value for name, value in os.environ.items() if not name.startswith("HLSGEN_")}
    env |= {"HLSGEN_STEPS": steps} if steps is not None else {}
    env |= {"HLSGEN_KERNELS": kernels} if kernels is not None else {}
    return subprocess.run(
        [tclsh, str(STAND_INS), generation, "run_hls.tcl"],
        cwd=build.folder / "vitis",
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


def expected(build: Build, generation: str, steps: str) -> list[str]:
    """The calls of one run over all kernels."""
    data, reset = build.folder.resolve() / "tb", "-reset " if {"csim", "csynth"} & set(steps.split()) else ""
    by_component = generation == "open_component"
    found = []
    for kernel in build.kernels:
        opened = f"open_component {reset}{kernel}_hls -flow_target vitis"
        found.append(opened if by_component else f"open_project {reset}{kernel}_hls")
        found.append(f"add_files ../src/{kernel}.cpp -cflags {FLAGS}")
        found.append(f"add_files -tb ../tb/{build.name}_tb.cpp -cflags {FLAGS}")
        if build.tasks:
            others = [build.name, *(other for other in build.kernels if other != kernel)]
            found += [f"add_files -tb ../src/{other}.cpp -cflags {FLAGS}" for other in others]
        found.append(f"set_top {kernel}")
        if not by_component:
            found.append(f"open_solution {reset}solution1 -flow_target vitis")
        found.append(f"set_part {build.part}")
        found.append(f"create_clock -period {build.period} -name default")
        found.append(f"set_clock_uncertainty {build.uncertainty} default")
        calls = {
            "csim": f"csim_design -argv {data}",
            "csynth": "csynth_design",
            "cosim": f"cosim_design -argv {{{data} 2}}",
            "export": f"export_design -format xo -output {kernel}.xo",
        }
        found += [calls[step] for step in ALL_STEPS.split() if step in steps.split()]
        if build.tasks:
            found.append("close_component" if by_component else "close_project")
    return found


@pytest.mark.parametrize("generation", GENERATIONS)
def test_all_steps(build: Build, generation: str) -> None:
    done = run_tcl(build, generation, ALL_STEPS)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == expected(build, generation, ALL_STEPS)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_without_being_told_steps(build: Build, generation: str) -> None:
    """Everything but co-simulation."""
    done = run_tcl(build, generation)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == expected(build, generation, "csim csynth export")


@pytest.mark.parametrize("generation", GENERATIONS)
def test_steps_go_on_from_the_synthesis_before(build: Build, generation: str) -> None:
    """As the Makefile runs them: each step a run of its own."""
    for steps in ("csynth", "cosim", "export"):
        done = run_tcl(build, generation, steps)
        assert (done.returncode, done.stderr) == (0, ""), steps
        assert done.stdout.splitlines() == expected(build, generation, steps)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_one_kernel_of_several(build: Build, generation: str) -> None:
    if not build.tasks:  # the script of one kernel is not asked which
        assert run_tcl(build, generation, "csynth", "nothing").returncode == 0
        return
    kernel = build.kernels[-1]
    done = run_tcl(build, generation, "csynth", kernel)
    assert done.returncode == 0
    assert [line.split()[1] for line in done.stdout.splitlines() if line.startswith("set_top")] == [kernel]
    wrong = run_tcl(build, generation, "csynth", "nothing")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "error: HLSGEN_KERNELS has no kernel 'nothing'" in wrong.stderr
    assert " ".join(wrong.stderr.split()).endswith(f"the kernels are {' '.join(build.kernels)}")


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("steps", ["synth", "csim [exit]", "csynth {", "$steps"])
def test_unknown_steps_are_refused(build: Build, steps: str, generation: str) -> None:
    done = run_tcl(build, generation, steps)
    assert (done.returncode, done.stdout) == (2, "")
    assert "error: HLSGEN_STEPS has no step '" in done.stderr


# ---- the stand-ins refuse ----------------------------------------------------------------------------------

EDITS = {
    "an unknown command": ("csynth_design\n", "csynth\n", 'invalid command name "csynth"'),
    "an unknown option": ("-flow_target vitis", "-flow vitis", "has no option -flow"),
    "a flow there is not": ("-flow_target vitis", "-flow_target xo", "is vitis or vivado"),
    "a source there is not": ("../src/conv.cpp", "../src/con.cpp", "there is no file ../src/con.cpp"),
    "a folder there is not": ("-I../src", "-I../source", "there is no folder for -I../source"),
    "a top there is not": ("set_top conv\n", "set_top con\n", "no source defines con"),
    "no top": ("set_top conv\n", "", "set_top was not called"),
    "no part": ("set_part {xcu200-fsgd2104-2-e}\n", "", "set_part was not called"),
    "a part there is not": ("{xcu200-fsgd2104-2-e}", "u200", "u200 is no part"),
    "no clock": ("create_clock -period 4.545 -name default\n", "", "create_clock was not called"),
    "a period in words": ("-period 4.545", "-period fast", "no period is fast"),
    "no share": ("set_clock_uncertainty 27%", "set_clock_uncertainty", "takes a share and a clock"),
    "a share in words": ("set_clock_uncertainty 27%", "set_clock_uncertainty much", "no uncertainty is much"),
    "no testbench": (
        'add_files -tb ../tb/conv_tb.cpp -cflags "-std=c++14 -I../src"\n', "", "there is no testbench"
    ),
    "data there are not": ("[file normalize ../tb]", "[file normalize ../src]", "there are no data in"),
    "data of a relative path": ("[file normalize ../tb]", "../tb", "simulations run elsewhere"),
    "a format there is not": ("-format xo", "-format xclbin", "-format is ip_catalog, xo"),
    "an ending that is not": ("-output conv.xo", "-output conv.zip", "must end in .xo"),
    "no synthesis before": ("    csynth_design\n", "    puts nothing\n", "there is no synthesis"),
    "an exit that is missing": ("\nexit\n", "\n", ""),
}  # fmt: skip


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("edit", list(EDITS))
def test_a_wrong_script_is_refused(edit: str, generation: str, tmp_path: Path) -> None:
    before, after, said = EDITS[edit]
    build = layer_build(tmp_path / "build", "fixed16", "xcu200-fsgd2104-2-e", "4.545")
    script = build.folder / "vitis" / "run_hls.tcl"
    text = script.read_text()
    assert before in text
    script.write_text(text.replace(before, after))
    done = run_tcl(build, generation, ALL_STEPS)
    if said:
        assert done.returncode == 1 and said in done.stderr
    else:
        assert done.stdout.endswith("it did not exit\n")


# ---- configuration files -----------------------------------------------------------------------------------


def test_settings_of_every_kernel(build: Build) -> None:
    names = [f"{kernel}.cfg" for kernel in build.kernels] if build.tasks else ["hls_config.cfg"]
    assert sorted(path.name for path in (build.folder / "vitis").glob("*.cfg")) == sorted(
        [*names, "link.cfg"]
    )
    for kernel, name in zip(build.kernels, names, strict=True):
        found = read_hls(build.folder / "vitis" / name)
        values = {key: value for _, key, value in found}
        assert (values["part"], values["syn.top"]) == (build.part, kernel)
        assert values["clock"] == f"{1000 / float(build.period):.0f}MHz"
        assert values["clock_uncertainty"] == build.uncertainty
        assert values["package.output.file"] == f"{kernel}.xo"
        named = {value for _, key, value in found if key == "tb.file"}
        assert f"../tb/{build.name}_tb.cpp" in named
        assert {f"../tb/{path.name}" for path in (build.folder / "tb").glob("*.npy")} <= named
        others = {f"../src/{other}.cpp" for other in (build.name, *build.kernels) if other != kernel}
        assert {value for value in named if "/src/" in value} == (others if build.tasks else set())


def test_link_configuration(build: Build) -> None:
    kernels = {name: kernel for name, kernel in kernels_in((build.folder / "src").glob("*.cpp")).items()}
    assert set(kernels) == set(build.kernels)
    linked = read_link(build.folder / "vitis" / "link.cfg", kernels)
    assert len(linked.units) >= 2
    assert all(re.fullmatch(rf"{kernel}_\d+", unit) for unit, kernel in linked.units.items())
    if "zu9" in build.part:
        assert set(linked.hertz) == set(linked.units) and not linked.slr and not linked.banks
        return
    assert set(linked.slr) == set(linked.units)
    for unit, kernel in linked.units.items():
        ports = {port.removeprefix("m_axi_") for one, port in linked.banks if one == unit}
        assert ports == kernels[kernel].bundles


LINK_EDITS = {
    "a kernel there is not": ("nk=conv:", "nk=con:"),
    "one name too few": (":conv_1.conv_2.conv_3", ":conv_1.conv_2"),
    "a unit there is not": ("slr=conv_3:", "slr=conv_4:"),
    "a region there is not": (":SLR0\n", ":SLR9\n"),
    "a port there is not": ("m_axi_gmem_input:", "m_axi_gmem_inputs:"),
    "a bank there is not": (":DDR[", ":SRAM["),
    "a section there is not": ("[connectivity]", "[connect]"),
    "a key there is not": ("kernel_frequency=", "frequency="),
    "a step there is not": ("STEPS.ROUTE_DESIGN", "STEPS.ROUTE"),
}


@pytest.mark.parametrize("edit", list(LINK_EDITS))
def test_a_wrong_link_configuration_is_refused(edit: str, tmp_path: Path) -> None:
    before, after = LINK_EDITS[edit]
    folder = write_build("fixed16", tmp_path / "build")
    kernels = kernels_in((folder / "src").glob("*.cpp"))
    path = folder / "vitis" / "link.cfg"
    read_link(path, kernels)
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after))
    with pytest.raises(Refused):
        read_link(path, kernels)


HLS_EDITS = {
    "a key there is not": ("syn.top=", "syn.topp="),
    "a file there is not": ("tb.file=../tb/golden.npy", "tb.file=../tb/golden.npz"),
    "a top there is not": ("syn.top=conv", "syn.top=con"),
    "a folder there is not": ("-I../src", "-I../sources"),
    "a clock in words": ("clock=220MHz", "clock=fast"),
    "a share in words": ("clock_uncertainty=27%", "clock_uncertainty=0.27"),
    "a key twice": ("flow_target=vitis", "flow_target=vitis\nflow_target=vitis"),
    "no part": ("part=xcu200-fsgd2104-2-e\n", ""),
}


@pytest.mark.parametrize("edit", list(HLS_EDITS))
def test_wrong_settings_are_refused(edit: str, tmp_path: Path) -> None:
    before, after = HLS_EDITS[edit]
    path = write_build("fixed16", tmp_path / "build") / "vitis" / "hls_config.cfg"
    read_hls(path)
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after))
    with pytest.raises(Refused):
        read_hls(path)


def test_every_case_of_a_layer_has_settings_that_are_read(tmp_path: Path) -> None:
    for name in CASES:
        folder = write_build(name, tmp_path / name)
        settings = {path.name for path in (folder / "vitis").glob("*.cfg")} - {"link.cfg"}
        assert len(settings) == (2 if name == "foldings" else 1)
        for one in settings:
            read_hls(folder / "vitis" / one)
        read_link(folder / "vitis" / "link.cfg", kernels_in((folder / "src").glob("*.cpp")))
