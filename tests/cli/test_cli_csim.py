"""hlsgen csim, and the frames that a user gives it or hlsgen build."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hlsgen.csim.compiler import reference_headers
from tests.support.command_line import document, failure, text, working_folder
from tests.support.small_design import DESIGN


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return working_folder(tmp_path, monkeypatch)


def test_csim_leaves_nothing_behind() -> None:
    said = text("csim", "small.yaml", "--frames", "3")
    assert "216 of 216 results equal golden bit for bit (3 frames" in said
    csim = document("csim", "small.yaml", "--frames", "3")
    assert csim["design"] == "small"
    assert csim["csim"]["verdict"] == "equal"
    assert sorted(os.listdir()) == ["small.yaml", "tmp", "wrong.yaml"]
    assert os.listdir("tmp") == []


def test_csim_on_the_reference_headers() -> None:
    if reference_headers() is None:
        pytest.skip("the reference ap headers (hls4ml wheel) are not installed")
    assert document("csim", "small.yaml", "--headers", "reference")["csim"]["mismatches"] == 0


def test_no_reference_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hlsgen.csim.compiler.reference_headers", lambda: None)
    said = failure(4, "csim", "small.yaml", "--headers", "reference")
    assert "the reference ap headers were not found" in said


def frames(count: int = 3) -> Any:
    return np.random.default_rng(0).uniform(-30, 30, (count, 2, 8, 8))


def test_input_is_simulated() -> None:
    np.save("x.npy", frames())
    csim = document("build", "small.yaml", "--input", "x.npy")["csim"]
    assert (csim["frames"], csim["compared"]) == (3, 3 * 2 * 6 * 6)
    codes = np.load("build/small/tb/input.npy")
    truncated = np.floor(frames() * 1024)  # as ap_fixed does
    np.testing.assert_array_equal(codes.reshape(3, 2, 8, 8), truncated)


@pytest.mark.parametrize(("words", "count"), [((), 3), (("--frames", "2"), 2), (("--frames", "9"), 3)])
def test_frames_limits_the_input(words: tuple[str, ...], count: int) -> None:
    np.save("x.npy", frames())
    assert document("csim", "small.yaml", "--input", "x.npy", *words)["csim"]["frames"] == count


def test_one_frame_needs_no_batch_axis() -> None:
    np.save("x.npy", frames()[0])
    assert document("csim", "small.yaml", "--input", "x.npy")["csim"]["frames"] == 1


def with_nan() -> Any:
    x = frames()
    x[1, 0, 2, 3] = np.nan
    return x


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros((3, 8, 8, 2)), "holds [3, 8, 8, 2], but the input is [2, 8, 8]"),
        (np.zeros((0, 2, 8, 8)), "holds no frames"),
        (with_nan(), "NaN or infinite (in float64), the first at [1, 0, 2, 3]"),
        (frames() * 2, "leave the range of fixed<16,6>"),
        (np.array([{}]), "holds Python objects, which are never unpickled"),
        (np.array(["a"]), "not real numbers"),
    ],
)
def test_wrong_input_is_exit_code_1(x: Any, message: str) -> None:
    np.save("x.npy", x)
    for command in ("build", "csim"):
        said = failure(1, command, "small.yaml", "--input", "x.npy")
        assert message in said
        assert "x.npy" in said
    assert not Path("build").exists()


def test_input_that_is_missing_or_no_array() -> None:
    assert "nowhere.npy does not exist" in failure(1, "csim", "small.yaml", "--input", "nowhere.npy")
    assert "is no .npy file" in failure(1, "csim", "small.yaml", "--input", "small.yaml")
    assert "is not a file" in failure(1, "csim", "small.yaml", "--input", "tmp")


def test_more_frames_than_memory_holds() -> None:
    large = DESIGN.replace("[2, 8, 8]", "[2, 1024, 1024]")
    Path("small.yaml").write_text(large)
    said = failure(1, "csim", "small.yaml", "--frames", "100000")
    assert "100,000 frames of 2,097,152 elements are too many to simulate at once\nfix: at most 256" in said
