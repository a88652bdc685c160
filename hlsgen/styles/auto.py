"""`style: auto`: the hardware of every style of networks, and of those that fit the fastest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import Codes
from hlsgen.base.progress import Progress, silent
from hlsgen.base.scratch import Scratch
from hlsgen.csim.compiler import Headers
from hlsgen.csim.verification import Verification
from hlsgen.designfile.margins import AUTO as MARGIN_AUTO
from hlsgen.model.ir import Golden
from hlsgen.report.content import Report
from hlsgen.report.estimates import Estimates
from hlsgen.report.styles import StyleFigures
from hlsgen.styles.layerwise import LayerwiseNetwork
from hlsgen.styles.mixed import MixedNetwork
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.styles.shared import SharedNetwork
from hlsgen.styles.streaming import StreamingNetwork

AUTO = "auto"
STYLES: Mapping[str, type[NetworkStyle[Any]]] = {
    "dataflow": StreamingNetwork,
    "tasks": LayerwiseNetwork,
    "shared": SharedNetwork,
    "mixed": MixedNetwork,
}
"""The styles of networks, in the order in which they are compared."""
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
        outcomes: list[_Outcome] = []
        for style in STYLES:
            outcomes.append(self._outcome(style, progress, outcomes))
        found = [one for one in outcomes if one.network is not None]
        if not found:
            raise DesignError([self._refusal(one) for one in outcomes])
        best = max(found, key=self._merit)
        assert best.network is not None
        return replace(
            best.network,
            chosen=best.network.hardware,
            styles=tuple(one.figures(best.style) for one in outcomes),
        )

    def _merit(self, one: _Outcome) -> tuple[bool, float]:
        """Whether it stays inside the margins with confidence where these are open, then frames a second."""
        assert one.estimate is not None
        fixed = self.board.margin != MARGIN_AUTO
        return fixed or one.estimate.fit.confident, one.estimate.frames_per_s

    def _refusal(self, one: _Outcome) -> Problem:
        assert one.problem is not None
        message = f"{self.name}: style: {one.style}: {one.problem.message.removeprefix(f'{self.name}: ')}"
        return replace(one.problem, message=message)

    def _outcome(self, style: str, progress: Progress, others: Sequence[_Outcome]) -> _Outcome:
        """The network in a style, with its hardware. others: of styles before it, which a mixture has to be
        faster than.
        """
        if style in self.refused:
            return _Outcome(style=style, problem=self.refused[style])
        progress(f"style: {style}")
        network = self.in_style(style)
        sure = [one.estimate for one in others if one.estimate is not None and self._merit(one)[0]]
        if isinstance(network, MixedNetwork) and sure:
            network = replace(network, least=max(one.frames_per_s for one in sure))
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
        if any(layer.is_float for layer in self.graph.layers):
            return self.resolution.counted_golden(inputs)
        return super().counted_golden(inputs)

    def estimate(self) -> Estimates:
        return self.resolution.estimate()

    def plan(self, inputs: Mapping[str, Codes], golden: Mapping[str, Codes]) -> dict[str, str | bytes]:
        return self.resolution.plan(inputs, golden)

    def markdown(self, report: Report) -> str:
        return self.resolution.markdown(report)

    def verify(
        self,
        folder: Path,
        inputs: Mapping[str, Codes],
        golden: Mapping[str, Codes],
        *,
        headers: Headers = Headers.FAST,
        progress: Progress = silent,
        executables: Scratch | None = None,
    ) -> Verification:
        return self.resolution.verify(
            folder, inputs, golden, headers=headers, progress=progress, executables=executables
        )

    def simulator(
        self, folder: Path, scratch: Path, headers: Headers
    ) -> Callable[[Mapping[str, Codes]], dict[str, Codes]]:
        return self.resolution.simulator(folder, scratch, headers)


def _one_line(text: str) -> str:
    """A message as a line of a report."""
    words = " ".join(text.split())
    return words if len(words) <= MOST_TEXT else words[: MOST_TEXT - 4] + " ..."
