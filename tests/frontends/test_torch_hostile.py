"""Weights files and arguments as strangers give them: each ends in a message, and nothing is executed."""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch: pip install 'hlsgen[torch]'")

import torch  # noqa: E402

import hlsgen  # noqa: E402
from hlsgen.base.errors import DesignError  # noqa: E402
from hlsgen.frontends.torch import archive as torch_archive  # noqa: E402
from hlsgen.frontends.torch.to_graph import load_module  # noqa: E402

NET = """
import torch
def make():
    return torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU())
"""


class Touches:
    """Unpickled, it makes the file `touched`."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("touched",)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").write_text(NET)
    return tmp_path


def weight() -> torch.Tensor:
    return torch.arange(18.0).reshape(2, 1, 3, 3)


def state(tensor: object = None) -> dict[str, Any]:
    return {"0.weight": weight() if tensor is None else tensor, "0.bias": torch.ones(2)}


def saved(content: object, **options: Any) -> bytes:
    stream = io.BytesIO()
    torch.save(content, stream, **options)
    return stream.getvalue()


def packed(content: bytes) -> bytes:
    """The archive again, compressed."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(stream, "w", DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    return stream.getvalue()


def loaded(content: bytes) -> torch.Tensor:
    Path("w.pt").write_bytes(content)
    values: torch.Tensor = load_module(Path("net.py"), "make", Path("w.pt")).state_dict()["0.weight"]
    assert not Path("touched").exists()
    return values


def refusal(content: bytes) -> str:
    with pytest.raises(DesignError) as caught:
        loaded(content)
    assert not Path("touched").exists()
    said = str(caught.value)
    assert re.fullmatch(r"[^\x00-\x09\x0b-\x1f\x7f]*", said), "no control characters"
    return said


@pytest.mark.parametrize(
    ("tensor", "says"),
    [
        (lambda: weight().to_sparse(), "0.weight is not dense (torch.sparse_coo"),
        (
            lambda: torch.quantize_per_tensor(weight(), 0.5, 0, torch.qint8),
            "0.weight is quantised by PyTorch",
        ),
        (lambda: weight().to("meta"), "0.weight is on the meta device, without values"),
        (lambda: weight().to(torch.complex64), "0.weight is complex"),
        (lambda: 3.5, "with 0.weight (a float), not a state dict"),
        (lambda: torch.zeros(1).expand(1 << 20, 1 << 20), "0.weight is 1048576 x 1048576 in the file"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*TypedStorage is deprecated", "ignore:.*quantize_per_tensor")
def test_tensors_that_are_no_weights(tensor: Callable[[], object], says: str) -> None:
    assert says in refusal(saved(state(tensor())))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.float64, torch.int32])
def test_other_types_of_numbers_are_read(dtype: torch.dtype) -> None:
    small = weight().to(dtype)
    assert torch.equal(loaded(saved(state(small))), small.float())


@pytest.mark.parametrize("key", [1, (1, 2), "x\n\x1b[31m"])
def test_names_that_are_none(key: object) -> None:
    assert "w.pt" in refusal(saved({**state(), key: weight()}))


DEFLATED = zipfile.ZIP_DEFLATED
OLD = {"_use_new_zipfile_serialization": False}


def test_code_is_not_run() -> None:
    for content in (saved(Touches()), saved(Touches(), **OLD), saved({**state(), "x": Touches()})):
        assert "nothing of it is executed" in refusal(content)


def test_files_that_are_two_things() -> None:
    """PyTorch would read the first, a look at the end of the file finds the second."""
    whole, old, evil = saved(state()), saved(state(), **OLD), saved(Touches(), **OLD)
    for content in (old + whole, evil + whole, whole + evil, b"x" * 100 + whole, whole + whole):
        assert "is two files in one" in refusal(content)
    assert torch.equal(loaded(whole), weight()) and torch.equal(loaded(old), weight())


def test_damage_that_pytorch_passes_over() -> None:
    content = bytearray(saved(state()))
    content[content.find(weight().numpy().tobytes()) + 5] ^= 1
    assert torch.load(io.BytesIO(content))["0.weight"].shape == weight().shape
    assert "is damaged: Bad CRC-32" in refusal(bytes(content))
    assert "is damaged" in refusal(saved(state())[:-30])


def test_archives_are_not_unpacked_without_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = packed(saved(state(torch.zeros(1 << 16))))
    with monkeypatch.context() as patch:
        patch.setattr(torch_archive, "LEAST_UNPACKED_BYTES", 1 << 16)
        assert "unpacks to 262,4" in refusal(bomb)
        patch.setattr(torch_archive, "MOST_PICKLE_BYTES", 100)
        assert "describes its tensors in" in refusal(saved(state()))
    assert torch.equal(loaded(packed(saved(state()))), weight())


def test_an_entry_that_is_there_twice() -> None:
    stream = io.BytesIO(saved(state()))
    with zipfile.ZipFile(stream, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr(next(name for name in archive.namelist() if name.endswith("data.pkl")), b"other")
    assert "twice" in refusal(stream.getvalue())


def test_torchscript_as_weights() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("net/constants.pkl", b"")
    assert "is a TorchScript archive, which holds code" in refusal(stream.getvalue())


# what from_torch takes


def net() -> torch.nn.Module:
    made = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU()).eval()
    made.load_state_dict(state())
    return made


def design(model: Any = None, shape: Any = (1, 8, 8), **options: Any) -> Any:
    return hlsgen.from_torch(model or net(), shape, **{"precision": "fixed<16,6>", **options})


X = np.linspace(-1, 1, 128).reshape(2, 1, 8, 8)


@pytest.mark.filterwarnings("ignore:.*torch.jit")
def test_modules_around_a_module_are_read() -> None:
    batch = torch.export.Dim("batch", min=2)
    program = torch.export.export(net(), (torch.zeros(2, 1, 8, 8),), dynamic_shapes=({0: batch},))
    wanted = design().golden(X)
    for model in (torch.nn.DataParallel(net()), torch.compile(net()), program, program.module()):
        assert np.array_equal(design(model).golden(X), wanted)
    assert np.array_equal(design(shape=np.array([1, 8, 8])).golden(X), wanted)


def test_an_exported_program_with_a_fixed_batch() -> None:
    program = torch.export.export(net(), (torch.zeros(1, 1, 8, 8),))
    with pytest.raises(DesignError, match=r"fix: the module itself, or export it with dynamic_shapes"):
        design(program)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("net.pt", "the model is a str, not a torch.nn.Module"),
        (torch.nn.ReLU, "the model is the class ReLU"),
        (net().state_dict(), "the model is a OrderedDict"),
        (net().to("meta"), "0.weight is on the meta device"),
    ],
)
def test_what_is_no_module_with_weights(model: object, says: str) -> None:
    with pytest.raises(DesignError, match=re.escape(says)):
        design(model)


@pytest.mark.parametrize(
    "options",
    [
        *({"shape": shape} for shape in (None, 3, "1,8,8", (1, 8.5, 8), (0, 8, 8), (-1, 8, 8))),
        *({"shape": shape} for shape in ({"a": 1}, [None], (1 << 40, 8, 8))),
        *({"batch": batch} for batch in (0, -1, 1.5, "4", None, 10**12)),
        *({"clock_mhz": clock} for clock in (0, -1, "300", float("nan"), float("inf"), 1e9)),
        *({"margin": share} for share in (-0.1, 0.95, 20, "20%", "Auto", True, float("nan"))),
        *({"uncertainty": share} for share in (-0.1, 0.6, 27, "27%", None, True, float("nan"))),
        *({"board": board} for board in (None, 3)),
        *({"name": name} for name in (3, b"net", ["net"], True)),
        *({"calibration": frames} for frames in ("x", X * 1j, X * 1e300, torch.ones(2, 1, 8, 8).to_sparse())),
    ],
)
def test_arguments_that_are_none(options: dict[str, Any]) -> None:
    with pytest.raises(DesignError, match="fix: "):
        design(**options)


def test_frames_that_need_gradients_are_numbers() -> None:
    frames = torch.tensor(X, requires_grad=True)
    given = [design(calibration=one, precision="auto") for one in (frames, X)]
    assert given[0].graph.input.type == given[1].graph.input.type


@pytest.mark.parametrize(
    "x", [X * 1j, np.full((1, 1, 8, 8), "1"), [["a"]], torch.ones(1, 1, 8, 8, device="meta")]
)
def test_inputs_that_are_no_real_numbers(x: Any) -> None:
    with pytest.raises(DesignError, match="x is no array of numbers|x holds complex128"):
        design().golden(x)


class Grows(torch.nn.Module):
    """Twice as many decimal places in each step."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(12):
            x = torch.relu(x * self.factor)
        return x


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("factor", [1e30, 1e-38])
def test_activations_that_no_type_holds(factor: float) -> None:
    with pytest.raises(
        DesignError, match="on the calibration frames its values reach .*, which no type holds"
    ):
        design(Grows(factor), precision="auto", calibration=X)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_variance_that_makes_no_number() -> None:
    norm = torch.nn.BatchNorm2d(1)
    norm.running_var.fill_(-1.0)
    with pytest.raises(DesignError, match="it has a weight of nan"):
        design(norm, precision="auto", calibration=X)
