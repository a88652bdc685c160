"""Small reports in the formats of the vendor tools, written by hand, for the tests of their readers."""

from __future__ import annotations

from collections.abc import Mapping

FIGURES = {"bram18": 30, "dsp": 156, "ff": 30761, "lut": 28240, "uram": 0}


def csynth(
    figures: Mapping[str, float] = FIGURES,
    *,
    top: str = "conv",
    version: str = "2022.1",
    latency: str = "1735",
    ii: str = "1",
    trips: str = "9",
    estimated: str = "7.331",
) -> str:
    """csynth.xml: of 2024.2 the order of resources is another, of 2019.2 the DSP is called DSP48E."""
    names = {"bram18": "BRAM_18K", "dsp": "DSP48E" if version < "2020" else "DSP", "ff": "FF", "lut": "LUT"}
    names |= {} if version < "2020" else {"uram": "URAM"}
    order = sorted(names, key=lambda kind: (kind == "bram18") == (version < "2024"))
    resources = "".join(f"<{names[kind]}>{round(figures.get(kind, 0))}</{names[kind]}>" for kind in order)
    available = "<BRAM_18K>288</BRAM_18K><FF>234240</FF><LUT>117120</LUT>"
    loop = (
        f"<inner><Name>inner</Name><TripCount>{trips}</TripCount><Latency>9 ~ 541</Latency>"
        f"<PipelineII>{ii}</PipelineII><PipelineDepth>12</PipelineDepth></inner>"
    )
    return f"""<profile>
<ReportVersion><Version>{version}</Version></ReportVersion>
<UserAssignments><unit>ns</unit><Part>xck26-sfvc784-2LV-c</Part><TopModelName>{top}</TopModelName>
<TargetClockPeriod>10.00</TargetClockPeriod><ClockUncertainty>2.70</ClockUncertainty></UserAssignments>
<PerformanceEstimates><SummaryOfTimingAnalysis><unit>ns</unit>
<EstimatedClockPeriod>{estimated}</EstimatedClockPeriod></SummaryOfTimingAnalysis>
<SummaryOfOverallLatency><unit>clock cycles</unit><Best-caseLatency>{latency}</Best-caseLatency>
<Worst-caseLatency>{latency}</Worst-caseLatency><Interval-min>1297</Interval-min>
<Interval-max>1298</Interval-max></SummaryOfOverallLatency></PerformanceEstimates>
<AreaEstimates><Resources>{resources}</Resources><AvailableResources>{available}</AvailableResources></AreaEstimates>
<ModuleInformation><Module><Name>conv_rows</Name><PerformanceEstimates>
<SummaryOfOverallLatency><Best-caseLatency>40</Best-caseLatency><Worst-caseLatency>undef</Worst-caseLatency>
<PipelineInitiationInterval>30 ~ 541</PipelineInitiationInterval></SummaryOfOverallLatency>
<SummaryOfLoopLatency><outer><Name>outer</Name><TripCount><range><min>1</min><max>64</max></range></TripCount>
<Latency>?</Latency>{loop}</outer></SummaryOfLoopLatency></PerformanceEstimates>
<AreaEstimates><Resources><FF>6</FF><AVAIL_FF>234240</AVAIL_FF><UTIL_FF>~0</UTIL_FF><LUT>61</LUT></Resources>
</AreaEstimates></Module></ModuleInformation>
</profile>
"""


def cosim(
    *,
    top: str = "conv",
    status: str = "Pass",
    latency: str = "1735",
    interval: str = "1297",
    total: bool = True,
) -> str:
    """<top>_cosim.rpt, without the column of the total as of older versions."""
    rule = "+----------+----------+---------------+---------------+"
    numbers = [latency] * 3 + [interval] * 3 + (["1735"] if total else [])
    row = "|".join(f"{cell:>15}" for cell in numbers)
    none = "|".join(f"{'NA':>15}" for _ in numbers)
    return f"""
================================================================
== Vitis HLS - High-Level Synthesis from C, C++ and OpenCL v2022.1 (64-bit)
================================================================
== Cosimulation Report for '{top}'
Result:

{rule}
|    RTL   |  Status  |  Latency(Clock Cycles) |  Interval(Clock Cycles) |
{rule}
|      VHDL|        NA|{none}|
|   Verilog|{status:>10}|{row}|
{rule}
"""


def utilisation(
    figures: Mapping[str, float] = FIGURES,
    *,
    design: str = "conv",
    state: str = "Routed",
    old: bool = False,
    slices: bool = False,
) -> str:
    """report_utilization, flat: old has no column Prohibited; slices: of a 7 series device."""
    head = ("Site Type", "Used", "Fixed", *(() if old else ("Prohibited",)), "Available", "Util%")
    luts, registers = ("Slice LUTs", "Slice Registers") if slices else ("CLB LUTs*", "CLB Registers")
    sections = [
        [(luts, figures["lut"]), ("  LUT as Logic", figures["lut"]), (registers, figures["ff"])],
        [("Block RAM Tile", figures["bram18"] / 2), ("  RAMB18", 1), ("URAM", figures["uram"])],
        [("DSPs", figures["dsp"])],
    ]
    tables = "\n\n".join(
        _table(head, [(f"{name}", *_sites(used, old)) for name, used in rows]) for rows in sections
    )
    return f"""Copyright 1986-2022 Xilinx, Inc. All Rights Reserved.
------------------------------------------------------------
| Tool Version : Vivado v.2024.1 (lin64) Build 5076996 Wed May 22 18:36:09 MDT 2024
| Command      : report_utilization -file conv_util.rpt
| Design       : {design}
| Device       : xcu250-figd2104-2L-e
| Design State : {state}
------------------------------------------------------------

{tables}
"""


def _sites(used: float, old: bool) -> tuple[str, ...]:
    return (f"{used:g}" if used < 1e6 else str(int(used)), "0", *(() if old else ("0",)), "1728000", "0.50")


def hierarchical(figures: Mapping[str, float] = FIGURES, *, design: str = "conv") -> str:
    """report_utilization -hierarchical."""
    head = ("Instance", "Module", "Total LUTs", "Logic LUTs", "FFs", "RAMB36", "RAMB18", "URAM", "DSP Blocks")
    numbers = [figures["lut"], figures["lut"], figures["ff"], 3, figures["bram18"] - 6, figures["uram"]]
    cells = [str(round(number)) for number in (*numbers, figures["dsp"])]
    rows = [(design, "(top)", *cells), ("  loop_U0", "conv_loop", "10", "10", "20", "1", "1", "0", "2")]
    return f"""| Tool Version : Vivado v.2020.2 (lin64) Build 3064766
| Command      : report_utilization -hierarchical -file conv_util_routed.rpt
| Design       : {design}
| Device       : xcu200fsgd2104-2
| Design State : Routed

{_table(head, rows)}
"""


def link(kernels: Mapping[str, Mapping[str, float]]) -> str:
    """kernel_util_routed.rpt of Vitis' link, of the kernels with all their compute units."""
    head = ("Name", "LUT", "LUTAsMem", "REG", "BRAM", "[URAM]", "DSP")

    def row(name: str, figures: Mapping[str, float]) -> tuple[str, ...]:
        counts = (figures["lut"], 0, figures["ff"], figures["bram18"] / 2, figures["uram"], figures["dsp"])
        return (
            name,
            *(f"{count:.1f} [ 10.00%]" if count % 1 else f"{int(count)} [  0.50%]" for count in counts),
        )

    whole = {kind: sum(one[kind] for one in kernels.values()) for kind in FIGURES}
    plenty = dict.fromkeys(FIGURES, 1_000_000)
    rows = [row("Platform", plenty), row("User Budget", plenty), row("   Used Resources", whole)]
    for name, figures in kernels.items():
        rows += [row(f"   {name}", figures), row(f"   {name}_1", figures)]
    return f"""| Tool Version : Vivado v.2020.2 (lin64) Build 3064766
| Command      : report_accelerator_utilization -kernels {{ conv:conv/x:conv_1 }} -file kernel_util_routed.rpt

{_table(head, rows)}
"""


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(row[index]) for row in (head, *rows)) for index in range(len(head))]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in (head, *rows)
    ]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])
