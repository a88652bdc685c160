"""Tcl scripts of Vitis HLS: the kernels that they make, without being run, and what they say that only a run
could tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlsgen.base.errors import DesignError
from hlsgen.schedule.component import Component, Target
from hlsgen.schedule.directives import Directive
from hlsgen.schedule.kernels import schedule_component
from hlsgen.schedule.tcl_script import read_script, solution_scripts

SCRIPT = """# two solutions of a project
set name fir
set root "src/${name}"
open_project -reset ${name}_prj
set_top $name
add_files $root.cpp -cflags "-Iinclude -DTAPS=8 -std=c++14"
add_files "src/taps.cpp src/taps.h"
add_files -tb tb/$name.cpp -cflags "-Itb"
open_solution -reset "fast" -flow_target vitis
set_part {xcu200-fsgd2104-2-e} -tool vivado
create_clock -period 300MHz -name default
set_clock_uncertainty 12.5%
config_compile -unsafe_math_optimizations -pipeline_loops 0
config_interface -m_axi_latency=32 -m_axi_max_widen_bitwidth 128
source ./directives/fast.tcl
csynth_design
open_solution small
set_part xc7z020clg400-1
create_clock -period 10
set_directive_pipeline -II 2 "fir/taps"
csynth_design
exit
"""


def kernels(folder: Path, text: str) -> list[Component]:
    path = folder / "run_hls.tcl"
    path.write_text(text, encoding="utf-8")
    return [one.component() for one in read_script(path)]


def test_a_script_makes_a_kernel_of_each_solution(tmp_path: Path) -> None:
    (tmp_path / "directives").mkdir()
    (tmp_path / "directives/fast.tcl").write_text('set_directive_unroll "fir/taps"\n', encoding="utf-8")
    fast, small = kernels(tmp_path, SCRIPT)
    assert fast.top == small.top == "fir"
    assert (fast.solution, small.solution) == ("fast", "small")
    assert fast.files == small.files == (tmp_path / "src/fir.cpp", tmp_path / "src/taps.cpp")
    assert fast.include_folders == (tmp_path / "include",)
    assert fast.defines == {"TAPS": "8"} and fast.flags == ("-std=c++14",)
    assert fast.target == Target(
        part="xcu200-fsgd2104-2-e",
        clock_ns=1000 / 300,
        uncertainty_ns=12.5 / 100 * (1000 / 300),
        reorders_sums=True,
        axi_latency=32,
        axi_widest_bits=128,
        pipelines_unasked=False,
    )
    assert small.target == Target(part="xc7z020clg400-1", clock_ns=10.0, kernel_flow=False)
    assert fast.directives == (Directive(name="unroll", place="fir/taps"),)
    assert small.directives == (Directive(name="pipeline", place="fir/taps", options={"II": "2"}),)
    assert fast.ignored == small.ignored == ()


OF_HLS4ML = """array set opt {{
    reset 0
}}
set tcldir [file dirname [info script]]
source [file join $tcldir project.tcl]
proc report_time {{ name }} {{ puts $name }}
if {{$opt(reset)}} {{
    open_project -reset ${{project_name}}_prj
}} else {{
    open_project ${{project_name}}_prj
}}
set_top ${{project_name}}
add_files firmware/${{project_name}}.cpp -cflags "-std=c++0x"
if {{$opt(reset)}} {{
    open_solution -reset "solution1"
}} else {{
    open_solution {second}
}}
catch {{config_array_partition -maximum_size 4096}}
config_compile -name_max_length 80
set_part $part
create_clock -period $clock_period -name default
if {{$opt(synth)}} {{
    {inside}
}}
"""
PROJECT = """variable project_name
set project_name "net"
set part "xcu250-figd2104-2L-e"
set clock_period 5
"""


@pytest.mark.parametrize(
    ("inside", "ignored"),
    [
        ("csynth_design", []),
        ("config_compile -pipeline_loops 0", ["{}:23: config_compile in if is not obeyed"]),
    ],
)
def test_branches_and_scripts_in_it(tmp_path: Path, inside: str, ignored: list[str]) -> None:
    """As hls4ml writes it: its values stand in another script, what opens its project in branches."""
    (tmp_path / "project.tcl").write_text(PROJECT, encoding="utf-8")
    (found,) = kernels(tmp_path, OF_HLS4ML.format(second='"solution1"', inside=inside))
    assert found.top == "net" and found.files == (tmp_path / "firmware/net.cpp",)
    assert found.target == Target(part="xcu250-figd2104-2L-e", clock_ns=5.0, kernel_flow=False)
    script = tmp_path / "run_hls.tcl"
    assert [one for one in found.ignored if "array_partition" not in one] == [
        one.format(script) for one in ignored
    ]
    assert f"{script}:19: syn.array_partition.maximum_size is not obeyed" in found.ignored


def test_branches_that_differ_are_named(tmp_path: Path) -> None:
    (tmp_path / "project.tcl").write_text(PROJECT, encoding="utf-8")
    other = '"solution1" -flow_target vitis'
    (found,) = kernels(tmp_path, OF_HLS4ML.format(second=other, inside="csynth_design"))
    assert not found.target.kernel_flow
    assert f"{tmp_path / 'run_hls.tcl'}:14: open_solution in if is not obeyed" in found.ignored


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("config_compile -pipeline_loops $loops", "config_compile, a value of which only a run could tell"),
        ("foreach one [list 1 2] { config_compile -pipeline_loops 0 }", "config_compile in foreach"),
        (
            "proc wide {bits} { config_interface -m_axi_latency $bits }; wide [expr 4*8]",
            "config_interface, a value",
        ),
        (
            "proc fast {one two} { config_compile -pipeline_loops 0 }; fast 1",
            "fast, which has other",
        ),
        (
            "proc fast {one} { config_compile -pipeline_loops 0 }; fast 1 2",
            "fast, which has other",
        ),
        ("proc again {} { again }; again", "what stands so deep"),
        ("proc fast {} { config_compile -pipeline_loops 0 }; if {$x} { fast }", "config_compile in if"),
        ("proc a {} { b }; proc b {} { set_part x }; for {} {1} {} { a }", "set_part in for"),
        ("source gone.tcl", "gone.tcl, which is not there, is not obeyed"),
        ("config_interface -m_axi_latency [expr 4*8]", "config_interface, a value of which"),
        ("if 1 then { config_compile -pipeline_loops 0 }", "config_compile in if"),
    ],
)
def test_what_only_a_run_could_tell_is_named(tmp_path: Path, line: str, said: str) -> None:
    (found,) = kernels(
        tmp_path,
        "set_top f\nadd_files f.cpp\nopen_solution s\nset_part xc7z020clg400-1\ncreate_clock -period 10\n"
        + line,
    )
    assert len(found.ignored) == 1 and found.ignored[0].startswith(f"{tmp_path / 'run_hls.tcl'}:6: {said}")
    assert found.target == Target(part="xc7z020clg400-1", clock_ns=10.0, kernel_flow=False)


def test_a_loop_over_what_is_written_out(tmp_path: Path) -> None:
    """As libraries of the vendor have it: a folder and a clock of their own, and a project for each top."""
    text = """set own [file dirname [file normalize [info script]]]
set from [file join $own src "fir.cpp"]
if {![info exists CLKP]} { set CLKP 8 }
if {![info exists ::own]} { set own nowhere }
foreach top {fir iir} {
    open_project $top
    set_top $top
    add_files "$from ${own}/src/${top}_more.cpp" -cflags "-I[pwd]/include"
    open_solution s
    set_part xc7z020clg400-1
    create_clock -period $CLKP
}
"""
    found = kernels(tmp_path, text)
    assert [one.top for one in found] == ["fir", "iir"]
    for one in found:
        assert one.files == (tmp_path / "src/fir.cpp", tmp_path / f"src/{one.top}_more.cpp")
        assert one.include_folders == (tmp_path / "include",)
        assert one.target.clock_ns == 8.0 and one.ignored == ()


def test_what_is_set_behind_a_branch_is_known(tmp_path: Path) -> None:
    """And what a branch sets is not."""
    text = """set clock 5
set part xcu200-fsgd2104-2-e
if {$fast} { set clock 4 } else { set part_of_it 1 }
set part xc7z020clg400-1
set_top f
add_files f.cpp
set_part $part
create_clock -period $clock
"""
    with pytest.raises(DesignError, match="has no clock"):
        kernels(tmp_path, text)
    (found,) = kernels(tmp_path, text.replace("create_clock", "set clock 6\ncreate_clock"))
    assert found.target == Target(part="xc7z020clg400-1", clock_ns=6.0, kernel_flow=False)


def test_a_variable_that_a_loop_changes_is_not_known(tmp_path: Path) -> None:
    text = (
        "set part xc7z020clg400-1\nforeach p $parts { set part $p }\nset_top f\nadd_files f.cpp\n"
        "open_component f -flow_target vivado\nset_part $part\ncreate_clock -period 10\n"
    )
    with pytest.raises(DesignError, match="compiles nothing"):
        kernels(tmp_path, text)
    moved = text.replace("open_component f -flow_target vivado\n", "").replace(
        "set_top", "open_component f -flow_target vivado\nset_top"
    )
    with pytest.raises(DesignError) as caught:
        kernels(tmp_path, moved)
    (problem,) = caught.value.problems
    assert "has no part" in problem.message and problem.fix == "a command set_part {...}, or --part"


def test_scripts_that_lead_to_themselves_come_to_an_end(tmp_path: Path) -> None:
    (found,) = kernels(
        tmp_path,
        "set_top f\nadd_files f.cpp\nset_part xc7z020clg400-1\ncreate_clock -period 10\nsource run_hls.tcl\n",
    )
    assert found.files == (tmp_path / "f.cpp",)
    assert len(found.ignored) == 1 and "not there" not in found.ignored[0]


@pytest.mark.parametrize(
    "text",
    ["source run_hls.tcl\n" * 40, "foreach a {LIST} {foreach b {LIST} {foreach c {LIST} {puts $c}}}\n"],
)
def test_scripts_that_grow_without_end_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(DesignError, match="comes to more than 20,000 commands"):
        kernels(tmp_path, text.replace("LIST", "x " * 64))


def test_the_scripts_of_a_project(tmp_path: Path) -> None:
    assert solution_scripts(tmp_path) == []
    for name in ("b", "a"):
        (tmp_path / "prj" / name).mkdir(parents=True)
        (tmp_path / "prj" / name / "script.tcl").write_text("csynth_design\n", encoding="utf-8")
    assert solution_scripts(tmp_path / "prj") == []  # no project without its file
    assert [path.parent.name for path in solution_scripts(tmp_path / "prj/a")] == ["a"]
    (tmp_path / "prj/hls.app").write_text("<project/>", encoding="utf-8")
    assert [path.parent.name for path in solution_scripts(tmp_path / "prj")] == ["a", "b"]
    assert [path.parent.name for path in solution_scripts(tmp_path / "prj/b")] == ["b"]


OF_PROCEDURES = """proc begin {{name "one"} {period 10}} {
    global part
    open_solution -reset $name -flow_target vitis
    set_part $part
    create_clock -period $period
}
proc never_called {} { set_part xcu200-fsgd2104-2-e }
proc faster {} { global step; set step 1 }
set part xc7z020clg400-1
set name f
set step 2
open_component -reset component_f -flow_target vivado
set_top $name
add_files $name.cpp
begin
set_directive_pipeline -II $step f/loop
begin two 5
faster
set_directive_pipeline -II $step f/loop
"""


def test_procedures_count_where_they_are_called(tmp_path: Path) -> None:
    """As in AMD's introductory examples: each solution is made by one, with what its parameters are without.
    A component that says no part is no solution of its own; what a procedure sets outside is unknown then."""
    first, second = kernels(tmp_path, OF_PROCEDURES)
    part = "xc7z020clg400-1"
    assert first.target == Target(part=part, clock_ns=10.0)
    assert second.target == Target(part=part, clock_ns=5.0)
    assert [one.top for one in (first, second)] == ["f", "f"]
    assert first.directives == (Directive(name="pipeline", place="f/loop", options={"II": "2"}),)
    assert first.ignored == ()


def test_a_solution_that_says_no_part_is_not_left_out(tmp_path: Path) -> None:
    with pytest.raises(DesignError, match="has no part"):
        kernels(
            tmp_path,
            "open_project p\nset_top f\nadd_files f.cpp\nopen_solution one\nset_directive_unroll f/loop\n"
            "open_solution two\nset_part xc7z020clg400-1\ncreate_clock -period 10\n",
        )


OPENED_TWICE = """open_project p -reset
open_solution -reset solution1 -flow_target vitis
set_top f
add_files f.cpp
open_solution "solution1"
set_part xcu280-fsvh2892-2L-e
create_clock -period 3.33
"""


def test_a_solution_that_is_opened_again_is_the_same(tmp_path: Path) -> None:
    """As the scripts of HeteroCL and Allo open it. One that is begun anew is another."""
    (found,) = kernels(tmp_path, OPENED_TWICE)
    assert found.target == Target(part="xcu280-fsvh2892-2L-e", clock_ns=3.33)
    again = f"{OPENED_TWICE}open_solution -reset solution1\nset_part xc7z020clg400-1\n"
    first, second = kernels(tmp_path, again)
    assert first == found
    assert second.target == Target(part="xc7z020clg400-1", clock_ns=10.0, kernel_flow=False)


@pytest.mark.parametrize("project_file", [True, False])
def test_a_kept_script_finds_its_project_under_another_name(tmp_path: Path, *, project_file: bool) -> None:
    """A clone of a project may have any name, and no file of the project; the script names the old one."""
    folder = tmp_path / r"owner+\1 fir"  # which is no reference to a group
    (folder / "solution1").mkdir(parents=True)
    (folder / "src").mkdir()
    (folder / "src/fir.cpp").write_text("void fir() {}\n", encoding="utf-8")
    if project_file:
        (folder / "hls.app").write_text("<project/>", encoding="utf-8")
    script = folder / "solution1/script.tcl"
    script.write_text(
        'open_project fir\nset_top fir\nadd_files ./fir/src/fir.cpp -cflags "-Ifir/include -I other/fir/"\n'
        'open_solution "solution1"\nset_part xc7z020clg400-1\n',
        encoding="utf-8",
    )
    found = read_script(script)[0].component()
    assert found.files == (folder / "src/fir.cpp",)
    assert found.include_folders == (folder / "include", tmp_path / "other/fir")


def test_a_kept_script_that_was_moved_beside_its_files_names_them_from_there(tmp_path: Path) -> None:
    script = tmp_path / "a/b/script.tcl"
    script.parent.mkdir(parents=True)
    script.write_text(OPENED_TWICE, encoding="utf-8")
    (script.parent / "f.cpp").write_text("void f() {}\n", encoding="utf-8")
    assert read_script(script)[0].component().files == (script.parent / "f.cpp",)


def test_a_single_flag_is_no_option(tmp_path: Path) -> None:
    """As in hanjie1/SBS_ECAL_trigger, whose header has nothing without it."""
    text = OPENED_TWICE.replace("add_files f.cpp", 'add_files f.cpp -cflags "-DCRATE1" -csimflags "-Itb"')
    (found,) = kernels(tmp_path, text)
    assert found.defines == {"CRATE1": "1"} and found.include_folders == ()


def test_files_that_are_taken_out_are_of_the_next_kernel_no_more(tmp_path: Path) -> None:
    """As in Arun-66/AN50_ZCU104, whose script makes the kernels of five layers, each of its own files."""
    text = f"""{OPENED_TWICE}csynth_design
delete_files [get_files]
delete_files [get_files -tb]
add_files "g.cpp h.cpp i.cpp"
remove_files h.cpp
set_top g
open_solution -reset second
set_part xc7z020clg400-1
"""
    first, second = kernels(tmp_path, text)
    assert [path.name for path in first.files] == ["f.cpp"]
    assert [path.name for path in second.files] == ["g.cpp", "i.cpp"] and second.top == "g"
    (told,) = kernels(tmp_path, f"{OPENED_TWICE}delete_files $some\n")
    (ignored,) = told.ignored
    assert "delete_files, a value of which only a run could tell is not obeyed" in ignored


def test_what_is_not_read_is_said_where_something_lacks(tmp_path: Path) -> None:
    """As the scripts of Vitis Libraries, whose settings.tcl each user writes."""
    text = (
        "source settings.tcl\nopen_project p\nset_top f\nadd_files f.cpp\nopen_solution s\nset_part $XPART\n"
    )
    with pytest.raises(DesignError, match=r"has no part; .*settings.tcl, which is not there, is not obeyed"):
        kernels(tmp_path, text)


IN_THE_ENVIRONMENT = """set root ${::env(CORE_ROOT)}
proc add {name} { add_files $name.cpp -cflags "-I$::env(CORE_ROOT)/inc -DFAST" }
set_top f
add f
open_solution s
if {[info exists ::env(PART_NAME)]} { set_part $::env(PART_NAME) } else { set_part xc7z020clg400-1 }
create_clock -period 10
if {![info exists env(FAST_CLOCK)]} { create_clock -period 5 }
"""


def test_variables_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """finn-hlslib's scripts find its headers in $::env(FINN_HLS_ROOT)."""
    core = tmp_path / "core"
    core.mkdir()
    monkeypatch.setenv("CORE_ROOT", str(core))
    monkeypatch.delenv("PART_NAME", raising=False)
    monkeypatch.delenv("FAST_CLOCK", raising=False)
    (found,) = kernels(tmp_path, IN_THE_ENVIRONMENT)
    assert found.include_folders == (core / "inc",) and found.defines == {"FAST": "1"}
    assert (found.target.part, found.target.clock_ns, found.ignored) == ("xc7z020clg400-1", 5.0, ())
    monkeypatch.setenv("PART_NAME", "xczu7ev-ffvc1156-2-e")
    monkeypatch.setenv("FAST_CLOCK", "")
    (found,) = kernels(tmp_path, IN_THE_ENVIRONMENT)
    assert (found.target.part, found.target.clock_ns) == ("xczu7ev-ffvc1156-2-e", 10.0)


def test_what_the_environment_lacks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CORE_ROOT", raising=False)
    (found,) = kernels(tmp_path, IN_THE_ENVIRONMENT)
    assert [one.partition(": ")[2] for one in found.ignored] == [
        "add_files, for which CORE_ROOT is not set in the environment, is not obeyed"
    ]
    (tmp_path / "f.cpp").write_text('#include "core.h"\nvoid f() {}\n', encoding="utf-8")
    with pytest.raises(DesignError, match=r"'core.h' file not found(.|\n)*CORE_ROOT is not set"):
        schedule_component(found)


def test_a_script_whose_files_the_environment_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CORE_ROOT", raising=False)
    with pytest.raises(DesignError, match="compiles nothing; .*add_files, for which CORE_ROOT is not set"):
        kernels(tmp_path, "set_top f\nadd_files $::env(CORE_ROOT)/f.cpp\nopen_solution s\n")


KERNEL = "set_top f\nadd_files f.cpp\nopen_solution s\nset_part xc7z020clg400-1\ncreate_clock -period 10\n"
UNKNOWN = [
    # what a script sets to what only a run could tell is there, or may be
    "set ::env(NOPE) [exec pwd]\nif {![info exists ::env(NOPE)]} {CLOCK 5}",
    "if {$argc} {set ::env(NOPE) 1}\nif {[info exists ::env(NOPE)]} {CLOCK 5}",
    "set n [lindex $argv 0]\nif {![info exists n]} {CLOCK 5}",
    "array set ::env [read $file]\nif {![info exists ::env(NOPE)]} {CLOCK 5}",
    # as it is behind loops and branches
    "while {$x} {set ::env(THERE) 5; break}\nCLOCK $::env(THERE)",
    "while {$x} {array set env {THERE 5}}\nCLOCK $::env(THERE)",
    "if {$x} {set ::env(THERE) 5} else {set ::env(THERE) 6}\nCLOCK $::env(THERE)",
    "set i THERE\nCLOCK $::env($i)",
]
KNOWN = [
    "proc q {} {set ::env(THERE) 5}\nq\nCLOCK $::env(THERE)",
    "proc q {} {global env; set env(THERE) 5}\nq\nCLOCK $::env(THERE)",
    "proc q {} {unset ::env(THERE)}\nq\nif {![info exists ::env(THERE)]} {CLOCK 5}",
    "if {[info exists ::env(THERE)]} {set t 5} else {set t 6}\nCLOCK $t",
    "if {![info exists ::env(NOPE)]} {set ::env(NOPE) 5}\nCLOCK $::env(NOPE)",
    "if {$x} {set t 5} else {set t 5}\nCLOCK $t",
    "unset ::env(THERE)\nif {![info exists ::env(THERE)]} {CLOCK 5}",
]


@pytest.mark.parametrize("lines", UNKNOWN)
def test_what_may_be_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str) -> None:
    """Neither its values of before count, nor that it is not there."""
    monkeypatch.setenv("THERE", "7")
    monkeypatch.delenv("NOPE", raising=False)
    (found,) = kernels(tmp_path, KERNEL + lines.replace("CLOCK", "create_clock -period"))
    assert found.target.clock_ns == 10.0
    assert len(found.ignored) == 1 and "create_clock" in found.ignored[0]
    assert "not set" not in found.ignored[0]


@pytest.mark.parametrize("lines", KNOWN)
def test_what_a_script_makes_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str
) -> None:
    monkeypatch.setenv("THERE", "7")
    monkeypatch.delenv("NOPE", raising=False)
    (found,) = kernels(tmp_path, KERNEL + lines.replace("CLOCK", "create_clock -period"))
    assert (found.target.clock_ns, found.ignored) == (5.0, ())


@pytest.mark.parametrize("line", ["if x else", "if {[info exists ::env(NOPE)]} {set t 5} else", "if", "if x"])
def test_branches_that_were_cut_off_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.delenv("NOPE", raising=False)
    (found,) = kernels(tmp_path, f"{KERNEL}{line}\n")
    assert found.top == "f"


def test_no_script_is_given_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What scripts name stands in messages and reports."""
    monkeypatch.setenv("CI_JOB_TOKEN", "hunter2")
    (found,) = kernels(tmp_path, KERNEL + "set_top $::env(CI_JOB_TOKEN)\n")
    assert found.top == "f" and len(found.ignored) == 1 and "hunter2" not in found.ignored[0]


def test_names_that_no_system_takes_are_of_no_file(tmp_path: Path) -> None:
    (found,) = kernels(tmp_path, KERNEL + f"source {'a' * 300}.tcl\nadd_files {'b' * 5000}.cpp\n")
    assert len(found.files) == 2 and "which is not there" in found.ignored[0]


def test_a_script_sets_a_variable_of_the_environment(tmp_path: Path) -> None:
    """Both of its names are one."""
    (found,) = kernels(
        tmp_path,
        "set ::env(MY_PART) xc7z020clg400-1\nset_top f\nadd_files f.cpp\nopen_solution s\n"
        "set_part $env(MY_PART)\ncreate_clock -period 10\n",
    )
    assert found.target.part == "xc7z020clg400-1"
