"""Writes the frames that designs name as `samples`: photograph_32.npy, photograph_224.npy and so on.

python designs/networks/make_samples.py

Each is float16 [N, 3, size, size]: half the bytes of float32, and k/128 is exact in it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from photograph import photograph

FOLDER = Path(__file__).resolve().parent
FRAMES = {32: 16, 224: 2, 416: 1}
"""Frames by size; few of the large ones keep the files small."""


def main() -> None:
    for size, frames in FRAMES.items():
        np.save(FOLDER / f"photograph_{size}.npy", photograph(size, size, frames).astype(np.float16))


if __name__ == "__main__":
    main()
