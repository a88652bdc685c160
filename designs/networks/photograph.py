"""Frames for the networks of this folder, cut from a photograph that comes with matplotlib."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

PICTURE = "mpl-data/sample_data/grace_hopper.jpg"
SEED = 0
LARGEST, SMALLEST = 13 / 16, 5 / 16
"""A frame's share of the picture: of its width, or of its height where that limits it."""


def photograph(height: int, width: int, frames: int) -> NDArray[np.float32]:
    """[frames, 3, height, width]: crops of a portrait in colour, every value k/128 with -128 <= k <= 127.

    The networks take (x - 0.5)/0.5 of a picture x in [0, 1). For an 8-bit level p that is p/128 - 1, which
    fixed<8,1> holds exactly: no sample is rounded on its way into the kernel.
    Frame 0 is the largest crop, around the middle; the size and place of the others are drawn with a fixed
    seed. Frame i is the same for every `frames`.
    """
    picture = _picture()
    generator = np.random.default_rng(SEED)
    out = np.empty((frames, 3, height, width), dtype=np.float32)
    for frame in range(frames):
        share, across, down = generator.uniform((SMALLEST, 0.0, 0.0), (LARGEST, 1.0, 1.0))
        if frame == 0:
            share, across, down = LARGEST, 0.5, 0.5
        scale = share * min(picture.width / width, picture.height / height)
        crop_width, crop_height = round(scale * width), round(scale * height)
        left = round(across * (picture.width - crop_width))
        top = round(down * (picture.height - crop_height))
        crop = picture.crop((left, top, left + crop_width, top + crop_height))
        levels = np.asarray(crop.resize((width, height), Image.Resampling.BICUBIC), dtype=np.float32)
        out[frame] = levels.transpose(2, 0, 1) / 128 - 1
    return out


@lru_cache(maxsize=1)
def _picture() -> Image.Image:
    """The photograph, RGB of 8 bits. Importing matplotlib for it would take longer than all the rest."""
    package = find_spec("matplotlib")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("the photograph comes with matplotlib: pip install matplotlib")
    with Image.open(Path(package.origin).parent / PICTURE) as image:
        return image.convert("RGB")
