"""A mixture of a streaming kernel and shared processors, as reports have it. All modelled."""

from __future__ import annotations

from dataclasses import dataclass

from hlsgen.base.rates import rate_text
from hlsgen.report.section import Count, Positive, Section, Some, Text, Texts
from hlsgen.report.tables import table
from hlsgen.search.board_limits import COLUMNS
from hlsgen.search.mixture import MixedHardware


@dataclass(frozen=True, kw_only=True)
class MixtureFigures(Section):
    """Where streaming ends, the frames a second of both sides, and what the streaming kernel takes.

    cut: the tensor that leads on. streaming: the layers before it; kernel: theirs. cut_bytes: of a frame of
    the tensor in DDR. cuts: that were looked at.
    """

    cut: Text
    kernel: Text
    streaming: Texts
    streaming_frames_per_s: Positive
    streaming_interval_cycles: Some
    processors_frames_per_s: Positive
    cut_bytes: Count
    cuts: Count
    dsp: Count
    bram18: Count
    uram: Count
    lut: Count
    ff: Count

    @property
    def slower(self) -> str:
        """The side that sets the speed."""
        return "the processors" if self.processors_slower else "the streaming kernel"

    @property
    def processors_slower(self) -> bool:
        return self.processors_frames_per_s <= self.streaming_frames_per_s


def mixture_figures(hardware: MixedHardware, kernel: str, clock_mhz: float) -> MixtureFigures:
    """The section `mixture`."""
    front, hertz = hardware.front, clock_mhz * 1e6
    return MixtureFigures(
        cut=hardware.cut,
        kernel=kernel,
        streaming=tuple(layer.name for layer in front.pipeline.graph.layers[:-1]),
        streaming_frames_per_s=round(hardware.front_rate * hertz, 3),
        streaming_interval_cycles=front.pipeline.interval,
        processors_frames_per_s=round(hardware.back.frames_per_cycle * hertz, 3),
        cut_bytes=hardware.back.program.layout(hardware.cut).frame_bytes,
        cuts=hardware.cuts,
        **{kind: getattr(front.each, kind) for kind in COLUMNS},
    )


MIXTURE_HEADS = ("kernel", "frames/s", *(kind.upper() for kind in COLUMNS))


def mixture_rows(found: MixtureFigures) -> tuple[tuple[str, ...], ...]:
    """Of MIXTURE_HEADS, what each side makes; what the processors take is in the table of resources."""
    return (
        (
            f"{found.kernel}, {len(found.streaming)} layers, streaming",
            rate_text(found.streaming_frames_per_s),
            *(f"{getattr(found, kind):,}" for kind in COLUMNS),
        ),
        ("processors, the other layers", rate_text(found.processors_frames_per_s), *("" for _ in COLUMNS)),
    )


def mixture_note(found: MixtureFigures) -> str:
    """Where streaming ends, and which side sets the speed."""
    verb = "set" if found.processors_slower else "sets"
    return (
        f"The layers up to {found.cut} stream, and leave that tensor in DDR, {found.cut_bytes:,} bytes a "
        "frame, for the next rounds of the processors while these work on the rounds before. "
        f"{found.slower[0].upper()}{found.slower[1:]} {verb} the speed. {found.cuts} tensors were looked at."
    )


def mixture_text(found: MixtureFigures) -> str:
    """The section of report.md."""
    return f"## Streaming and shared\n\n{mixture_note(found)}\n\n" + table(MIXTURE_HEADS, mixture_rows(found))
