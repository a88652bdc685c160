"""HiGHS, by scipy.optimize.milp: the one place that calls it."""

from __future__ import annotations

import ctypes
import os
import sys
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

MOST_ANSWERS = 256
"""Answers that are kept."""
_answers: OrderedDict[bytes, Any] = OrderedDict()
TOLERANCE = 1e-6
"""The excess over its limit that HiGHS lets a row have."""


def solve(
    objective: ArrayLike,
    *,
    whole: ArrayLike,
    upper: ArrayLike,
    constraints: Sequence[LinearConstraint],
    nodes: int,
    gap: float = 1e-4,
) -> Any:
    """The least objective of variables from 0 to `upper`, whole numbers where `whole` is 1.

    It ends after so many nodes of branch and cut, never after a time, so that the same problem has the same
    answer on any machine. gap: relative, from which on an answer counts as the best.

    Searches come upon the same problem again and again: its last answers are kept.
    """
    objective = np.asarray(objective, np.float64)
    key = _digest(objective, whole, upper, constraints, nodes, gap)
    if key in _answers:
        _answers.move_to_end(key)
        return _answers[key]
    with _quiet():
        answer = milp(
            objective,
            integrality=whole,
            bounds=Bounds(0, upper),
            constraints=list(constraints),
            options={"node_limit": nodes, "mip_rel_gap": gap},
        )
    _answers[key] = answer
    if len(_answers) > MOST_ANSWERS:
        _answers.popitem(last=False)
    return answer


def _digest(
    objective: NDArray[np.float64],
    whole: ArrayLike,
    upper: ArrayLike,
    constraints: Sequence[LinearConstraint],
    nodes: int,
    gap: float,
) -> bytes:
    """Equal for equal problems alone."""
    found = blake2b(repr((len(objective), nodes, gap)).encode())
    arrays = [objective, np.asarray(whole, np.float64), np.asarray(upper, np.float64)]
    for one in constraints:
        rows = sparse.csr_array(one.A)
        arrays += [rows.data, rows.indices, rows.indptr, np.asarray(one.lb), np.asarray(one.ub)]
    for array in arrays:
        found.update(f"{array.dtype}{array.shape}".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.digest()


def full(capacity: NDArray[np.int64]) -> NDArray[np.float64]:
    """The limit of a sum of whole amounts, each divided by its `capacity`: half a unit more than 1, less what
    HiGHS lets a row exceed its limit by. So the sum itself is never more than the capacity.
    """
    return np.asarray(1 + 0.5 / capacity - TOLERANCE)


@contextmanager
def _quiet() -> Iterator[None]:
    """Standard output belongs to the user: HiGHS 1.12 prints a line of its own there in some heuristics."""
    sys.stdout.flush()
    before = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        # what C has not written yet must go nowhere too
        ctypes.CDLL(None).fflush(None)
        os.dup2(before, 1)
        os.close(before)
        os.close(nowhere)
