"""The deep autoencoder for anomalies in machines' sounds, frames of 640. Its weights are random: trained ones are
MLCommons' own.

The anomaly detection benchmark of MLPerf Tiny: Banbury et al., 2021 (arXiv:2106.07597), after the baseline of
DCASE 2020's task 2: five steps of 128 mel bands in decibels, through 128, four times, and 8 values back to 640.

267,928 parameters; 269,992 with running means and variances, as Keras counts; 264,192 multiply-accumulates a frame.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from random_weights import settle_on
from sounds import mel_decibels
from torch import nn

VALUES = 640
WIDTHS = (128, 128, 128, 128, 8, 128, 128, 128, 128)
CALIBRATION = 64
"""Frames for the batch normalisations."""


class Autoencoder(nn.Sequential):
    """[N, 640] -> [N, 640]."""

    def __init__(self) -> None:
        layers: list[nn.Module] = []
        before = VALUES
        for width in WIDTHS:
            layers += [nn.Linear(before, width), nn.BatchNorm1d(width), nn.ReLU()]
            before = width
        super().__init__(*layers, nn.Linear(before, VALUES))


def frames(count: int) -> NDArray[np.float32]:
    """[count, 640]."""
    return mel_decibels(count)


def make_net() -> nn.Module:
    """The network with its random weights, ready for inference."""
    return settle_on(Autoencoder(), torch.from_numpy(frames(CALIBRATION)))
