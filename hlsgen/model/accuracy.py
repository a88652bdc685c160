"""How near a network is to its floating-point original, in figures; hlsgen/quantising measures them."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """How near a tensor is to the floating-point network.

    snr_db: signal to noise, inf if equal; of an output its mean is no signal. agreement: of an output of
    scores, the share of frames whose largest score is the same one; of indices the share that is the same;
    None for other tensors.
    """

    name: str
    type: str
    snr_db: float
    agreement: float | None = None
    chooses: bool = False
    """Whether it is an output of indices, that are right or wrong: its noise says nothing."""


@dataclass(frozen=True, kw_only=True)
class Quality:
    """How near the outputs are, over `frames` frames.

    scores: tensors that a softmax, a sigmoid or an argmax makes outputs of. Probabilities near 0 and 1 and
    indices hide how near another answer was; the scores show it.
    """

    frames: int
    outputs: tuple[Accuracy, ...]
    scores: tuple[Accuracy, ...] = ()

    @property
    def worst_db(self) -> float:
        """The least signal to noise of an output that is no index, and of scores; inf without one."""
        judged = (*(one for one in self.outputs if not one.chooses), *self.scores)
        return min((one.snr_db for one in judged), default=math.inf)

    @property
    def worst_agreement(self) -> float:
        """The least agreement of an output of scores or indices; 1 without one."""
        return min((one.agreement for one in self.outputs if one.agreement is not None), default=1.0)


@dataclass(frozen=True, kw_only=True)
class Reached:
    """The outputs on frames that chose no range (None: there are none), and on some that did."""

    held_out: Quality | None
    of_ranges: Quality

    @property
    def judged(self) -> Quality:
        return self.held_out or self.of_ranges


CONFIDENCE = 0.95


def least_agreement(agreeing: int, frames: int) -> float:
    """The least share of all frames that agrees, with `CONFIDENCE`, if `agreeing` of `frames` do.

    The one-sided bound of Clopper and Pearson (1934); if all agree, the rule of three.
    """
    if agreeing == 0:
        return 0.0
    if agreeing == frames:
        return float((1 - CONFIDENCE) ** (1 / frames))
    from scipy.special import betaincinv  # its import takes a sixth of a second

    return float(betaincinv(agreeing, frames - agreeing + 1, 1 - CONFIDENCE))


def confidence_text(agreeing: int, frames: int) -> str:
    """32 of 32 frames agree (at least 91 % of all, with 95% confidence)"""
    share = math.floor(100 * least_agreement(agreeing, frames))
    return (
        f"{agreeing} of {frames} frames agree (at least {share} % of all, with {CONFIDENCE:.0%} confidence)"
    )
