"""What RAIDER's physics asks of a network: the efficiency and the purity of every class of events."""

from __future__ import annotations

from typing import Any

import numpy as np

CLASSES = 4


def worst_efficiency_or_purity(outputs: Any, labels: Any) -> float:
    """The least of the efficiencies and purities of the four classes of scores [N, 4].

    Efficiency: the share of a class's events that were found; purity: the share of what was found that
    belongs to it; 0 of a class that is never found.
    """
    found, truth = np.asarray(outputs).reshape(-1, CLASSES).argmax(axis=1), np.asarray(labels)
    figures = []
    for number in range(CLASSES):
        right = np.count_nonzero((found == number) & (truth == number))
        figures.append(right / np.count_nonzero(truth == number))
        figures.append(right / max(1, np.count_nonzero(found == number)))
    return float(min(figures))
