"""Files of samples: what is read, and every file that is refused."""

from __future__ import annotations

import os
import pickle
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hlsgen.base.errors import DesignError, Place, Problem
from hlsgen.model.samples import from_file
from tests.support.sample_files import BIAS, claiming, npy, refused_weights, with_header

SHAPE = (3, 5, 4)


def problems_of(path: Path, **keys: Any) -> tuple[Problem, ...]:
    with pytest.raises(DesignError) as caught:
        from_file(path, SHAPE, **keys)
    return caught.value.problems


def refused(path: Path) -> str:
    """The message of the only problem with samples at `path`."""
    (problem,) = problems_of(path)
    assert problem.fix and str(path) in problem.message
    return problem.message


# ---------------------------------------------------------------- samples that are read


@pytest.mark.parametrize("dtype", ["<f8", ">f4", "f2", "i1", "u2", ">i8", "g"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_samples_are_read(tmp_path: Path, dtype: str, order: Any) -> None:
    array = np.asarray(np.arange(120).reshape(2, *SHAPE), dtype=dtype, order=order)
    read = from_file(npy(tmp_path, array), SHAPE)
    assert read.dtype == np.float64 and read.flags.c_contiguous
    assert_array_equal(read, array.astype(np.float64))


def test_one_frame_gets_its_axis(tmp_path: Path) -> None:
    array = np.arange(60.0).reshape(SHAPE)
    assert_array_equal(from_file(npy(tmp_path, array), SHAPE), array[None])


def test_header_of_version_2(tmp_path: Path) -> None:
    path = with_header(tmp_path, claiming(str(SHAPE)), np.ones(60).tobytes(), b"\x02\x00")
    assert_array_equal(from_file(path, SHAPE), np.ones((1, *SHAPE)))


# ---------------------------------------------------------------- samples that are refused


def test_missing(tmp_path: Path) -> None:
    assert refused(tmp_path / "no.npy").endswith("does not exist")
    assert refused(tmp_path / "no" / "no.npy").endswith("does not exist")


def test_folder(tmp_path: Path) -> None:
    assert refused(tmp_path).endswith("is not a file")


def test_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npy")
    assert refused(tmp_path / "pipe.npy").endswith("is not a file")


def test_nul_in_the_path(tmp_path: Path) -> None:
    assert "cannot be opened: embedded null byte" in refused(tmp_path / "a\0b.npy")


def test_name_too_long(tmp_path: Path) -> None:
    assert "cannot be opened: File name too long" in refused(tmp_path / ("a" * 300 + ".npy"))


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = npy(tmp_path, np.zeros(SHAPE))
    monkeypatch.setattr(Path, "open", refuse)  # root may read a file whatever its mode
    assert "cannot be opened: Permission denied" in refused(path)


def test_unreadable_device() -> None:
    mem = Path("/proc/self/mem")
    if not mem.is_file():
        pytest.skip("no /proc here")
    assert "cannot be read" in refused(mem)


@pytest.mark.parametrize("text", [b"", b"1 2 3\n", b"\x93NUMP", b"\x80\x04K\x01.", b"PK\x03\x04"])
def test_no_npy(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(text)
    assert refused(path).endswith("is no .npy file")


class Trap:
    """Sets `sprung` when it is unpickled."""

    sprung = False

    def __reduce__(self) -> tuple[Any, ...]:
        return (setattr, (Trap, "sprung", True))


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    path = npy(tmp_path, np.array([Trap()] * 60, dtype=object).reshape(SHAPE), allow_pickle=True)
    assert "holds Python objects, which are never unpickled" in refused(path)
    archive = tmp_path / "w.npz"
    np.savez(archive, weight=np.array([Trap()], dtype=object), bias=np.zeros(BIAS))
    assert any('"weight" holds Python objects' in message for message in refused_weights(archive))
    bare = tmp_path / "bare.npy"
    bare.write_bytes(pickle.dumps(Trap()))
    assert "is no .npy file" in refused(bare)
    assert not Trap.sprung


@pytest.mark.parametrize(
    ("dtype", "shown"),
    [
        ("c16", "complex128"),
        ("U3", "<U3"),
        ("S3", "|S3"),
        ("?", "bool"),
        ("M8[s]", "datetime64"),
        ("V8", "|V8"),
    ],
)
def test_no_real_numbers(tmp_path: Path, dtype: str, shown: str) -> None:
    assert f"holds {shown}" in refused(npy(tmp_path, np.zeros(SHAPE, dtype)))


def test_structured(tmp_path: Path) -> None:
    assert "not real numbers" in refused(npy(tmp_path, np.zeros(SHAPE, [("a", "f8"), ("b", "f8")])))


@pytest.mark.parametrize("shape", [(), (60,), (5, 4), (3, 4, 5), (1, 1, 3, 5, 4), (2, 3, 5, 3), (3, 5, 0)])
def test_wrong_shape(tmp_path: Path, shape: tuple[int, ...]) -> None:
    assert f"holds [{', '.join(map(str, shape))}], but the input is [3, 5, 4]" in refused(
        npy(tmp_path, np.zeros(shape))
    )


def test_channels_last_gets_a_hint(tmp_path: Path) -> None:
    (problem,) = problems_of(npy(tmp_path, np.zeros((7, 5, 4, 3))))
    assert "it looks like [H, W, C]: transpose it" in problem.fix
    (problem,) = problems_of(npy(tmp_path, np.zeros((7, 4, 5, 3))))
    assert "transpose" not in problem.fix


def test_no_frames(tmp_path: Path) -> None:
    assert refused(npy(tmp_path, np.zeros((0, *SHAPE)))).endswith("holds no frames")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_not_finite(tmp_path: Path, bad: float) -> None:
    array = np.zeros((2, *SHAPE), np.float32)
    array[1, 2, 3, 1] = bad
    assert "holds 1 values that are NaN or infinite (in float64), the first at [1, 2, 3, 1]" in refused(
        npy(tmp_path, array)
    )


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp <= 1024, reason="long double is float64 here")
def test_too_large_for_float64(tmp_path: Path) -> None:
    assert "infinite (in float64)" in refused(npy(tmp_path, np.full(SHAPE, np.longdouble("1e400"))))


def test_cut_off(tmp_path: Path) -> None:
    path = npy(tmp_path, np.zeros((2, *SHAPE)))
    path.write_bytes(path.read_bytes()[:-1])
    assert "claims 960 bytes of data, but only 959 bytes are there" in refused(path)


@pytest.mark.parametrize("frames", [10**11, 2**63, 10**30])
def test_absurd_header(tmp_path: Path, frames: int) -> None:
    message = refused(with_header(tmp_path, claiming(f"({frames}, 3, 5, 4)")))
    assert re.search(r"claims [\d.e+]+ MiB of data, but only 0 bytes are there", message)


def test_sparse_file_of_terabytes(tmp_path: Path) -> None:
    path = with_header(tmp_path, claiming("(10000000000, 3, 5, 4)"))
    try:
        os.truncate(path, path.stat().st_size + 10**10 * 60 * 8)
    except OSError:
        pytest.skip("the file system has no such files")
    start = time.monotonic()
    assert "more than 4096 MiB" in refused(path)
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"{",
        b"(" * 9000,
        b"{1: 2, 'a': 3}",
        b"{'descr': '<f8'}",
        b"__import__('os').getcwd()",
        claiming("(3, 5, 4)", "'<q99'"),
        claiming("(3, 5, 4)", "[1, 2]"),
        claiming("'345'"),
        claiming("(3, 5, '4')"),
        b"\xff\xfe" * 50,
    ],
)
def test_damaged_header(tmp_path: Path, header: bytes) -> None:
    assert "has a header that cannot be read" in refused(with_header(tmp_path, header))


def test_header_longer_than_is_looked_at(tmp_path: Path) -> None:
    path = with_header(tmp_path, claiming("(3, 5, 4)") + b" " * 100_000, version=b"\x02\x00")
    assert "has a header that cannot be read" in refused(path)


def test_unknown_version(tmp_path: Path) -> None:
    assert "cannot be read: version 9.0" in refused(with_header(tmp_path, b"{}", version=b"\x09\x00"))


@pytest.mark.parametrize("shape", ["(-1, 3, 5, 4)", "(True, 3, 5, 4)"])
def test_impossible_shape(tmp_path: Path, shape: str) -> None:
    assert "has the impossible shape" in refused(with_header(tmp_path, claiming(shape)))


def test_the_place_is_reported(tmp_path: Path) -> None:
    place = Place(file="net.yaml", line=4, column=12)
    (problem,) = problems_of(tmp_path / "no.npy", place=place)
    assert str(problem).startswith("net.yaml:4:12: error: samples: ")
