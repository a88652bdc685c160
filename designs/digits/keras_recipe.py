"""What keras.yaml is trained on for `hlsgen quantise --train`: the frames of recipe.py, as they are.

hlsgen quantise designs/digits/keras.yaml --train designs/digits/keras_recipe.py -o trained.yaml

Needs scikit-learn, which has the frames.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from train import split

epochs = 40
learning_rate = 3e-3


def frames() -> tuple[NDArray[Any], NDArray[Any]]:
    """The 1,347 frames [N, 1, 8, 8] that are not for testing, and their classes."""
    train_frames, _, train_labels, _ = split()
    return train_frames.numpy(), train_labels.numpy()
