"""The trained module's own evaluation beside golden: Brevitas' arithmetic against ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hlsgen.base.errors import MismatchError
from hlsgen.model.ir import Graph
from hlsgen.model.ports import Floats
from hlsgen.training.network import Network
from hlsgen.training.packages import torch
from hlsgen.widths.rerun import answers_of

FRAMES = 256
"""Frames that are run together."""


def evaluated(network: Network, values: Mapping[str, Floats]) -> list[Floats]:
    """The module's outputs in the framework's layout, computed in doubles, in which its sums are exact.

    values: frames [N, C, H, W] of each input.
    """
    ports = network.graph.inputs
    frames = [torch.from_numpy(port.from_tensor(values[port.name]).astype(np.float64)) for port in ports]
    network = network.double().eval()
    parts: list[list[Floats]] = []
    with torch.no_grad():
        for first in range(0, len(frames[0]), FRAMES):
            found = network(*(one[first : first + FRAMES] for one in frames))
            parts.append([one.numpy() for one in (found if isinstance(found, list) else [found])])
    return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]


def compared(network: Network, graph: Graph, frames: Sequence[Mapping[str, Floats]]) -> int:
    """How many outputs of the module equal golden's of `graph`: all. Raises MismatchError: one does not."""
    count = 0
    for values in frames:
        for port, got, wanted in zip(
            graph.outputs, evaluated(network, values), answers_of(graph, values), strict=True
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
