"""A small solution folder in the formats of Vitis HLS 2022.1, written by hand, to test its readers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

SOURCE = """#include "sums.h"
void sums(int *in, int *out) {
rows:
    for (int row = 0; row < 8; row++) {
    columns:
        for (int column = 0; column < 16; column++) {
            out[row] += in[row * 16 + column];
        }
    }
}
"""

APP = """<project xmlns="com.autoesl.autopilot.project" name="prj" top="sums" projectType="C/C++">
    <files xmlns="">
        <file name="src/sums.cpp" sc="0" tb="false" cflags="-Iinclude -DROWS=8 -std=c++14" blackbox="false"/>
        <file name="src/sums.h" sc="0" tb="false" cflags="" blackbox="false"/>
        <file name="../../test/bench.cpp" sc="0" tb="1" cflags="-Wno-unknown-pragmas" blackbox="false"/>
    </files>
    <solutions xmlns=""><solution name="solution1" status="active"/></solutions>
</project>
"""

SCRIPT = """## written by a tool
open_project prj
set_top sums
add_files src/sums.cpp -cflags "-Iinclude \\
  -DROWS=8"
add_files -tb test/bench.cpp -cflags "-Wno-unknown-pragmas"
set_part {xck26-sfvc784-2LV-c}
create_clock -period 10 -name default
config_compile -pipeline_loops 64; config_interface -m_axi_latency 64
set_clock_uncertainty 2.5
source "./prj/solution1/directives.tcl"
csynth_design
"""

DIRECTIVES = """set_directive_top -name sums "sums"
set_directive_pipeline -II 2 "sums/columns"
set_directive_array_partition -dim 1 -factor 4 -type cyclic "sums" band
set_directive_inline -off "scale"
"""

LOOPS = """<rows_columns><Name>rows_columns</Name><TripCount>128</TripCount><Latency>{latency}</Latency>
<PipelineII>{ii}</PipelineII><PipelineDepth>9</PipelineDepth><PipelineType>yes</PipelineType></rows_columns>"""


def csynth(*, ii: str = "3", depth: str = "4 ~ 9", violations: str = "") -> str:
    """csynth.xml of a top without a pipeline and a module for the one that it holds."""
    loop = LOOPS.format(latency="390", ii=ii)
    return f"""<profile>
<ReportVersion><Version>2022.1</Version></ReportVersion>
<UserAssignments><Part>xck26-sfvc784-2LV-c</Part><TopModelName>sums</TopModelName>
<TargetClockPeriod>10.00</TargetClockPeriod><ClockUncertainty>2.50</ClockUncertainty>
<FlowTarget>vivado</FlowTarget></UserAssignments>
<PerformanceEstimates><SummaryOfTimingAnalysis><EstimatedClockPeriod>7.3</EstimatedClockPeriod>
</SummaryOfTimingAnalysis></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>0</BRAM_18K><DSP>0</DSP><FF>90</FF><LUT>80</LUT></Resources></AreaEstimates>
<ModuleInformation><Module><Name>sums_Pipeline_rows_columns</Name><PerformanceEstimates>
<SummaryOfTimingAnalysis><EstimatedClockPeriod>6.912</EstimatedClockPeriod></SummaryOfTimingAnalysis>
<SummaryOfOverallLatency><PipelineType>no</PipelineType></SummaryOfOverallLatency>
<SummaryOfLoopLatency>{loop}</SummaryOfLoopLatency>{violations}</PerformanceEstimates></Module>
<Module><Name>scale</Name><PerformanceEstimates>
<SummaryOfOverallLatency><Best-caseLatency>4</Best-caseLatency><Worst-caseLatency>4</Worst-caseLatency>
<PipelineInitiationInterval>1</PipelineInitiationInterval><PipelineDepth>{depth}</PipelineDepth>
<PipelineType>yes</PipelineType></SummaryOfOverallLatency></PerformanceEstimates></Module>
<Module><Name>sums</Name></Module></ModuleInformation>
</profile>
"""


VIOLATIONS = """<SummaryOfViolations><SourceLocation>src/sums.cpp:3</SourceLocation><SummaryOfLoopViolations>
<rows_columns><Name>rows_columns</Name><IssueType>-</IssueType>
<SourceLocation>src/sums.cpp:6~src/top.cpp:40</SourceLocation></rows_columns>
</SummaryOfLoopViolations></SummaryOfViolations>"""

SCHEDULE = """

================================================================
== Vitis HLS Report for 'sums_Pipeline_rows_columns'
================================================================
* Version:        2022.1 (Build 1 on Jan 1 2022)
* Target device:  xck26-sfvc784-2LV-c

+ Timing:
    +--------+----------+----------+------------+
    |  Clock |  Target  | Estimated| Uncertainty|
    +--------+----------+----------+------------+
    |ap_clk  |  10.00 ns|  6.912 ns|     2.50 ns|
    +--------+----------+----------+------------+

        * Loop:
        +----------------+---------+---------+----------+-----------+-----------+------+----------+
        |                |  Latency (cycles) | Iteration|  Initiation Interval  | Trip |          |
        |    Loop Name   |   min   |   max   |  Latency |  achieved |   target  | Count| Pipelined|
        +----------------+---------+---------+----------+-----------+-----------+------+----------+
        |- rows_columns  |      390|      390|         9|          3|          2|   128|       yes|
        | + tail         |        ?|        ?|         2|          -|          -|     ?|        no|
        +----------------+---------+---------+----------+-----------+-----------+------+----------+
"""

STATES = """
State 1 <SV = 0> <Delay = 2.10>
ST_1 : Operation 5 [1/1] (0.00ns)   --->   "%column_1 = load i5 %column" [src/sums.cpp:6]   --->   Operation 5
ST_1 : Operation 6 [1/1] (0.00ns)   --->   "%trips_ln6 = speclooptripcount void @_ssdm_op_SpecLoopTripCount, \
i64 128, i64 128, i64 128" [src/sums.cpp:6->src/top.cpp:40]   --->   Operation 6 'speclooptripcount'
"""

LOG = """INFO: [HLS 200-10] Analyzing design file 'src/sums.cpp' ...
INFO: [HLS 200-10] Starting code transformations ...
INFO: [XFORM 203-510] Pipelining loop 'older' (src/sums.cpp:6) in function 'sums' automatically.
INFO: [HLS 200-10] Analyzing design file 'src/sums.cpp' ...
INFO: [HLS 200-10] Starting code transformations ...
INFO: [XFORM 203-510] Pipelining loop 'columns' (src/sums.cpp:6) in function 'sums' automatically.
WARNING: [HLS 200-880] The II Violation in module 'sums_Pipeline_rows_columns' (loop 'rows_columns'): \
Unable to enforce a carried dependence constraint (II = 2, distance = 1, offset = 0) between 'store' and \
'load'.
"""

FILES = {
    "src/sums.cpp": SOURCE,
    "src/sums.h": "void sums(int *in, int *out);\n",
    "include/sizes.h": "",
    "test/bench.cpp": "int main() { return 0; }\n",
    "prj/hls.app": APP,
    "prj/solution1/script.tcl": SCRIPT,
    "prj/solution1/directives.tcl": DIRECTIVES,
    "prj/solution1/syn/report/csynth.xml": csynth(),
    "prj/solution1/.autopilot/db/sums_Pipeline_rows_columns.verbose.sched.rpt": SCHEDULE + STATES,
    "prj/solution1/solution1.log": LOG,
}


def write_solution(root: Path, changes: Mapping[str, str | None] | None = None) -> Path:
    """Write FILES below root with some changed, or (None) left out; the solution's folder."""
    for name, text in {**FILES, **(changes or {})}.items():
        if text is not None:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return root / "prj/solution1"
