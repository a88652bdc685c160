"""A layer for each template of a stage: what is emitted, as text, and the same text executed against golden.

A change shows in the diff of golden/stages/ (rewrite it with `make golden`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from hlsgen.base.fixed import Codes
from hlsgen.base.output import write_files
from hlsgen.csim.compiler import compile_testbench
from hlsgen.emit.dataflow import dataflow_files
from hlsgen.emit.plan import KernelNames
from hlsgen.hardware.pipeline import Pipeline
from hlsgen.model.ir import run_golden
from hlsgen.targets.board import load_board
from hlsgen.timing.fifos import fifo_depths
from tests.support.layers.emitted import (
    Emitted,
    emitted_examples,
    files_of,
    pipeline_of_examples,
    unshown_templates,
)
from tests.support.pipelines import Built, random_codes

GOLDEN = Path(__file__).parent / "golden" / "stages"
EXAMPLES = emitted_examples()
FRAMES = 5
ORPHAN = re.compile(r"^(?!namespace).*\{\n\n|\n\n *\}\n", re.MULTILINE)
MOST_COLUMNS = 120
"""Of a line; pragmas cannot be broken."""


@cache
def pipeline() -> Pipeline:
    found = pipeline_of_examples(EXAMPLES)
    return found.with_depths(fifo_depths(found))


def files_for(made: Pipeline) -> dict[str, str]:
    names = KernelNames(kernel=made.graph.name, source="test.yaml")
    return dataflow_files(made, names, load_board("u200"))


@cache
def emitted() -> dict[str, str]:
    return dataflow_files(pipeline(), KernelNames(kernel="examples", source="test.yaml"), load_board("u200"))


def compiled(made: Pipeline, files: dict[str, str], folder: Path) -> Built:
    write_files(folder, files)
    executable = folder / "x"
    compile_testbench(folder, made.graph.name, executable, streaming=True, optimise="-O0")
    return Built(pipeline=made, executable=executable)


def inputs_of(made: Pipeline) -> dict[str, Codes]:
    """The same for a layer whatever others there are."""
    return {
        port.name: random_codes(port.tensor, FRAMES, crc32(port.name.encode())) for port in made.graph.inputs
    }


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_emitted_text(name: str, update_golden: bool) -> None:
    for file, text in files_of(name, emitted(), pipeline()).items():
        golden = GOLDEN / file
        if update_golden:
            golden.write_text(text)
        assert golden.is_file(), f"{golden} is missing: make golden"
        assert text == golden.read_text()


def test_no_stored_text_is_left_over() -> None:
    wanted = {file for name in EXAMPLES for file in files_of(name, emitted(), pipeline())}
    assert {path.name for path in GOLDEN.iterdir()} <= wanted, "of layers that no test names any more"


def assert_reads_as_written_by_hand(text: str) -> None:
    assert text.endswith("\n") and not text.endswith("\n\n")
    assert "{{ " not in text and "{%" not in text and "\t" not in text
    assert "\n\n\n" not in text, "two blank lines"
    assert not ORPHAN.search(text), "a blank line at the end of a block"
    lines = text.splitlines()
    assert not any(line != line.rstrip() for line in lines), "trailing blanks"
    code = [line for line in lines if not line.startswith("#pragma")]
    assert max(map(len, code)) <= MOST_COLUMNS, max(code, key=len)


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_emitted_text_reads_as_written_by_hand(name: str) -> None:
    for text in files_of(name, emitted(), pipeline()).values():
        assert_reads_as_written_by_hand(text)


def test_the_emitted_text_is_exact(tmp_path: Path) -> None:
    """The stored text, numbers of stages apart, is what is compiled here."""
    built = compiled(pipeline(), emitted(), tmp_path)
    inputs = inputs_of(pipeline())
    golden = run_golden(pipeline().graph, inputs)
    for bounded in (False, True):
        run = built.run(inputs, tmp_path, bounded=bounded)
        for name in EXAMPLES:
            np.testing.assert_array_equal(run.tensors[name], golden[name], err_msg=name)
        if not bounded:
            run.check_schedule(FRAMES)


def mutants() -> Iterator[tuple[str, Emitted, str, str]]:
    for name, example in EXAMPLES.items():
        for number, (before, after) in enumerate(example.mutants):
            yield f"{name}_mutant{number}", example, before, after


def test_every_mutant_changes_a_result(tmp_path: Path) -> None:
    """All in one kernel, each beside the others."""
    made = pipeline_of_examples({name: example for name, example, _, _ in mutants()})
    made = made.with_depths(fifo_depths(made))
    files = files_for(made)
    for name, _, before, after in mutants():
        path = f"src/{name}.h"
        assert before in files[path], f"{before!r} is not in {name}: the mutant has to follow the template"
        files[path] = files[path].replace(before, after, 1)
    built = compiled(made, files, tmp_path)
    inputs = inputs_of(made)
    golden = run_golden(made.graph, inputs)
    found = built.run(inputs, tmp_path).tensors
    survivors = [
        (name, before, after)
        for name, _, before, after in mutants()
        if np.array_equal(found[name], golden[name])
    ]
    assert survivors == []


def test_every_template_of_a_stage_has_a_layer_that_shows_it() -> None:
    """A new kind names one in its test, in EMITTED; docs/adding-a-layer.md."""
    assert unshown_templates(EXAMPLES) == set(), "no test of a stage names a layer of these in EMITTED"


def test_every_template_has_mutants() -> None:
    counts = Counter[str]()
    for name, example in EXAMPLES.items():
        counts[pipeline().stages[name].template] += len(example.mutants)
    assert min(counts.values()) >= 2, counts
