"""Networks that a design file writes out: C-simulation equals golden, golden what PyTorch computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

torch = pytest.importorskip("torch", reason="torch is not installed")

import torch.nn.functional as F  # noqa: E402

import hlsgen  # noqa: E402
from hlsgen.designfile.layer_sections import SECTIONS  # noqa: E402

STEP = 2.0**-16
"""Of fixed<24,8>, the type of all activations."""
FRAMES = np.random.default_rng(0).integers(-16, 17, (3, 4, 8, 8)) / 16
RNG = np.random.default_rng(1)


def sixteenths(*shape: int) -> Any:
    """Weights that the types hold exactly."""
    return RNG.integers(-16, 17, shape) / 16


WEIGHTS = {
    "conv1.weight": sixteenths(6, 4, 3, 3),
    "conv1.bias": sixteenths(6),
    "depthwise.weight": sixteenths(12, 1, 3, 2),
    "depthwise.bias": sixteenths(12),
    "norm.weight": sixteenths(12),
    "norm.bias": sixteenths(12),
    "fc.weight": sixteenths(5, 12 * 4 * 3),
}
CHAIN: list[dict[str, Any]] = [
    {"name": "conv1", "kind": "conv2d", "out_channels": 6, "kernel": 3, "padding": 1, "weights": "w.npz"},
    {"name": "relu1", "kind": "clamp", "low": 0},
    {
        "name": "depthwise",
        "kind": "conv2d",
        "out_channels": 12,
        "kernel": [3, 2],
        "groups": 6,
        "stride": 2,
        "padding": [1, 0, 1, 0],
        "weights": "w.npz",
    },
    {"name": "norm", "kind": "affine", "weights": "w.npz"},
    {"name": "act", "kind": "leaky", "slopes": 0.125},
    {"name": "pool1", "kind": "pool2d", "function": "max", "kernel": [1, 2]},
    {"name": "fc", "kind": "dense", "out_channels": 5, "bias": False, "weights": "w.npz"},
]


def chain(x: Any) -> Any:
    w = {name: torch.from_numpy(values) for name, values in WEIGHTS.items()}
    y = F.conv2d(x, w["conv1.weight"], w["conv1.bias"], padding=1).relu()
    y = F.conv2d(y, w["depthwise.weight"], w["depthwise.bias"], stride=2, padding=(1, 0), groups=6)
    y = y * w["norm.weight"].reshape(-1, 1, 1) + w["norm.bias"].reshape(-1, 1, 1)
    y = F.max_pool2d(F.leaky_relu(y, 0.125), (1, 2), stride=1)
    return F.linear(y.flatten(1), w["fc.weight"]).reshape(-1, 5, 1, 1)


def written(folder: Path, layers: list[dict[str, Any]], **more: object) -> Path:
    np.savez(folder / "w.npz", **WEIGHTS)
    np.save(folder / "x.npy", FRAMES)
    data = {
        "name": "net",
        "board": "u200",
        "input": {"shape": [4, 8, 8], "type": "fixed<8,2>", "samples": "x.npy"},
        "precision": {"default": "fixed<24,8>", "weights": "fixed<12,4>", "input": "fixed<8,2>"},
        "layers": layers,
        **more,
    }
    path = folder / "net.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False))
    return path


@pytest.mark.parametrize("style", ["dataflow", "tasks"])
def test_a_chain_is_simulated_as_pytorch_computes_it(tmp_path: Path, style: str) -> None:
    design = hlsgen.load(written(tmp_path, CHAIN, style=style, mapping={"conv1": {"pe": 2}}))
    project = design.build(tmp_path / "build", csim=False)
    got, golden = project.csim(FRAMES), project.golden(FRAMES)
    np.testing.assert_array_equal(got, golden)
    # sixteenths of sixteenths of ... lose nothing until fixed<24,8> rounds after the third layer with weights
    wanted = chain(torch.from_numpy(FRAMES)).numpy()
    assert np.abs(wanted).max() < 128, "nothing saturates"
    np.testing.assert_allclose(golden, wanted, rtol=0, atol=64 * STEP)


def test_a_depthwise_layer_by_itself(tmp_path: Path) -> None:
    layer = {
        "name": "depthwise",
        "kind": "conv2d",
        "out_channels": 4,
        "kernel": 3,
        "groups": 4,
        "padding": "same",
        "weights": {"seed": 3},
    }
    design = hlsgen.load(written(tmp_path, [layer]))
    project = design.build(tmp_path / "build", csim=False)
    got, golden = project.csim(FRAMES), project.golden(FRAMES)
    np.testing.assert_array_equal(got, golden)
    (conv,) = design.graph.layers
    weights, bias = (
        torch.from_numpy(type_.decode(codes).astype(np.float64))
        for type_, codes in ((conv.weight_type, conv.weights), (conv.bias_type, conv.bias))
    )
    assert weights.shape == (4, 1, 3, 3)
    wanted = F.conv2d(torch.from_numpy(FRAMES), weights, bias, padding=1, groups=4).numpy()
    np.testing.assert_allclose(golden, wanted, rtol=0, atol=STEP / 2)


def of_x(kind: str, **keys: object) -> dict[str, Any]:
    return {"name": f"{kind}1", "kind": kind, "inputs": ["x"], **keys}


def each_kind() -> list[tuple[dict[str, Any], Any, float]]:
    """An entry that reads x, the same in PyTorch, and how far off it may be."""
    kernel, bias = torch.from_numpy(WEIGHTS["conv1.weight"]), torch.from_numpy(WEIGHTS["conv1.bias"])
    column = torch.tensor([0.5, -1.0, 2.0, 0.25], dtype=torch.float64).reshape(-1, 1, 1)
    return [
        (
            of_x("conv2d", out_channels=6, kernel=3, stride=[2, 1], dilation=[1, 2], weights="c.npz"),
            lambda x: F.conv2d(x, kernel, bias, stride=(2, 1), dilation=(1, 2)),
            STEP / 2,
        ),
        (of_x("dense", out_channels=5, weights="d.npz"), lambda x: DENSE(x)[:, :, None, None], STEP / 2),
        (
            of_x("affine", scale=[0.5, -1, 2, 0.25], shift=0.5),
            lambda x: x * column + 0.5,
            STEP / 2,
        ),
        (
            of_x("pool2d", function="average", kernel=3, stride=2, padding=1, count_include_pad=True),
            lambda x: F.avg_pool2d(x, 3, 2, 1),
            STEP,
        ),
        (of_x("adaptive_pool", function="max", size=[3, 5]), lambda x: F.adaptive_max_pool2d(x, (3, 5)), 0),
        (of_x("global_pool", function="average"), lambda x: x.mean((2, 3), keepdim=True), STEP),
        (of_x("clamp", low=-0.5, high=0.25), lambda x: x.clamp(-0.5, 0.25), 0),
        (of_x("leaky", slopes=[0.5, -1, 2, 0.25]), lambda x: torch.where(x >= 0, x, x * column), STEP / 2),
        (of_x("table", function="hard_swish", parameters=[0.25, 0.5]), lambda x: x * (x / 4 + 0.5), STEP),
        (of_x("steps", thresholds=[0, 0.5], values=[-1, 0.5, 2]), steps, 0),
        (of_x("softmax"), lambda x: x.softmax(1), 2.0**-13),
        (of_x("log_softmax"), lambda x: x.log_softmax(1), 2.0**-12.9),
        (of_x("argmax"), lambda x: x.numpy().argmax(1)[:, None], 0),
        ({**of_x("add"), "inputs": ["x", "clamp1"]}, lambda x: x + x.clamp(-0.5, 0.25), 0),
        ({**of_x("sub"), "inputs": ["clamp1", "x"]}, lambda x: x.clamp(-0.5, 0.25) - x, 0),
        (
            {**of_x("mul"), "inputs": ["x", "global_pool1"]},
            lambda x: x * x.mean((2, 3), keepdim=True),
            2 * STEP,
        ),
        (
            {**of_x("concat", axis=1), "inputs": ["x", "clamp1", "x"]},
            lambda x: torch.cat([x, x.clamp(-0.5, 0.25), x], 2),
            0,
        ),
        (of_x("crop", begin=[0, 1, 2], size=[2, 3, 2], step=[2, 1, 3]), lambda x: x[:, ::2, 1:4, 2:6:3], 0),
        (
            of_x("pad", padding=[1, 2, 0, 3], channels=[1, 0], value=-0.5),
            lambda x: F.pad(x, (2, 3, 1, 0, 1, 0), value=-0.5),
            0,
        ),
        (of_x("rearrange", upsample=[2, 1]), lambda x: x.repeat_interleave(2, 2), 0),
        ({**of_x("rearrange", depth_to_space=2), "name": "shuffle"}, lambda x: F.pixel_shuffle(x, 2), 0),
        ({**of_x("rearrange", space_to_depth=2), "name": "unshuffle"}, lambda x: F.pixel_unshuffle(x, 2), 0),
        ({**of_x("rearrange", reshape=[2, 4, 32]), "name": "reshaped"}, lambda x: x.reshape(-1, 2, 4, 32), 0),
        (
            {**of_x("rearrange", axes=[[[4, 64]], [[8, 1]], [[8, 8]]]), "name": "turned"},
            lambda x: x.transpose(2, 3),
            0,
        ),
    ]


DENSE_WEIGHTS = sixteenths(5, 256) / 16
DENSE_BIAS = sixteenths(5)


def DENSE(x: Any) -> Any:
    return F.linear(x.flatten(1), torch.from_numpy(DENSE_WEIGHTS), torch.from_numpy(DENSE_BIAS))


def steps(x: Any) -> Any:
    return np.array([-1, 0.5, 2])[np.searchsorted([0, 0.5], x.numpy(), side="right")]


def test_every_kind_computes_what_pytorch_does(tmp_path: Path) -> None:
    cases = each_kind()
    assert {entry["kind"] for entry, _, _ in cases} == set(SECTIONS)
    np.savez(tmp_path / "c.npz", weight=WEIGHTS["conv1.weight"], bias=WEIGHTS["conv1.bias"])
    np.savez(tmp_path / "d.npz", weight=DENSE_WEIGHTS, bias=DENSE_BIAS)
    design = hlsgen.load(written(tmp_path, [entry for entry, _, _ in cases]))
    names = [port.name for port in design.graph.outputs]
    found = dict(zip(names, design.golden(FRAMES), strict=True))
    x = torch.from_numpy(FRAMES)
    for entry, compute, near in cases:
        wanted = np.asarray(compute(x))
        got = found.get(f"{entry['name']}_output")
        if entry["name"] in ("clamp1", "global_pool1"):
            assert got is None, "another layer reads it"
            continue
        assert got is not None and got.shape == wanted.shape, entry
        np.testing.assert_allclose(got, wanted, rtol=0, atol=near, err_msg=str(entry))


def test_several_inputs_and_outputs(tmp_path: Path) -> None:
    inputs = [
        {"name": "image", "shape": [4, 8, 8], "type": "fixed<8,2>"},
        {"name": "gate", "shape": [4, 1, 1], "type": "fixed<8,2>"},
    ]
    layers = [
        {"name": "halves", "kind": "affine", "scale": 0.5},
        {"name": "gated", "kind": "mul", "inputs": ["image", "gate"]},
    ]
    design = hlsgen.load(written(tmp_path, layers, input=inputs, precision="fixed<24,8>"))
    assert [port.name for port in design.graph.inputs] == ["image", "gate"]
    assert [port.name for port in design.graph.outputs] == ["halves_output", "gated_output"]
    gates = FRAMES[:, :, :1, :1]
    halves, gated = design.golden([FRAMES, gates])
    np.testing.assert_array_equal(halves, FRAMES / 2)
    np.testing.assert_array_equal(gated, FRAMES * gates)
