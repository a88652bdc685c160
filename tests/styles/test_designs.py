"""The shipped networks: each one's C-simulation equals golden on every layer, and what their READMEs state.

The large ones run only when they are asked for: pytest -m networks (make test-networks).
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hlsgen
from hlsgen.api.project import Project
from hlsgen.styles.streaming import StreamingNetwork
from tests.support.places import ROOT

DESIGNS = ROOT / "designs"
LARGE = [
    pytest.param(name, marks=pytest.mark.networks)
    for name in ("vgg_cifar", "resnet18", "mobilenet_v2", "yolov3_tiny")
]


def built(name: str, folder: Path, board: str | None = None, **options: int) -> Project:
    pytest.importorskip("torch", reason="torch is not installed")
    design = hlsgen.load(DESIGNS / f"{name}.yaml", board=board)
    return design.build(folder / name, **options)  # type: ignore[arg-type]


def assert_every_layer_equal(report: dict[str, Any]) -> None:
    csim = report["csim"]
    assert csim["verdict"] == "equal"
    assert [layer["name"] for layer in csim["layers"]] == [one["name"] for one in report["layers"]]
    assert all(layer["compared"] > 0 and layer["mismatches"] == 0 for layer in csim["layers"])


@pytest.mark.parametrize("name", LARGE)
def test_every_layer_equals_golden(name: str, tmp_path: Path) -> None:
    assert_every_layer_equal(built(name, tmp_path, frames=1).report)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.networks) for name in ("resnet50", "vgg16")]
)
def test_every_task_of_a_program_equals_golden(name: str, tmp_path: Path) -> None:
    """Networks that fit a ZCU102 as programs alone."""
    report = built(name, tmp_path, frames=1).report
    assert report["csim"]["verdict"] == "equal"
    written = {task["layers"][-1] for task in report["tasks"] if task["layers"]}
    assert {layer["name"] for layer in report["csim"]["layers"]} == written
    assert {name for task in report["tasks"] for name in task["layers"]} == {
        layer["name"] for layer in report["layers"]
    }


@pytest.mark.parametrize("name", LARGE[:3])
def test_on_a_smaller_board_weights_are_streamed(name: str, tmp_path: Path) -> None:
    """Not all of them have room on a ZCU102; two frames, so that a block is not all there is."""
    report = built(name, tmp_path, board="zcu102", frames=2).report
    assert_every_layer_equal(report)
    places = {layer["weights"]["place"] for layer in report["layers"] if "weights" in layer}
    assert places == {"constant", "runtime", "stream"}


@pytest.mark.parametrize("name", LARGE)
def test_the_float_graph_is_the_network(name: str) -> None:
    """The graph before quantisation against the module itself, in float64 on the photograph."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from hlsgen.frontends.torch.to_graph import load_module
    from hlsgen.model.ir import run_golden

    design = hlsgen.load(DESIGNS / f"{name}.yaml")
    network = design.given
    assert isinstance(network, StreamingNetwork) and network.reference is not None
    module = load_module(DESIGNS / "networks" / f"{name}.py", "make_net", None, None).double()
    port = design.graph.inputs[0]
    x = network.samples[port.name][:1]
    with torch.no_grad():
        wanted = module(torch.from_numpy(np.ascontiguousarray(x)))
    got = run_golden(network.reference, {port.name: x})
    outputs = wanted if isinstance(wanted, tuple | list) else [wanted]
    for one, shown in zip(outputs, network.reference.outputs, strict=True):
        np.testing.assert_allclose(shown.from_tensor(got[shown.source]), one.numpy(), rtol=0, atol=1e-6)


def accuracy_of(scores: NDArray[Any], labels: NDArray[Any]) -> float:
    return float((scores.reshape(len(labels), -1).argmax(axis=1) == labels).mean())


def test_digits_keeps_its_accuracy_in_fixed_point(tmp_path: Path) -> None:
    """Torch, golden and C-simulation on all 450 test images."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from hlsgen.frontends.torch.to_graph import load_module

    project = built("digits", tmp_path)
    images = np.load(DESIGNS / "digits" / "test_images.npy")
    labels = np.load(DESIGNS / "digits" / "test_labels.npy")
    module = load_module(DESIGNS / "digits" / "digits.py", "make_net", DESIGNS / "digits" / "digits.pt", None)
    with torch.no_grad():
        scores = module(torch.from_numpy(images)).numpy()
    stated = json.loads((DESIGNS / "digits" / "accuracy.json").read_text())
    in_torch = accuracy_of(scores, labels)
    assert in_torch == pytest.approx(stated["test_accuracy"])
    y = project.csim(images)
    assert isinstance(y, np.ndarray)
    np.testing.assert_array_equal(y, project.golden(images))
    assert accuracy_of(y, labels) >= in_torch - 0.01


@pytest.mark.filterwarnings("ignore")  # TensorFlow's own
def test_raider_is_qkeras_own_prediction_exactly(tmp_path: Path) -> None:
    """C-simulation, golden and QKeras on the 2,000 test events, every score."""
    if importlib.util.find_spec("qkeras") is None:
        pytest.skip("qkeras is not installed: pip install 'hlsgen[qkeras]'")
    folder = DESIGNS / "raider"
    project = hlsgen.load(DESIGNS / "raider.yaml").build(tmp_path / "raider")  # asks TensorFlow for Keras 2
    spec = importlib.util.spec_from_file_location("raider_model", folder / "model.py")
    assert spec is not None and spec.loader is not None
    source = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(source)
    model = source.load_net(folder / "raider.h5")
    assert model.count_params() == 2796
    images = np.load(folder / "test_images.npy")
    wanted = np.asarray(model(images.astype(np.float32), training=False))
    y = project.csim(images)
    assert isinstance(y, np.ndarray)
    np.testing.assert_array_equal(y, wanted.astype(np.float64))
    np.testing.assert_array_equal(y, project.golden(images))
    stated = json.loads((folder / "accuracy.json").read_text())["test_events"]["qkeras"]["accuracy"]
    assert accuracy_of(y, np.load(folder / "test_events.npz")["labels"]) == stated
