"""Files of samples and weights, whole and damaged, and what is said of weights that are refused."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hlsgen.base.errors import DesignError
from hlsgen.model.samples import load_weights

WEIGHTS = (4, 3, 3, 2)
BIAS = (4,)


def refused_weights(path: Path, bias: tuple[int] | None = BIAS) -> list[str]:
    with pytest.raises(DesignError) as caught:
        load_weights(path, "conv1", WEIGHTS, bias)
    assert all(problem.fix for problem in caught.value.problems)
    return [problem.message for problem in caught.value.problems]


def npy(folder: Path, array: Any, name: str = "x.npy", **keys: Any) -> Path:
    path = folder / name
    np.save(path, array, **keys)
    return path


def with_header(folder: Path, header: bytes, data: bytes = b"", version: bytes = b"\x01\x00") -> Path:
    """A .npy file whose header is `header`."""
    length = struct.pack("<H" if version == b"\x01\x00" else "<I", len(header))
    path = folder / "made.npy"
    path.write_bytes(b"\x93NUMPY" + version + length + header + data)
    return path


def claiming(shape: str, descr: str = "'<f8'") -> bytes:
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
