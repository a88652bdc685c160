"""`hlsgen profile` and `hlsgen trace`: tables, pages, JSON, and errors with their exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.command_line import failure, run, text
from tests.support.command_line import working_folder as folder

pytest.importorskip("torch", reason="torch is not installed")

working_folder = pytest.fixture(folder)


def document(*words: str) -> Any:
    """The JSON document of a command; that the user's own code runs is said on standard error."""
    result = run(*words, "--json")
    assert result.exit_code == 0
    return json.loads(result.stdout)


@pytest.fixture
def design(working_folder: Path) -> str:
    (working_folder / "net.py").write_text(
        "import torch\nfrom torch import nn\n\n\ndef make():\n    torch.manual_seed(1)\n"
        "    return nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 4))\n"
    )
    (working_folder / "net.yaml").write_text(
        'name: net\nboard: u200\nmodel: {torch: "net.py:make"}\ninput: {shape: [1, 6, 6], samples: random}\n'
        'precision: {default: "fixed<12,4>", layers: {n0: "fixed<4,2>"}}\n'
    )
    np.save(working_folder / "x.npy", np.random.default_rng(0).uniform(-1, 1, (5, 1, 6, 6)))
    return "net.yaml"


def test_profile_names_the_layer_and_what_to_write(design: str, working_folder: Path) -> None:
    said = text("profile", design, "--input", "x.npy", "-o", "out")
    assert "n0 ruins it most" in said and "precision: {layers: {n0: " in said
    assert "wrote out/profile.html" in said
    figures = json.loads((working_folder / "out" / "profile.json").read_text())
    assert figures["worst"] == "n0" and figures["frames"] == 5
    assert {"profile.html", "profile.json"} == {path.name for path in (working_folder / "out").iterdir()}
    assert document("profile", design, "--input", "x.npy") == figures


def test_advice_of_the_command_is_taken_by_the_command(design: str) -> None:
    before = document("profile", design)
    (one, *_) = before["advice"]
    assert one["layer"] == "n0"
    again = text("profile", design, "--precision", f"{{default: 'fixed<12,4>', n0: '{one['wider']}'}}")
    assert "n0 ruins it most" not in again


def test_trace_names_the_first_wrong_layer_and_writes_values(design: str, working_folder: Path) -> None:
    found = document("trace", design, "--precision", "{default: 'fixed<12,4>', n0: 'fixed<3,2>'}")
    assert found["judge"].startswith("PyTorch") and found["first_wrong"] == "1"
    said = text("trace", design, "--input", "x.npy", "-o", "out", "--values")
    assert "fused into n0" in said
    with np.load(working_folder / "out" / "trace.npz") as values:
        assert set(values) == {"input1", "1", "2", "3"}
        assert values["2"].shape == (5, 48)
        np.testing.assert_array_equal(values["1"].reshape(5, 48), values["2"])
    assert "hlsgen's floating point" in text("trace", design, "--no-framework")


def test_errors_have_their_codes(design: str, working_folder: Path) -> None:
    assert "--values goes with -o" in failure(2, "trace", design, "--values")
    np.save(working_folder / "wrong.npy", np.zeros((5, 2, 6, 6)))
    assert "wrong.npy" in failure(1, "profile", design, "--input", "wrong.npy")
    (working_folder / "file").write_text("")
    assert "fix: another -o" in failure(4, "profile", design, "-o", "file")
