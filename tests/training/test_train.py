"""hlsgen quantise --train: what it regains, that held-out frames take no part, the files, the refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlsgen
from hlsgen.base.errors import DesignError, MismatchError, OutputError
from tests.support.command_line import failure, run
from tests.support.training import small_folder

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("brevitas", reason="brevitas is not installed: pip install 'hlsgen[train]'")
nn = torch.nn

from hlsgen.training import quantisers  # noqa: E402
from hlsgen.training.files import write_trained  # noqa: E402
from hlsgen.training.network import Network  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_folder(tmp_path_factory.mktemp("train"))


@pytest.fixture(scope="module")
def found(folder: Path) -> Any:
    design = hlsgen.load(folder / "small.yaml")
    return hlsgen.quantise(design, widths=(2, 4, 6), uniform=(3,), loss=0.1, sigma=0)


@pytest.fixture(scope="module")
def trained(found: Any, folder: Path) -> Any:
    return hlsgen.train(found, folder / "recipe.py", most=3)


def test_training_regains_what_few_bits_lose(trained: Any, found: Any) -> None:
    assert len(trained.rows) == 3 and trained.rows[-1].before is found.chosen
    for one in trained.rows:
        assert one.after.metric >= one.before.metric and one.after.widths == one.before.widths
        assert one.better or one.state.keys() == trained.rows[0].state.keys()
        assert len(one.losses) == 25 and one.losses[-1] < one.losses[0]
    gained = [one.after.held_out - one.before.held_out for one in trained.rows]
    assert max(gained) > 0.1
    assert trained.chosen.after.metric >= found.asked
    keeping = [one.after.price for one in trained.rows if one.after.metric >= found.asked]
    assert trained.chosen.after.price == min(keeping)
    prices = [one.price for one in trained.front]
    assert prices == sorted(prices)
    assert max(one.metric for one in trained.front) >= max(one.metric for one in found.front)


def test_the_figures_are_those_of_golden_on_the_frames(trained: Any, folder: Path) -> None:
    x, y = np.load(folder / "x.npy"), np.load(folder / "y.npy")
    for one in trained.rows:
        answers = one.after.design.golden(x).argmax(1) == y
        assert one.after.metric == pytest.approx(np.mean(answers[::2]))
        assert one.after.held_out == pytest.approx(np.mean(answers[1::2]))
        assert one.compared == 160 * 4


def test_the_users_own_module_with_the_trained_weights_is_the_design(trained: Any, folder: Path) -> None:
    """Their module in PyTorch, whose weights are on the types' grids: with activations in 16 bits golden
    gives what it gives, but for their rounding.
    """
    names: dict[str, Any] = {}
    exec((folder / "net.py").read_text(), names)
    one = trained.chosen
    net = names["make_net"]()
    net.load_state_dict(one.state)
    x = np.load(folder / "x.npy")[:40]
    types = replace(
        one.types,
        layers={name: replace(layer, output=hlsgen.Bits(16)) for name, layer in one.types.layers.items()},
    )
    wide = hlsgen.from_torch(
        net.double(), (1, 6, 6), calibration=np.load(folder / "calibration.npy"), precision=types
    )
    wanted = net(torch.from_numpy(wide.graph.inputs[0].tensor.type.decode(wide.inputs_of(x)["x"]))).detach()  # type: ignore[union-attr]
    assert np.abs(wide.golden(x) - wanted.numpy()).max() < 0.02
    trace = one.after.design.trace(x[:4])
    assert "PyTorch" in str(trace)


def test_the_same_again_and_random_numbers_as_before(found: Any, trained: Any, folder: Path) -> None:
    torch.manual_seed(5)
    wanted = torch.rand(1)
    torch.manual_seed(5)
    threads = torch.get_num_threads()
    again = hlsgen.train(found, folder / "recipe.py", most=1)
    assert torch.equal(torch.rand(1), wanted) and torch.get_num_threads() == threads
    (one,) = again.rows
    assert one.losses == trained.rows[-1].losses
    assert all(torch.equal(tensor, trained.rows[-1].state[name]) for name, tensor in one.state.items())


def recipe(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.py"
    path.write_text((folder / "recipe.py").read_text() + "\n\n" + text)
    return path


def test_frames_that_choose_or_judge_never_train(found: Any, folder: Path, trained: Any) -> None:
    """Of all frames of x.npy behind the others none is left, as if only these had been given."""
    mixed = recipe(
        folder,
        "mixed",
        f"""def frames():
    x, y = np.load("{folder}/train_x.npy"), np.load("{folder}/train_y.npy")
    return np.concatenate([x, np.load("{folder}/x.npy")]), np.concatenate([y, np.load("{folder}/y.npy")])
""",
    )
    mixed_front = hlsgen.train(found, mixed, most=1)
    assert (mixed_front.frames, mixed_front.dropped) == (256, 160)
    assert mixed_front.rows[0].losses == trained.rows[-1].losses
    assert "160 frames of mixed.py equal frames that choose or judge" in str(mixed_front)
    only = recipe(folder, "only", f'def frames():\n    return np.load("{folder}/x.npy")\n')
    with pytest.raises(DesignError, match="all 160 frames of only.py are frames that choose or judge"):
        hlsgen.train(found, only, most=1)


def test_a_memory_budget_changes_no_weight(found: Any, folder: Path, trained: Any) -> None:
    said: list[str] = []
    front = hlsgen.train(found, folder / "recipe.py", most=1, memory="1MB", say=said.append)
    (one,), (other,) = front.rows, trained.rows[-1:]
    assert one.losses == other.losses
    assert all(torch.equal(tensor, other.state[name]) for name, tensor in one.state.items())
    assert any("memory of a training step" in one for one in said)
    with pytest.raises(DesignError, match="the least possible is"):
        hlsgen.train(found, folder / "recipe.py", most=1, memory=1000)


def test_without_labels_the_outputs_of_floating_point_are_wanted(found: Any, folder: Path) -> None:
    text = f'epochs, learning_rate = 12, 0.001\ndef frames():\n    return np.load("{folder}/train_x.npy")\n'
    path = recipe(folder, "outputs", text)
    front = hlsgen.train(found, path, most=1)
    losses = front.rows[0].losses
    assert 0 < losses[-1] < losses[0]


def test_a_recipe_of_all_keys(found: Any, folder: Path) -> None:
    path = recipe(
        folder,
        "all_keys",
        """import torch
epochs, batch, seed = 2, 50, 4
said = []


def loss(outputs, y):
    return torch.nn.functional.cross_entropy(2 * outputs, y)


def optimiser(parameters):
    return torch.optim.SGD(parameters, lr=0.05, momentum=0.9)


def augment(x):
    return x + 0.01 * torch.randn_like(x)
""",
    )
    front = hlsgen.train(found, path, most=1)
    assert len(front.rows[0].losses) == 2


def test_golden_that_differs_from_the_trained_module_ends_the_training(
    found: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mutant: weights that are written down are not those that the module computes with."""
    values = Network.weights

    def wrong(self: Network) -> Any:
        return {name: (weights * 0.5, bias) for name, (weights, bias) in values(self).items()}

    monkeypatch.setattr(Network, "weights", wrong)
    with pytest.raises((MismatchError, DesignError), match="differs from the trained module|range"):
        hlsgen.train(found, recipe(folder, "short", "epochs = 1\n"), most=1)


def test_files_of_another_network_are_refused(trained: Any, folder: Path, tmp_path: Path) -> None:
    one = trained.chosen
    state = dict(one.state)
    state["fc.bias"] = state["fc.bias"] + 1
    with pytest.raises(MismatchError, match="is not the trained one: fc"):
        write_trained(trained, replace(one, state=state), folder / "small.yaml", tmp_path / "other.yaml")
    with pytest.raises(OutputError, match="other.pt exists already"):
        write_trained(trained, one, folder / "small.yaml", tmp_path / "other.yaml")


def test_the_command_leaves_designs_that_build(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "out").mkdir()
    words = [
        "quantise",
        "small.yaml",
        "--widths",
        "2,4,6",
        "--loss",
        "0.1",
        "--sigma",
        "0",
        "--train",
        "recipe.py",
    ]
    files = ["--trained", "2", "-o", "out/t.yaml", "--front", "out/front", "--plot", "out/front.svg"]
    result = run(*words, *files, "--json")
    assert result.exit_code == 0, result.output
    assert "running recipe.py, your own code" in result.stderr
    said = json.loads(result.stdout)["trained"]
    x, y = np.load("x.npy"), np.load("y.npy")
    design = hlsgen.load("out/t.yaml")
    assert np.mean(design.golden(x)[1::2].argmax(1) == y[1::2]) == pytest.approx(  # type: ignore[call-overload]
        said["chosen"]["after"]["metric_held_out"]
    )
    assert sorted(path.name for path in (folder / "out/front").iterdir()) == [
        "small_1.pt", "small_1.yaml", "small_2.pt", "small_2.yaml",
    ]  # fmt: skip
    assert {"weights", "output"} <= set(said["chosen"]["types"]["layers"]["fc"])
    assert "front after training" in (folder / "out/front.svg").read_text()
    estimate = run("estimate", "out/t.yaml", "--json")
    assert estimate.exit_code == 0, estimate.output
    assert "out/t.pt exists already" in failure(4, *words, "--trained", "1", "-o", "out/t.yaml")
    text = run(*words, "--trained", "1", "-o", "out/t.yaml", "--force").stdout
    assert "->" in text and "wrote out/t.pt" in text and "golden equals the trained module" in text


WRONG = {
    "frames = 3\n": "no function frames()",
    "epochs = 0\n": "epochs of wrong.py is 0",
    "learning_rate = -1\n": "learning_rate of wrong.py is -1",
    "batch = 2.5\n": "batch of wrong.py is 2.5",
    "loss = 3\n": "loss of wrong.py is 3, which is no function",
    "def frames():\n    return 1 / 0\n": r"frames\(\) of wrong.py fails: ZeroDivisionError",
    "def frames():\n    return 1, 2, 3\n": "returns 3 things",
    "def frames():\n    return 'x', 'y'\n": "gives no arrays of numbers",
    "def frames():\n    return np.ones((9, 2, 6, 6)), np.ones(9)\n": r"has shape \(9, 2, 6, 6\)",
    "def frames():\n    return np.ones((9, 1, 6, 6)), np.ones(8, int)\n": "9 frames and 8 labels",
    "def frames():\n    return np.ones((9, 1, 6, 6)), np.full(9, 4)\n": "a frame has 4 scores",
    "def frames():\n    return np.ones((9, 1, 6, 6)), np.ones((9, 2))\n": "neither classes nor what",
    "def frames():\n    return np.ones((9, 1, 6, 6)), np.array(['a'] * 9)\n": "labels of frames",
    "def frames():\n    return np.full((9, 1, 6, 6), np.nan), np.ones(9, int)\n": "NaN",
    "def loss(outputs, y):\n    return outputs.sum() * float('nan')\n": "the loss is nan in epoch 1",
    "def loss(outputs, y):\n    return outputs\n": "the loss is a tensor of shape",
    "def loss(outputs, y):\n    return 1.0\n": "the loss is 1.0",
    "def loss(outputs, y):\n    raise KeyError('z')\n": r"loss\(\) of wrong.py fails: KeyError",
    "def augment(x):\n    return x[:, :, 1:]\n": r"augment\(\) of wrong.py changes the frames' shape",
    "def optimiser(parameters):\n    return 3\n": r"optimiser\(\) of wrong.py returns int",
    "import no_such_module\n": "importing wrong.py fails",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_recipe_is_refused(text: str, found: Any, folder: Path) -> None:
    with pytest.raises(DesignError, match=WRONG[text]):
        hlsgen.train(found, recipe(folder, "wrong", text), most=1)


def test_what_cannot_be_trained_is_refused(found: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = folder / "recipe.py"
    with pytest.raises(DesignError, match="there is no file missing.py with a recipe"):
        hlsgen.train(found, "missing.py")
    given = found.design.given
    other = replace(found, design=hlsgen.Design(replace(given, original=None)))
    with pytest.raises(DesignError, match="is no PyTorch module"):
        hlsgen.train(other, good)
    narrow = replace(given, precision=replace(given.precision, accumulator=quantisers.FixedType(12, 6)))
    with pytest.raises(DesignError, match="accumulator is fixed<12,6>: sums that are narrowed"):
        hlsgen.train(replace(found, design=hlsgen.Design(narrow)), good)
    x = np.random.default_rng(0).normal(0, 1, (64, 1, 4, 4))
    ends = nn.Sequential(nn.Conv2d(1, 3, 3), nn.Flatten(), nn.Linear(12, 3), nn.Softmax(1)).eval()
    design = hlsgen.from_torch(ends, (1, 4, 4), calibration=x[:16], precision=8, board="u200")
    searched = hlsgen.quantise(design, x[16:], widths=(8,), uniform=(8,), loss=0.5)
    with pytest.raises(DesignError, match="training has no module for a layer of kind softmax"):
        hlsgen.train(searched, good)
    monkeypatch.chdir(folder)
    assert "say where, -o trained.yaml" in failure(2, "quantise", "small.yaml", "--train", "recipe.py")
    assert "no file none.py" in failure(1, "quantise", "small.yaml", "--train", "none.py", "-o", "z.yaml")
