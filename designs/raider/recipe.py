"""What raider_plain.yaml is trained on for `hlsgen quantise --train`: simulated events of their own seed.

hlsgen quantise designs/raider_plain.yaml --train designs/raider/recipe.py -o trained.yaml
"""

from __future__ import annotations

import numpy as np
import torch
from events import events
from numpy.typing import NDArray

EVENTS, SEED = 20_000, 5
"""train.py, the tests and the calibration have the seeds 1 to 4."""
SHARPNESS = 4.0
"""As in train.py: the loss sees the scores this much larger."""

epochs = 6
batch = 256


def frames() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Images [N, 16, 16, 1] and their numbers of rings."""
    images, labels = events(EVENTS, SEED)
    return images[..., np.newaxis], labels


def loss(outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of sharpened scores [N, 4]."""
    return torch.nn.functional.cross_entropy(SHARPNESS * outputs, y)
