"""By what a network's answers are judged: frames, their labels, and a function of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hlsgen.base.short_repr import Brief


@dataclass(frozen=True, kw_only=True)
class Judging(Brief):
    """Files of frames and labels, and `function` of the Python file `metric`; None: none is named.

    function(outputs, labels) -> float, larger is better; outputs in the framework's layout.
    """

    frames: Path | None = None
    labels: Path | None = None
    metric: Path | None = None
    function: str = ""
