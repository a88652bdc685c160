"""profile.html and trace.html: which layer ruins a network's answers, for a person to read.

As report.html: one file, no script, every text escaped.
"""

from __future__ import annotations

from dataclasses import dataclass

from hlsgen.emit.environment import environment
from hlsgen.report.charts import BarChart
from hlsgen.report.page_tables import Table
from hlsgen.report.profile import AdviceFigures, ProfileFigures, TraceFigures, decibels_text, share_text
from hlsgen.report.profile_pictures import (
    BinadePicture,
    binade_picture,
    noise_chart,
    noise_table,
    range_table,
    share_chart,
    trace_chart,
    trace_table,
)

PARAMETERS = ("weights", "bias")


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A tile: a figure and what it is. tone: "good" or "bad"."""

    name: str
    value: str
    note: str
    tone: str = ""


@dataclass(frozen=True, kw_only=True)
class NumbersPage:
    """What the template shows; a part that there is not is None."""

    title: str
    about: str
    facts: tuple[Fact, ...]
    verdict: tuple[str, ...]
    advice: tuple[AdviceFigures, ...] = ()
    shares: BarChart | None = None
    noise: BarChart | None = None
    noise_rows: Table | None = None
    results: BinadePicture | None = None
    parameters: BinadePicture | None = None
    ranges: Table | None = None
    trace: BarChart | None = None
    trace_rows: Table | None = None


def profile_page(design: str, profile: ProfileFigures) -> str:
    """The page of a profile. The same figures give the same text."""
    worst = profile.worst
    clipped = [one for one in profile.tensors if one.clipped]
    spare = [one for one in profile.tensors if one.part == "result" and one.spare_bits > 1]
    facts = [
        Fact(name="Frames", value=f"{profile.frames:,}", note="in NumPy, bit for bit C-simulation's"),
        Fact(
            name="Clipped tensors",
            value=f"{len(clipped)}",
            note=f"at most {share_text(max(one.clipped for one in clipped))}" if clipped else "none",
            tone="bad" if clipped else "good",
        ),
        Fact(name="Over a bit to spare", value=f"{len(spare)}", note="results, at the top of their type"),
    ]
    if worst is not None:
        facts.insert(
            0,
            Fact(
                name="Ruins it most",
                value=worst.name,
                note=f"{worst.share:.0%} of all layers' noise, by {worst.cause}; "
                f"{decibels_text(worst.output_db)} if alone"
                if worst.output_db is not None
                else f"{worst.share:.0%} of all layers' noise, by {worst.cause}",
                tone="bad",
            ),
        )
    results = [one for one in profile.tensors if one.part not in PARAMETERS]
    parameters = [one for one in profile.tensors if one.part in PARAMETERS]
    page = NumbersPage(
        title=f"{design}: profile",
        about=f"Ranges beside types and the noise of every layer, on {profile.frames:,} frames",
        facts=tuple(facts),
        verdict=profile.verdict,
        advice=profile.advice,
        shares=share_chart(profile) if worst is not None else None,
        noise=noise_chart(profile.noise, worst.name if worst else "") if profile.noise else None,
        noise_rows=noise_table(profile) if profile.noise else None,
        results=binade_picture("Inputs and results", results),
        parameters=binade_picture("Weights and biases", parameters),
        ranges=range_table(profile),
    )
    return _rendered(page)


def trace_page(design: str, trace: TraceFigures) -> str:
    """The page of a trace. The same figures give the same text."""
    wrong = [one for one in trace.layers if one.wrong]
    compared = [one for one in trace.layers if one.compared]
    fused = [one for one in trace.layers if one.note.startswith("fused into")]
    facts = [
        Fact(
            name="First wrong layer",
            value=wrong[0].name if wrong else "none",
            note=decibels_text(wrong[0].snr_db) if wrong else "errors of a tenth of the signal or more",
            tone="bad" if wrong else "good",
        ),
        Fact(name="Compared", value=f"{len(compared)} layers", note=f"with {trace.judge or 'nothing'}"),
        Fact(name="Fused", value=f"{len(fused)} layers", note="they have no values of their own"),
        Fact(name="Frames", value=f"{trace.frames:,}", note="bit for bit C-simulation's"),
    ]
    page = NumbersPage(
        title=f"{design}: trace",
        about=f"Every layer beside {trace.judge or 'nothing'}, on {trace.frames:,} frames",
        facts=tuple(facts),
        verdict=trace.verdict,
        trace=trace_chart(trace) if compared else None,
        trace_rows=trace_table(trace),
    )
    return _rendered(page)


def _rendered(page: NumbersPage) -> str:
    return environment(html=True).get_template("report/numbers.html.j2").render(page=page)
