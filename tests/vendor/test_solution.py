"""A solution folder of Vitis HLS: what is read of each of its files, and what damaged or hostile ones do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hlsgen.base.errors import DesignError
from hlsgen.designfile import tcl_commands
from hlsgen.designfile.tcl_commands import commands
from hlsgen.vendor.project_files import Finder
from hlsgen.vendor.report import Range
from hlsgen.vendor.schedule_report import SourcePlace, places_of, read_schedule
from hlsgen.vendor.solution import Directive, find_solutions, read_solution
from hlsgen.vendor.synthesis_messages import read_messages
from tests.support.vendor_solutions import SCHEDULE, VIOLATIONS, csynth, write_solution

SCHEDULE_FILE = "prj/solution1/.autopilot/db/sums_Pipeline_rows_columns.verbose.sched.rpt"


def test_what_was_compiled_and_how(tmp_path: Path) -> None:
    folder = write_solution(tmp_path)
    assert find_solutions(tmp_path) == [folder]
    found = read_solution(folder, tmp_path)
    assert found.sources == (tmp_path / "src/sums.cpp",) and found.missing == ()
    assert found.include_folders == (tmp_path / "include",)
    assert found.flags.defines == ("ROWS=8",) and found.flags.others == ("-std=c++14",)
    assert (found.report.top, found.report.part) == ("sums", "xck26-sfvc784-2LV-c")
    assert (found.report.version, found.report.flow_target) == ("2022.1", "vivado")
    assert (found.report.clock_ns, found.uncertainty_ns, found.budget_ns) == (10.0, 2.5, 7.5)
    assert found.options == {
        "syn.compile.pipeline_loops": "64",
        "syn.interface.m_axi_latency": "64",
        "clock_uncertainty": "2.5",
    }
    assert found.directives == (
        Directive(name="pipeline", place="sums/columns", options={"II": "2"}),
        Directive(
            name="array_partition",
            place="sums",
            variable="band",
            options={"dim": "1", "factor": "4", "type": "cyclic"},
        ),
        Directive(name="inline", place="scale", options={"off": ""}),
    )


def test_how_it_was_scheduled(tmp_path: Path) -> None:
    found = read_solution(write_solution(tmp_path), tmp_path)
    (loop,) = found.loops
    assert (loop.module, loop.name) == ("sums_Pipeline_rows_columns", "rows_columns")
    assert (loop.ii_target, loop.ii, loop.depth, loop.estimated_ns) == (2, 3, 9, 6.912)
    assert (loop.trip_count, loop.latency) == (Range(low=128, high=128), Range(low=390, high=390))
    assert loop.places == (SourcePlace(file="src/sums.cpp", line=6),)
    assert loop.automatic and loop.cause == "recurrence" and "distance = 1" in loop.said
    scale = next(module for module in found.report.modules if module.name == "scale")
    assert (scale.pipeline, scale.depth, scale.interval) == ("yes", 9, Range(low=1, high=1))


def test_places_from_the_violations_of_newer_versions(tmp_path: Path) -> None:
    changes = {"prj/solution1/syn/report/csynth.xml": csynth(violations=VIOLATIONS), SCHEDULE_FILE: None}
    (loop,) = read_solution(write_solution(tmp_path, changes), tmp_path).loops
    assert loop.places == (SourcePlace(file="src/sums.cpp", line=6), SourcePlace(file="src/top.cpp", line=40))
    assert loop.ii_target is None


def test_of_a_log_the_last_run_counts(tmp_path: Path) -> None:
    folder = write_solution(tmp_path)
    messages = read_messages(folder / "solution1.log")
    assert [one.loop for one in messages.automatic] == ["columns"]


@pytest.mark.parametrize("without", [(), ("prj/hls.app",), ("prj/hls.app", "prj/solution1/script.tcl")])
def test_sources_are_found_in_whichever_list_there_is(tmp_path: Path, without: tuple[str, ...]) -> None:
    data = {"prj/solution1/solution1_data.json": '{"Files": {"CSource": ["../../src/sums.cpp"]}}'}
    folder = write_solution(tmp_path, {**data, **dict.fromkeys(without)})
    assert read_solution(folder, tmp_path).sources == (tmp_path / "src/sums.cpp",)


def test_a_name_of_another_machine_is_found_by_its_end(tmp_path: Path) -> None:
    app = '<project><files><file name="D:\\work\\me\\src\\sums.cpp" tb="false"/></files></project>'
    folder = write_solution(tmp_path, {"prj/hls.app": app})
    assert read_solution(folder, tmp_path).sources == (tmp_path / "src/sums.cpp",)


@pytest.mark.parametrize("flags", ["syn.cflags=-DROWS=8", "syn.file_cflags=src/sums.cpp,-DROWS=8"])
def test_the_configuration_of_newer_components(tmp_path: Path, flags: str) -> None:
    configuration = f"part=xck26\n[hls]\nsyn.file=src/sums.cpp\n{flags}\n"
    changes = {"prj/hls.app": None, "prj/solution1/script.tcl": None, "prj/hls_config.cfg": configuration}
    found = read_solution(write_solution(tmp_path, changes), tmp_path)
    assert found.sources == (tmp_path / "src/sums.cpp",) and found.flags.defines == ("ROWS=8",)


@pytest.mark.parametrize(
    ("place", "component", "top", "found"),
    [
        ("prj/hls_config.cfg", False, "", True),
        ("elsewhere/mine.cfg", False, "sums", False),
        ("elsewhere/mine.cfg", True, "", True),
        ("mine.cfg", False, "sums", True),
        ("mine.cfg", False, "other", False),
        ("../mine.cfg", True, "sums", False),
    ],
)
def test_flags_that_a_configuration_alone_has(
    tmp_path: Path, place: str, component: bool, top: str, found: bool
) -> None:
    """A list of the sources has no flags: the configuration has them that the component names, or one near
    it, or one further up of the same top; none outside of the root."""
    root = tmp_path / "checkout"
    said = "syn.file=/home/me/src/sums.cpp\nsyn.cflags=-DROWS=9 -I/home/me/include\n"
    said += f"syn.compile.pipeline_loops=0\n{f'syn.top={top}' if top else ''}\n"
    folder = write_solution(
        root,
        {
            "prj/hls.app": None,
            "prj/solution1/script.tcl": None,
            "prj/solution1/directives.tcl": None,
            "prj/solution1/solution1_data.json": '{"Files": {"CSource": ["src/sums.cpp"]}}',
        },
    )
    moved = root / "deep/below"
    moved.mkdir(parents=True)
    folder.parent.rename(moved / "prj")
    config = (moved if place.startswith("prj") else root) / place
    config.parent.mkdir(exist_ok=True)
    config.write_text(said, encoding="utf-8")
    if component:
        named = {"configuration": {"configFiles": [f"../../../{place}", 7]}}
        (moved / "prj/vitis-comp.json").write_text(json.dumps(named), encoding="utf-8")
    solution = read_solution(moved / "prj/solution1", root)
    assert solution.sources == (root / "src/sums.cpp",)
    assert solution.flags.defines == (("ROWS=9",) if found else ())
    assert solution.include_folders == ((root / "include",) if found else ())
    assert solution.options.get("syn.compile.pipeline_loops") == ("0" if found else None)


def test_a_damaged_component_is_left_out(tmp_path: Path) -> None:
    changes = dict.fromkeys(["prj/hls.app", "prj/solution1/script.tcl"])
    folder = write_solution(tmp_path, changes)
    for text in ("{", "[]", '{"configuration": {"configFiles": "a.cfg"}}', '{"configuration": 1}'):
        (folder / "vitis-comp.json").write_text(text, encoding="utf-8")
        assert read_solution(folder, tmp_path).sources == ()


def test_no_name_leads_out_of_the_root(tmp_path: Path) -> None:
    """Not upwards, not by an absolute name, not by a link."""
    root = tmp_path / "checkout"
    outside = tmp_path / "secret.cpp"
    outside.write_text("int secret;\n")
    app = "<project><files>{}</files></project>".format(
        "".join(f'<file name="{name}" tb="false"/>' for name in ("../secret.cpp", outside, "src/link.cpp"))
    )
    folder = write_solution(root, {"prj/hls.app": app, "prj/solution1/script.tcl": None})
    (root / "src/link.cpp").symlink_to(outside)
    found = read_solution(folder, root)
    assert found.sources == () and len(found.missing) == 3
    assert Finder(root, [root]).find("src\0x.cpp") is None


def test_a_missing_source_is_named(tmp_path: Path) -> None:
    found = read_solution(write_solution(tmp_path, {"src/sums.cpp": None}), tmp_path)
    assert found.sources == () and found.missing == ("src/sums.cpp",)


def test_damaged_companions_are_left_out(tmp_path: Path) -> None:
    changes = {
        "prj/hls.app": "<project>",
        "prj/solution1/directives.tcl": "set_directive_x {",
        SCHEDULE_FILE: "x",
    }
    found = read_solution(write_solution(tmp_path, changes), tmp_path)
    assert found.sources and found.directives == () and found.loops[0].ii_target is None


def test_entities_and_a_missing_report_are_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE a [<!ENTITY b "bbbb">]>' + csynth()
    folder = write_solution(tmp_path, {"prj/solution1/syn/report/csynth.xml": bomb})
    with pytest.raises(DesignError, match="document type"):
        read_solution(folder, tmp_path)
    with pytest.raises(DesignError, match="is no file"):
        read_solution(tmp_path, tmp_path)


def test_the_table_of_loops(tmp_path: Path) -> None:
    path = tmp_path / "sums_csynth.rpt"
    path.write_text(SCHEDULE)
    found = read_schedule(path)
    assert (found.version, found.clock_ns, found.estimated_ns, found.uncertainty_ns) == (
        "2022.1",
        10.0,
        6.912,
        2.5,
    )
    assert [(loop.name, loop.nesting, loop.pipelined) for loop in found.loops] == [
        ("rows_columns", 0, True),
        ("tail", 1, False),
    ]
    assert found.loops[1].trip_count is None and found.loop_places == ()


def test_inlined_places() -> None:
    place = SourcePlace(file="C:/a b/c.h", line=3)
    assert places_of("C:/a b/c.h:3->d.cpp:7") == (place, SourcePlace(file="d.cpp", line=7))
    assert places_of("C:/a b/c.h:3~d.cpp:7") == places_of("C:/a b/c.h:3->d.cpp:7")
    assert places_of("nothing") == ()


def test_tcl(tmp_path: Path) -> None:
    text = '# a {comment\nset a {b {c} d} ;set e "f \\" g"\n  add h \\\n  i\n'
    found = list(commands(tmp_path, text))
    assert [(command.words, command.line) for command in found] == [
        (("set", "a", "b {c} d"), 2),
        (("set", "e", 'f \\" g'), 2),
        (("add", "h", "i"), 3),
    ]


@pytest.mark.parametrize("text", ["set a {b", 'set a "b'])
def test_open_ends_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(DesignError, match="nothing closes"):
        list(commands(tmp_path, text))


def test_scripts_have_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcl_commands, "MOST_COMMANDS", 2)
    with pytest.raises(DesignError, match="more than 2 commands"):
        list(commands(tmp_path, "a\nb\nc\n"))
    monkeypatch.setattr(tcl_commands, "MOST_CHARACTERS", 3)
    with pytest.raises(DesignError, match="longer"):
        list(commands(tmp_path, "abcd"))
