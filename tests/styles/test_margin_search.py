"""Margins between those that are too small and those that are larger than what is found with them needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from hlsgen.styles.margin_search import Judged, inside
from hlsgen.targets.board import Margins


@dataclass(frozen=True)
class Fit:
    """As much of report.fit.Fit as the search looks at."""

    confident: bool
    margins: Margins


def searched(steps: list[tuple[float, float, float]], tried: list[float]) -> Any:
    """A search over hardware that needs a margin, is found up to another one, and so fast; best first."""

    def search(margins: Margins) -> Judged[str] | None:
        tried.append(round(margins.lut, 3))
        for needs, found_to, speed in steps:
            if margins.lut <= found_to:
                fit: Any = Fit(confident=margins.lut >= needs - 1e-9, margins=Margins(lut=needs))
                return Judged(found=f"{speed:g}", fit=fit, frames_per_s=speed)
        return None

    return search


@pytest.mark.parametrize(
    ("steps", "found", "tried"),
    [
        # the fastest asks for .3; with that the slowest is found, which needs .1 and leaves the middle unseen
        ([(0.3, 0.05, 30), (0.15, 0.25, 20), (0.1, 0.5, 10)], "20", [0.3, 0.1, 0.2, 0.15]),
        ([(0.3, 0.05, 30), (0.28, 0.5, 10)], "10", [0.3]),  # too near to be another
        ([(0.0, 1.0, 30)], "30", []),
        # larger hardware asks for more and more
        ([(0.2, 0.1, 30), (0.4, 0.3, 20), (0.4, 0.5, 10)], "10", [0.2, 0.4]),
    ],
)
def test_the_fastest_that_fits_is_found_between(
    steps: list[tuple[float, float, float]], found: str, tried: list[float]
) -> None:
    asked: list[float] = []
    search = searched(steps, asked)
    first = search(Margins())
    asked.clear()
    assert inside(search, first, Margins(), refinements=3).found == found
    assert asked == tried


def test_where_nothing_fits_what_does_without_margins_counts() -> None:
    search = searched([(0.3, 0.1, 30)], [])
    assert inside(search, search(Margins()), Margins(), refinements=3).found == "30"
