"""hlsgen schedule: what it prints, one JSON document, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import failure, run, working_folder
from tests.support.schedule_ir import needs_llvm

KERNEL = """void {name}(const int a[64], int b[64]) {{
#pragma HLS interface ap_memory port=a
#pragma HLS interface ap_memory port=b
work:
    for (int i = 0; i < 60; ++i) {{
#pragma HLS pipeline II=1
        b[i] = {value};
    }}
}}
"""
CONFIG = """part=xcu200-fsgd2104-2-e
[hls]
clock=200MHz
syn.file={name}.cpp
syn.top={name}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = working_folder(tmp_path, monkeypatch)
    write(folder, "right", "a[i] + 1")
    write(folder, "slow", "a[i] + a[i + 1] + a[i + 2]")
    write(folder, "wrong", "undeclared")
    return folder


def write(folder: Path, name: str, value: str) -> None:
    (folder / f"{name}.cpp").write_text(KERNEL.format(name=name, value=value), encoding="utf-8")


def hide(package: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another package of that name comes first, which holds nothing."""
    (folder / "empty" / package).mkdir(parents=True)
    (folder / "empty" / package / "__init__.py").write_text(
        "raise ImportError('not installed')", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(folder / "empty")


def printed(code: int, *words: str) -> str:
    result = run("schedule", *words)
    assert result.exit_code == code, result.output
    return result.stdout


def documented(code: int, *words: str) -> Any:
    """The one document that it prints."""
    result = run("schedule", *words, "--json")
    assert (result.exit_code, result.stderr) == (code, ""), result.output
    return json.loads(result.stdout)


@needs_llvm
def test_a_kernel_that_meets_its_interval() -> None:
    said = printed(0, "right.cpp")
    assert "work right.cpp:5" in said
    assert "shown" in said
    assert "is asked for" not in said
    assert "errors measured on" in said and "the depth is off by" in said


@needs_llvm
def test_a_kernel_that_does_not() -> None:
    said = printed(1, "slow.cpp", "--verbose")
    assert "work slow.cpp:5: II 2 where 1 is asked for: 3 reads and 0 writes of a bank of a" in said
    assert "a: 1 banks of bram; the busiest: 3 reads, 0 writes" in said


@needs_llvm
def test_it_is_one_document() -> None:
    (kernel,) = documented(1, "slow.cpp", "--clock", "200MHz", "--uncertainty", "10%")["kernels"]
    assert (kernel["kernel"], kernel["part"]) == ("slow", "xcu200-fsgd2104-2-e")
    assert (kernel["clock_ns"], kernel["budget_ns"]) == (5.0, 4.5)
    (loop,) = kernel["loops"]
    assert (loop["place"], loop["label"], loop["trips"]) == ("slow.cpp:5", "work", 60)
    assert (loop["ii"], loop["ii_target"], loop["ii_between"], loop["known"]) == (2, 1, [2, 2], "shown")
    assert loop["operations"]["load 32"] == 3


@needs_llvm
def test_a_folder_of_configurations(folder: Path) -> None:
    (folder / "build" / "vitis").mkdir(parents=True)
    for name in ("right", "slow"):
        (folder / "build" / "vitis" / f"{name}.cfg").write_text(CONFIG.format(name=name), encoding="utf-8")
        (folder / "build" / "vitis" / f"{name}.cpp").write_bytes((folder / f"{name}.cpp").read_bytes())
    both = documented(1, "build")["kernels"]
    assert [(one["kernel"], one["clock_ns"]) for one in both] == [("right", 5.0), ("slow", 5.0)]
    assert [one["loops"][0]["ii"] for one in both] == [1, 2]


@needs_llvm
def test_a_kernel_of_several_files(folder: Path) -> None:
    (folder / "add.h").write_text("int add(int x);\n#define READS STEP\n", encoding="utf-8")
    (folder / "add.cpp").write_text('#include "add.h"\nint add(int x) { return x + 3; }\n', encoding="utf-8")
    write(folder, "caller", "add(a[READS * i])")
    source = (folder / "caller.cpp").read_text(encoding="utf-8")
    (folder / "caller.cpp").write_text("#include <add.h>\n" + source, encoding="utf-8")
    (kernel,) = documented(0, "caller.cpp", "add.cpp", "--top", "caller", "-I", ".", "-D", "STEP=1")[
        "kernels"
    ]
    assert kernel["loops"][0]["unknown_calls"] == []
    (kernel,) = documented(1, "caller.cpp", "--top", "caller", "-I", ".", "-D", "STEP=1")["kernels"]
    (loop,) = kernel["loops"]
    assert (loop["ii"], loop["known"], len(loop["unknown_calls"])) == (None, "undecided", 1)


@needs_llvm
def test_cpp_that_does_not_compile_is_shown_with_its_place() -> None:
    result = run("schedule", "wrong.cpp")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "wrong.cpp:7:16: error:" in result.stderr
    assert "undeclared" in result.stderr


@needs_llvm
def test_a_kernel_that_is_not_there() -> None:
    assert "define no function absent" in failure(1, "schedule", "right.cpp", "--top", "absent")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--clock", "soon"), "'soon' is no time"),
        (("--clock", "300"), "the clock 300 has no unit"),
        (("--clock", "3.3"), "fix: 3.3MHz or 3.3ns"),
        (("--clock", "0MHz"), "'0MHz' is no time"),
        (("--clock", "1e999ns"), "a clock of inf ns"),
        (("--uncertainty", "some"), "'some' is no time"),
        (("--uncertainty", "100%"), "3.33333 ns are kept back"),
        (("--part", "xc-nonsense"), "nothing is known of a part 'xc-nonsense'"),
        (("--tool-version", "newest"), "'newest' is no release"),
    ],
)
def test_what_is_wrong_about_the_target_is_said(words: tuple[str, ...], message: str) -> None:
    assert message in failure(1, "schedule", "right.cpp", *words)


@needs_llvm
@pytest.mark.parametrize("nothing", ["0", "0%", "0ns"])
def test_nothing_may_be_kept_back_of_the_clock(nothing: str) -> None:
    (kernel,) = documented(0, "right.cpp", "--clock", "4ns", "--uncertainty", nothing)["kernels"]
    assert (kernel["clock_ns"], kernel["budget_ns"]) == (4.0, 4.0)


def test_a_folder_without_kernels(folder: Path) -> None:
    (folder / "nothing").mkdir()
    assert "holds no configuration of a kernel" in failure(1, "schedule", "nothing")
    (folder / "link.cfg").write_text("[connectivity]\n", encoding="utf-8")
    assert "names no syn.top" in failure(1, "schedule", "link.cfg")


def test_a_file_that_is_not_there_is_wrong_usage() -> None:
    result = run("schedule", "absent.cpp")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "absent.cpp" in result.stderr
    assert run("schedule").exit_code == 2


@pytest.mark.parametrize("package", ["ziglang", "llvmlite"])
def test_without_its_packages_it_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    hide(package, folder, monkeypatch)
    said = failure(4, "schedule", "right.cpp")
    assert package in said
    assert "pip install 'hlsgen[schedule]'" in said


@needs_llvm
def test_directives_of_a_script_and_of_a_configuration(folder: Path) -> None:
    (folder / "d.tcl").write_text(
        'set_directive_array_partition -type complete "slow" a\nset_directive_unroll "slow/none"\n'
        "exec touch run\n",
        encoding="utf-8",
    )
    result = run("schedule", "slow.cpp", "--directives", "d.tcl")
    assert result.exit_code == 0, result.output
    assert (
        "d.tcl:2: directive unroll slow/none: slow has no loop none; it counts for nothing" in result.output
    )
    assert not (folder / "run").exists()
    text = CONFIG.format(name="slow") + "syn.directive.array_partition=slow a type=complete\n"
    (folder / "slow.cfg").write_text(text, encoding="utf-8")
    (kernel,) = documented(0, "slow.cfg")["kernels"]
    assert (kernel["kernel"], kernel["clock_ns"]) == ("slow", 5.0)
    assert kernel["loops"][0]["ii"] == 1 and kernel["unplaced_directives"] == []
    assert "no directive" in failure(1, "schedule", "slow.cpp", "--directives", "slow.cpp")


@needs_llvm
def test_options_of_a_configuration_are_obeyed_or_named(folder: Path) -> None:
    """Words that lie apart are asked for one by one, and wait for the memory behind their port."""
    (folder / "port.cpp").write_text(
        "void port(const int *in, int out[64]) {\n"
        "#pragma HLS interface m_axi port=in\n"
        "    for (int i = 0; i < 64; i++) out[i] = in[2 * i];\n"
        "}\n",
        encoding="utf-8",
    )
    plain = CONFIG.format(name="port")
    asked = plain + "syn.interface.m_axi_latency=64\nsyn.compile.pipeline_loops=6\nsyn.op=op:mul impl:dsp\n"
    depths = []
    for text in (plain, asked):
        (folder / "port.cfg").write_text(text, encoding="utf-8")
        (kernel,) = documented(0, "port.cfg")["kernels"]
        depths.append(kernel["loops"][0]["depth_estimated"])
    assert depths[1] - depths[0] == 63
    line = asked.splitlines().index("syn.compile.pipeline_loops=6") + 1
    assert kernel["ignored_options"] == [
        f"port.cfg:{line}: syn.compile.pipeline_loops is not obeyed",
        f"port.cfg:{line + 1}: syn.op is not obeyed",
    ]
    assert "pipeline_loops is not obeyed" in run("schedule", "port.cfg").stderr
    (folder / "port.cfg").write_text(plain + "syn.interface.m_axi_latency=long\n", encoding="utf-8")
    assert "is 'long', which is no whole number" in failure(1, "schedule", "port.cfg")


SCRIPT = """open_project prj
set_top {name}
add_files {name}.cpp
open_solution solution1
set_part xczu7ev-ffvc1156-2-e
create_clock -period 5
{more}
"""
UNASKED = """void plain(const int a[64], int b[64]) {
#pragma HLS interface ap_memory port=a
#pragma HLS interface ap_memory port=b
rows:
    for (int i = 0; i < 60; ++i)
        b[i] = a[i] + 1;
asked:
    for (int i = 0; i < 60; ++i) {
#pragma HLS pipeline
        b[i] += a[i + 4];
    }
}
"""


@needs_llvm
def test_a_script_of_the_tool(folder: Path) -> None:
    """What it says goes for the kernel, and options go before it."""
    (folder / "run_hls.tcl").write_text(SCRIPT.format(name="right", more="csynth_design"), encoding="utf-8")
    (kernel,) = documented(0, "run_hls.tcl")["kernels"]
    assert (kernel["kernel"], kernel["part"], kernel["clock_ns"]) == ("right", "xczu7ev-ffvc1156-2-e", 5.0)
    (kernel,) = documented(0, "run_hls.tcl", "--part", "xcu200-fsgd2104-2-e", "--clock", "8ns")["kernels"]
    assert (kernel["part"], kernel["clock_ns"]) == ("xcu200-fsgd2104-2-e", 8.0)
    (folder / "away").mkdir()
    (folder / "away/run_hls.tcl").write_text(SCRIPT.format(name="right", more=""), encoding="utf-8")
    assert documented(0, "away/run_hls.tcl")["kernels"][0]["kernel"] == "right"  # as it is run from here
    gone = failure(1, "schedule", written(folder, SCRIPT.format(name="gone", more="")))
    assert "gone.cpp, which is to be compiled, is not there" in gone
    assert "run_hls.tcl compiles nothing" in failure(1, "schedule", written(folder, "set_top right\n"))
    assert "opens a brace that nothing closes" in failure(1, "schedule", written(folder, "set_part {\n"))


@needs_llvm
def test_brackets_in_names_are_no_markup(folder: Path) -> None:
    """Names of solutions and folders are other people's: [/b] ended in a traceback of what prints tables."""
    (folder / "[red]").mkdir()
    (folder / "[red]/right.cpp").write_bytes((folder / "right.cpp").read_bytes())
    lines = ["open_project p", "set_top right", "add_files right.cpp", 'open_solution "s[/b]"']
    (folder / "[red]/run_hls.tcl").write_text("\n".join([*lines, "set_part xczu7ev-ffvc1156-2-e", ""]))
    found = printed(0, "[red]/run_hls.tcl")
    assert "right (s[/b]): xczu7ev-ffvc1156-2-e, 10.00 ns" in " ".join(found.split())


def written(folder: Path, text: str) -> str:
    (folder / "run_hls.tcl").write_text(text, encoding="utf-8")
    return "run_hls.tcl"


@needs_llvm
def test_a_solution_of_the_tool(folder: Path) -> None:
    """Its script names files from the folder around the project."""
    solution = folder / "prj/solution1"
    solution.mkdir(parents=True)
    (folder / "prj/hls.app").write_text("<project/>", encoding="utf-8")
    more = "source ./prj/solution1/directives.tcl"
    (folder / "plain.cpp").write_text(UNASKED, encoding="utf-8")
    (solution / "script.tcl").write_text(SCRIPT.format(name="plain", more=more), encoding="utf-8")
    (solution / "directives.tcl").write_text('set_directive_pipeline -II 2 "plain/rows"\n', encoding="utf-8")
    for name in ("prj/solution1", "prj"):
        (kernel,) = documented(0, name)["kernels"]
        assert {loop["label"]: loop["ii"] for loop in kernel["loops"]} == {"rows": 2, "asked": 1}


@needs_llvm
def test_a_tool_that_pipelines_nothing_unasked(folder: Path) -> None:
    (folder / "plain.cpp").write_text(UNASKED, encoding="utf-8")
    for more, labels in (("", {"rows", "asked"}), ("config_compile -pipeline_loops 0", {"asked"})):
        written(folder, SCRIPT.format(name="plain", more=more))
        (kernel,) = documented(0, "run_hls.tcl")["kernels"]
        assert {loop["label"] for loop in kernel["loops"]} == labels
        assert kernel["ignored_options"] == kernel["moved_files"] == []


@needs_llvm
def test_options_go_before_a_configuration(folder: Path) -> None:
    (folder / "right.cfg").write_text(CONFIG.format(name="right"), encoding="utf-8")
    for name in ("right.cfg", "."):
        (kernel,) = documented(0, name, "--clock", "10ns", "--tool-version", "2022.1")["kernels"]
        assert (kernel["clock_ns"], kernel["version"]) == (10.0, "2022.1")
