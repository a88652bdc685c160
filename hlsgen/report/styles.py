"""The styles that `style: auto` compared, as report.json and report.md have them. All modelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hlsgen.report.section import Count, Flag, Number, Positive, Section, Text
from hlsgen.report.tables import table


@dataclass(frozen=True, kw_only=True)
class StyleFigures(Section):
    """What a style's quick search found, or why it has no hardware: then the figures are missing.

    latency_us: of one frame, from DDR to DDR. fits: the probability that the usable share is enough. chosen:
    the style of the design; refusal: in words.
    """

    style: Text
    chosen: Flag = False
    frames_per_s: Positive | None = None
    latency_us: Number | None = None
    instances: Count | None = None
    fits: Number | None = None
    binds: Text = ""
    refusal: Text = ""

    @property
    def text(self) -> str:
        """What was found, in a line."""
        if self.frames_per_s is None:
            return self.refusal
        assert self.latency_us is not None and self.fits is not None
        return (
            f"{self.frames_per_s:,.0f} frames/s, latency {self.latency_us:,.1f} us, "
            f"fits with a probability of {self.fits:.0%}; binds: {self.binds}"
        )


def style_lines(styles: Sequence[StyleFigures]) -> list[str]:
    """Each style in a line, the chosen one marked."""
    return [f"style: {one.style}{' (chosen)' if one.chosen else ''}: {one.text}" for one in styles]


def styles_text(styles: Sequence[StyleFigures]) -> str:
    """A section of report.md; empty if no styles were compared."""
    if not styles:
        return ""
    rows = [(f"`{one.style}`" + (" (this one)" if one.chosen else ""), one.text) for one in styles]
    text = "`style: auto` takes the fastest in the steady state that fits, each by its quick search:"
    return f"## Styles\n\n{text}\n\n" + table(("style", "modelled"), rows)
