"""What digits.yaml is trained on for `hlsgen quantise --train`: the frames that made its own weights.

hlsgen quantise designs/digits.yaml --train designs/digits/recipe.py -o trained.yaml

Needs scikit-learn, which has the frames.
"""

from __future__ import annotations

import torch
from train import shifted, split

epochs = 40
learning_rate = 3e-3
augment = shifted


def frames() -> tuple[torch.Tensor, torch.Tensor]:
    """The 1,347 frames [N, 1, 8, 8] that are not for testing, and their classes."""
    train_frames, _, train_labels, _ = split()
    return train_frames, train_labels
