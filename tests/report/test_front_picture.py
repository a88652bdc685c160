"""The picture of the Pareto front: places that follow from its figures, on the page and in the file alike."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from hlsgen.cost.resources import Resources
from hlsgen.report.explored import FrontPoint, Search, SearchPoint
from hlsgen.report.front_file import write_front
from hlsgen.report.front_picture import FrontPicture, draw_front

USABLE = Resources(lut=1000, ff=2000, bram18=100, dsp=40)
"""No URAM."""


def point(rate: float, lut: int, dsp: int, *, chosen: bool = False) -> FrontPoint:
    used = {"lut": lut, "ff": 0, "bram18": 0, "uram": 0, "dsp": dsp}
    largest = max(lut / USABLE.lut, dsp / USABLE.dsp)
    return FrontPoint(
        frames_per_s=rate, interval=10, instances=1, largest_share=largest, used=used, chosen=chosen
    )


def kernel(rate: float, share: float) -> SearchPoint:
    return SearchPoint(
        frames_per_s=rate,
        interval_cycles=10,
        latency_us=1.0,
        instances=1,
        by_slr=None,
        cost=share,
        used={},
        utilisation={"lut": share},
    )


FOUND = Search(
    point=kernel(1e4, 1.0),
    bound=1e4,
    gap=0.0,
    proven=True,
    multiplier_fps=1e5,
    multiplier_share=0.1,
    binds="LUT",
    greedy=kernel(1e3, 0.75),
    front=(point(1e2, 250, 20), point(1e3, 500, 30), point(1e4, 1000, 40, chosen=True)),
    slr_crossings=0,
    problems_solved=1,
    kernels_made=1,
)


def ticks(picture: FrontPicture) -> tuple[dict[str, float], dict[str, float]]:
    across = {one.label: float(one.at) for one in picture.x_ticks}
    return across, {one.label: float(one.at) for one in picture.y_ticks}


def test_places_are_those_of_the_ticks() -> None:
    picture = draw_front(FOUND, USABLE)
    across, down = ticks(picture)
    rates = [across[label] for label in ("100", "1 k", "10 k")]
    places = {one.name: [(float(x), float(y)) for x, y in one.places] for one in picture.kinds}
    assert set(places) == {"LUT", "FF", "BRAM18", "DSP"}, "the board has no URAM"
    assert [x for x, _ in places["LUT"]] == rates
    assert [y for _, y in places["LUT"]] == [down["25%"], down["50%"], down["100%"]]
    assert [y for _, y in places["DSP"]] == [down["50%"], down["75%"], down["100%"]]
    assert [y for _, y in places["FF"]] == [down["0%"]] * 3
    largest = [(float(x), float(y)) for x, y, _ in picture.points]
    assert largest == [(rates[0], down["50%"]), (rates[1], down["75%"]), (rates[2], down["100%"])]
    assert picture.chosen == picture.points[2][:2]
    assert picture.greedy is not None and tuple(map(float, picture.greedy)) == (across["1 k"], down["75%"])
    assert picture.limit is not None and float(picture.limit) == across["100 k"]
    assert rates[2] - rates[1] == pytest.approx(rates[1] - rates[0], abs=0.2), "a logarithmic axis"


def test_what_was_not_found_is_not_drawn() -> None:
    picture = draw_front(replace(FOUND, greedy=None, multiplier_fps=None), USABLE)
    assert picture.greedy is None and picture.limit is None
    assert "100 k" not in ticks(picture)[0]


def test_a_kind_that_a_report_lacks_is_none() -> None:
    """A report.json that is read may name other kinds than the board's."""
    bare = replace(FOUND, front=tuple(replace(one, used={}) for one in FOUND.front))
    picture = draw_front(bare, USABLE)
    assert {y for one in picture.kinds for _, y in one.places} == {picture.y_ticks[0].at}


def test_the_file_shows_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "front.svg"
    write_front(draw_front(FOUND, USABLE), "net on a board", path)
    text = path.read_text()
    for shown in ("net on a board", "LUT", "DSP", "10 k", "75%", "chosen", "greedy", "all DSPs at work"):
        assert f"<!-- {shown} -->" in text
    assert "URAM" not in text
    first = path.read_bytes()
    write_front(draw_front(FOUND, USABLE), "net on a board", path)
    assert path.read_bytes() == first
    assert len(re.findall("<use ", text)) > 3 * 4
