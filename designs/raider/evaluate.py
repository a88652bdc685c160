"""Efficiency and purity of each class on the 2,000 test events: float, QKeras, and the emitted C++.

usage: python designs/raider/evaluate.py     (hlsgen is installed; nothing else is needed)

Float and QKeras are read from accuracy.json, which train.py wrote; C-simulation is run here.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import hlsgen

FOLDER = Path(__file__).resolve().parent
CLASSES = ("0", "1", "2", "3 or more")


def efficiency_and_purity(found: NDArray[np.int64], labels: NDArray[np.int64]) -> list[tuple[float, float]]:
    """For each class: the share of its events that were found, and of those found that belong to it."""
    rows = []
    for number in range(len(CLASSES)):
        right = float(np.count_nonzero((found == number) & (labels == number)))
        rows.append(
            (right / np.count_nonzero(labels == number), right / max(1, np.count_nonzero(found == number)))
        )
    return rows


def main() -> None:
    images = np.load(FOLDER / "test_images.npy")
    labels = np.load(FOLDER / "test_events.npz")["labels"].astype(np.int64)
    with tempfile.TemporaryDirectory() as folder:
        project = hlsgen.load(FOLDER.parent / "raider.yaml").build(Path(folder) / "raider")
        scores = project.csim(images)
    assert isinstance(scores, np.ndarray)
    found = scores.argmax(axis=1)
    stated = json.loads((FOLDER / "accuracy.json").read_text())["test_events"]
    print("| | accuracy | " + " | ".join(f"{name}: efficiency, purity" for name in CLASSES) + " |")
    print("|-|-|" + "-|" * len(CLASSES))
    for name in ("float", "qkeras"):
        one = stated[name]
        cells = [f"{e:.1%}, {p:.1%}" for e, p in zip(one["efficiency"], one["purity"], strict=True)]
        print(f"| {name} | {one['accuracy']:.2%} | " + " | ".join(cells) + " |")
    cells = [f"{e:.1%}, {p:.1%}" for e, p in efficiency_and_purity(found, labels)]
    print(f"| C-simulation | {(found == labels).mean():.2%} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
