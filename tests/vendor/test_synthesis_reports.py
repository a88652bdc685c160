"""Reports of the vendor tools: what is read of each format, what damaged ones are refused with, `compare`."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import hlsgen
from hlsgen.api.project import build
from hlsgen.base.errors import DesignError
from hlsgen.cli.commands import cli
from hlsgen.designfile import text_files
from hlsgen.vendor import tables, xml_tree
from hlsgen.vendor.compare import HEADING, compare_build
from hlsgen.vendor.find_reports import find_reports, read_report
from hlsgen.vendor.report import Range, Stage, SynthesisReport
from tests.support import vendor_reports
from tests.support.small_design import DESIGN
from tests.support.vendor_reports import FIGURES


def read(tmp_path: Path, text: str | bytes, name: str = "csynth.xml") -> SynthesisReport:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_report(path)


def refusal(tmp_path: Path, text: str | bytes, name: str = "csynth.xml") -> str:
    """What is said of a damaged report: it names the file and a remedy, whatever it is."""
    with pytest.raises(DesignError) as caught:
        read(tmp_path, text, name)
    (problem,) = caught.value.problems
    assert name in problem.message and problem.fix
    return problem.message


def without_last_line(text: str) -> str:
    return "\n".join(text.rstrip().splitlines()[:-1])


# ---------------------------------------------------------------- formats


@pytest.mark.parametrize("version", ["2019.2", "2022.1", "2024.2"])
def test_csynth(tmp_path: Path, version: str) -> None:
    """The names and order of resources are the version's; URAM may be missing."""
    found = read(tmp_path, vendor_reports.csynth(version=version))
    assert found.resources == FIGURES
    assert (found.stage, found.top, found.version, found.part) == (
        Stage.CSYNTH,
        "conv",
        version,
        "xck26-sfvc784-2LV-c",
    )
    assert (found.clock_ns, found.estimated_clock_ns) == (10.0, 7.331)
    assert (found.latency, found.interval) == (Range(low=1735, high=1735), Range(low=1297, high=1298))
    assert found.available == {"bram18": 288, "ff": 234240, "lut": 117120}
    (module,) = found.modules
    assert (module.name, module.resources) == ("conv_rows", {"ff": 6, "lut": 61})
    assert (module.latency, module.interval) == (None, Range(low=30, high=541))
    outer, inner = found.loops
    assert (outer.name, outer.trip_count, outer.latency, outer.ii) == (
        "outer",
        Range(low=1, high=64),
        None,
        None,
    )
    assert (inner.name, inner.trip_count, inner.latency) == (
        "inner",
        Range(low=9, high=9),
        Range(low=9, high=541),
    )
    assert (inner.ii, inner.depth) == (1, 12)


def test_up_to_2020_1_each_function_has_a_file_of_its_own(tmp_path: Path) -> None:
    """farouk527/Projet_HLS_optimisation: csynth.xml has the top alone. A damaged one of them is left out."""
    whole = vendor_reports.csynth(version="2020.1")
    modules = re.search(r"<ModuleInformation>.*</ModuleInformation>\n", whole, re.DOTALL)
    assert modules is not None
    loops = "<SummaryOfLoopLatency><row_col><TripCount>1024</TripCount><PipelineII>16</PipelineII>"
    loops += "<PipelineDepth>167</PipelineDepth></row_col></SummaryOfLoopLatency></PerformanceEstimates>"
    alone = whole.replace(modules[0], "").replace("</PerformanceEstimates>", loops)
    inner = alone.replace("<TopModelName>conv<", "<TopModelName>matmul<")
    (tmp_path / "matmul_csynth.xml").write_text(inner, encoding="utf-8")
    (tmp_path / "conv_csynth.xml").write_text(alone, encoding="utf-8")
    (tmp_path / "lost_csynth.xml").write_text(without_last_line(alone), encoding="utf-8")
    found = read(tmp_path, alone)
    assert [(one.name, one.resources, one.loops[0].ii) for one in found.modules] == [
        ("conv", FIGURES, 16),
        ("matmul", FIGURES, 16),
    ]
    assert [loop.name for loop in found.loops] == ["row_col", "row_col"]
    assert not read(tmp_path, alone, "conv_csynth.xml").modules  # which is of one function


@pytest.mark.parametrize("latency", ["undef", "?", "-"])
def test_open_values_are_none(tmp_path: Path, latency: str) -> None:
    assert read(tmp_path, vendor_reports.csynth(latency=latency)).latency is None


def test_latencies_of_64_bits(tmp_path: Path) -> None:
    """A public csynth.xml of 2024.1 has it, of nests whose bounds are variables."""
    text = vendor_reports.csynth().replace("9 ~ 541", "9 ~ 1152921504606846976")
    assert read(tmp_path, text).loops[1].latency == Range(low=9, high=2**60)


@pytest.mark.parametrize("total", [True, False])
def test_cosim(tmp_path: Path, total: bool) -> None:
    found = read(tmp_path, vendor_reports.cosim(total=total), "conv_cosim.rpt")
    assert (found.stage, found.top, found.version, found.passed) == (Stage.COSIM, "conv", "2022.1", True)
    assert (found.latency, found.interval) == (Range(low=1735, high=1735), Range(low=1297, high=1297))


def test_failed_cosim(tmp_path: Path) -> None:
    found = read(tmp_path, vendor_reports.cosim(status="Fail", latency="NA", interval="NA"), "conv_cosim.rpt")
    assert (found.passed, found.latency, found.interval) == (False, None, None)


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("slices", [True, False])
@pytest.mark.parametrize(
    ("state", "stage"),
    [
        ("Routed", Stage.ROUTED),
        ("Physopt postRoute", Stage.ROUTED),
        ("Fully Placed", Stage.SYNTHESISED),
        ("Optimized", Stage.SYNTHESISED),
    ],
)
def test_utilisation(tmp_path: Path, old: bool, slices: bool, state: str, stage: Stage) -> None:
    """Block RAM tiles are two BRAM18 each."""
    figures = {**FIGURES, "bram18": 25}
    text = vendor_reports.utilisation(figures, old=old, slices=slices, state=state)
    found = read(tmp_path, text, "conv_util.rpt")
    assert found.resources == figures
    assert (found.stage, found.top, found.version) == (stage, "conv", "2024.1")
    assert found.available["lut"] == 1_728_000 and found.available["bram18"] == 2 * 1_728_000


def test_hierarchical(tmp_path: Path) -> None:
    found = read(tmp_path, vendor_reports.hierarchical(), "conv_util_routed.rpt")
    assert (found.stage, found.top, found.resources) == (Stage.ROUTED, "conv", FIGURES)
    (module,) = found.modules
    assert (module.name, module.resources) == (
        "loop_U0",
        {"lut": 10, "ff": 20, "bram18": 3, "uram": 0, "dsp": 2},
    )


def test_link(tmp_path: Path) -> None:
    found = read(tmp_path, vendor_reports.link({"conv": FIGURES, "pool": FIGURES}), "kernel_util_routed.rpt")
    assert found.stage is Stage.ROUTED
    assert found.resources == {kind: 2 * count for kind, count in FIGURES.items()}
    assert [module.name for module in found.modules] == ["conv", "conv_1", "pool", "pool_1"]
    assert found.modules[0].resources == FIGURES


# ---------------------------------------------------------------- damaged


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("   \n", "is empty"),
        (b"\xff\xfe<profile/>", "is no text: byte 0 is 0xff"),
        (vendor_reports.csynth()[:900], "ends before its elements do"),
        (vendor_reports.csynth().replace("</Module>", ""), "is no XML: mismatched tag"),
        ("<html/>", 'its root element is "html", not profile'),
        ("<profile/>", "has no UserAssignments"),
        (vendor_reports.csynth().replace("TopModelName", "Top"), "does not name its top function"),
        (vendor_reports.csynth().replace("<LUT>28240</LUT>", ""), "states no LUT"),
        (vendor_reports.csynth().replace("<FF>30761</FF>", "<FF>undef</FF>"), "states no FF"),
        (vendor_reports.csynth().replace("28240", "9" * 4000), "which is no count"),
        (vendor_reports.csynth().replace("28240", "-3"), 'says LUT is "-3"'),
        (vendor_reports.csynth().replace("28240", "1e999"), "which is no count"),
        (vendor_reports.csynth(estimated="fast"), 'says EstimatedClockPeriod is "fast"'),
        (vendor_reports.csynth().replace("9 ~ 541", "1 ~ 2 ~ 3"), "which is no range"),
        (
            '<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;&b;&b;">]><profile>&d;</profile>',
            "declares a document type",
        ),
        (
            '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><profile>&x;</profile>',
            "declares a document",
        ),
        ("<profile>&undeclared;</profile>", "is no XML: undefined entity"),
        ("<a>" * 100, "nests elements deeper than 60"),
    ],
)
def test_damaged_csynth(tmp_path: Path, text: str | bytes, said: str) -> None:
    assert said in refusal(tmp_path, text)


def test_place_of_damage(tmp_path: Path) -> None:
    with pytest.raises(DesignError) as caught:
        read(tmp_path, "<profile>\n<a>\n</b>\n</profile>")
    place = caught.value.problems[0].place
    assert place is not None and (place.line, place.file) == (3, str(tmp_path / "csynth.xml"))


@pytest.mark.parametrize("cut", range(40, len(vendor_reports.csynth()) - 12, 97))
def test_truncated_csynth_is_never_read(tmp_path: Path, cut: int) -> None:
    refusal(tmp_path, vendor_reports.csynth()[:cut])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (vendor_reports.utilisation().rpartition("\n\n")[0], "states no DSP"),
        (without_last_line(vendor_reports.utilisation()), "ends within a table"),
        (vendor_reports.utilisation().replace("28240 ", "many  "), 'says CLB LUTs is "many"'),
        (without_last_line(vendor_reports.hierarchical()), "ends within a table"),
        (
            vendor_reports.link({"conv": FIGURES}).replace("User Budget", "Other Thing"),
            "has no row User Budget",
        ),
        (without_last_line(vendor_reports.link({"conv": FIGURES})), "ends within a table"),
        ("nothing of the kind", "is no utilisation report"),
        ("| Command : report_accelerator_utilization", "has no table of kernels"),
    ],
)
def test_damaged_utilisation(tmp_path: Path, text: str, said: str) -> None:
    assert said in refusal(tmp_path, text, "conv_util.rpt")


@pytest.mark.parametrize("lines", range(1, vendor_reports.utilisation().count("\n") - 2))
def test_truncated_utilisation_is_never_read(tmp_path: Path, lines: int) -> None:
    """Cut after any line before the rule that ends the last table."""
    whole = vendor_reports.utilisation().rstrip().splitlines()
    refusal(tmp_path, "\n".join(whole[: min(lines, len(whole) - 1)]), "conv_util.rpt")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            vendor_reports.cosim().replace("Cosimulation Report for '", "Cosimulation Report: '"),
            "is no co-sim",
        ),
        (vendor_reports.cosim(status="Perhaps"), 'gives the status "Perhaps"'),
        (vendor_reports.cosim(status="NA"), "has no row of a language that was simulated"),
        (vendor_reports.cosim(latency="soon"), 'gives "soon", which is no count of cycles'),
        (vendor_reports.cosim().partition("   1735|")[0], "ends within its table"),
    ],
)
def test_damaged_cosim(tmp_path: Path, text: str, said: str) -> None:
    assert said in refusal(tmp_path, text, "conv_cosim.rpt")


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "MAX_BYTES", 1 << 20)
    assert "is larger than 1 MB" in refusal(tmp_path, "<a>" + " " * (1 << 20) + "</a>")
    monkeypatch.setattr(xml_tree, "MOST_ELEMENTS", 5)
    assert "more than 5 elements" in refusal(tmp_path, vendor_reports.csynth())
    monkeypatch.setattr(tables, "MOST_LINES", 5)
    assert "more than 5 lines" in refusal(tmp_path, vendor_reports.utilisation(), "conv_util.rpt")


def test_unknown_files(tmp_path: Path) -> None:
    assert "ends in neither .xml nor .rpt" in refusal(tmp_path, "text", "notes.txt")
    for path in (tmp_path / "missing.xml", tmp_path):
        with pytest.raises(DesignError, match=r"is no file|ends in neither"):
            read_report(path)


def test_search(tmp_path: Path) -> None:
    """Beside csynth.xml the report of each function is left out; other files are not read."""
    for name in ("a/csynth.xml", "a/f_csynth.xml", "b/g_csynth.xml", "c/g_cosim.rpt", "c/x_util_routed.rpt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "c/timing.rpt").write_text("")
    found = [str(path.relative_to(tmp_path)) for path in find_reports(tmp_path)]
    assert found == ["a/csynth.xml", "b/g_csynth.xml", "c/g_cosim.rpt", "c/x_util_routed.rpt"]
    with pytest.raises(DesignError, match="is no folder"):
        find_reports(tmp_path / "nowhere")


# ---------------------------------------------------------------- beside the model


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build without C-simulation."""
    folder = tmp_path_factory.mktemp("compare")
    (folder / "small.yaml").write_text(DESIGN)
    build(hlsgen.load(folder / "small.yaml"), folder / "small", csim=False)
    return folder / "small"


def report_of(folder: Path) -> Any:
    return json.loads((folder / "report.json").read_text())


def test_compare(built: Path, tmp_path: Path) -> None:
    """Figures, differences in percent, both reports; a second comparison replaces the first."""
    before = report_of(built)
    cost = before["cost"]
    csynth = {**FIGURES, "lut": 2 * cost["csynth"]["lut"], "ff": cost["csynth"]["ff"], "dsp": 0}
    reports = built / "vitis" / "small_hls" / "solution1" / "syn" / "report"
    reports.mkdir(parents=True, exist_ok=True)
    (reports / "csynth.xml").write_text(vendor_reports.csynth(csynth, top="small", latency="undef", ii="2"))
    cycles = before["total"]["latency_cycles"] + before["total"]["interval_cycles"]
    (reports / "small_cosim.rpt").write_text(vendor_reports.cosim(top="small", latency=str(cycles)))
    (reports / "other_csynth.xml").write_text("beside csynth.xml it is not read")
    found, notes = compare_build(built)
    assert notes == []
    after = report_of(built)
    assert after["synthesised"] == [one.as_json() for one in found]
    assert {key: after[key] for key in before} == before
    first, second = after["synthesised"]
    rows = first["differences"]
    outside = next(part for part in cost["by_term"] if part["term"] == "interconnect")
    assert outside["csynth"] == {"lut": 0, "ff": 0}
    assert rows["lut"] == {"modelled": cost["csynth"]["lut"], "synthesised": csynth["lut"], "percent": -50.0}
    assert rows["ff"]["percent"] == 0.0
    assert rows["dsp"] == {"modelled": before["total"]["dsp"], "synthesised": 0, "percent": None}
    assert rows["largest_ii"] == {"modelled": 1, "synthesised": 2, "percent": -50.0}
    assert rows["clock_ns"]["synthesised"] == 7.331
    assert "latency_cycles" not in rows
    assert second["differences"] == {
        "latency_cycles": {"modelled": cycles, "synthesised": cycles, "percent": 0.0}
    }
    compare_build(built)
    text = (built / "report.md").read_text()
    assert text.count(HEADING) == 1 and "| LUT | " in text and "cosim 2022.1, passed" in text


def test_compare_routed_leaves_the_interconnect_out(built: Path, tmp_path: Path) -> None:
    cost = report_of(built)["cost"]
    outside = next(part for part in cost["by_term"] if part["term"] == "interconnect")["routed"]
    assert outside["lut"] > 0
    inside = {**FIGURES, **{kind: cost["routed"][kind] - outside[kind] for kind in ("lut", "ff")}}
    for name, text in {
        "a.rpt": vendor_reports.utilisation(inside, design="bd_0_wrapper"),
        "b.rpt": vendor_reports.hierarchical(inside, design="small"),
        "c.rpt": vendor_reports.link({"small": inside}),
    }.items():
        (tmp_path / name).write_text(text)
        (one,), _ = compare_build(built, [tmp_path / name])
        assert one.stage == "routed"
        assert [one.differences[kind].percent for kind in ("lut", "ff")] == [0.0, 0.0]


def test_compare_command(built: Path, tmp_path: Path) -> None:
    path = tmp_path / "csynth.xml"
    path.write_text(vendor_reports.csynth(top="small"))
    said = CliRunner().invoke(cli, ["compare", str(built), str(path)], catch_exceptions=False)
    assert said.exit_code == 0
    assert "small: csynth 2022.1" in said.stdout and "28,240" in said.stdout
    said = CliRunner().invoke(cli, ["compare", str(built), str(path), "--json"], catch_exceptions=False)
    assert json.loads(said.stdout)["synthesised"] == report_of(built)["synthesised"]


def test_reports_of_other_designs(built: Path, tmp_path: Path) -> None:
    path = tmp_path / "csynth.xml"
    path.write_text(vendor_reports.csynth(top="other"))
    with pytest.raises(DesignError, match="is of other, which this build has no kernel of"):
        compare_build(built, [path])
    folder = tmp_path / "copy"
    folder.mkdir()
    (folder / "report.json").write_text((built / "report.json").read_text())
    with pytest.raises(DesignError, match="holds no report of the vendor tools"):
        compare_build(folder)
    (folder / "csynth.xml").write_text(vendor_reports.csynth(top="small"))
    (folder / "x_util.rpt").write_text(vendor_reports.utilisation(design="another"))
    found, notes = compare_build(folder)
    assert len(found) == 1 and notes == [f"{folder / 'x_util.rpt'} is of another: left out"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("{", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("[]", "is damaged: the whole must be a mapping"),
        ("{}", "is damaged: `design` is missing"),
        ('{"design": "a", "layers": []}', "is damaged: `board` is missing"),
    ],
)
def test_damaged_build(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(DesignError, match=said):
        compare_build(tmp_path)


@pytest.mark.parametrize("key", ["total", "cost", "clock_mhz", "design"])
@pytest.mark.parametrize("value", [None, {}, [], -1])
def test_build_of_another_form(built: Path, tmp_path: Path, key: str, value: object) -> None:
    report = {**report_of(built), key: value}
    (tmp_path / "report.json").write_text(json.dumps(report))
    with pytest.raises(DesignError, match=rf"report.json is damaged: `{key}\b"):
        compare_build(tmp_path)


def test_build_without_instances(built: Path, tmp_path: Path) -> None:
    report = report_of(built)
    report["total"]["instances"] = 0
    (tmp_path / "report.json").write_text(json.dumps(report))
    with pytest.raises(DesignError, match=r"report\.json has no instance"):
        compare_build(tmp_path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("csynth.xml", vendor_reports.csynth()),
        ("conv_cosim.rpt", vendor_reports.cosim()),
        ("conv_util.rpt", vendor_reports.utilisation()),
        ("conv_util_routed.rpt", vendor_reports.hierarchical()),
        ("kernel_util_routed.rpt", vendor_reports.link({"conv": FIGURES})),
    ],
)
def test_changed_bytes_never_end_in_anything_but_a_report_or_a_refusal(
    tmp_path: Path, name: str, text: str
) -> None:
    generator = random.Random(7)
    whole = text.encode()
    refused = 0
    for _ in range(300):
        changed = bytearray(whole)
        for _ in range(generator.randint(1, 6)):
            place = generator.randrange(len(changed))
            changed[place : place + generator.randint(0, 9)] = generator.randbytes(generator.randint(0, 3))
        try:
            assert isinstance(read(tmp_path, bytes(changed), name), SynthesisReport)
        except DesignError:
            refused += 1
    assert refused > 0
