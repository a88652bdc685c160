"""Half and fixed point in one network: types, golden, C-simulation, tasks, host, runtime, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlsgen
import hlsgen.runtime
from hlsgen.api.project import Project
from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType
from hlsgen.designfile.constraints import NetworkConstraints, WeightConstraints
from hlsgen.designfile.precision_grammar import precision_of
from hlsgen.layers.cast import Cast
from hlsgen.model.ir import run_golden
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.widths.search import quantise
from tests.layers.test_half_casts import fixed_by_bits, half_by_fractions
from tests.support.build_folders import make
from tests.support.host_builds import (
    HostBuild,
    compile_against_stand_in,
    compile_kernels,
    kernels,
    stand_in_xclbin,
)

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch import nn  # noqa: E402

LAYERS = """
name: net
board: u200
style: tasks
batch: 2
input: {name: x, shape: [4, 5, 6], samples: random}
layers:
  - {name: conv1, kind: conv2d, out_channels: 6, kernel: 3, padding: same, weights: {seed: 1}}
  - {name: flip, kind: rearrange, upsample: 2}
  - {name: conv2, kind: conv2d, out_channels: 6, kernel: 1, groups: 2, weights: {seed: 3}}
  - {name: pool1, kind: pool2d, function: max, kernel: 2, stride: 2}
  - {name: sum, kind: add, inputs: [pool1, conv1]}
  - {name: fc1, kind: dense, out_channels: 3, weights: {seed: 2}}
  - {name: soft, kind: softmax}
"""
HALF_DEFAULT = """
precision:
  default: half
  conv2: {weights: 8, output: "fixed<12,5>", input: "fixed<9,3,rnd_conv,sat_sym>"}
  soft: {output: "ufixed<16,0>", input: 12}
mapping: {conv1: {rows: 1, pe: 2, simd: 2}, fc1: {rows: 1, pe: 1, simd: 6}}
"""
FIXED_DEFAULT = """
precision: {default: 10, input: half, conv1: half, sum: half, accumulator: float32}
mapping: {conv1: {rows: 1, pe: 2, simd: 2}}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "net.yaml"
    path.write_text(text)
    return path


def types_of(design: hlsgen.Design) -> dict[str, str]:
    return {layer.name: str(layer.output_type) for layer in design.graph.layers}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("half_beside_fixed")
    return hlsgen.load(written(folder, LAYERS + HALF_DEFAULT)).build(folder / "build")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A layer in half, a conversion, a layer in fixed point."""
    folder = tmp_path_factory.mktemp("half_to_fixed")
    text = LAYERS.replace("random}", "random, type: half}").split("  - {name: flip")[0]
    text += "  - {name: fc1, kind: dense, out_channels: 3, weights: {seed: 2}}\n"
    text += FIXED_DEFAULT.replace("sum: half, ", "")
    return hlsgen.load(written(folder, text)).build(folder / "build", schedule=False)


def test_layers_have_the_types_that_were_asked_for(built: Project) -> None:
    assert types_of(built.design) == {
        "conv1": "half",
        "conv2_rearrange": "half",
        "conv2_rearrange_to_fixed": "fixed<9,3,rnd_conv,sat_sym>",
        "conv2": "fixed<12,5,rnd,sat>",
        "pool1": "fixed<12,5,rnd,sat>",  # what moves values follows what it reads
        "pool1_to_half": "half",
        "sum": "half",
        "fc1": "half",
        "fc1_to_fixed": types_of(built.design)["fc1_to_fixed"],
        "soft": "ufixed<16,0,rnd,sat>",
    }
    chosen = built.design.graph.tensors()["fc1_to_fixed"].type
    assert isinstance(chosen, FixedType) and chosen.width == 12
    assert str(built.design.graph.input.type) == "half"


def test_every_layer_equals_golden(built: Project) -> None:
    csim = built.report["csim"]
    assert csim["verdict"] == "equal" and {one["name"] for one in csim["layers"]} == set(
        types_of(built.design)
    )
    casts = {one["name"] for one in built.report["layers"] if one["kind"] == "cast"}
    assert casts == {"conv2_rearrange_to_fixed", "pool1_to_half", "fc1_to_fixed"}


def test_casts_of_golden_by_whole_numbers(built: Project) -> None:
    """Each conversion of the network again, by arithmetic apart."""
    graph = built.design.graph
    port = graph.inputs[0]
    values = np.random.default_rng(4).standard_normal((2, *port.tensor.shape)) * 3
    tensors = run_golden(graph, {port.name: port.tensor.type.encode(values)})
    seen = 0
    for layer in graph.layers:
        if not isinstance(layer, Cast):
            continue
        before, after = (tensors[name].reshape(-1) for name in (layer.inputs[0], layer.name))
        result, source = layer.result_type, layer.source.type
        if isinstance(result, FixedType):
            want: list[float] = [fixed_by_bits(int(bits), result) for bits in before.view(np.uint16)]
        else:
            assert isinstance(source, FixedType)
            want = [half_by_fractions(int(code), source) for code in before]
        np.testing.assert_array_equal(after, np.array(want, after.dtype))
        seen += len(want)
    assert seen > 500


def test_tasks_equal_golden(built: Project) -> None:
    done = make(built.folder / "ompss", "sequential")
    assert done.returncode == 0 and "6 of 6 equal" in done.stdout, done.stdout + done.stderr


def test_host_program(small: Project, tmp_path: Path) -> None:
    library = compile_kernels(small.folder, tmp_path / "kernels.so")
    compile_against_stand_in(small.folder, tmp_path / "host")
    stand_in_xclbin(tmp_path / "stand_in.xclbin", library, kernels(small.folder))
    (tmp_path / "build").symlink_to(small.folder)
    done = HostBuild(kind="tasks", folder=tmp_path).stand_in(str(small.folder / "tb"), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "output1: 6 of 6 equal" in done.stdout


def test_runtime_equals_golden(built: Project) -> None:
    x = np.random.default_rng(1).standard_normal((2, 4, 5, 6))
    with hlsgen.runtime.open(built.folder) as simulated:
        np.testing.assert_array_equal(simulated.run(x), built.design.golden(x))


def test_some_layers_in_half_of_a_network_in_fixed_point(tmp_path: Path) -> None:
    design = hlsgen.load(written(tmp_path, LAYERS.replace("random}", "random, type: half}") + FIXED_DEFAULT))
    types = types_of(design)
    assert [name for name, type_ in types.items() if type_ == "half"] == [
        "conv1",
        "conv2_rearrange",
        "pool1_to_half",
        "sum",
    ]
    assert {"conv2_rearrange_to_fixed", "sum_to_fixed"} <= set(types)
    convolutions = {layer.name: layer for layer in design.graph.layers}
    assert str(convolutions["conv1"].accumulator) == "float32"  # type: ignore[attr-defined]
    assert isinstance(convolutions["conv2"].accumulator, FixedType)  # type: ignore[attr-defined]


def test_the_smallest_of_both_equals_golden(small: Project) -> None:
    assert list(types_of(small.design)) == ["conv1", "conv1_to_fixed", "fc1"]
    assert small.report["csim"]["verdict"] == "equal"


def test_infinities_and_nan_become_ends_and_zero(tmp_path: Path) -> None:
    """Sums beyond 65,504, of either sign, and of both: by hand, by golden and by C-simulation."""
    weights = np.array(
        [[60000, 60000, 0], [-60000, -60000, 0], [60000, 60000, -60000], [1, 0, 0]], np.float32
    )
    np.savez(tmp_path / "conv.npz", weight=weights[:, :, None, None])
    text = (
        LAYERS.split("input:")[0]
        + """
input: {name: x, shape: [3, 1, 2], type: half, samples: x.npy}
layers:
  - {name: conv1, kind: conv2d, out_channels: 4, kernel: 1, bias: false, weights: conv.npz}
  - {name: out, kind: clamp, low: -100}
precision: {default: half, out: {output: "fixed<8,7>", input: "fixed<8,7>"}}
mapping: {conv1: {rows: 1, pe: 1, simd: 1}}
"""
    )
    np.save(tmp_path / "x.npy", np.array([[[[2, 0.25]], [[2, 0.25]], [[2, 0.5]]]], np.float32))
    design = hlsgen.load(
        written(
            tmp_path, text.replace("out, kind: clamp, low: -100", "out, kind: concat, inputs: [conv1, conv1]")
        )
    )
    project = design.build(tmp_path / "net", schedule=False)
    assert project.report["csim"]["verdict"] == "equal"
    found = np.asarray(design.golden(np.load(tmp_path / "x.npy")))[0, :4].reshape(4, 2)
    #      inf  30000 | -inf  -30000 | inf - inf  0 | 2  0.25 -> 0.5 at steps of a half, halves up
    assert found.tolist() == [[63.5, 63.5], [-64, -64], [0, 0], [2, 0.5]]
    assert any("infinite or no number" in one for one in project.report["warnings"])


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 16, 3, padding=1)
        self.head = nn.Linear(16, 10)

    def forward(self, x: Any) -> Any:
        x = torch.relu(self.second(torch.relu(self.first(x))))
        return torch.softmax(self.head(x.mean((2, 3))), 1)


def test_answers_are_near_the_framework() -> None:
    """A softmax in fixed point behind layers in half, and a middle of 8 bits; PyTorch in float64 judges."""
    torch.manual_seed(1)
    model = Net().eval()
    x = np.random.default_rng(0).standard_normal((16, 3, 12, 12)).astype(np.float32)
    with torch.no_grad():
        want = model.double()(torch.from_numpy(x.astype(np.float64))).numpy()
    model.float()
    errors = {}
    for name, second in (("half", "half"), ("mixed", {"weights": 8, "output": 8, "input": 8})):
        precision = {"default": "half", "second": second, "softmax": {"output": "ufixed<16,0>", "input": 16}}
        design = hlsgen.from_torch(
            model, input_shape=(3, 12, 12), calibration=x, precision=precision, style="tasks", board="u200"
        )
        errors[name] = float(np.abs(design.golden(x) - want).max() / want.max())
    assert errors["half"] < 2.0**-9, "a few last bits of half"
    assert errors["half"] < errors["mixed"] < 2.0**-5, "8 bits show"


FIXED_SECOND = {
    "weights": "fixed<8,1>",
    "bias": "fixed<24,4>",
    "output": "fixed<12,5>",
    "input": "fixed<12,5>",
}


@pytest.mark.parametrize(
    "precision",
    [
        {
            "default": "half",
            "second": FIXED_SECOND,
            "softmax": {"output": "ufixed<16,0>", "input": "fixed<16,6>"},
        },
        "half",
    ],
    ids=["mixed", "half"],
)
def test_other_weights_for_the_same_kernels(precision: Any) -> None:
    """Weights that arrive at run time: those of another network, as if the design had been made of it."""
    designs = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        model = Net().eval()
        design = hlsgen.from_torch(
            model if precision != "half" else nn.Sequential(model.first, nn.ReLU(), model.second),
            input_shape=(3, 12, 12),
            precision=precision,
            style="tasks",
            name="net",
            constraints=NetworkConstraints(weights=WeightConstraints(place="runtime")),
        )
        designs.append(design)
    mine, other = designs
    x = np.random.default_rng(0).standard_normal((2, 3, 12, 12)).astype(np.float32)
    loaded = mine.with_weights(other)
    np.testing.assert_array_equal(loaded.golden(x), other.golden(x))
    assert not np.array_equal(loaded.golden(x), mine.golden(x))


def test_without_input_a_layer_reads_as_many_bits_as_it_gives(tmp_path: Path) -> None:
    """... of the range of what it reads: scores of a softmax, which gives 0 to 1, have signs."""
    precision = 'precision: {default: half, soft: "ufixed<16,0>"}'
    design = hlsgen.load(written(tmp_path, LAYERS + precision))
    type_ = design.graph.tensors()["fc1_to_fixed"].type
    assert isinstance(type_, FixedType) and (type_.width, type_.signed) == (16, True)
    style = design.style
    assert isinstance(style, NetworkStyle) and style.calibration is not None and style.calibration.chooses
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 2, 1), nn.Softmax(1))
    asked = {"default": "half", "n1": "ufixed<16,0>"}
    with pytest.raises(DesignError, match="from calibration data, and none is given"):
        hlsgen.from_torch(model, input_shape=(1, 2, 2), precision=asked, style="tasks")


@pytest.mark.parametrize(
    ("given", "mixes"),
    [
        ("half", False),
        ({"default": "half", "conv1": "half"}, False),
        ({"default": "half", "conv1": 8}, True),
        ({"default": "half", "input": "ufixed<8,0>"}, True),
        ({"default": 8, "conv1": {"output": "half"}}, True),
        ({"default": "auto", "input": "half"}, True),
        (8, False),
    ],
)
def test_grammar(given: Any, mixes: bool) -> None:
    assert precision_of(given).mixes_half is mixes


def test_refused(tmp_path: Path) -> None:
    for text, message in (
        (
            (LAYERS + HALF_DEFAULT).replace("style: tasks", "style: dataflow").split("mapping")[0],
            "a streaming kernel computes in fixed point",
        ),
        (
            LAYERS + "precision: {default: half, conv2: 8}",
            "soft: a softmax has no hardware for half",
        ),
        (
            LAYERS + "precision: {default: 8, conv1: {output: half, weights: 8}}",
            "conv1: it computes in half, and so its weights, bias and input are half",
        ),
        (
            LAYERS + "precision: {default: half, weights: 8, soft: 8}",
            "`weights` would be those of the other layers",
        ),
        (LAYERS + "precision: {default: 8, conv1: float32}", "is float32, but a streaming kernel computes"),
        (LAYERS + "precision: {default: 8, conv1: {input: half}}", "is half, but a streaming kernel"),
        (LAYERS + "precision: {default: half, soft: 8, conv3: half}", "conv3, which is no layer"),
    ):
        with pytest.raises(DesignError) as refused:
            hlsgen.load(written(tmp_path, text))
        assert message in str(refused.value), text


def test_widths_are_not_searched(tmp_path: Path) -> None:
    design = hlsgen.load(written(tmp_path, LAYERS + HALF_DEFAULT))
    x = np.random.default_rng(1).standard_normal((64, 4, 5, 6))
    with pytest.raises(DesignError, match="which this is not"):
        quantise(design, x, np.zeros(64, int))
