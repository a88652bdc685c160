"""The trained module's own evaluation beside golden: the framework's arithmetic against ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hlsgen.base.errors import MismatchError
from hlsgen.model.ir import Graph
from hlsgen.model.ports import Floats
from hlsgen.training.backend import Trainable
from hlsgen.widths.rerun import answers_of


def compared(network: Trainable, graph: Graph, frames: Sequence[Mapping[str, Floats]]) -> int:
    """How many outputs of the module equal golden's of `graph`: all. Raises MismatchError: one does not."""
    count = 0
    for values in frames:
        for port, got, wanted in zip(
            graph.outputs, network.evaluated(values), answers_of(graph, values), strict=True
        ):
            wrong = int(np.count_nonzero(got != wanted))
            if wrong:
                farthest = float(np.abs(got - wanted).max())
                text = (
                    f"error: golden of {graph.name} differs from the trained module in {wrong:,} of "
                    f"{got.size:,} values of {port.name}, by up to {farthest:g}\n"
                    "fix: narrower types, if sums of the network have more than 53 bits; else report this"
                )
                raise MismatchError(text)
            count += got.size
    return count
