"""Widths in place of types: of so many bits, the range and the sign are chosen as arithmetic says here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType
from hlsgen.model.ir import run_golden
from hlsgen.model.precision import Bits, Floats, Precision
from hlsgen.quantising.choose_types import choose_types
from hlsgen.quantising.float_run import FloatRun
from hlsgen.quantising.search_types import quantised_network
from tests.support.command_line import failure, run, text
from tests.support.networks import frames as normal_frames
from tests.support.networks import residual_network
from tests.support.places import ROOT

DIGITS = str(ROOT / "designs" / "digits.yaml")


def best_range(values: Floats, width: int, signed: bool) -> set[int]:
    """The integer bits with the least square error of rounding and clipping, by trying all of them."""
    errors = {}
    for integer in range(-30, 31):
        step = 2.0 ** (integer - width)
        least, most = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
        nearest = np.clip(np.floor(values / step + 0.5), least, most) * step
        errors[integer] = float(np.sum((nearest - values) ** 2))
    return {integer for integer, error in errors.items() if error <= min(errors.values()) * (1 + 1e-9)}


@pytest.mark.parametrize("width", [2, 3, 4, 6, 8, 11, 16, 24])
def test_weights_have_the_range_with_the_least_error(width: int) -> None:
    """Without calibration, too: all that it takes are the weights."""
    graph = residual_network()
    precision = Precision(default=FixedType(16, 6), weights=Bits(width))
    typed = choose_types(graph, precision, None)
    judged = 0
    for before, after in zip(graph.layers, typed.layers, strict=True):
        weights = getattr(before, "weights", None)
        if weights is None:
            continue
        type_ = after.weight_type  # type: ignore[attr-defined]
        assert (type_.width, type_.signed) == (width, True)
        assert type_.integer in best_range(np.asarray(weights, np.float64), width, signed=True)
        codes = after.weights.astype(np.int64)  # type: ignore[attr-defined]
        step = 2.0 ** (type_.integer - width)
        wanted = np.clip(np.floor(weights / step + 0.5), -(2 ** (width - 1)), 2 ** (width - 1) - 1)
        assert np.array_equal(codes, wanted)
        judged += 1
    assert judged >= 2


def test_every_activation_has_the_width_and_the_range_that_frames_ask_for() -> None:
    """With a headroom of 1 the range is that of the frames that choose ranges, every second one."""
    graph, x = residual_network(), normal_frames(16)
    run = FloatRun(graph, {"x": x})
    for width in (3, 8, 12):
        precision = Precision(default=Bits(width), headroom=1.0)
        fixed, found = quantised_network(graph, precision, run)
        assert found is not None and found.reached.chosen is not None
        assert found.reached.chosen.target_db is None
        assert set(found.reached.chosen.headrooms.values()) == {1.0}
        assert found.reached.held_out is not None and found.reached.held_out.frames == 8
        type_ = fixed.inputs[0].tensor.type
        assert isinstance(type_, FixedType)
        assert (type_.width, type_.signed) == (width, True)
        assert type_.integer in best_range(x[0::2].reshape(-1), width, signed=True)
        for port in fixed.outputs:
            assert port.tensor.type.width == width


def test_more_bits_lose_less_on_frames_that_were_not_seen() -> None:
    graph, x, unseen = residual_network(), normal_frames(16), normal_frames(48)[16:]
    run = FloatRun(graph, {"x": x})
    judge = FloatRun(graph, {"x": unseen})
    wanted = judge.tensors(range(len(judge.kept)))[graph.outputs[0].source]
    errors = []
    for width in (4, 6, 8, 12, 16):
        fixed, found = quantised_network(graph, Precision(default=Bits(width)), run)
        port, shown = fixed.inputs[0], fixed.outputs[0]
        kept = judge.inputs(judge.kept)["x"]
        got = run_golden(fixed, {port.name: port.tensor.type.encode(kept)}, {shown.source})[shown.source]
        errors.append(float(np.mean((shown.tensor.type.decode(got) - wanted) ** 2)))
        assert found is not None and found.reached.held_out is not None
        decibels = 10 * np.log10(np.var(wanted) / errors[-1])
        assert found.reached.held_out.worst_db == pytest.approx(decibels, abs=4)
    assert errors == sorted(errors, reverse=True)
    # two bits more are a sixteenth of the noise's power
    assert errors[2] / errors[4] > 16**3


def test_layers_by_name_and_what_they_leave_to_all() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    nn = torch.nn
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.Flatten(), nn.Linear(64, 3))
    x = np.random.default_rng(0).uniform(-1, 1, (16, 1, 8, 8))
    first = hlsgen.from_torch(net.eval(), (1, 8, 8), calibration=x, precision=8)
    names = [layer.name for layer in first.graph.layers]
    precision = {
        "default": 8,
        names[0]: 4,
        names[1]: {"weights": 3},
        names[2]: {"output": "int12"},
        "input": 6,
    }
    design = hlsgen.from_torch(net, (1, 8, 8), calibration=x, precision=precision)
    widths = [(layer.weight_type.width, layer.output_type.width) for layer in design.graph.layers]  # type: ignore[attr-defined, union-attr]
    assert widths == [(4, 4), (3, 8), (8, 12)]
    assert design.graph.inputs[0].tensor.type.width == 6
    assert not design.graph.layers[0].output_type.signed  # type: ignore[union-attr] # behind its ReLU
    assert first.calibration is not None and first.calibration.chooses
    with torch.no_grad():
        wanted = net(torch.from_numpy(x).float()).numpy()
    assert np.mean(first.golden(x).argmax(1) == wanted.argmax(1)) > 0.9  # type: ignore[union-attr]


def test_widths_need_frames_for_activations_and_none_for_weights() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    net = torch.nn.Conv2d(1, 2, 3).eval()
    wrong: list[Any] = [8, {"default": "fixed<16,6>", "input": 8}, {"default": "fixed<16,6>", "conv2d_2": 4}]
    for precision in wrong:
        with pytest.raises(
            DesignError, match="chooses their ranges from calibration data, and none is given"
        ):
            hlsgen.from_torch(net, (1, 8, 8), precision=precision)
    design = hlsgen.from_torch(net, (1, 8, 8), precision={"default": "fixed<16,6>", "weights": 3})
    assert design.graph.layers[0].weight_type.width == 3  # type: ignore[attr-defined]


def test_weights_of_one_bit_are_signs_of_one_size() -> None:
    """The power of two with the least square error by trying all; what they give by a convolution apart."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.manual_seed(4)
    net = torch.nn.Sequential(torch.nn.Conv2d(2, 6, 3), torch.nn.ReLU(), torch.nn.Conv2d(6, 3, 2)).eval()
    x = np.random.default_rng(1).normal(0, 1, (40, 2, 6, 6))
    precision = {"default": 16, "weights": 1, "accumulator": "tight"}
    design = hlsgen.from_torch(net, (2, 6, 6), calibration=x, precision=precision)
    with torch.no_grad():
        for of, layer in ((net[0], design.graph.layers[0]), (net[2], design.graph.layers[1])):
            values = of.weight.double().numpy()
            signs = np.where(values < 0, -1, 1)
            scales = 2.0 ** np.arange(-20, 5)
            best = scales[np.argmin([np.sum((signs * scale - values) ** 2) for scale in scales])]
            type_ = layer.weight_type  # type: ignore[attr-defined]
            assert layer.only_signs and type_.width == 2  # type: ignore[attr-defined]
            np.testing.assert_array_equal(type_.decode(layer.weights), signs * best)  # type: ignore[attr-defined]
            of.weight.copy_(torch.from_numpy(signs * best))
        wanted = net(torch.from_numpy(x).float()).numpy()
    error = np.abs(design.golden(x) - wanted).max()
    assert error < 0.01 * np.abs(wanted).max()


def test_what_cannot_be_built_is_refused() -> None:
    graph, run = residual_network(), FloatRun(residual_network(), {"x": normal_frames(4)})
    fixed, _ = quantised_network(graph, Precision(default=Bits(1), weights=Bits(2)), run)
    assert {port.tensor.type.width for port in fixed.outputs} == {1}
    with pytest.raises(DesignError, match="128 bits"):
        quantised_network(graph, Precision(default=Bits(64)), run)
    with pytest.raises(ValueError, match="a tensor has 1 to 64"):
        Bits(0)


def test_of_onnx() -> None:
    pytest.importorskip("onnx", reason="onnx is not installed")
    from tests.support.frontends.onnx_models import model, node

    generator = np.random.default_rng(0)
    weights = {"w": generator.normal(0, 1, (4, 1, 3, 3)), "m": generator.normal(0, 1, (144, 3))}
    nodes = [node("Conv", "x w", "c"), node("Relu", "c", "r"), node("Flatten", "r", "f")]
    made = model(
        [*nodes, node("MatMul", "f m", "y")],
        {"x": ("N", 1, 8, 8)},
        {name: one.astype(np.float32) for name, one in weights.items()},
    )
    x = generator.uniform(-1, 1, (16, 1, 8, 8))
    design = hlsgen.from_onnx(made, calibration=x, precision="int5")
    widths = [(layer.weight_type.width, layer.output_type.width) for layer in design.graph.layers]  # type: ignore[attr-defined, union-attr]
    assert widths == [(5, 5), (5, 5)]


# ---------------------------------------------------------------- design files and commands


def estimated(*words: str) -> Any:
    """The figures of designs/digits.yaml; that its maker's code is run is noted beside them."""
    result = run("estimate", DIGITS, *words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_design_file_python_and_the_command_line_mean_the_same(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    data = yaml.safe_load(Path(DIGITS).read_text())
    folder = ROOT / "designs"
    data["model"] = {"torch": f"{folder}/digits/digits.py:make_net", "weights": f"{folder}/digits/digits.pt"}
    data["input"]["samples"] = f"{folder}/digits/test_images.npy"
    types = []
    for precision in (6, {"bits": 6}, {"default": "int6"}):
        data["precision"] = precision
        (tmp_path / "digits.yaml").write_text(yaml.safe_dump(data))
        types.append([str(one.output_type) for one in hlsgen.load(tmp_path / "digits.yaml").graph.layers])
    types.append([str(one.output_type) for one in hlsgen.load(DIGITS, precision="int6").graph.layers])
    assert types[0] == types[1] == types[2] == types[3]
    said = [estimated("--precision", one) for one in ("6", "{default: 6, weights: int6}")]
    assert said[0]["layers"] == said[1]["layers"]
    assert [layer["type"] for layer in said[0]["layers"]] == types[0]
    assert said[0]["quality"]["asked"]["types"] == "int6"
    assert said[0]["quality"]["chosen"]["target_db"] is None
    assert said[0]["quality"]["held_out"]["frames"] == 64
    (asked,) = [line for line in said[0]["quality"]["summary"] if line.startswith("Asked")]
    assert asked == "Asked for: 6 bits for each tensor."
    assert [layer["type"] for layer in estimated("--precision", "fixed<16,6>")["layers"]][
        -1
    ] == "fixed<16,6,rnd,sat>"


def test_what_is_refused_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tmp").mkdir()
    said = failure(1, "check", str(ROOT / "designs" / "conv.yaml"), "--precision", "8")
    assert "is a single layer, whose input has a type of its own" in said
    pytest.importorskip("torch", reason="torch is not installed")
    said = failure(1, "check", DIGITS, "--precision", "uint8")
    assert "whether a tensor has a sign is chosen by its values" in said
    said = failure(1, "check", DIGITS, "--precision", "{conf1: 8}")
    assert "precision names conf1, which is no layer" in said and "did you mean 'conv1'?" in said
    for wrong in ("", "{", "~"):
        assert "is no value of a design file" in failure(2, "check", DIGITS, "--precision", wrong)


def test_an_explored_design_keeps_the_width(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    target = tmp_path / "best.yaml"
    text("explore", DIGITS, "--precision", "4", "-o", str(target), "--target-fps", "100000")
    assert yaml.safe_load(target.read_text())["precision"] == 4
    again = json.dumps([str(one.output_type) for one in hlsgen.load(target).graph.layers])
    assert again.count("<4,") == len(hlsgen.load(target).graph.layers)
