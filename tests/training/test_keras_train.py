"""hlsgen quantise --train of Keras designs: what it regains, the files that it leaves, the refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlsgen
from hlsgen.base.errors import DesignError, MismatchError
from hlsgen.frontends.qkeras.load import loaded_model
from hlsgen.frontends.qkeras.to_graph import NAMES
from tests.support.command_line import run
from tests.support.frontends.keras_models import WARNINGS, packages
from tests.support.keras_training import answers, small_folder, small_net

tf_keras = packages().keras
keras = pytest.importorskip("keras", minversion="3", reason="keras 3 is not installed")
pytestmark = WARNINGS

from hlsgen.training.files import write_trained  # noqa: E402
from hlsgen.training.keras.network import Network  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_folder(tmp_path_factory.mktemp("train"), keras, "keras")


@pytest.fixture(scope="module")
def found(folder: Path) -> Any:
    design = hlsgen.load(folder / "small.yaml")
    return hlsgen.quantise(design, widths=(2, 3, 4, 6), uniform=(3,), loss=0.3, sigma=0)


@pytest.fixture(scope="module")
def trained(found: Any, folder: Path) -> Any:
    return hlsgen.train(found, folder / "recipe.py", most=2)


def test_training_regains_what_few_bits_lose(trained: Any, found: Any, folder: Path) -> None:
    x, y = np.load(folder / "x.npy"), np.load(folder / "y.npy")
    assert len(trained.rows) == 2 and trained.rows[-1].before is found.chosen
    for one in trained.rows:
        assert one.after.metric >= one.before.metric and one.after.widths == one.before.widths
        assert len(one.losses) == 16 and one.losses[-1] < one.losses[0]
        answers = one.after.design.golden(x).argmax(1) == y
        assert one.after.held_out == pytest.approx(np.mean(answers[1::2]))
        assert one.compared == 160 * 4
    assert max(one.after.held_out - one.before.held_out for one in trained.rows) > 0.04


def test_the_same_again_and_random_numbers_as_before(found: Any, trained: Any, folder: Path) -> None:
    np.random.seed(5)
    wanted = np.random.random()
    np.random.seed(5)
    (one,) = hlsgen.train(found, folder / "recipe.py", most=1).rows
    assert np.random.random() == wanted
    assert one.losses == trained.rows[-1].losses
    assert all(np.array_equal(array, trained.rows[-1].state[name]) for name, array in one.state.items())


def test_the_users_own_model_with_the_trained_weights(trained: Any, folder: Path, tmp_path: Path) -> None:
    """The file that is left, in Keras alone: its weights are on the types' grids, a batch norm only adds, and
    the design answers as it does but for what its activations round.
    """
    one = trained.chosen
    target, weights = write_trained(trained, one, folder / "small.yaml", tmp_path / "t.yaml")
    own = keras.saving.load_model(weights)
    x = np.load(folder / "x.npy")
    design = hlsgen.load(target)
    for layer in design.graph.layers:
        if layer.kind == "conv2d":
            kernel = own.get_layer(layer.name).get_weights()[0].transpose(3, 2, 0, 1)
            assert np.array_equal(kernel, layer.weight_type.decode(layer.weights))  # type: ignore[attr-defined]
    gamma, _, mean, variance = own.get_layer("bn1").get_weights()
    assert (gamma == 1).all() and (mean == 0).all() and np.allclose(variance + 1e-3, 1)
    agree = np.mean(answers(own, x).argmax(1) == design.golden(x).argmax(1))  # type: ignore[call-overload]
    assert agree > 0.85
    assert "Keras" in str(one.after.design.trace(x[:4]))


def test_golden_that_differs_from_the_trained_model_ends_the_training(
    found: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mutant: weights that are written down are not those that the model computes with."""
    values = Network.weights
    monkeypatch.setattr(
        Network,
        "weights",
        lambda self: {name: (weights * 0.5, bias) for name, (weights, bias) in values(self).items()},
    )
    with pytest.raises((MismatchError, DesignError), match="differs from the trained module|range"):
        hlsgen.train(found, recipe(folder, "short", "epochs = 1\n"), most=1)


def recipe(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.py"
    path.write_text((folder / "recipe.py").read_text() + "\n\n" + text)
    return path


def test_a_recipe_of_all_keys_and_outputs_as_labels(found: Any, folder: Path) -> None:
    text = """import tf_keras
import tensorflow as tf
epochs, batch, seed = 2, 50, 4


def frames():
    return np.load("train_x.npy")


def loss(outputs, y):
    return tf.reduce_mean((outputs - y) ** 2)


def optimiser(parameters):
    return tf_keras.optimizers.SGD(0.01, momentum=0.9)


def augment(x):
    return x + 0.01 * np.random.normal(size=x.shape)
"""
    own = hlsgen.train(found, recipe(folder, "all_keys", text.replace('"train', f'"{folder}/train')), most=1)
    assert len(own.rows[0].losses) == 2
    frames = f'epochs = 1\ndef frames():\n    return np.load("{folder}/train_x.npy")\n'
    front = hlsgen.train(found, recipe(folder, "outputs", frames), most=1)
    assert front.rows[0].losses[0] > 0


WRONG = {
    "def loss(outputs, y):\n    return outputs\n": "the loss is a tensor of shape",
    "def loss(outputs, y):\n    return 1.0\n": "the loss is 1.0",
    "import tensorflow as tf\ndef loss(outputs, y):\n    return tf.constant(1.0)\n": "without the outputs",
    "import tensorflow as tf\ndef loss(outputs, y):\n    return tf.reduce_sum(outputs) * float('nan')\n": (
        "the loss is nan in epoch 1"
    ),
    "def loss(outputs, y):\n    raise KeyError('z')\n": r"loss\(\) of wrong.py fails: KeyError",
    "def augment(x):\n    return x[:, 1:]\n": r"augment\(\) of wrong.py changes the frames' shape",
    "def optimiser(parameters):\n    return 3\n": r"optimiser\(\) of wrong.py returns int",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_recipe_is_refused(text: str, found: Any, folder: Path) -> None:
    with pytest.raises(DesignError, match=WRONG[text]):
        hlsgen.train(found, recipe(folder, "wrong", text), most=1)


def test_what_cannot_be_trained_is_refused(found: Any, folder: Path) -> None:
    with pytest.raises(DesignError, match="a memory budget is kept for PyTorch's modules"):
        hlsgen.train(found, folder / "recipe.py", memory="1MB")


def test_the_command_leaves_a_design_of_legacy_keras_that_builds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same of tf_keras, whose weights are left as .h5; no code of the file is run to read it."""
    small_folder(tmp_path, tf_keras, "h5")
    monkeypatch.chdir(tmp_path)
    words = ["quantise", "small.yaml", "--widths", "2,6", "--loss", "0.2", "--sigma", "0"]
    files = ["--train", "recipe.py", "--trained", "1", "-o", "t.yaml", "--plot", "front.svg"]
    result = run(*words, *files, "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)["trained"]
    x, y = np.load("x.npy"), np.load("y.npy")
    design = hlsgen.load("t.yaml")
    assert np.mean(design.golden(x)[1::2].argmax(1) == y[1::2]) == pytest.approx(  # type: ignore[call-overload]
        said["chosen"]["after"]["metric_held_out"]
    )
    assert "model: {qkeras: t.h5}" in Path("t.yaml").read_text()
    assert run("estimate", "t.yaml", "--json").exit_code == 0
    assert loaded_model(Path("t.h5"), NAMES).name == "small"


def test_a_model_in_memory_stays_as_it_was(folder: Path) -> None:
    net = small_net(keras)
    before = net.get_weights()
    types = {"default": 8, "input": "fixed<8,3,rnd,sat>"}
    calibration = np.load(folder / "calibration.npy")
    design = hlsgen.from_qkeras(net, calibration=calibration, precision=types, board="zcu102")
    x, y = np.load(folder / "x.npy"), np.load(folder / "y.npy")
    found = hlsgen.quantise(design, x, y, widths=(6,), uniform=(6,), loss=0.5, sigma=0)
    front = hlsgen.train(found, recipe(folder, "short", "epochs = 1\n"), most=1)
    assert all(np.array_equal(a, b) for a, b in zip(before, net.get_weights(), strict=True))
    assert front.rows[0].state.keys() >= {"conv1/kernel", "bn1/beta", "fc/bias"}
