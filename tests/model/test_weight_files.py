"""Files of weights: what is read, and every file that is refused."""

from __future__ import annotations

import io
import struct
import time
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hlsgen.base.errors import DesignError
from hlsgen.model.samples import load_weights
from tests.support.sample_files import BIAS, WEIGHTS, npy, refused_weights

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
