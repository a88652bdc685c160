"""What a network loses of its metric against floating point, and how sure that is on so many frames.

The loss of the same frames with and without narrow types varies far less than either metric does by itself.
Its standard error is found by the jackknife of groups (Quenouille 1956, Tukey 1958): the loss with a tenth of
the frames left out, ten times. A metric of any kind has one, which need not be a mean over frames. That the
cheapest of many is taken that seem good enough makes its loss look smaller than it is; a standard error to
spare is the usual remedy (Breiman and others, Classification and Regression Trees, 1984, section 3.4.3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hlsgen.model.ports import Arrays, Floats
from hlsgen.widths.metric import Metric

GROUPS = 10
"""Parts of the frames that are left out, one at a time."""
ROUNDING = 1e-12
"""What sums of shares may be wrong by."""


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """loss: of the metric, in its own unit; sigma: standard errors of it that are to stay below that too."""

    loss: float
    sigma: float


@dataclass(frozen=True, kw_only=True)
class Loss:
    """lost: of the metric against floating point; error: its standard error."""

    lost: float
    error: float

    def within(self, allowed: Allowed) -> bool:
        return self.lost + allowed.sigma * self.error <= allowed.loss + ROUNDING


class Losses:
    """The losses of a metric against `floating`, the outputs of floating point for some frames."""

    def __init__(self, metric: Metric, floating: Sequence[Floats]) -> None:
        groups = np.arange(len(floating[0])) % GROUPS
        self._kept = [groups != one for one in range(GROUPS)]
        self._metrics = [metric.of(kept) for kept in self._kept]
        self.metric = metric
        self._floating = self._values(floating)

    @property
    def floating(self) -> float:
        """The metric of floating point."""
        return self._floating[0]

    def of(self, outputs: Sequence[Floats]) -> Loss:
        """What a network with these outputs for the same frames loses."""
        every, *parts = np.subtract(self._floating, self._values(outputs)).tolist()
        spread = float(np.sum(np.square(np.array(parts) - np.mean(parts))))
        return Loss(lost=every, error=math.sqrt(spread * (GROUPS - 1) / GROUPS))

    def _values(self, outputs: Sequence[Floats]) -> list[float]:
        """The metric of all frames, then with each group left out."""
        found = [self.metric(joined(list(outputs)))]
        for metric, kept in zip(self._metrics, self._kept, strict=True):
            found.append(metric(joined([array[kept] for array in outputs])))
        return found


def joined(outputs: list[Floats]) -> Arrays:
    """The outputs as metrics take them: of one output its array."""
    return outputs[0] if len(outputs) == 1 else outputs
