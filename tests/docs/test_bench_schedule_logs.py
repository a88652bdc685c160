"""benchmarks/schedule_logs.py: what a log of Vitis HLS tells where no report was kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hlsgen.base.errors import DesignError
from tests.support.places import ROOT

SOURCE = """#include "sums.h"
void sums(const int a[16][16], int out[16]) {
rows:
  for (int r = 0; r < 16; ++r) {
    int sum = 0;
  columns:
    for (int c = 0; c < 16; ++c) sum += a[r][c];
    out[r] = sum;
  }
}
"""
HEAD = """Vitis HLS - High-Level Synthesis from C, C++ and OpenCL v2022.2 (64-bit)
INFO: [HLS 200-1510] Running: open_project prj
INFO: [HLS 200-1510] Running: set_top sums
INFO: [HLS 200-1510] Running: add_files src/sums.cpp -cflags -I src -DN=16
INFO: [HLS 200-1510] Running: open_solution solution1 -flow_target vivado
INFO: [HLS 200-1505] Using flow_target 'vivado'
INFO: [HLS 200-1611] Setting target device to 'xczu3eg-sbva484-1-i'
INFO: [SYN 201-201] Setting up clock 'default' with a period of 5ns.
INFO: [HLS 200-1510] Running: config_compile -pipeline_loops 0
"""
RUN = """INFO: [HLS 200-1510] Running: csynth_design
INFO: [HLS 200-10] Analyzing design file 'src/sums.cpp' ...
INFO: [HLS 200-42] -- Implementing module 'sums_Pipeline_columns'
INFO: [HLS 200-1470] Pipelining result : Target II = 1, Final II = {ii}, Depth = 4, loop 'rows_columns'
INFO: [HLS 200-42] -- Implementing module 'sums'
INFO: [HLS 200-1470] Pipelining result : Target II = NA, Final II = 2, Depth = 7, function 'sums'
"""
END = "INFO: [VHDL 208-304] Generating VHDL RTL for sums.\n"
PIPELINE = "INFO: [HLS 200-1510] Running: set_directive_pipeline -II {ii} sums/columns\n"


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Any:
    """benchmarks/schedule_logs.py as a module, found as when it is run."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import schedule_logs

    return schedule_logs


def written(root: Path, text: str, at: str = "vitis_hls.log") -> Path:
    (root / "src").mkdir(exist_ok=True)
    (root / "src/sums.cpp").write_text(SOURCE)
    path = root / at
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_log_is_a_solution(logs: Any, tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + PIPELINE.format(ii=1) + RUN.format(ii=1) + END)
    found = logs.read_logged(path, tmp_path)
    report = found.report
    assert (report.top, report.version, report.part) == ("sums", "2022.2", "xczu3eg-sbva484-1-i")
    assert (report.clock_ns, report.flow_target, found.uncertainty_ns) == (5, "vivado", None)
    assert found.sources == (tmp_path / "src/sums.cpp",) and not found.missing
    assert found.include_folders == (tmp_path / "src",) and found.flags.defines == ("N=16",)
    assert [(one.name, one.place) for one in found.directives] == [("pipeline", "sums/columns")]
    assert found.options == {"syn.compile.pipeline_loops": "0"}
    (loop,) = found.loops  # the pipelined function is no loop
    assert (loop.module, loop.name, loop.ii_target) == ("sums_Pipeline_columns", "rows_columns", 1)
    assert (loop.ii, loop.depth) == (1, 4)


def test_its_loops_stand_beside_those_that_are_found(logs: Any, tmp_path: Path) -> None:
    import schedule

    path = written(tmp_path, HEAD + RUN.format(ii=3) + END)
    assert logs.find_logs(tmp_path) == [path]
    found = schedule.Found(
        file="src/sums.cpp",
        line=7,
        function="sums",
        ii=3,
        between=(3, 3),
        tier="likely",
        trips=256,
        depth=4,
        chain_ns=2.0,
        reasons=(),
    )
    usage = {"lut": 1}
    result = schedule.compare(path, tmp_path, lambda _: schedule.Scheduled(loops=(found,), usage=usage))
    (row,) = result["loops"]
    assert (row["outcome"], row["place"], row["vendor_ii"]) == ("right", "src/sums.cpp:7", 3)
    assert result["usage"] is None  # a log counts no cells


@pytest.mark.parametrize(
    ("text", "ii"),
    [
        (HEAD + RUN.format(ii=3) + END + RUN.format(ii=2) + END, 2),  # the last counts
        (HEAD + RUN.format(ii=3) + END + RUN.format(ii=2), 3),  # that came to its end
        (HEAD + RUN.format(ii=3) + RUN.format(ii=2) + END, 2),
    ],
)
def test_the_last_run_that_ended_counts(logs: Any, text: str, ii: int) -> None:
    assert [loop.ii for loop in logs.last_run(text).loops] == [ii]


def test_directives_of_another_run_are_forgotten(logs: Any, tmp_path: Path) -> None:
    first = HEAD + PIPELINE.format(ii=2) + RUN.format(ii=2) + END
    path = written(tmp_path, first + HEAD + PIPELINE.format(ii=1) + RUN.format(ii=1) + END)
    (directive,) = logs.read_logged(path, tmp_path).directives
    assert directive.options["II"] == "1"


def test_directives_may_lie_beside_a_log_that_names_none(logs: Any, tmp_path: Path) -> None:
    path = written(tmp_path, HEAD + RUN.format(ii=1) + END, "prj/solution1/solution1.log")
    assert logs.read_logged(path, tmp_path).directives == ()
    (path.parent / "directives.tcl").write_text("set_directive_unroll -factor 2 sums/columns\n")
    assert [one.name for one in logs.read_logged(path, tmp_path).directives] == ["unroll"]


def test_the_project_tells_what_a_log_that_adds_no_files_does_not(logs: Any, tmp_path: Path) -> None:
    without = "".join(line for line in HEAD.splitlines(keepends=True) if "add_files" not in line)
    path = written(tmp_path, without + RUN.format(ii=1) + END, "prj/solution1/solution1.log")
    (tmp_path / "inc").mkdir()
    assert not logs.read_logged(path, tmp_path).include_folders
    file = '<file name="src/sums.cpp" tb="false" cflags="-IC:/Projects/sums/inc -DN=16"/>'
    (tmp_path / "prj/hls.app").write_text(f"<project><files>{file}</files></project>")
    found = logs.read_logged(path, tmp_path)
    assert found.include_folders == (tmp_path / "inc",) and found.flags.defines == ("N=16",)


def test_a_log_may_tell_its_release_by_the_path_of_the_tool_alone(logs: Any, tmp_path: Path) -> None:
    running = "INFO: [HLS 200-10] Running 'C:/Xilinx/Vitis_HLS/2021.2/bin/unwrapped/win64.o/vitis_hls.exe'\n"
    path = written(tmp_path, running + HEAD.partition("\n")[2] + RUN.format(ii=1) + END)
    assert logs.find_logs(tmp_path) == [path]
    assert logs.read_logged(path, tmp_path).report.version == "2021.2"


def test_what_is_no_log_of_a_synthesis(logs: Any, tmp_path: Path) -> None:
    whole = HEAD + RUN.format(ii=1) + END
    written(tmp_path, whole.replace("Vitis HLS -", "Vivado(TM) HLS -"), "old.log")
    written(tmp_path, HEAD + END, "without.log")
    written(tmp_path, whole, "prj/solution1/.autopilot/db/flow.log")
    reported = written(tmp_path, whole, "prj/solution2/solution2.log")
    (reported.parent / "syn/report").mkdir(parents=True)
    (reported.parent / "syn/report/csynth.xml").write_text("<profile/>")
    assert logs.find_logs(tmp_path) == []


def test_logs_that_tell_too_little_are_refused(logs: Any, tmp_path: Path) -> None:
    with pytest.raises(DesignError, match="no synthesis that came to its end"):
        logs.read_logged(written(tmp_path, HEAD + RUN.format(ii=1)), tmp_path)
    silent = "\n".join(line for line in (HEAD + RUN.format(ii=1) + END).split("\n") if "1510" not in line)
    with pytest.raises(DesignError, match="has no commands, and no directives.tcl beside it"):
        logs.read_logged(written(tmp_path, silent), tmp_path)
