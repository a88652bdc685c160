"""`style: auto`: the hardware of every style of networks, and of those that fit the fastest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import Codes
from hlsgen.base.progress import Progress, silent
from hlsgen.csim.compiler import Headers
from hlsgen.csim.streaming import NetworkRun
from hlsgen.designfile.constraints import NoFit
from hlsgen.designfile.margins import AUTO as MARGIN_AUTO
from hlsgen.model.ir import Golden
from hlsgen.report.content import Report
from hlsgen.report.estimates import Estimates
from hlsgen.report.styles import StyleFigures
from hlsgen.search.mixture import mixed_hardware
from hlsgen.styles.layerwise import LayerwiseNetwork
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.styles.shared import SharedNetwork
from hlsgen.styles.streaming import StreamingNetwork

AUTO = "auto"
STYLES: Mapping[str, type[StreamingNetwork] | type[LayerwiseNetwork] | type[SharedNetwork]] = {
    "dataflow": StreamingNetwork,
    "tasks": LayerwiseNetwork,
    "shared": SharedNetwork,
}
"""The styles of networks, in the order in which they are compared."""
MIXED = "mixed"
"""The first layers as a streaming kernel that feeds shared processors with the rest."""
MOST_TEXT = 600
"""Letters of a refusal that reports say: a network may have many layers without hardware."""


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    """What became of a style: a network with its hardware, or the problem that there is none."""

    style: str
    network: NetworkStyle[Any] | None = None
    estimate: Estimates | None = None
    problem: Problem | None = None

    def figures(self, chosen: str) -> StyleFigures:
        if self.estimate is None:
            assert self.problem is not None, "a style has hardware or a reason"
            return StyleFigures(style=self.style, refusal=_one_line(self.problem.message))
        found = self.estimate
        return StyleFigures(
            style=self.style,
            chosen=self.style == chosen,
            frames_per_s=round(found.frames_per_s, 3),
            latency_us=round(found.latency_cycles / found.clock_mhz, 3),
            instances=found.instances,
            fits=round(found.fit.usable, 6),
            binds=found.binds,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class AutoNetwork(NetworkStyle[Any]):
    """A network whose style is not chosen yet: what is asked of its hardware the chosen style answers.

    refused: styles that cannot obey what the design fixes, and why.
    """

    subject = "tensors compared"
    refused: Mapping[str, Problem] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Calibrations of terms are a style's matter: each network of one takes its own."""

    def resolved(self, progress: Progress) -> NetworkStyle[Any]:
        """The network in the fastest style that fits, its hardware chosen.

        Inside its margins with confidence, if any style is. Raises DesignError: no style has hardware; one
        problem for each.
        """
        if "resolution" not in vars(self):
            vars(self)["resolution"] = self._resolved(progress)
        return self.resolution

    @cached_property
    def resolution(self) -> NetworkStyle[Any]:
        """What `resolved` gives."""
        return self._resolved(silent)

    def _resolved(self, progress: Progress) -> NetworkStyle[Any]:
        outcomes = [self._outcome(style, progress) for style in STYLES]
        found = [one for one in outcomes if one.network is not None]
        if not found:
            raise DesignError([self._refusal(one) for one in outcomes])
        best = max(found, key=self._merit)
        assert best.network is not None and best.estimate is not None
        compared = [one.figures(best.style) for one in outcomes]
        compared.append(self._mixture(best.estimate.frames_per_s, progress))
        return replace(best.network, chosen=best.network.hardware, styles=tuple(compared))

    def _mixture(self, least: float, progress: Progress) -> StyleFigures:
        """What a streaming kernel of the first layers that feeds shared processors would gain over the best
        style, with so many frames a second. It is only judged: there is no build of it.
        """
        if "shared" in self.refused:
            return StyleFigures(style=MIXED, refusal=_one_line(self.refused["shared"].message))
        progress(f"style: {MIXED}")
        try:
            found = mixed_hardware(
                self.graph,
                self.board.for_style(SharedNetwork.cost_style),
                self.constraints,
                clock_mhz=self.clock_mhz,
                batch=self.batch,
                least=least / (self.clock_mhz * 1e6),
                progress=progress,
            )
        except DesignError as error:
            return StyleFigures(style=MIXED, refusal=_one_line(error.problems[0].message))
        except NoFit as failure:
            return StyleFigures(style=MIXED, refusal=_one_line(str(failure)))
        speed = found.frames_per_cycle * self.clock_mhz * 1e6
        text = f"would make {speed:,.1f} frames/s (modelled): {found}. It is judged, and not built"
        return StyleFigures(style=MIXED, refusal=_one_line(text))

    def _merit(self, one: _Outcome) -> tuple[bool, float]:
        """Whether it stays inside the margins with confidence where these are open, then frames a second."""
        assert one.estimate is not None
        fixed = self.board.margin != MARGIN_AUTO
        return fixed or one.estimate.fit.confident, one.estimate.frames_per_s

    def _refusal(self, one: _Outcome) -> Problem:
        assert one.problem is not None
        message = f"{self.name}: style: {one.style}: {one.problem.message.removeprefix(f'{self.name}: ')}"
        return replace(one.problem, message=message)

    def _outcome(self, style: str, progress: Progress) -> _Outcome:
        """The network in a style, with its hardware."""
        if style in self.refused:
            return _Outcome(style=style, problem=self.refused[style])
        progress(f"style: {style}")
        network = self.in_style(style)
        try:
            network.choose(progress)
            return _Outcome(style=style, network=network, estimate=network.estimate())
        except DesignError as error:
            return _Outcome(style=style, problem=error.problems[0])

    def in_style(self, style: str) -> NetworkStyle[Any]:
        """The same network in a style."""
        own = {one.name: getattr(self, one.name) for one in fields(NetworkStyle)}
        return STYLES[style](**own)

    @property
    def hardware_text(self) -> str:
        return ""

    def search(self, progress: Progress) -> Any:
        return self.resolved(progress).hardware

    def counted_golden(self, inputs: Mapping[str, Codes]) -> Golden:
        if self.graph.input.is_float:
            return self.resolution.counted_golden(inputs)
        return super().counted_golden(inputs)

    def estimate(self) -> Estimates:
        return self.resolution.estimate()

    def plan(self, inputs: Mapping[str, Codes], golden: Mapping[str, Codes]) -> dict[str, str | bytes]:
        return self.resolution.plan(inputs, golden)

    def markdown(self, report: Report) -> str:
        return self.resolution.markdown(report)

    def compiled(self, folder: Path, executable: Path, headers: Headers) -> float:
        return self.resolution.compiled(folder, executable, headers)

    def simulated(
        self,
        executable: Path,
        inputs: Mapping[str, Codes],
        scratch: Path,
        *,
        keep: bool = True,
        bounded: bool = False,
    ) -> NetworkRun:
        return self.resolution.simulated(executable, inputs, scratch, keep=keep, bounded=bounded)

    @property
    def bounded_frames(self) -> int:
        return self.resolution.bounded_frames

    def check_bounded(self, run: NetworkRun, golden: Mapping[str, Codes]) -> None:
        self.resolution.check_bounded(run, golden)


def _one_line(text: str) -> str:
    """A message as a line of a report."""
    words = " ".join(text.split())
    return words if len(words) <= MOST_TEXT else words[: MOST_TEXT - 4] + " ..."
