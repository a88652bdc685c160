"""Samples and weights: what is the same on every run, and every file that is refused."""

from __future__ import annotations

import io
import os
import pickle
import re
import struct
import time
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hlsgen import samples
from hlsgen.errors import DesignError, Place, Problem
from hlsgen.samples import from_file, load_weights, photograph, random_frames, random_weights

SHAPE = (3, 5, 4)
WEIGHTS = (4, 3, 3, 2)
BIAS = (4,)


def problems_of(path: Path, **keys: Any) -> tuple[Problem, ...]:
    with pytest.raises(DesignError) as caught:
        from_file(path, SHAPE, **keys)
    return caught.value.problems


def refused(path: Path) -> str:
    """The message of the only problem with samples at `path`."""
    (problem,) = problems_of(path)
    assert problem.fix and str(path) in problem.message
    return problem.message


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


# ---------------------------------------------------------------- photograph


def test_photograph_scale_and_shape() -> None:
    x = photograph((16, 64, 64), 8)
    assert x.shape == (8, 16, 64, 64) and x.dtype == np.float64
    assert 0.3 < np.abs(x).max() < 1
    assert (x.std(axis=(0, 2, 3)) > 0.02).all()


def test_photograph_is_exact() -> None:
    """Every value is a multiple of 2**-18, so no order of summation can change it."""
    scaled = photograph((16, 9, 9), 4) * samples.SCALE
    assert_array_equal(scaled, np.rint(scaled))


def test_no_picture_can_reach_one() -> None:
    bank = samples._filters(48)
    assert not bank.sum(axis=(1, 2)).any()
    assert np.abs(bank).sum(axis=(1, 2)).max() / 2 * 255 < samples.SCALE
    assert len({one.tobytes() for one in bank}) == 48


@pytest.mark.parametrize("shape", [(2, 64, 64), (3, 200, 250), (2, 700, 5), (1, 601, 600), (40, 1, 1)])
def test_photograph_frame_does_not_depend_on_frames(shape: tuple[int, int, int]) -> None:
    assert_array_equal(photograph(shape, 5)[:2], photograph(shape, 2))


def test_photograph_channel_does_not_depend_on_channels() -> None:
    assert_array_equal(photograph((5, 16, 16), 2), photograph((12, 16, 16), 2)[:, :5])


def test_photograph_frames_differ_after_the_last_patch() -> None:
    frames = photograph((1, 200, 250), 20)  # 3 x 2 patches
    assert len({frame.tobytes() for frame in frames}) == 20


def test_photograph_in_blocks_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = photograph((3, 33, 20), 2)
    monkeypatch.setattr(samples, "BLOCK_PIXELS", 7 * 20)
    assert_array_equal(photograph((3, 33, 20), 2), whole)


def test_photograph_convolves() -> None:
    """One value against the sum written out."""
    picture = samples._picture(8, 8)
    rows, columns = picture.shape
    top, left = rows // 3 - 4, columns // 2 - 4
    window = picture[top + 2 - 4 : top + 2 + 5, left + 3 - 4 : left + 3 + 5]
    expected = float((window * samples._filters(2)[1]).sum()) / samples.SCALE
    assert photograph((2, 8, 8), 1)[0, 1, 2, 3] == expected


def test_photograph_without_frames() -> None:
    assert photograph(SHAPE, 0).shape == (0, *SHAPE)


# ---------------------------------------------------------------- random


def test_random_frames() -> None:
    x = random_frames(SHAPE, 50, 7)
    assert x.shape == (50, *SHAPE) and x.min() >= -1 and x.max() < 1 and x.min() < -0.9 and x.max() > 0.9
    assert_array_equal(random_frames(SHAPE, 3, 7), x[:3])
    assert (random_frames(SHAPE, 3, 8) != x[:3]).all()


def test_random_weights() -> None:
    weights, bias = random_weights((64, 16, 3, 3), 3)
    assert weights.shape == (64, 16, 3, 3) and bias.shape == (64,)
    assert weights.std() == pytest.approx(np.sqrt(2 / 144), rel=0.02)
    assert bias.min() >= -0.5 and bias.max() < 0.5
    assert_array_equal(random_weights((64, 16, 3, 3), 3)[0], weights)


def test_random_weights_stay_inside_one() -> None:
    weights, _ = random_weights((500, 1, 1, 1), 0)
    assert np.abs(weights).max() == np.nextafter(1.0, 0.0)


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


# ---------------------------------------------------------------- weights that are read

W = np.arange(72.0).reshape(WEIGHTS)
B = np.arange(4.0)


def npz(folder: Path, **arrays: Any) -> Path:
    path = folder / "w.npz"
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize("keys", [("weight", "bias"), ("weights", "biases"), ("conv1.weight", "conv1.bias")])
def test_weights_are_read(tmp_path: Path, keys: tuple[str, str]) -> None:
    weights, bias = load_weights(
        npz(tmp_path, **dict(zip(keys, (W, B), strict=True))), "conv1", WEIGHTS, BIAS
    )
    assert_array_equal(weights, W)
    assert_array_equal(bias, B)


def test_compressed_and_big_endian(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "w.npz", weight=np.asfortranarray(W.astype(">f4")), bias=B)
    assert_array_equal(load_weights(tmp_path / "w.npz", "conv1", WEIGHTS, BIAS)[0], W)


def test_own_entries_go_first(tmp_path: Path) -> None:
    arrays = {"weight": W * 0, "conv1.weight": W, "conv10.weight": W * 0, "conv1.bias": B, "conv2.bias": B}
    weights, bias = load_weights(npz(tmp_path, **arrays), "conv1", WEIGHTS, BIAS)
    assert_array_equal(weights, W)
    assert_array_equal(bias, B)


def test_layer_without_bias(tmp_path: Path) -> None:
    for path in (npz(tmp_path, weight=W), npy(tmp_path, W)):
        weights, bias = load_weights(path, "conv1", WEIGHTS, None)
        assert_array_equal(weights, W)
        assert_array_equal(bias, np.zeros(4))


# ---------------------------------------------------------------- weights that are refused


def test_bias_needs_npz(tmp_path: Path) -> None:
    assert refused_weights(npy(tmp_path, W))[0].endswith("is a .npy file and holds no bias")


def test_bias_that_the_layer_does_not_have(tmp_path: Path) -> None:
    assert (
        'holds "bias", but the layer has no bias' in refused_weights(npz(tmp_path, weight=W, bias=B), None)[0]
    )


def test_missing_weights(tmp_path: Path) -> None:
    assert refused_weights(tmp_path / "no.npz")[0].endswith("does not exist")


def test_missing_entries_are_both_reported(tmp_path: Path) -> None:
    first, second = refused_weights(npz(tmp_path, kernel=W))
    assert first.endswith('has neither "conv1.weight" nor "weight"; it holds "kernel"')
    assert second.endswith('has neither "conv1.bias" nor "bias"; it holds "kernel"')


def test_empty_archive(tmp_path: Path) -> None:
    assert refused_weights(npz(tmp_path))[0].endswith("it holds nothing")


def test_two_candidates(tmp_path: Path) -> None:
    (message,) = refused_weights(npz(tmp_path, weight=W, weights=W, bias=B))
    assert message.endswith('holds "weight" and "weights"')


def test_same_entry_twice(tmp_path: Path) -> None:
    path = npz(tmp_path, weight=W, bias=B)
    with zipfile.ZipFile(path, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("weight.npy", b"")
    assert refused_weights(path)[0].endswith('holds "weight" and "weight"')


def test_wrong_shapes_are_both_reported(tmp_path: Path) -> None:
    first, second = refused_weights(npz(tmp_path, weight=W[1:], bias=B[1:]))
    assert '"weight" are [3, 3, 3, 2], but the layer needs [4, 3, 3, 2]' in first
    assert '"bias" are [3], but the layer needs [4]' in second


def test_keras_order_gets_a_hint(tmp_path: Path) -> None:
    with pytest.raises(DesignError) as caught:
        load_weights(npz(tmp_path, weight=W.transpose(2, 3, 1, 0), bias=B), "conv1", WEIGHTS, BIAS)
    assert "it looks like [KH, KW, C, M]: transpose it" in caught.value.problems[0].fix


@pytest.mark.parametrize(("bad", "words"), [(np.nan, "NaN"), (1j, "complex128"), ("x", "<U")])
def test_wrong_values(tmp_path: Path, bad: Any, words: str) -> None:
    (message,) = refused_weights(npz(tmp_path, weight=np.full(WEIGHTS, bad), bias=B))
    assert words in message and '"weight" holds' in message


def test_npy_of_another_shape(tmp_path: Path) -> None:
    assert "are [3, 3, 3, 2]" in refused_weights(npy(tmp_path, W[1:]), None)[0]


@pytest.mark.parametrize("text", [b"", b"PK\x03\x04 and so on", b"text"])
def test_no_npz(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "w.npz").write_bytes(text)
    assert "is no .npz file" in refused_weights(tmp_path / "w.npz")[0]


def test_npy_called_npz(tmp_path: Path) -> None:
    npy(tmp_path, W).rename(tmp_path / "w.npz")
    assert "is no .npz file" in refused_weights(tmp_path / "w.npz")[0]


def archive_of(folder: Path, weight: bytes, compression: int = zipfile.ZIP_STORED) -> Path:
    bias = io.BytesIO()
    np.save(bias, B)
    with zipfile.ZipFile(folder / "w.npz", "w", compression) as archive:
        archive.writestr("weight.npy", weight)
        archive.writestr("bias.npy", bias.getvalue())
    return folder / "w.npz"


def bytes_of(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def test_entry_that_is_no_array(tmp_path: Path) -> None:
    assert refused_weights(archive_of(tmp_path, b"text")) == [
        f'weights of conv1: {tmp_path / "w.npz"} "weight" is no .npy file'
    ]


def test_entry_cut_off(tmp_path: Path) -> None:
    assert (
        '"weight" is cut off: 575 bytes of 576 bytes'
        in refused_weights(archive_of(tmp_path, bytes_of(W)[:-1]))[0]
    )


def test_entry_damaged(tmp_path: Path) -> None:
    path = archive_of(tmp_path, bytes_of(W))
    text = bytearray(path.read_bytes())
    text[text.index(W.tobytes()[8:]) + 5] ^= 1
    path.write_bytes(text)
    assert '"weight" cannot be unpacked: Bad CRC-32' in refused_weights(path)[0]


def test_entry_damaged_in_its_compression(tmp_path: Path) -> None:
    path = archive_of(tmp_path, bytes_of(W), zipfile.ZIP_DEFLATED)
    text = bytearray(path.read_bytes())
    text[42:60] = b"\xff" * 18
    path.write_bytes(text)
    assert '"weight" cannot be unpacked' in refused_weights(path)[0]


def test_entry_encrypted(tmp_path: Path) -> None:
    path = archive_of(tmp_path, bytes_of(W))
    text = bytearray(path.read_bytes())
    text[6] |= 1  # the flag in the entry's own header
    text[text.index(b"PK\x01\x02") + 8] |= 1  # and in the directory
    path.write_bytes(text)
    assert (
        '"weight" cannot be unpacked' in refused_weights(path)[0] and "encrypted" in refused_weights(path)[0]
    )


def test_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    """A header that needs 1 GB to be read, and one that claims the layer's shape in front of nothing."""
    header = b"\x93NUMPY\x02\x00" + struct.pack("<I", 1 << 30)
    start = time.monotonic()
    path = archive_of(tmp_path, header + b" " * 50_000_000, zipfile.ZIP_DEFLATED)
    packed = time.monotonic() - start
    assert "has a header that cannot be read" in refused_weights(path)[0]
    assert time.monotonic() - start < packed + 2
