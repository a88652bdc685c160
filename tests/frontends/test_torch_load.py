"""Loading a PyTorch model from a user's file, and its weights: what runs, what never runs, every error."""

# ruff: noqa: E402 (PyTorch has to be there for the imports below the first)

from __future__ import annotations

import argparse
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch
from torch import nn

from hlsgen.base.errors import DesignError, Place, Problem
from hlsgen.frontends.torch.to_graph import graph_of_module, load_module

HERE = Place(file="design.yaml", line=3, column=8)


MODEL = """
import torch
from torch import nn

import neighbour

def make_net():
    return nn.Linear(neighbour.SIZE, 2)

def make_number():
    return 7

def make_mistake():
    return neighbour.nothing

def leave():
    raise SystemExit(3)

EMPTY = None
"""


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    (tmp_path / "neighbour.py").write_text("SIZE = 4\n")
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    return path


def load_problem(path: Path, function: str = "make_net", weights: Path | None = None) -> Problem:
    before = list(sys.path)
    with pytest.raises(DesignError) as caught:
        load_module(path, function, weights, HERE)
    assert sys.path == before and "neighbour" not in sys.modules and "model" not in sys.modules
    (problem,) = caught.value.problems
    return problem


def test_load_runs_the_function_next_to_its_neighbours(model_file: Path) -> None:
    before = list(sys.path)
    model = load_module(model_file, "make_net", None, HERE)
    assert isinstance(model, nn.Linear) and not model.training
    assert sys.path == before and "neighbour" not in sys.modules and "model" not in sys.modules


def test_two_files_of_the_same_name_do_not_mix(tmp_path: Path) -> None:
    for number in (1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "neighbour.py").write_text(f"SIZE = {number}\n")
        (folder / "model.py").write_text(MODEL)
    sizes = [load_module(tmp_path / n / "model.py", "make_net").in_features for n in ("1", "2")]
    assert sizes == [1, 2]


def test_a_file_called_as_a_module_that_is_there_leaves_that_alone(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("from torch import nn\n\ndef make_net():\n    return nn.ReLU()\n")
    import json

    assert isinstance(load_module(tmp_path / "json.py", "make_net"), nn.ReLU)
    assert sys.modules["json"] is json


def test_no_such_file(tmp_path: Path) -> None:
    problem = load_problem(tmp_path / "other.py")
    assert problem.message == f"there is no model file {tmp_path / 'other.py'}"
    assert problem.place == HERE


def test_a_file_that_is_no_python(tmp_path: Path) -> None:
    (tmp_path / "model.txt").write_text(MODEL)
    assert "model.txt is no Python file" in load_problem(tmp_path / "model.txt").message


def test_no_such_function(model_file: Path) -> None:
    problem = load_problem(model_file, "make_nets")
    assert problem.message == "model.py has no function make_nets"
    assert problem.fix == "one of leave, make_mistake, make_net, make_number"


def test_something_that_is_no_function(model_file: Path) -> None:
    assert load_problem(model_file, "EMPTY").message == "model.py has no function EMPTY"


def test_a_file_without_functions(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("import torch\n")
    assert load_problem(tmp_path / "model.py").fix == "define a function that returns the model"


def test_a_function_that_returns_something_else(model_file: Path) -> None:
    problem = load_problem(model_file, "make_number")
    assert problem.message == "make_number() of model.py returns int, not a torch.nn.Module"


def test_a_function_that_raises(model_file: Path) -> None:
    problem = load_problem(model_file, "make_mistake")
    assert problem.message == (
        "make_mistake() of model.py fails: AttributeError: module 'neighbour' has no attribute 'nothing'"
    )
    assert problem.place is not None
    assert (problem.place.file, problem.place.line) == (str(model_file), 14)


def test_a_function_that_ends_the_program(model_file: Path) -> None:
    assert "leave() of model.py fails: SystemExit: 3" in load_problem(model_file, "leave").message


def test_a_function_with_arguments(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("def make_net(size):\n    return size\n")
    assert "make_net() of model.py fails: TypeError" in load_problem(tmp_path / "model.py").message


def test_a_file_that_does_not_compile(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text("x = 1\ndef make_net(:\n")
    problem = load_problem(path)
    assert "importing model.py fails: SyntaxError" in problem.message
    assert problem.place is not None and (problem.place.file, problem.place.line) == (str(path), 2)


def test_a_file_that_raises(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text("import not_there_at_all\n")
    problem = load_problem(path)
    assert "importing model.py fails: ModuleNotFoundError: No module named" in problem.message
    assert problem.place is not None and problem.place.line == 1


# weights


def saved(folder: Path, state: object, *, old: bool = False) -> Path:
    torch.save(state, folder / "weights.pt", _use_new_zipfile_serialization=not old)
    return folder / "weights.pt"


def test_weights_become_the_models(model_file: Path, tmp_path: Path) -> None:
    trained = nn.Linear(4, 2)
    model = load_module(model_file, "make_net", saved(tmp_path, trained.state_dict()))
    assert isinstance(model, nn.Linear)
    torch.testing.assert_close(model.weight, trained.weight, rtol=0, atol=0)


def test_no_weights_file(model_file: Path, tmp_path: Path) -> None:
    problem = load_problem(model_file, weights=tmp_path / "none.pt")
    assert problem.message == f"there is no weights file {tmp_path / 'none.pt'}"


def test_weights_that_lack_some(model_file: Path, tmp_path: Path) -> None:
    problem = load_problem(model_file, weights=saved(tmp_path, {"weight": torch.zeros(2, 4)}))
    assert problem.message == "weights.pt does not fit the model: it lacks bias"
    assert "torch.save(model.state_dict(), path)" in problem.fix


def test_weights_of_another_model(model_file: Path, tmp_path: Path) -> None:
    other = {f"layer{n}.weight": torch.zeros(1) for n in range(7)} | {"weight": torch.zeros(3, 4)}
    problem = load_problem(model_file, weights=saved(tmp_path, other))
    assert problem.message == (
        "weights.pt does not fit the model: it lacks bias; the model has no layer0.weight, layer1.weight, "
        "layer2.weight, layer3.weight, layer4.weight and 2 more; "
        "weight is 3 x 4 in the file and 2 x 4 in the model"
    )


TRAINED = nn.Linear(4, 2).state_dict()
OTHER = nn.Linear(3, 5, bias=False).state_dict()


def parallel(state: dict[str, torch.Tensor], prefix: str = "module.") -> dict[str, torch.Tensor]:
    return {f"{prefix}{name}": tensor for name, tensor in state.items()}


@pytest.mark.parametrize(
    "state",
    [
        {"epoch": 3, "state_dict": TRAINED, "optimizer": {"state": {}, "param_groups": [{"lr": 0.1}]}},
        {"net": parallel(TRAINED)},
        {"model": TRAINED, "discriminator": OTHER},
        parallel(TRAINED),
        parallel(TRAINED, "_orig_mod.module."),
        {"checkpoint": {"epoch": 1, "model_state_dict": TRAINED}},
        {"state_dict": TRAINED, "args": argparse.Namespace(out=Path("x"), lr=0.1), "best": np.float64(0.5)},
    ],
    ids=["with an optimizer", "nested and parallel", "of two models", "parallel", "compiled", "deep", "more"],
)
def test_checkpoints_that_hold_the_state_dict(state: object, model_file: Path, tmp_path: Path) -> None:
    model = load_module(model_file, "make_net", saved(tmp_path, state))
    for name, tensor in model.state_dict().items():
        torch.testing.assert_close(tensor, TRAINED[name], rtol=0, atol=0)


def test_checkpoints_that_do_not_say_which_or_hold_none(model_file: Path, tmp_path: Path) -> None:
    problem = load_problem(model_file, weights=saved(tmp_path, {"epoch": 3, "names": ["weight"]}))
    held = "epoch (a int), names (a list)"
    assert problem.message == f"weights.pt holds a dict with {held}, not a state dict"
    both = saved(tmp_path, {"model": TRAINED, "ema": {"shadow": TRAINED}})
    problem = load_problem(model_file, weights=both)
    assert problem.message == "weights.pt holds 2 state dicts, ['model'], ['ema']['shadow']"
    # the remedy, followed
    (said,) = re.findall(r"torch.save\((.*), other\)$", problem.fix)
    torch.save(eval(said), tmp_path / "other.pt")
    load_module(model_file, "make_net", tmp_path / "other.pt")


@pytest.mark.filterwarnings("ignore")  # PyTorch calls its own quantisation deprecated
def test_what_pytorch_quantised_is_refused_by_name(model_file: Path, tmp_path: Path) -> None:
    quantisation = torch.ao.quantization
    float_model = nn.Sequential(nn.Linear(4, 2), nn.ReLU())
    dynamic = quantisation.quantize_dynamic(float_model, {nn.Linear}, torch.qint8)
    prepared = nn.Sequential(quantisation.QuantStub(), float_model).eval()
    prepared.qconfig = quantisation.get_default_qconfig("fbgemm")
    prepared = quantisation.prepare(prepared)
    prepared(torch.zeros(1, 4))
    static = quantisation.convert(prepared)
    for model, file, module in (
        (
            dynamic,
            "was quantised by PyTorch (quantize_dynamic or convert): the weights of 0 are",
            "0 (Linear)",
        ),
        (
            static,
            "was quantised by PyTorch (quantize_dynamic or convert): the weights of 1.0",
            "1.0 (Linear)",
        ),
        (prepared, "was prepared for quantisation by PyTorch: 0, 1.0 have", "(HistogramObserver)"),
    ):
        for checkpoint in (model.state_dict(), {"model": model.state_dict()}):
            problem = load_problem(model_file, weights=saved(tmp_path, checkpoint))
            assert f"weights.pt {file}" in problem.message and "the state dict from before" in problem.fix
        with pytest.raises(DesignError) as caught:
            graph_of_module(model, [(4,)], name="net")
        assert module in str(caught.value) and "the model from before: hlsgen quantises" in str(caught.value)


@pytest.mark.parametrize("old", [True, False])
def test_a_pickle_of_many_steps_is_refused_before_pytorch_takes_them(
    old: bool, model_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyTorch's reader takes a second a million of these."""
    path = saved(tmp_path, TRAINED, old=old)
    marks = b"\x80\x02" + b"(" * 3_000_000 + b"."
    if old:
        state = path.read_bytes().index(b"\x80\x02ccollections")
        path.write_bytes(path.read_bytes()[:state] + marks)
    else:
        with zipfile.ZipFile(path) as archive:
            name = next(name for name in archive.namelist() if name.endswith("data.pkl"))
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, marks)
    monkeypatch.setattr(torch, "load", None)
    problem = load_problem(model_file, weights=path)
    assert problem.message == "weights.pt describes its tensors in more than 1,048,576 steps"


def test_a_prefix_that_only_some_have_stays(model_file: Path, tmp_path: Path) -> None:
    state = parallel(TRAINED) | {"loss": torch.zeros(1)}
    problem = load_problem(model_file, weights=saved(tmp_path, state))
    assert "it lacks bias, weight; the model has no loss, module.bias, module.weight" in problem.message


def test_a_count_of_training_may_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("from torch import nn\ndef make_net():\n    return nn.BatchNorm2d(3)\n")
    state = nn.BatchNorm2d(3).state_dict()
    state["running_mean"] += 2
    del state["num_batches_tracked"]
    model = load_module(path, "make_net", saved(tmp_path, state))
    torch.testing.assert_close(model.running_mean, torch.full((3,), 2.0))


def test_weights_that_are_one_tensor(model_file: Path, tmp_path: Path) -> None:
    problem = load_problem(model_file, weights=saved(tmp_path, torch.zeros(3)))
    assert problem.message == "weights.pt holds a Tensor, not a state dict"


class Bomb:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("whole", [False, True])
def test_weights_that_need_code_are_never_run(model_file: Path, tmp_path: Path, whole: bool) -> None:
    state = nn.Linear(4, 2) if whole else {"weight": Bomb(tmp_path / "exploded")}
    problem = load_problem(model_file, weights=saved(tmp_path, state))
    named = "torch.nn.modules.linear.Linear" if whole else "getattr"
    assert problem.message.startswith(f"weights.pt holds more than tensors ({named}), or is no file of")
    assert problem.message.endswith("nothing of it is executed")
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize("content", [b"", b"text\n", b"PK\x03\x04broken"])
def test_weights_that_are_no_such_file(model_file: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "weights.pt").write_bytes(content)
    problem = load_problem(model_file, weights=tmp_path / "weights.pt")
    assert problem.message.startswith("weights.pt ")
    assert problem.fix.startswith("a file that torch.save(model.state_dict(), path) wrote")
