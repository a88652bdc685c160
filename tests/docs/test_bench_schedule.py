"""benchmarks/schedule.py: loops of a report are found in the sources; what counts as which outcome."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hlsgen.base.errors import DesignError, Problem
from hlsgen.vendor.solution import VendorSolution
from tests.support.places import ROOT
from tests.support.vendor_solutions import SOURCE, csynth, write_solution

FOLDER = ROOT / "benchmarks"
PLAIN = {"prj/solution1/directives.tcl": None}
LISTED = """* Valid Pragma Syntax
+----------+---------+-------------------------+
| Type     | Options | Location                |
+----------+---------+-------------------------+
| pipeline | {options} | src/sums.cpp:6 in sums  |
+----------+---------+-------------------------+
"""
DIRECTED = LISTED.format(options="II=2   ").replace(
    "src/sums.cpp:6 in sums  ", "directives.tcl:{line} in sums"
)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    """benchmarks/schedule.py as a module, found as when it is run."""
    monkeypatch.syspath_prepend(FOLDER)
    import schedule

    return schedule


def ours(bench: Any, path: str = "src/sums.cpp", **changes: Any) -> Callable[[Any], Any]:
    """What hlsgen would say: by default what the small report says."""
    said = {"file": path, "line": 6, "function": "sums", "ii": 3, "tier": "likely", "trips": 16, "depth": 9}
    found = bench.Found(**{**said, "between": (3, 3), "chain_ns": 6.9, "reasons": (), **changes})
    usage = {"lut": 110, "ff": 90, "dsp": 4, "bram18": 0, "uram": 0}
    return lambda solution: bench.Scheduled(loops=(found,), usage=usage)


def only(result: dict[str, Any]) -> dict[str, Any]:
    (row,) = result["loops"]
    assert isinstance(row, dict)
    return row


def test_a_flattened_nest_is_its_innermost_loop(bench: Any, tmp_path: Path) -> None:
    folder = write_solution(tmp_path, PLAIN)
    row = only(bench.compare(folder, tmp_path, ours(bench, str(tmp_path / "src/sums.cpp"))))
    assert (row["place"], row["name"], row["outcome"]) == ("src/sums.cpp:6", "rows_columns", bench.RIGHT)
    assert (row["vendor_ii"], row["vendor_depth"], row["vendor_chain_ns"]) == (3, 9, 6.912)


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"ii": 1}, "wrong"),
        ({"ii": None, "tier": "undecided"}, "undecided"),
        ({"line": 2}, "not found"),
        ({"path": "other/sums.cpp"}, "not found"),
        ({"line": 4}, "right"),  # pipelined at the outer loop of the nest
    ],
)
def test_outcomes(bench: Any, tmp_path: Path, changes: dict[str, Any], outcome: str) -> None:
    folder = write_solution(tmp_path, PLAIN)
    assert only(bench.compare(folder, tmp_path, ours(bench, **changes)))["outcome"] == outcome


def test_what_does_not_compile_is_a_loop_that_was_not_decided(bench: Any, tmp_path: Path) -> None:
    def fails(solution: Any) -> list[Any]:
        raise ValueError("no such header\nmore")

    row = only(bench.compare(write_solution(tmp_path, PLAIN), tmp_path, fails))
    assert (row["outcome"], row["why"]) == ("failed", "ValueError: no such header")
    assert bench.score([row])["decided"] == 0 and bench.score([row])["loops"] == 1


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"src/sums.cpp": "void sums() {}\n"}, "lines"),
        ({"src/sums.cpp": None}, "sources are not there"),
        (
            {
                "prj/solution1/directives.tcl": 'set_directive_pipeline -II 2 "sums/columns"\n',
                "prj/solution1/syn/report/csynth.rpt": DIRECTED.format(line=2),
            },
            "pragmas",
        ),
        ({"prj/solution1/syn/report/csynth.rpt": LISTED.format(options="II=2   ")}, "pragmas"),
        ({"prj/solution1/syn/report/csynth.xml": csynth().replace(">2022.1<", ">2019.2<")}, "version"),
        ({"src/sums.cpp": SOURCE.replace("column < 16", "column < 256")}, "iterations"),
    ],
)
def test_reports_of_other_sources_are_left_out(
    bench: Any, tmp_path: Path, changes: dict[str, str | None], why: str
) -> None:
    folder = write_solution(tmp_path, {**PLAIN, **changes})
    result = bench.compare(folder, tmp_path, ours(bench))
    assert "loops" not in result and why in result["left_out"]


@pytest.mark.parametrize(
    ("header", "outcome"),
    [
        ("dace/fpga_device.h", ""),  # cwinogrodzki/PyVectors: of the generator's own library
        ("lost.h", ""),
        ("taps.h", "failed"),  # is in the checkout, where hlsgen has to find it
        ("hls_signal.h", "failed"),
        ("math.h", "failed"),
        ("mpfr.h", "failed"),
        ("vector", "failed"),
        ("sys/types.h", "failed"),
    ],
)
def test_sources_without_a_header_are_left_out(bench: Any, tmp_path: Path, header: str, outcome: str) -> None:
    def refused(_: VendorSolution) -> Any:
        raise DesignError(Problem(message=f"'{header}' file not found", fix="the header"))

    folder = write_solution(tmp_path, {**PLAIN, "lib/taps.h": ""})
    result = bench.compare(folder, tmp_path, refused)
    if outcome:
        assert [row["outcome"] for row in result["loops"]] == [outcome]
    else:
        assert result == {"left_out": f"a header is not there: {header}"}


def test_listed_pragmas_that_stand_in_the_sources_are_no_reason(bench: Any, tmp_path: Path) -> None:
    source = (
        "void sums(int *in, int *out) {\nrows:\n    for (int row = 0; row < 8; row++)\n    columns:\n"
        "        for (int column = 0; column < 16; column++) {\n#pragma HLS PIPELINE II = 2\n        }\n}\n"
    )
    listed = {"prj/solution1/syn/report/csynth.rpt": LISTED.format(options="II=2   ")}
    changes = {**PLAIN, "src/sums.cpp": source, **listed}
    assert (
        only(bench.compare(write_solution(tmp_path, changes), tmp_path, ours(bench, line=5)))["outcome"]
        == "right"
    )


def test_a_label_that_ends_in_digits_is_no_clone_of_a_shorter_one(bench: Any, tmp_path: Path) -> None:
    from schedule_truth import Sources

    loops = "".join(f"loop{n}: for (int i = 0; i < 4; i++) a[i] = {n};\n" for n in (1, 2, 11, 12))
    folder = write_solution(tmp_path, {**PLAIN, "src/sums.cpp": f"void sums(int *a) {{\n{loops}}}\n"})
    solution = bench.read_solution(folder, tmp_path)
    code = Sources(solution, tmp_path)
    assert code.parts("loop11_loop12") == ["loop11", "loop12"]
    assert code.parts("loop13_loop2") == ["loop1", "loop2"]  # a clone, for there is no loop13


def test_directives_are_obeyed(bench: Any, tmp_path: Path) -> None:
    listed = DIRECTED.format(line=1)
    changes = {
        "prj/solution1/directives.tcl": 'set_directive_pipeline -II 2 "sums/columns"\n',
        "prj/solution1/syn/report/csynth.rpt": listed,
    }
    given: list[Any] = []

    def schedule(solution: Any) -> Any:
        given.extend(solution.directives)
        return ours(bench)(solution)

    row = only(bench.compare(write_solution(tmp_path, changes), tmp_path, schedule))
    assert row["outcome"] == "right"
    assert [(one.text, one.place) for one in given] == [("pipeline II=2", "sums/columns")]


def test_the_score_counts_each_loop_once(bench: Any, tmp_path: Path) -> None:
    folder = write_solution(tmp_path, PLAIN)
    rows = [
        {**only(bench.compare(folder, tmp_path, ours(bench, **changes))), "part": "", "clock_ns": 10.0}
        for changes in ({}, {"ii": 1}, {"depth": 12, "chain_ns": 7.4})
    ]
    assert len(bench.distinct(rows)) == 1
    score = bench.score(rows)
    assert (score["loops"], score["decided"], score["right"], score["wrong"]) == (3, 3, 2, 1)
    assert (score["above_one"], score["above_one_right"]) == (3, 2)
    assert score["depth_error"] == {"median": 1.5, "within_90": 3}
    assert score["chain_error_ns"]["within_90"] == pytest.approx(0.488)


def test_cells_of_a_design_stand_beside_the_reports(bench: Any, tmp_path: Path) -> None:
    result = bench.compare(write_solution(tmp_path, PLAIN), tmp_path, ours(bench))
    usage = result["usage"]
    assert usage["predicted"]["lut"] == 110
    assert set(usage["reported"]) == {"lut", "ff", "dsp", "bram18", "uram"}


def test_errors_of_cells_by_kind(bench: Any) -> None:
    """Two designs of 100 and 200 LUTs: 10 % and 50 % off; one is there twice, one has too few DSPs."""
    from schedule_areas import distinct, is_held_out, score

    def row(repository: str, lut: int, predicted: int) -> dict[str, Any]:
        reported = {"lut": lut, "ff": 1000, "dsp": 1, "bram18": 0}
        return {
            "repository": repository,
            "version": "2022.1",
            "part": "xc7z020",
            "reported": reported,
            "predicted": {**reported, "lut": predicted},
        }

    rows = distinct([row("a/b", 100, 110), row("a/b", 100, 110), row("c/d", 200, 100)])
    found = score(rows)
    assert len(rows) == 2
    assert set(found) == {"lut", "ff"}
    assert found["lut"]["median"] == pytest.approx(0.3)
    assert found["lut"]["within_90"] == pytest.approx(0.5)
    assert (found["lut"]["within_fifth"], found["ff"]["median"]) == (0.5, 0.0)
    held = sum(is_held_out(f"repository {number}") for number in range(300))
    assert 70 < held < 130
