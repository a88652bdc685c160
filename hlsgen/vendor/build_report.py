"""A build folder, as far as synthesised figures are put beside it: what its model says of each kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hlsgen.base.output import MARK
from hlsgen.designfile.text_files import refuse
from hlsgen.report.content import Figures
from hlsgen.report.figures import Layer
from hlsgen.report.kernels import KernelFigures
from hlsgen.report.reading import build_json, checked_figures
from hlsgen.report.section import AGAIN
from hlsgen.search.board_limits import COLUMNS
from hlsgen.targets.terms import CELLS, OUTSIDE, CostStyle, Kind, Target


@dataclass(frozen=True, kw_only=True)
class Build:
    """A build: its folder and what its model says. `content` is that of report.json, whatever it holds."""

    folder: Path
    figures: Figures
    content: Mapping[str, Any]

    @property
    def style(self) -> CostStyle:
        return self.figures.cost.style

    @property
    def instances(self) -> int:
        return self.figures.total.instances

    @property
    def kernels(self) -> list[str]:
        """The C++ functions that are synthesised, each by itself."""
        if self.style == "tasks":
            return [layer.kernel for layer in self.figures.layers]
        return [one.kernel for one in self.figures.kernels] or [self.figures.design]

    def units(self, kernel: str) -> int:
        """Compute units of a kernel."""
        return next((one.instances for one in self.figures.kernels if one.kernel == kernel), self.instances)

    def parts(self, target: Target, kind: Kind) -> dict[str, float]:
        """Modelled cells of one instance by term, without what lies outside the kernels.

        Of instances that differ in folding it is the average.
        """
        return {
            part.term: getattr(part.of(target), kind) / self.instances
            for part in self.figures.cost.by_term
            if part.term != OUTSIDE
        }

    def modelled(self, target: Target) -> dict[str, float]:
        """Resources of one instance as its reports count them: all of its kernels, nothing outside."""
        figures = {kind: getattr(self.figures.total, kind) / self.instances for kind in COLUMNS}
        return {**figures, **{kind: sum(self.parts(target, kind).values()) for kind in CELLS}}

    def modelled_kernel(self, name: str, target: Target) -> dict[str, float]:
        """The modelled figures of one kernel."""
        found: Sequence[Layer | KernelFigures] = self.figures.kernels
        if self.style == "tasks":
            found = self.figures.layers
        elif not found:
            return self.modelled(target)
        one = next(one for one in found if one.kernel == name)
        assert one.cells is not None
        cells = one.cells.of(target)
        figures = {kind: float(getattr(one, kind)) for kind in COLUMNS}
        return {**figures, **{kind: float(getattr(cells, kind)) for kind in CELLS}}


def read_build(folder: Path) -> Build:
    """The build in `folder`. Raises DesignError: none is there, or it is damaged or of an older hlsgen."""
    content = build_json(folder)
    path = folder / MARK
    figures = checked_figures(content, str(path))
    assert isinstance(content, dict)
    if not figures.total.instances:
        refuse(path, "has no instance, as hlsgen's own does not", AGAIN)
    if figures.cost.style == "tasks" and not all(_is_kernel(layer) for layer in figures.layers):
        refuse(path, "lacks figures of its kernels, as hlsgen's own does not", AGAIN)
    return Build(folder=folder, figures=figures, content=content)


def _is_kernel(layer: Layer) -> bool:
    return bool(layer.kernel) and layer.cells is not None
