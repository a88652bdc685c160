"""The pragma lint: emitted code of every kind is clean, builds say so, and the command on any file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hlsgen.api.design import load
from hlsgen.api.project import build
from hlsgen.base.errors import EmissionError
from hlsgen.emit.dataflow import dataflow_files
from hlsgen.emit.plan import KernelNames
from hlsgen.hardware.pipeline import pipeline_of
from hlsgen.hardware.weights import Place, WeightPlace
from hlsgen.layers.base import Layer
from hlsgen.layers.stage import Fold
from hlsgen.lint import lint_emitted
from hlsgen.model.ir import Graph
from hlsgen.targets.board import load_board
from hlsgen.timing.fifos import fifo_depths
from tests.lint.test_lint_rules import LINT
from tests.support.build_folders import CASES, emitted
from tests.support.command_line import document, failure, run, text, working_folder
from tests.support.layer_examples import EXAMPLES
from tests.support.pipelines import side_by_side
from tests.support.small_design import DESIGN
from tests.timing.test_deadlock import residual

BAD = "void f() {\n#pragma HLS pipelin II=1\n}\n"
ODD = "void f(int (&x)[8]) {\n#pragma HLS array_partition variable=x complete factor=2\n}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return working_folder(tmp_path, monkeypatch)


# ---- emitted code ------------------------------------------------------------------------------------------


def assert_clean(files: dict[str, Any], at_least: int, allowed: str = "") -> None:
    """No finding, but for those of an `allowed` rule."""
    linted = lint_emitted(files)
    assert [str(finding) for finding in linted.findings if finding.rule.name != allowed] == []
    assert linted.pragmas >= at_least


@pytest.mark.parametrize("case", list(CASES))
def test_layers_as_kernel_and_as_tasks_are_clean(case: str) -> None:
    files = emitted(CASES[case].deployment())
    assert {path for path in files if path.startswith("ompss/") and path.endswith(("h", "cpp"))}
    assert_clean(files, 100)


def dataflow(graph: Graph, folds: dict[str, Fold], **options: Any) -> dict[str, str]:
    pipeline = pipeline_of(graph, folds, options.get("weights"))
    pipeline = pipeline.with_depths(fifo_depths(pipeline))
    return dataflow_files(pipeline, KernelNames(kernel=graph.name, source="test"), load_board("u200"))


def emittable(kind: str) -> list[Layer]:
    """The examples that have weights for all of their input; dense layers on images are only for foldings."""
    return [one for one in EXAMPLES[kind] if kind != "dense" or one.sources[0].shape[1:] == (1, 1)]


@pytest.mark.parametrize("kind", sorted(Layer.kinds))
def test_stages_of_every_kind_are_clean(kind: str) -> None:
    """The narrowest and the widest folding, and one between, of every example."""
    cases = []
    for layer in emittable(kind):
        folds = list(layer.folds())
        cases += [(layer, fold) for fold in (folds[0], folds[len(folds) // 2], folds[-1])]
    graph = side_by_side([layer for layer, _ in cases])
    files = dataflow(graph, {layer.name: fold for layer, (_, fold) in zip(graph.layers, cases, strict=True)})
    # a folding that no search takes first: more than 1,024 products at once
    assert_clean(files, 5 * len(cases), allowed="partition-size")


@pytest.mark.parametrize("place", ["runtime", "stream"])
def test_weights_that_arrive_are_clean(place: Place) -> None:
    graph = side_by_side(emittable("dense"))
    weights = {layer.name: WeightPlace(layer=layer.name, place=place) for layer in graph.layers}
    folds = {layer.name: next(iter(layer.folds())) for layer in graph.layers}
    files = dataflow(graph, folds, weights=weights)
    assert_clean(files, 30)


def test_a_network_with_a_fork_is_clean() -> None:
    graph = residual()
    files = dataflow(graph, {layer.name: next(iter(layer.folds())) for layer in graph.layers})
    assert "hlsgen::fork<" in files["src/residual.cpp"]
    assert_clean(files, 40)


def test_a_network_of_tasks_is_clean() -> None:
    pytest.importorskip("torch")
    from tests.styles.test_task_network import residual as network

    design = network("tasks")
    inputs = design.sample_inputs(2)
    assert_clean(dict(design.style.plan(inputs, design.golden_codes(inputs))), 100)


def findings_without_trip_counts(files: dict[str, Any]) -> tuple[int, int]:
    """(trip counts that files have, findings of `no-tripcount` once they are taken out)."""
    sources = {path: text for path, text in files.items() if path.endswith((".h", ".cpp"))}
    removed = sum(text.count("#pragma HLS loop_tripcount") for text in sources.values())
    bare = {path: text.replace("#pragma HLS loop_tripcount", "//") for path, text in sources.items()}
    found = [finding.rule.name for finding in lint_emitted(bare).findings]
    return removed, found.count("no-tripcount")


def test_every_trip_count_is_of_a_loop_that_needs_it() -> None:
    """The other way round, that no loop lacks one, is what clean code is."""
    removed, found = findings_without_trip_counts(emitted(CASES["fixed16"].deployment()))
    assert removed == found + 2  # requests and responses of the ports: their loops are not pipelined
    graph = residual()
    files = dataflow(graph, {layer.name: next(iter(layer.folds())) for layer in graph.layers})
    removed, found = findings_without_trip_counts(files)
    assert removed == found > 10


def test_a_mistake_in_emitted_code_is_seen() -> None:
    """Each of a kernel's own pragmas, misspelt, is found."""
    files = emitted(CASES["fixed16"].deployment())
    source = files["src/conv.cpp"]
    at = [place for place in range(len(source)) if source.startswith("#pragma HLS ", place)]
    assert len(at) > 15
    for place in at:
        broken = source[: place + 13] + source[place + 14 :]
        linted = lint_emitted({**files, "src/conv.cpp": broken})
        assert {finding.rule.name for finding in linted.findings} >= {"unknown-pragma"}


# ---- builds ------------------------------------------------------------------------------------------------


def test_a_build_says_what_was_linted(folder: Path) -> None:
    project = build(load(folder / "small.yaml"), folder / "small", csim=False)
    files = [path for path in (folder / "small").rglob("*") if path.suffix in (".h", ".cpp")]
    kernel = [path for path in files if path.relative_to(folder / "small").parts[0] in ("src", "ompss")]
    counts = json.loads((folder / "small" / "report.json").read_text())["lint"]
    assert counts == project.report["lint"]
    assert counts["files"] == len(kernel)
    assert counts["pragmas"] == sum(path.read_text().count("#pragma HLS") for path in kernel)
    assert (counts["errors"], counts["warnings"]) == (0, 0)
    said = (folder / "small" / "report.md").read_text()
    assert f"Pragma lint: {counts['pragmas']:,} `#pragma HLS` in {counts['files']} emitted files" in said


def test_emitted_code_has_no_statement_between_its_stages(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of others it is a warning, as to the vendor's tool."""
    design = load(folder / "small.yaml")
    plan = type(design.style).plan

    def broken(self: Any, *given: Any) -> dict[str, str | bytes]:
        files = dict(plan(self, *given))
        added = "#pragma HLS dataflow\n    for (int i = 0; i < 4; ++i) {}\n"
        files["src/small.cpp"] = str(files["src/small.cpp"]).replace("#pragma HLS dataflow\n", added)
        return files

    monkeypatch.setattr(type(design.style), "plan", broken)
    with pytest.raises(EmissionError, match="dataflow-statement"):
        build(design, folder / "out", csim=False)


def test_wrong_emitted_code_is_a_bug_of_ours(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    design = load(folder / "small.yaml")
    plan = type(design.style).plan

    def broken(self: Any, *given: Any) -> dict[str, str | bytes]:
        files = dict(plan(self, *given))
        files["src/small.cpp"] = str(files["src/small.cpp"]).replace("HLS dataflow", "HLS datflow")
        return files

    monkeypatch.setattr(type(design.style), "plan", broken)
    with pytest.raises(EmissionError) as caught:
        build(design, folder / "out", csim=False)
    assert caught.value.exit_code == 5
    said = failure(5, "build", "small.yaml", "--no-csim", "-o", "out")
    assert "This is a bug of hlsgen, not of the design" in said
    assert "there is no `#pragma HLS datflow`" in said and "did you mean 'dataflow'?" in said
    assert not (folder / "out").exists()


# ---- the command -------------------------------------------------------------------------------------------


def test_a_clean_file(folder: Path) -> None:
    (folder / "a.cpp").write_text("void f() {\n#pragma HLS inline\n}\n")
    assert text("lint", "a.cpp") == "1 pragma in 1 file: 0 errors, 0 warnings\n"
    assert document("lint", "a.cpp") == {"files": 1, "pragmas": 1, "errors": 0, "warnings": 0, "findings": []}


def test_a_variable_of_the_top_functions_name_calls_nothing(folder: Path) -> None:
    """A kernel may be called `first`, which its emitted loops have as a variable too."""
    interface = "#pragma HLS interface m_axi port=x offset=slave bundle=gmem\n"
    top = f"void first(int *x) {{\n{interface}    *x = 1;\n}}\n"
    reads = "int counted() {\n    bool first = true;\n    return first ? 1 : 0;\n}\n"
    (folder / "first.cpp").write_text(top + reads)
    assert "interface-not-top" not in run("lint", "first.cpp").stdout
    (folder / "first.cpp").write_text(f"{top}void other(int *x) {{\n{interface}    first(x);\n}}\n")
    assert "`first` is called by `other`" in run("lint", "first.cpp").stdout
    (folder / "first.cpp").write_text(f"{top}void test_of_first(int *x) {{\n    first(x);\n}}\n")
    assert "interface-not-top" not in run("lint", "first.cpp").stdout


def test_an_array_that_two_functions_cut_alike_is_cut_once(folder: Path) -> None:
    """A table of 64 that the filling and the wave both want in registers has 64 parts, not 4,096."""
    cut = "#pragma HLS array_partition variable=OFFSET{}\n    return OFFSET[i];\n}}\n"
    both = "".join(f"int {name}(int i) {{\n{cut.format('')}" for name in ("fill", "wave"))
    (folder / "a.cpp").write_text(f"static int OFFSET[64];\n{both}")
    assert text("lint", "a.cpp").endswith("0 errors, 0 warnings\n")
    along = f"int f(int i) {{\n{cut.format(' dim=1')}int g(int i) {{\n{cut.format(' dim=2')}"
    (folder / "a.cpp").write_text(f"static int OFFSET[64][64];\n{along}".replace("[i]", "[i][0]"))
    assert "`OFFSET` is cut into 4,096 parts" in text("lint", "a.cpp")


def test_errors_end_with_1(folder: Path) -> None:
    (folder / "bad.cpp").write_text(BAD)
    (folder / "odd.cpp").write_text(ODD)
    result = run("lint", "bad.cpp", "odd.cpp")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0].startswith("bad.cpp:2:13: error: ") and lines[0].endswith("[unknown-pragma]")
    assert lines[2].endswith("| " + " " * 12 + "^^^^^^^")
    assert lines[-1] == "2 pragmas in 2 files: 1 error, 1 warning"
    found = json.loads(run("lint", "bad.cpp", "--json").stdout)
    assert (found["errors"], found["findings"][0]["rule"]) == (1, "unknown-pragma")
    assert (found["findings"][0]["line"], found["findings"][0]["column"]) == (2, 13)


def test_warnings_end_with_1_if_asked_for(folder: Path) -> None:
    (folder / "odd.cpp").write_text(ODD)
    assert run("lint", "odd.cpp").exit_code == 0
    assert run("lint", "--warnings-as-errors", "odd.cpp").exit_code == 1
    assert run("lint", "--warnings-as-errors", "odd.cpp", "--json").exit_code == 1


@pytest.mark.parametrize("words", [[], ["nowhere.cpp"], ["."], ["-I", "nowhere", "small.yaml"]])
def test_wrong_usage_ends_with_2(words: list[str]) -> None:
    assert run("lint", *words).exit_code == 2


def test_headers_are_found_beside_above_and_in_given_folders(folder: Path) -> None:
    (folder / "src/inner").mkdir(parents=True)
    (folder / "away").mkdir()
    (folder / "src/sizes.h").write_text("constexpr int SIZE = 5000;\n")
    (folder / "away/more.h").write_text('#include "sizes.h"\n#define TIMES 2\n')
    body = "void f(int i) {\n    static int x[SIZE * TIMES];\n#pragma HLS array_partition variable=x\n}\n"
    (folder / "src/inner/f.cpp").write_text(f'#include "sizes.h"\n#include "more.h"\n{body}')
    assert "more.h is not there" in text("lint", "src/inner/f.cpp")
    said = text("lint", "-I", "away", "src/inner/f.cpp")
    assert "`x` is cut into 10,000 parts" in said and "is not there" not in said


def test_a_header_is_no_file_to_wait_for(folder: Path) -> None:
    """An include that names a folder or a device is as one that is not there."""
    (folder / "a.cpp").write_text('#include "/dev/zero"\n#include "tmp"\n#include "a.cpp"\n' + BAD)
    found = json.loads(run("lint", "a.cpp", "--json").stdout)["findings"]
    assert [one["rule"] for one in found] == ["include-missing", "include-missing", "unknown-pragma"]


def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe.cpp")
    assert "error: it is no regular file [not-text]" in run("lint", "pipe.cpp").stdout


def test_names_and_texts_that_a_terminal_would_obey(folder: Path) -> None:
    name = "a\x1b[31m.cpp"
    (folder / name).write_text("void f() {\n#pragma HLS inline \x1b]0;x\x07 off\n}\n")
    result = run("lint", name)
    assert result.exit_code == 1
    assert "\x1b" not in result.stdout and "\x07" not in result.stdout


def test_a_file_with_very_many_mistakes(folder: Path) -> None:
    (folder / "a.cpp").write_text("void f() {\n" + "#pragma HLS pipelin\n" * 1000 + "}\n")
    said = run("lint", "a.cpp").stdout.splitlines()
    assert said[-2:] == [
        "and 800 more findings, in files with too many to read",
        "1000 pragmas in 1 file: 200 errors, 0 warnings",
    ]


def test_the_examples_from_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(LINT)
    files = sorted(path.name for path in LINT.glob("*.cpp"))
    result = run("lint", *files)
    assert result.exit_code == 1
    for path in LINT.glob("*.expect"):
        assert path.read_text() in result.stdout
    assert DESIGN not in result.stdout
