"""Where the frames come from that number types are chosen from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

STAND_INS = {"photograph": "a stand-in photograph", "random": "random numbers"}
"""Samples that are not the user's own, by what a design file calls them."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """`frames` frames of `source`, in words, of `given` there. stand_in: they are not the user's own.

    chooses: whether types were chosen from them (auto, widths), rather than only judged by them. of_ranges:
    the numbers of those that ranges were chosen from; the others judge.
    """

    source: str
    frames: int
    given: int
    stand_in: bool = False
    chooses: bool = True
    of_ranges: frozenset[int] = frozenset()

    def __str__(self) -> str:
        what = "number types chosen from" if self.chooses else "accuracy of the types judged on"
        if self.frames < self.given:
            return f"{what} {self.source}: {self.frames:,} of {self.given:,} frames, spread"
        return f"{what} {self.source}: {self.frames:,} frame{'s' if self.frames > 1 else ''}"

    @property
    def warning(self) -> str | None:
        """What to say of types that were chosen from a stand-in; None: nothing."""
        if not (self.stand_in and self.chooses):
            return None
        return (
            f"number types were chosen from {self.source}, not from frames of your own: "
            "what lies beyond them in your inputs is clipped, and the accuracy that is stated is not that of "
            "your inputs; give typical frames (input: samples: frames.npy, or in Python calibration=x)"
        )


def described(sources: Sequence[tuple[str, str]]) -> str:
    """The sources of several inputs in words, of each (input, source); one, if all are alike."""
    if len({source for _, source in sources}) == 1:
        return sources[0][1]
    return ", ".join(f"{name}: {source}" for name, source in sources)
