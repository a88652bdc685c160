"""What 8 bits change of a network's answers: golden beside the framework's own prediction in float32.

Golden is what C-simulation equals bit for bit. The framework is PyTorch for the networks of designs/networks,
Keras for trained models.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gallery_networks import Answer, Network
from numpy.typing import NDArray

from hlsgen.api.design import Design

Array = NDArray[np.float64]
AT_ONCE = 16
"""Frames of a call."""


def compared(design: Design, model: Path | None, network: Network, frames: Any) -> dict[str, Any]:
    """agreement: the share of answers that stay, see gallery_networks.Answer; db: signal to noise of the
    worst output, None where all are equal.
    """
    wanted = predicted_by_keras(model, frames) if model is not None else predicted_by_torch(network, frames)
    pieces = [design.golden(frames[at : at + AT_ONCE]) for at in range(0, len(frames), AT_ONCE)]
    got = _joined([piece if isinstance(piece, list) else [piece] for piece in pieces])
    worst = min(decibels(one, other) for one, other in zip(got, wanted, strict=True))
    return {
        "framework": "PyTorch" if model is None else "Keras",
        "agreement": round(agreement(network.answer, got, wanted, np.asarray(frames, np.float64)), 4),
        "db": None if math.isinf(worst) else round(worst, 1),
    }


def predicted_by_torch(network: Network, frames: Any) -> list[Array]:
    """What PyTorch itself gives, by output."""
    import torch

    net = network.definition().make_net()
    pieces = []
    with torch.inference_mode():
        for at in range(0, len(frames), AT_ONCE):
            found = net(torch.from_numpy(frames[at : at + AT_ONCE]))
            pieces.append([one.numpy().astype(np.float64) for one in _listed(found)])
    return _joined(pieces)


def predicted_by_keras(model: Path, frames: Any) -> list[Array]:
    """What Keras itself gives, by output. model: its checksum was found right, as Keras may run its code."""
    from tf_keras.models import load_model

    found = load_model(model, compile=False).predict(frames, verbose=0)
    return [np.asarray(one, np.float64) for one in _listed(found)]


def _listed(found: Any) -> list[Any]:
    return list(found) if isinstance(found, list | tuple) else [found]


def _joined(pieces: Sequence[Sequence[Any]]) -> list[Array]:
    """Outputs of all frames, of those of some frames each."""
    return [
        np.concatenate([np.asarray(one, np.float64) for one in output])
        for output in zip(*pieces, strict=True)
    ]


def agreement(answer: Answer, got: Sequence[Array], wanted: Sequence[Array], frames: Array) -> float:
    """The share of answers that are the same. Outputs [N, classes, ...]; "order": [N, values] as frames."""
    if answer == "order":
        return same_order(*(((one[0] - frames) ** 2).mean(axis=1) for one in (got, wanted)))
    same = [one.argmax(axis=1) == other.argmax(axis=1) for one, other in zip(got, wanted, strict=True)]
    return float(np.concatenate([one.reshape(-1) for one in same]).mean())


def same_order(got: Array, wanted: Array) -> float:
    """The share of pairs of numbers [N] that stand in the same order in both."""
    above = np.triu_indices(len(got), 1)
    signs = [np.sign(one[:, None] - one[None, :])[above] for one in (got, wanted)]
    return float((signs[0] == signs[1]).mean())


def decibels(got: Array, wanted: Array) -> float:
    """10 log10(signal / noise); signal is what varies from frame to frame: its mean counts for nothing."""
    signal = ((wanted - wanted.mean(axis=0)) ** 2).sum()
    noise = ((got - wanted) ** 2).sum()
    return 10 * math.log10(signal / noise) if noise else math.inf
