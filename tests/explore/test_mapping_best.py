"""`mapping: best`: a build that searches exactly, and what its reports say of the search."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hlsgen import DesignError
from hlsgen.api.design import Design
from hlsgen.api.project import build
from hlsgen.designfile.constraints import InterfaceConstraints, NetworkConstraints
from hlsgen.loading.from_graph import Options, from_graph
from hlsgen.report.explored import MOST_POINTS, FrontPoint, some_points
from hlsgen.styles.streaming import StreamingNetwork
from tests.support.networks import residual_network
from tests.support.places import ROOT
from tests.support.report_builds import content

DESIGN = """
name: digits
board: zcu102
style: {style}
model: {{torch: "{root}/designs/digits/digits.py:make_net", weights: "{root}/designs/digits/digits.pt"}}
input: {{shape: [1, 8, 8], type: "ufixed<8,0>"}}
mapping: {mapping}
"""


def searched(search: str) -> Design:
    graph = residual_network()
    options = Options(
        board="u200",
        clock_mhz=None,
        batch=64,
        constraints=NetworkConstraints(search="best" if search == "best" else "quick"),
        style="dataflow",
        calibration=np.random.default_rng(0).normal(0, 1, (4, *graph.inputs[0].shape)),
        precision="auto",
    )
    return Design(from_graph(graph, options, "test"))


def test_a_build_with_the_best_mapping_is_what_explore_finds(tmp_path: Path) -> None:
    design = searched("best")
    found = searched("quick").explore()
    project = build(design, tmp_path / "best", frames=1)
    report = content(tmp_path / "best")
    assert report["csim"]["verdict"] == "equal"
    assert report["performance"]["frames_per_s"] == pytest.approx(found.point.frames_per_s)
    assert report["total"]["interval_cycles"] == found.point.interval_cycles
    assert report["total"]["instances"] == found.point.instances
    assert report["explored"] == found.summary()
    assert project.report["explored"]["proven"] is found.proven
    quick = searched("quick").estimate().as_json()
    assert "explored" not in quick
    assert quick["performance"]["frames_per_s"] <= report["performance"]["frames_per_s"]


def test_the_reports_show_the_search(tmp_path: Path) -> None:
    build(searched("best"), tmp_path / "best", csim=False)
    text = (tmp_path / "best/report.md").read_text()
    page = (tmp_path / "best/report.html").read_text()
    front = content(tmp_path / "best")["explored"]["front"]
    assert "## Search\n" in text and text.count("(this one)") == 1
    assert 'id="front"' in page
    assert page.count('class="dot"') == len(front)


def test_a_long_front_is_thinned_but_keeps_what_was_chosen() -> None:
    front = [
        FrontPoint(
            frames_per_s=1.0 + rate, interval=1, instances=1, largest_share=0.5, used={}, chosen=rate == 37
        )
        for rate in range(100)
    ]
    shown = some_points(front)
    assert (shown[0], shown[-1]) == (front[0], front[99])
    assert front[37] in shown and len(shown) <= MOST_POINTS + 1
    assert some_points(front[:2]) == front[:2]


def test_other_weights_go_into_the_best_kernel() -> None:
    design = searched("best")
    other = searched("quick")
    changed = design.with_weights(other)
    assert changed.style.hardware.pipeline.interval == design.style.hardware.pipeline.interval
    assert changed.explored is None, "it keeps the hardware that was chosen"


@pytest.mark.parametrize(
    ("style", "mapping", "message"),
    [
        ("dataflow", "bset", "must be auto, best or a mapping"),
        ("dataflow", "{search: fast}", "search"),
    ],
)
def test_refused(style: str, mapping: str, message: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    import hlsgen

    path = tmp_path / "design.yaml"
    path.write_text(DESIGN.format(style=style, mapping=mapping, root=ROOT))
    with pytest.raises(DesignError) as caught:
        hlsgen.load(path)
    assert message in str(caught.value)
    assert f"{path}:7:" in str(caught.value)


def test_explore_keeps_the_interface() -> None:
    design = searched("quick")
    given = design.given
    streams = replace(
        given,
        constraints=replace(
            given.constraints, interface=InterfaceConstraints(input="stream", output="stream")
        ),
    )
    chosen = Design(streams).explore().chosen.given
    assert isinstance(chosen, StreamingNetwork)
    # as its design file would be read: the margins that the search came to are not in it
    again = replace(chosen, chosen=None, board=given.board)
    assert chosen.constraints.interface.streams and again.hardware.pipeline.free_running
    assert again.estimate().as_json()["total"] == chosen.estimate().as_json()["total"]


@pytest.mark.parametrize("interval", [49, 193])
def test_a_fixed_interval_is_no_less_than_what_is_reached(interval: int) -> None:
    """No folding has just this interval: the bound is that of the next shorter one.

    At 193 cycles the greedy baseline is faster than what is asked for.
    """
    given = searched("quick").given
    constraints = replace(given.constraints, target_interval=interval)
    board = given.board.with_margin(0)
    found = Design(replace(given, constraints=constraints, board=board)).explore()
    assert found.point.interval_cycles <= interval
    assert found.bound >= found.point.frames_per_s * (1 - 1e-9)
    rates = [one.frames_per_s for one in found.front]
    assert len(set(rates)) == len(rates), "the chosen point stands alone at its rate"
