"""explore for networks on shared processors: the fastest and the cheapest of the list, true to its file."""

from __future__ import annotations

from pathlib import Path

import pytest

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.search.candidates import share_of
from hlsgen.search.shared import SharedSearch
from tests.explore.test_explore_layerwise import DESIGN


def written(tmp_path: Path, mapping: str = "auto", **changed: str) -> Path:
    text = DESIGN.replace("style: tasks", "style: shared").replace("batch: 8\n", "batch: 64\n")
    for key, value in changed.items():
        text = text.replace("board: zcu102", f"board: zcu102\n{key}: {value}")
    path = tmp_path / "net.yaml"
    path.write_text(text.format(mapping=mapping))
    return path


def test_the_fastest_is_that_of_the_quick_search(tmp_path: Path) -> None:
    design = hlsgen.load(written(tmp_path, margin="0.2"))
    found = design.explore()
    quick = design.estimate()
    assert found.point.frames_per_s == pytest.approx(quick.frames_per_s, rel=1e-9) and found.proven
    assert [one.name for one in found.layers] == [one.name for one in design.style.hardware.program.tasks]
    chosen = [one for one in found.front if one.chosen]
    assert len(chosen) == 1 and chosen[0].frames_per_s == found.point.frames_per_s
    shares = [one.largest_share for one in found.front]
    assert len(shares) > 2 and shares == sorted(shares)


def test_what_it_writes_is_what_it_found(tmp_path: Path) -> None:
    path = written(tmp_path, margin="0.2")
    found = hlsgen.load(path).explore(target_fps=40_000)
    again = hlsgen.load(written(tmp_path, str(dict(found.mapping)).replace("'", ""), margin="0.2"))
    estimate = again.estimate()
    assert estimate.frames_per_s == pytest.approx(found.point.frames_per_s, rel=1e-9)
    assert estimate.used == found.chosen.estimate().used
    assert again.style.hardware.instances == found.point.instances


def test_the_cheapest_for_a_target_costs_no_more_than_any(tmp_path: Path) -> None:
    """Than any candidate that reaches it, with as many instances as it takes."""
    design = hlsgen.load(written(tmp_path, margin="0.2"))
    most = design.explore().point
    target = most.frames_per_s / 3
    found = design.explore(target_fps=target).point
    assert found.frames_per_s >= target * (1 - 1e-9) and found.cost < most.cost
    style = design.given
    search = SharedSearch(style.graph, style.board, style.constraints, style.clock_mhz, style.batch)  # type: ignore[attr-defined]
    costs = []
    for one in search.candidates():
        for rounds in search.rounds(one):
            each = rounds.frames_per_cycle * style.clock_mhz * 1e6 / one.count
            needed = -(-target // each)
            # with fewer instances each has no less of DDR's bytes
            if needed <= one.count:
                costs.append(share_of(one.each.times(int(needed)), style.board))
    assert found.cost <= min(costs) * (1 + 1e-9)


def test_latency_and_targets_out_of_reach(tmp_path: Path) -> None:
    design = hlsgen.load(written(tmp_path, margin="0.2"))
    most = design.explore().point
    quick = design.explore(max_latency_us=most.latency_us / 2).point
    assert quick.latency_us <= most.latency_us / 2
    with pytest.raises(DesignError, match="cannot be reached on AMD ZCU102"):
        design.explore(target_fps=most.frames_per_s * 100)
    with pytest.raises(DesignError, match=r"the shortest latency is .* us") as caught:
        design.explore(max_latency_us=0.001)
    least = float(str(caught.value).split("--max-latency-us ")[1].split()[0])
    assert design.explore(max_latency_us=least).point.latency_us <= least
    with pytest.raises(DesignError, match="cannot be reached"):
        design.explore(max_latency_us=least - 0.11)


def test_mapping_best_builds_what_explore_finds(tmp_path: Path) -> None:
    found = hlsgen.load(written(tmp_path)).explore()
    best = hlsgen.load(written(tmp_path, "best"))
    built = best.build(tmp_path / "net", csim=False, schedule=False)
    assert built.report["performance"]["frames_per_s"] == pytest.approx(found.point.frames_per_s, rel=1e-6)
    said = built.report["explored"]
    assert said["proven"] and said["bound"] == pytest.approx(found.bound, rel=1e-6)
    assert "## Search" in (tmp_path / "net/report.md").read_text()
    assert 'id="front"' in (tmp_path / "net/report.html").read_text()
