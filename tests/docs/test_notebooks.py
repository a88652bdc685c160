"""The notebooks of docs/notebooks run, assert what they claim, and are shown with their outputs."""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import ROOT

for package in ("nbformat", "nbclient", "nbconvert", "ipykernel"):
    pytest.importorskip(package, reason="the notebooks' tools are not installed: pip install 'hlsgen[docs]'")

import nbformat  # noqa: E402
from nbclient.exceptions import CellExecutionError  # noqa: E402

NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
NEEDS = {"torch_to_zcu102": "torch", "explore_front": "torch", "qkeras_layers": "qkeras"}
MOST_OUTPUT = 20_000
"""Characters of text that a page of a notebook may show."""


@pytest.fixture(scope="module")
def site() -> Any:
    """docs/site/notebooks.py, as `make site` uses it."""
    spec = importlib.util.spec_from_file_location("site_notebooks", ROOT / "docs/site/notebooks.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cells(path: Path, kind: str) -> list[str]:
    return [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == kind]


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 5
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert all(f"notebooks/{path.stem}.md" in config for path in NOTEBOOKS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_in_git_has_no_outputs_and_asserts_something(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    trees = [ast.parse(cell.source) for cell in code]
    asserted = sum(isinstance(node, ast.Assert) for tree in trees for node in ast.walk(tree))
    assert asserted >= 3
    assert max(len(line) for cell in code for line in cell.source.splitlines()) <= 120


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path: Path, site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if NEEDS.get(path.stem) and importlib.util.find_spec(NEEDS[path.stem]) is None:
        pytest.skip(f"{NEEDS[path.stem]} is not installed")
    # the kernel is a process of its own: the hlsgen that is tested is the one that it shall find
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    notebook = site.executed(path, tmp_path)
    shown = "".join(
        output.get("text", "") + str(output.get("data", {}).get("text/plain", ""))
        for cell in notebook.cells
        for output in cell.get("outputs", ())
    )
    assert shown and len(shown) < MOST_OUTPUT and "Traceback" not in shown


def test_a_notebook_that_is_wrong_fails(site: Any, tmp_path: Path) -> None:
    wrong = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("assert 1 == 2")])
    nbformat.write(wrong, tmp_path / "wrong.ipynb")
    (tmp_path / "place").mkdir()
    with pytest.raises(CellExecutionError, match="assert 1 == 2"):
        site.executed(tmp_path / "wrong.ipynb", tmp_path / "place")


def test_a_page_shows_the_outputs_of_the_run_of_just_this_notebook(site: Any, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "runs").mkdir()
    source = tmp_path / "source/small.ipynb"
    cells = [nbformat.v4.new_markdown_cell("# Small"), nbformat.v4.new_code_cell("print(6 * 7)")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), source)
    ((path, before),) = site.pages_of(source.parent, tmp_path / "runs")
    assert path == "notebooks/small.md" and "without outputs" in before and "42" not in before
    (tmp_path / "place").mkdir()
    run = site.executed(source, tmp_path / "place")
    nbformat.write(run, tmp_path / "runs" / site._name(source))
    ((_, after),) = site.pages_of(source.parent, tmp_path / "runs")
    assert after.startswith("# Small\n") and "    42" in after
    cells[1].source = "print(6 * 8)"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), source)
    ((_, changed),) = site.pages_of(source.parent, tmp_path / "runs")
    assert "42" not in changed
