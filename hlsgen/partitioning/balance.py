"""Neighbouring tasks on devices in a given order, so that the slowest device takes least: exactly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def balanced(seconds: Sequence[Sequence[float]]) -> list[int]:
    """The number of the task behind each device's, from its seconds of every task ([devices, tasks]).

    By dynamic programming over the first tasks on the first devices; each device has one task at least.
    """
    rows = np.array(seconds, float)
    devices, tasks = rows.shape
    assert devices <= tasks, "each device has a task"
    sums = np.concatenate([np.zeros((devices, 1)), np.cumsum(rows, axis=1)], axis=1)
    slowest = np.full((devices + 1, tasks + 1), np.inf)
    slowest[0, 0] = 0
    begins = np.zeros((devices + 1, tasks + 1), np.int64)
    for device in range(1, devices + 1):
        for end in range(device, tasks + 1):
            each = np.maximum(slowest[device - 1, :end], sums[device - 1, end] - sums[device - 1, :end])
            begins[device, end] = int(np.argmin(each))
            slowest[device, end] = each[begins[device, end]]
    ends = [tasks]
    for device in range(devices, 1, -1):
        ends.append(int(begins[device, ends[-1]]))
    return ends[::-1]
