"""What notebooks show of designs, estimates, builds and explorations: safe, whole and small cards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import hlsgen
from hlsgen.api.design import Design
from hlsgen.api.project import build
from hlsgen.loading.from_graph import Options, from_graph
from hlsgen.report.notebook import MOST_ROWS, Card
from hlsgen.report.page_tables import Table
from hlsgen.report.tiles import Tile
from tests.support.browser import Browser, browser, chromium
from tests.support.cards import MOST_BYTES, Elements, assert_small_and_whole
from tests.support.networks import residual_network
from tests.support.small_design import DESIGN

EVIL = "<img src=x onerror=alert(1)>\"'&</style><script>alert(2)</script>{{ 7 * 7 }}"
PROGRAM = chromium()


def network() -> Design:
    graph = residual_network()
    options = Options(
        board="u200",
        clock_mhz=None,
        batch=64,
        constraints=None,
        style="dataflow",
        calibration=np.random.default_rng(0).normal(0, 1, (4, *graph.inputs[0].shape)),
        precision="auto",
    )
    return Design(from_graph(graph, options, "test"))


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """By what it is the HTML of an object."""
    folder = tmp_path_factory.mktemp("notebook")
    design = network()
    found = {"a design": design._repr_html_()}
    assert "style" not in vars(design), "showing a design chooses nothing"
    estimate = design.estimate()
    found["an estimate"], found["a chosen design"] = estimate._repr_html_(), design._repr_html_()
    found["an exploration"] = design.explore()._repr_html_()
    built = build(design, folder / "net", frames=2, csim=False, schedule=False)
    found["a build"] = built._repr_html_()
    path = folder / "small.yaml"
    path.write_text(DESIGN)
    layer = hlsgen.load(path)
    found["a layer"], found["a layer's estimate"] = layer._repr_html_(), layer.estimate()._repr_html_()
    return found


WHAT = (
    "a design",
    "a chosen design",
    "an estimate",
    "an exploration",
    "a build",
    "a layer",
    "a layer's estimate",
)


@pytest.mark.parametrize("what", WHAT)
def test_it_is_one_small_element_that_needs_nothing_else(shown: dict[str, str], what: str) -> None:
    assert_small_and_whole(shown[what])


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("a design", ("hardware not chosen yet", "Multiply-accumulates", "conv2d")),
        ("a chosen design", ("instances, a frame every", "binds: ")),
        ("an estimate", ("Frames a second", "modelled", "What binds", "LUT")),
        ("an exploration", ("the fastest of ", "Baseline", "Choices by layer")),
        ("a build", ("C-simulation", "skipped", "report.html", "measured")),
        ("a layer's estimate", ("G operations/s", "Instances")),
    ],
)
def test_it_says_what_is_known(shown: dict[str, str], what: str, words: tuple[str, ...]) -> None:
    for word in words:
        assert word in Elements(shown[what]).words
    assert ("hardware not chosen" in shown[what]) == (what == "a design")


def test_names_are_no_markup_and_long_tables_are_cut() -> None:
    table = Table(title=EVIL, head=(EVIL,), rows=((EVIL * 100,),) * 500)
    card = Card(
        title=EVIL * 500,
        about=EVIL,
        tiles=(Tile(name=EVIL, value=EVIL, note=EVIL),),
        tables=(table,),
        warnings=(EVIL,) * 500,
        notes=(EVIL,),
    )
    text = card.html()
    elements = Elements(text)
    assert not {tag for tag, _ in elements.found} & {"script", "img"}
    assert "alert(2)" in elements.words and "{{ 7 * 7 }}" in elements.words
    assert sum(tag == "tr" for tag, _ in elements.found) == MOST_ROWS + 1
    assert f"the first {MOST_ROWS} of 500" in elements.words
    assert len(text) < MOST_BYTES


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    if PROGRAM is None:
        pytest.skip("Chromium is not installed")
    with browser(PROGRAM) as opened:
        yield opened


def test_cards_keep_to_a_notebooks_width(window: Browser, shown: dict[str, str], tmp_path: Path) -> None:
    page = tmp_path / "cards.html"
    head = "<!DOCTYPE html><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
    page.write_text(f"{head}<body>{''.join(shown.values())}</body>")
    for width in (1000, 480):
        window.open(page, width=width)
        assert window.value("document.documentElement.scrollWidth") <= width
        assert window.value("document.querySelectorAll('.hlsgen-card').length") == len(shown)
    assert window.complaints() == []
