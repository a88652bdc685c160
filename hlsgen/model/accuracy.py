"""How near a network is to its floating-point original, in figures; hlsgen/quantising measures them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hlsgen.base.fixed import Codes
from hlsgen.base.short_repr import Brief
from hlsgen.model.ir import Golden, Graph


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """How near a tensor is to the floating-point network.

    snr_db: signal to noise, inf if equal; of an output its mean is no signal. agreement: of an output of
    scores, the share of frames whose largest score is the same one; of indices the share that is the same;
    None for other tensors. expected: of scores, the share that agreement tends to, by how far apart the
    largest ones are in floating point beside this noise: a few frames that agree may have done so barely.
    by_frame: of an output the least and the largest signal to noise of a frame. variation_db: of an output
    its signal to noise where only what changes from frame to frame is signal; None: nothing does.
    """

    name: str
    type: str
    snr_db: float
    agreement: float | None = None
    expected: float | None = None
    by_frame: tuple[float, float] | None = None
    variation_db: float | None = None
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

    @property
    def likely_agreement(self) -> float:
        """The least agreement that is found or expected of an output; 1 without one."""
        expected = (one.expected for one in self.outputs if one.expected is not None)
        return min([self.worst_agreement, *expected])


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """What was chosen by frames: the signal to noise of every tensor (None: its width is given), and by name
    the headroom of each.
    """

    target_db: float | None = None
    headrooms: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Reached(Brief):
    """The outputs on frames that chose no range (None: no such frames), and on some that did, of `given`.

    chosen: what auto chose for that; None: types are the user's.
    """

    held_out: Quality | None
    of_ranges: Quality
    given: int
    chosen: Chosen | None = None

    @property
    def judged(self) -> Quality:
        return self.held_out or self.of_ranges


@dataclass(frozen=True, kw_only=True)
class Measured(Brief):
    """A network beside its floating-point original: what was found, and the codes that it was found with.

    layers: on the frames that judge. inputs: frames of each input of `graph`. golden: what every layer of it
    gives for them.
    """

    graph: Graph
    layers: tuple[Accuracy, ...]
    inputs: Mapping[str, Codes]
    golden: Golden
    reached: Reached

    @property
    def accuracy(self) -> tuple[Accuracy, ...]:
        """The accuracy of every layer, then of every output."""
        return (*self.layers, *self.reached.judged.outputs)

    def golden_for(self, graph: Graph, inputs: Mapping[str, Codes]) -> Golden | None:
        """Golden of these frames, if it is known already."""
        same = graph is self.graph and all(
            np.array_equal(codes, self.inputs[name]) for name, codes in inputs.items()
        )
        return self.golden if same else None
