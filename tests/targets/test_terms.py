"""Terms of LUT and FF: the file, the fit and its held-out rows, the error of a design, the document."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from click.testing import CliRunner

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.cli.commands import cli
from hlsgen.cost.conv_instance import instance_resources
from hlsgen.cost.error_margins import by_term, whole_error
from hlsgen.cost.fitting import (
    HELD_OUT_SHARE,
    Sample,
    fit,
    fitted,
    held_out,
    published_factors,
    relative_errors,
    solve,
)
from hlsgen.cost.published_cores import FAMILIES, Family, Row, address_bits, fifo_term, published_rows
from hlsgen.hardware.conv2d import map_conv2d
from hlsgen.hardware.conv_folding import Folding
from hlsgen.targets.board import load_board
from hlsgen.targets.terms import (
    CELLS,
    FEATURES,
    PACKAGED,
    TARGETS,
    Terms,
    load_terms,
    packaged_terms,
    terms_text,
)
from tests.support.documents import document, rows
from tests.support.kernels import conv
from tests.support.places import ROOT
from tests.support.small_design import DESIGN

ROWS = published_rows()
U200 = load_board("u200")
BENCHMARKS = ROOT / "benchmarks"


def family(name: str) -> Family:
    return next(one for one in FAMILIES if one.name == name)


def row(term: str, parameters: str, **counts: int) -> Row:
    figures = {"bram18": 0, "dsp": 0, "uram": 0, "lut": 0, "ff": 0, **counts}
    return Row(vitis="2023.2", device="xcu280", clock_ns=3.33, term=term, parameters=parameters, **figures)


# ---------------------------------------------------------------- the file


def test_file_is_what_a_fit_to_the_published_rows_gives() -> None:
    file = load_terms(PACKAGED).file
    assert terms_text(fit(file, ROWS)) == PACKAGED.read_text(encoding="utf-8")


def test_every_figure_says_what_it_is() -> None:
    """Fitted just where there are rows, with counts and errors; the rest names its source or is nothing."""
    fitted_figures = {(one.name, kind) for one in FAMILIES for kind in one.kinds}
    for name, term in packaged_terms().file.terms.items():
        for kind in CELLS:
            for target in TARGETS:
                figure = getattr(getattr(term, kind), target)
                assert (figure.fit is not None) == (figure.basis == "fitted")
                assert (figure.basis == "fitted") == (target == "csynth" and (name, kind) in fitted_figures)
                if figure.fit is not None:
                    assert figure.fit.rows >= 2 and figure.fit.held_out >= 2
                    assert figure.error >= figure.fit.q90 >= figure.fit.median
                elif figure.per or figure.times:
                    assert figure.source or figure.times == 1.0, (name, kind, target)


def test_held_out_errors_stay_small() -> None:
    """The 90 % quantile on rows that the term was not fitted to."""
    for one in FAMILIES:
        for kind in one.kinds:
            figure = getattr(packaged_terms().file.terms[one.name], kind).csynth
            assert figure.fit.q90 <= (0.18 if one.name == "fifo_registers" else 0.14), (one.name, kind)
            assert figure.fit.median <= (0.17 if one.name == "fifo_registers" else 0.04), (one.name, kind)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data["terms"].pop("adder"), "lacks adder"),
        (lambda data: data["terms"].update(addder=data["terms"]["adder"]), "did you mean 'adder'"),
        (lambda data: data["terms"]["adder"]["lut"]["csynth"]["per"].update(bit=1.0), "did you mean 'bits'"),
        (lambda data: data["terms"]["adder"]["lut"]["csynth"]["per"].update(bits=-1.0), "from 0 to"),
        (lambda data: data["terms"]["adder"]["lut"]["csynth"]["per"].update(bits=float("nan")), "number"),
        (
            lambda data: data["terms"]["adder"]["lut"]["csynth"].update(times=2.0),
            "just one of `per` and `times`",
        ),
        (
            lambda data: data["terms"]["adder"]["lut"].update(
                {target: {"basis": "estimate", "times": 1.0, "error": 0.1} for target in TARGETS}
            ),
            "refers to the other target in both",
        ),
        (lambda data: data.update(names="x"), "`names` is no key"),
        (lambda data: data.pop("routed_over_csynth"), "`routed_over_csynth` is missing"),
        (
            lambda data: data["calibrations"].append(
                {"style": "tasks", "target": "routed", "designs": 2, "lut_error": 0.1, "ff_error": 0.1}
                | {"lut_scale": {"addder": 1.0}, "ff_scale": {}}
            ),
            "did you mean 'adder'",
        ),
    ],
)
def test_wrong_file_of_terms(tmp_path: Path, change: Callable[[Any], object], said: str) -> None:
    data = yaml.safe_load(PACKAGED.read_text(encoding="utf-8"))
    change(data)
    path = tmp_path / "terms.yaml"
    path.write_text(yaml.safe_dump(data))
    with pytest.raises(DesignError) as caught:
        load_terms(path)
    assert said in str(caught.value)
    assert all(problem.fix and problem.place for problem in caught.value.problems)


# ---------------------------------------------------------------- the fit


def test_split_is_by_configuration() -> None:
    """A third of the configurations, the same every time; devices and versions of one stay together."""
    names = {f"{one.term} {one.parameters}" for one in ROWS}
    share = sum(held_out(name) for name in names) / len(names)
    assert abs(share - HELD_OUT_SHARE) < 0.05
    assert held_out("expression op=+ a=11 b=3") == held_out("expression op=+ a=11 b=3")


def test_coefficients_are_recovered_in_spite_of_outliers() -> None:
    generator = np.random.default_rng(5)
    samples = [
        Sample(configuration=str(bits), report="", features=(1.0, float(bits)), cells=7.0 + bits)
        for bits in generator.integers(2, 64, 40)
    ]
    odd = [
        Sample(configuration="odd", report="", features=(1.0, float(bits)), cells=bits / 2)
        for bits in generator.integers(2, 64, 8)
    ]
    assert solve(samples + odd) == pytest.approx([7.0, 1.0])
    assert list(relative_errors(np.array([7.0, 1.0]), samples)) == pytest.approx([0.0] * 40)


def test_no_coefficient_is_negative() -> None:
    samples = [
        Sample(configuration=str(bits), report="", features=(1.0, float(bits)), cells=max(1.0, 40.0 - bits))
        for bits in range(2, 30)
    ]
    assert all(weight >= 0 for weight in solve(samples))


def test_errors_are_of_rows_that_were_not_fitted_to() -> None:
    """A configuration that is held out may say anything: the fit stays as it is."""
    adder = family("adder")
    out = next(
        one
        for one in ROWS
        if adder.read(one) and one.at_our_clocks and held_out(f"{one.term} {one.parameters}")
    )
    plain = fitted(adder, "lut", ("one", "bits"), ROWS)
    changed = [
        one if one.parameters != out.parameters else row(one.term, one.parameters, lut=10_000) for one in ROWS
    ]
    other = fitted(adder, "lut", ("one", "bits"), changed)
    assert other.per == plain.per
    assert plain.fit is not None and other.fit is not None
    assert plain.fit.rows + plain.fit.held_out == sum(
        one.at_our_clocks and adder.read(one) is not None for one in ROWS
    )


@pytest.mark.parametrize(
    ("name", "one", "features"),
    [
        ("float_multiplier", row("operator", "fmul_32ns_32ns_32_4_max_dsp_1"), {"one": 1}),
        ("float_adder_fabric", row("operator", "fadd_32ns_32ns_32_5_no_dsp_1"), {"one": 1}),
        ("float_adder_fabric", row("operator", "fadd_32ns_32ns_32_7_full_dsp_1"), None),
        ("lut_product", row("operator", "mul_6ns_8ns_13_1_1"), {"square": 64}),
        ("lut_product", row("operator", "mul_6s_11ns_15_1_1", dsp=1), None),
        ("adder", row("expression", "op=+ a=11 b=3"), {"one": 1, "bits": 11}),
        ("adder", row("expression", "op=icmp a=11 b=3"), None),
        ("multiplexer", row("mux", "inputs=9 bits=8"), {"inputs": 9}),
        ("multiplexer", row("operator", "sparsemux_7_2_32_1_1"), {"inputs": 3}),
        ("multiplexer", row("operator", "mux_1264_32_1_1"), None),
        ("memory_lutram", row("memory", "words=65 bits=32 banks=1 module=RAM_AUTO_1R1W"), {"blocks": 64}),
        (
            "memory_block",
            row("memory", "words=65 bits=32 banks=1 module=RAM_AUTO_1R1W", bram18=1),
            {"bits": 32},
        ),
        ("fifo_shift", row("fifo", "depth=17 bits=8"), {"bits": 8, "address": 5}),
        ("fifo_block", row("fifo", "depth=17 bits=8", lut=1), {"address": 5}),
    ],
)
def test_rows_of_a_family(name: str, one: Row, features: dict[str, float] | None) -> None:
    found = family(name).read(one)
    assert (found is None) == (features is None)
    assert found is None or features is None or features.items() <= found.items()


@pytest.mark.parametrize(
    ("depth", "bits", "term"),
    [
        (1, 512, "fifo_registers"),
        (2, 8, "fifo_registers"),
        (3, 8, "fifo_shift"),
        (32, 512, "fifo_shift"),
        (33, 8, "fifo_lutram"),
        (128, 32, "fifo_lutram"),
        (129, 32, "fifo_block"),
        (33, 512, "fifo_block"),
    ],
)
def test_what_a_fifo_is_built_as(depth: int, bits: int, term: str) -> None:
    assert fifo_term(depth, bits) == term


def test_fifos_of_the_reports_are_built_so() -> None:
    """No published FIFO has a BRAM where `fifo_term` has none, or the other way round."""
    for one in ROWS:
        if one.term == "fifo" and not one.lut:
            block = fifo_term(one.number("depth"), one.number("bits")) == "fifo_block"
            assert block == bool(one.bram18), one.parameters


def test_address_bits() -> None:
    assert [address_bits(depth) for depth in (1, 2, 3, 16, 17, 1024)] == [1, 1, 2, 4, 5, 10]


def test_factors_of_whole_designs() -> None:
    """csynth's LUTs are about twice the routed ones."""
    factors = published_factors()
    assert 0.4 < factors.lut.factor < 0.6 and factors.lut.designs == 2
    assert factors.lut.factor < factors.ff.factor < 1


# ---------------------------------------------------------------- amounts and errors


def test_targets_differ_by_term() -> None:
    terms = packaged_terms()
    assert terms.of("csynth").cells("adder", one=2, bits=32) == pytest.approx((46, 0))
    assert terms.cells("adder", one=2, bits=32) == pytest.approx((32, 0))
    factor = terms.file.routed_over_csynth.lut.factor
    lut, _ = terms.cells("process_control", one=1)
    assert lut == pytest.approx(factor * terms.of("csynth").cells("process_control", one=1)[0])
    assert terms.of("csynth").cells("interconnect", one=1) == (0, 0)
    assert terms.cells("interconnect", one=1)[0] > 0


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", ["float32", "fixed16", "int8"])
def test_a_design_is_the_sum_of_its_terms(target: Any, kind: str) -> None:
    types = {"float32": "float32", "fixed16": "fixed<16,6>", "int8": "fixed<8,8>"}
    layer = conv((8, 12, 12), 8, input_type=types[kind], weight_type=types[kind])
    mapping = map_conv2d(layer, Folding(rows=2, pe=2, simd=4, fabric_pe=1), U200)
    terms = packaged_terms().of(target)
    whole = instance_resources(mapping, terms)
    parts = by_term(lambda one: instance_resources(mapping, one), terms)
    for cells in CELLS:
        assert sum(part[cells] for part in parts.values()) == pytest.approx(getattr(whole, cells), abs=40)
    assert instance_resources(mapping, terms.apart()).dsp == whole.dsp


class OneTerm(Terms):
    """Terms of which all but one are nothing."""

    counted = ""

    def cells(self, name: str, **amounts: float) -> tuple[float, float]:
        return super().cells(name, **amounts) if name == self.counted else (0.0, 0.0)


@pytest.mark.parametrize("target", TARGETS)
def test_a_sum_says_what_each_term_takes(target: Any) -> None:
    layer = conv((8, 12, 12), 8, input_type="fixed<8,8>", weight_type="fixed<8,8>")
    mapping = map_conv2d(layer, Folding(rows=2, pe=2, simd=4, fabric_pe=1), U200)
    parts = by_term(lambda one: instance_resources(mapping, one).times(3), packaged_terms().of(target))
    assert list(parts) == list(FEATURES)
    for name in FEATURES:
        alone = OneTerm(file=packaged_terms().file, target=target)
        object.__setattr__(alone, "counted", name)
        taken = instance_resources(mapping, alone).times(3)
        assert parts[name] == {"lut": taken.lut, "ff": taken.ff}, name
    assert sum(part["lut"] > 0 for part in parts.values()) > 5


def test_error_of_a_whole_design() -> None:
    """One term has its own error; measured errors of several partly cancel, assumed ones do not."""
    terms = packaged_terms()
    adder = terms.file.terms["adder"].lut
    assert whole_error(terms.of("csynth"), "lut", {"adder": 1000}) == pytest.approx(
        adder.csynth.error, abs=0.01
    )
    assert whole_error(terms, "lut", {"adder": 1000}) == pytest.approx(adder.routed.error, abs=0.01)
    both = whole_error(terms.of("csynth"), "lut", {"adder": 1000, "multiplexer": 1000})
    alone = [whole_error(terms.of("csynth"), "lut", {name: 1000}) for name in ("adder", "multiplexer")]
    assert both < sum(alone) / 2
    assumed = {"axi_adapter": 1000, "process_control": 1000}
    alone = [whole_error(terms, "lut", {name: 1000}) for name in assumed]
    assert whole_error(terms, "lut", assumed) == pytest.approx(sum(alone) / 2, abs=0.011)
    assert whole_error(terms, "lut", dict.fromkeys(FEATURES, 0)) == 0.0


@pytest.fixture(scope="module")
def scaled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of terms with twice the conv_control of hlsgen's own."""
    data = yaml.safe_load(PACKAGED.read_text(encoding="utf-8"))
    data["name"] = "twice"
    data["terms"]["conv_control"]["lut"]["routed"]["per"]["one"] *= 2
    path = tmp_path_factory.mktemp("terms") / "twice.yaml"
    path.write_text(yaml.safe_dump(data))
    return path


def test_other_terms(tmp_path: Path, scaled: Path) -> None:
    """By keyword, by method and by option, with the same figures; their name is in the report."""
    path = tmp_path / "small.yaml"
    path.write_text(DESIGN)
    plain = hlsgen.load(path).estimate().as_json()
    other = hlsgen.load(path, terms=scaled).estimate().as_json()
    control = round(packaged_terms().cells("conv_control", one=1)[0])
    assert other["total"]["lut"] == plain["total"]["lut"] + control
    assert other["cost"]["terms"] == "twice" != plain["cost"]["terms"]
    assert hlsgen.load(path).with_terms(scaled).estimate().as_json() == other
    for command in ("build", "check", "csim", "estimate"):
        words = [command, str(path), "--terms", str(scaled), "--json"]
        words += ["-o", str(tmp_path / "out"), "--no-csim"] if command == "build" else []
        said = CliRunner().invoke(cli, words, catch_exceptions=False)
        assert said.exit_code == 0
        if command in ("build", "estimate"):
            assert json.loads(said.stdout)["total"] == other["total"]
    said = CliRunner().invoke(cli, ["check", str(path), "--terms", str(path)], catch_exceptions=False)
    assert said.exit_code == 1 and "is no key" in said.stderr


def test_report_states_errors_and_what_they_are_of(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(DESIGN)
    design = hlsgen.load(path)
    report = design.build(tmp_path / "out", csim=False).report
    cost, total = report["cost"], report["total"]
    assert (cost["routed"]["lut"], cost["routed"]["ff"]) == (total["lut"], total["ff"])
    assert all(0.05 <= cost[target][f"{kind}_error"] <= 1 for target in TARGETS for kind in CELLS)
    text = (tmp_path / "out" / "report.md").read_text()
    percent = f"{100 * cost['routed']['lut_error']:.0f}"
    assert f"Modelled as routed: LUT {total['lut']:,} +- {percent} %" in text
    assert f"csynth is expected to report LUT {cost['csynth']['lut']:,} +- " in text
    said = CliRunner().invoke(cli, ["estimate", str(path)], catch_exceptions=False).stdout
    assert f"LUT {total['lut']:,} +- {percent} %" in said


# ---------------------------------------------------------------- document and benchmark


def test_document_has_every_term_with_its_errors() -> None:
    """docs/cost-model.md, the table of terms, against the file."""
    found = {cells[0].strip("`"): cells[1:] for cells in rows(document("cost-model.md")) if len(cells) == 7}
    found.pop("term")
    terms: Terms = packaged_terms()
    stated = {
        (name, kind): (getattr(terms.file.terms[name], kind).csynth)
        for name in FEATURES
        for kind in CELLS
        if getattr(terms.file.terms[name], kind).csynth.basis == "fitted"
    }
    assert set(found) == {f"{name}, {kind.upper()}" for name, kind in stated}
    for (name, kind), figure in stated.items():
        per, fitted_to, out, median, q90, elsewhere = found[f"{name}, {kind.upper()}"]
        assert {feature: float(amount) for amount, feature in re.findall(r"([\d.]+) (\w+)", per)} == {
            feature: amount for feature, amount in figure.per.items() if amount
        }
        assert (int(fitted_to), int(out)) == (figure.fit.rows, figure.fit.held_out)
        assert (median, q90) == (f"{figure.fit.median:.1%}", f"{figure.fit.q90:.1%}")
        assert elsewhere == ("" if figure.fit.elsewhere is None else f"{figure.fit.elsewhere:.0%}")
    factors = terms.file.routed_over_csynth
    text = document("cost-model.md")
    for kind in CELLS:
        factor = getattr(factors, kind)
        assert f"{kind.upper()} {factor.factor:.2f} +- {factor.error:.0%}" in text


def test_benchmark_says_what_it_finds(tmp_path: Path) -> None:
    path = tmp_path / "predict.json"
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "predict.py", "--json", path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(path.read_text())
    assert found["loops"] == {"loops": 468, "exact": 453, "within_one": 468}
    better = [one["median"] <= one["before"] for one in found["terms"] if one["before"] is not None]
    assert len(better) >= 10 and all(better)
    beside = [one for one in found["designs"] if one["modelled"]]
    assert [one["stage"] for one in beside] == ["implemented"]
    assert len(found["designs"]) == 11 and all(one["why"] for one in found["designs"])


def test_fit_as_a_program_leaves_the_file_as_it_is() -> None:
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "fit_terms.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "multiplexer" in done.stdout
