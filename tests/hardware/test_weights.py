"""Where weights lie: what a design may fix, what is refused, and what comes of it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import hlsgen
from hlsgen.api.design import Design
from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import Codes, FixedType
from hlsgen.designfile.constraints import LayerWeightConstraints, NetworkConstraints, WeightConstraints
from hlsgen.emit.dataflow import dataflow_files, weight_files
from hlsgen.emit.plan import KernelNames
from hlsgen.hardware.pipeline import pipeline_of
from hlsgen.hardware.storage import Storage
from hlsgen.hardware.weight_beats import weight_beats
from hlsgen.hardware.weights import weight_places
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.dense import Dense
from hlsgen.layers.stage import Fold
from hlsgen.loading.from_graph import Options, from_fixed
from hlsgen.model.ir import Graph, Port
from hlsgen.model.precision import Precision
from hlsgen.search.streaming import balance
from hlsgen.targets.board import load_board

SOURCE = FixedType(8, 3)
WEIGHT = FixedType(6, 1)
BIAS = FixedType(8, 3)


def codes(type_: FixedType, shape: tuple[int, ...], seed: int) -> Codes:
    generator = np.random.default_rng(seed)
    return generator.integers(type_.min_code, type_.max_code, shape, endpoint=True)


def dense(name: str, inputs: int, outputs: int, seed: int = 0) -> Dense:
    layer = Dense(
        name=name,
        inputs=("x",),
        in_shape=(inputs, 1, 1),
        out_channels=outputs,
        input_type=SOURCE,
        weight_type=WEIGHT,
        bias_type=BIAS,
        accumulator=WEIGHT,
        result_type=SOURCE,
        weights=codes(WEIGHT, (outputs, inputs, 1, 1), seed),
        bias=codes(BIAS, (outputs,), seed + 1),
    )
    return layer.retyped((SOURCE,), FixedType(12, 6))


def network(*layers: Conv2d) -> Graph:
    """Layers beside each other, all of which read x."""
    outputs = tuple(Port.of(f"y{n}", layer.output, layer.name) for n, layer in enumerate(layers))
    return Graph(
        name="net", inputs=(Port.of("x", layers[0].sources[0]),), layers=tuple(layers), outputs=outputs
    )


def weight_constraints(place: str = "auto", **layers: LayerWeightConstraints) -> WeightConstraints:
    return WeightConstraints(place=place, layers=layers)  # type: ignore[arg-type]


SMALL = dense("small", 64, 10)
LARGE = dense("large", 64, 200)
HUGE = dense("huge", 64, 2000)
U200, ZCU102 = load_board("u200"), load_board("zcu102")


def test_auto_is_text_up_to_a_limit() -> None:
    places = weight_places(network(SMALL, LARGE), weight_constraints(), U200)
    assert {name: one.place for name, one in places.items()} == {"small": "constant", "large": "runtime"}


def test_a_layers_own_wish_counts_more_than_that_for_all() -> None:
    own = weight_constraints("runtime", large=LayerWeightConstraints(place="constant"))
    places = weight_places(network(SMALL, LARGE), own, U200)
    assert {name: one.place for name, one in places.items()} == {"small": "runtime", "large": "constant"}


@pytest.mark.parametrize(
    ("board", "constraints", "message", "fix"),
    [
        (U200, weight_constraints("constant"), "huge: 128,000 weights as constants", "weights: runtime"),
        (
            U200,
            weight_constraints(small=LayerWeightConstraints(place="constant", storage="uram")),
            "cannot lie in URAM",
            "bram",
        ),
        (
            ZCU102,
            weight_constraints(large=LayerWeightConstraints(storage="uram")),
            "has no URAM",
            "storage: bram",
        ),
        (
            U200,
            weight_constraints(other=LayerWeightConstraints(place="runtime")),
            "other, which is no layer",
            "small, huge",
        ),
        (U200, weight_constraints("somewhere"), "none of auto, constant, runtime", "stream"),
        (
            U200,
            weight_constraints(small=LayerWeightConstraints(storage="rom")),
            "nothing that there is",
            "uram",
        ),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_is_refused(
    board: hlsgen.targets.board.Board, constraints: WeightConstraints, message: str, fix: str
) -> None:
    with pytest.raises(DesignError) as refused:
        weight_places(network(SMALL, HUGE, LARGE), constraints, board)
    assert message in str(refused.value) and fix in str(refused.value)


@pytest.mark.parametrize("storage", ["register", "lutram", "bram", "uram"])
def test_the_wished_primitive_is_emitted_and_counted(storage: str) -> None:
    layer = dense("large", 16, 40)
    own = weight_constraints(large=LayerWeightConstraints(place="runtime", storage=storage))  # type: ignore[arg-type]
    found = balance(
        network(layer), U200, NetworkConstraints(weights=own, instances=1), batch=4, clock_mhz=300
    )
    text = dataflow_files(found.pipeline, KernelNames(kernel="net", source="test"), U200)["src/large.h"]
    if storage == "register":
        assert "#pragma HLS array_partition variable=weights complete" in text
    else:
        assert f"#pragma HLS bind_storage variable=weights type=ram_1p impl={storage}" in text
    memory = found.pipeline.weights["large"].memory(found.pipeline.stages["large"], U200)
    assert memory is not None and memory.storage is Storage(storage)


def test_constants_are_never_counted_as_uram() -> None:
    """Deep and narrow: what would else be cheapest in a URAM."""
    layer = dense("small", 2048, 4)
    pipeline = pipeline_of(network(layer), {"small": Fold(pe=4, simd=2)})
    memory = pipeline.weights["small"].memory(pipeline.stages["small"], U200)
    assert memory is not None and memory.storage is not Storage.URAM
    elsewhere = replace(pipeline.weights["small"], place="runtime")
    assert elsewhere.memory(pipeline.stages["small"], U200) is not None


YAML = """
name: net
board: u200
batch: 4
model: {torch: "net.py:make_net"}
input: {shape: [4, 6, 6], samples: random}
precision: "fixed<8,3>"
mapping: MAPPING
"""
NET = """
import torch
def make_net():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Conv2d(4, 6, 3), torch.nn.ReLU(), torch.nn.Flatten(),
                               torch.nn.Linear(96, 10))
"""


def design_file(folder: Path, mapping: str) -> Path:
    (folder / "net.py").write_text(NET)
    (folder / "net.yaml").write_text(YAML.replace("MAPPING", mapping))
    return folder / "net.yaml"


def test_a_design_file_says_where_weights_lie(tmp_path: Path) -> None:
    mapping = "{weights: runtime, n3: {weights: constant, storage: bram}}"
    design = hlsgen.load(design_file(tmp_path, mapping))
    project = design.build(tmp_path / "build")
    layers = {layer["name"]: layer.get("weights") for layer in project.report["layers"]}
    assert layers["n0"]["place"] == "runtime" and layers["n0"]["codes"] == 6 * 4 * 9
    assert (layers["n3"]["place"], layers["n3"]["storage"]) == ("constant", "bram")
    assert "constant in bram" in (tmp_path / "build/report.md").read_text()
    assert (tmp_path / "build/src/n3_weights.h").exists()
    assert not (tmp_path / "build/src/n0_weights.h").exists()
    assert "variable=WEIGHTS type=rom_1p impl=bram" in (tmp_path / "build/src/n3.h").read_text()


def test_mistakes_in_a_design_file_have_their_place(tmp_path: Path) -> None:
    mapping = "{n0: {weights: constant, storage: uram}, n1: {weights: runtime}}"
    with pytest.raises(DesignError) as refused:
        hlsgen.load(design_file(tmp_path, mapping))
    assert "net.yaml:8" in str(refused.value)
    assert "n0: constants cannot lie in URAM" in str(refused.value)
    assert "clamp has none" in str(refused.value)


def test_the_weights_of_all_stages_come_in_one_file() -> None:
    graph = network(SMALL, LARGE)
    pipeline = pipeline_of(
        graph, {"small": Fold(), "large": Fold()}, weight_places(graph, weight_constraints("runtime"), U200)
    )
    files = weight_files(pipeline)
    assert list(files) == ["weights.npy"] and files["weights.npy"].dtype == np.uint64
    assert sum(weight_beats(pipeline).values()) == len(files["weights.npy"])
    assert not weight_files(pipeline_of(network(SMALL), {"small": Fold()}))


def model(seed: int, *, scale: float = 1.0, channels: int = 6) -> torch.nn.Module:
    torch.manual_seed(seed)
    nn = torch.nn
    net = nn.Sequential(
        nn.Conv2d(4, channels, 3),
        nn.BatchNorm2d(channels),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(96 // 6 * channels, 10),
    )
    for parameter in net.parameters():
        if parameter.dim() > 1:  # no biases
            parameter.data *= scale
    return net.eval()


def designed(net: torch.nn.Module, place: str = "runtime", accumulator: str | None = None) -> hlsgen.Design:
    precision = Precision(
        default=FixedType(12, 4),
        weights=FixedType(8, 1),
        accumulator=accumulator,  # type: ignore[arg-type]
    )
    constraints = NetworkConstraints(weights=weight_constraints(place))
    return hlsgen.from_torch(
        net, (4, 6, 6), precision=precision, constraints=constraints, name="net", batch=4
    )


def convolutions(design: hlsgen.Design) -> list[Conv2d]:
    return [layer for layer in design.graph.layers if isinstance(layer, Conv2d)]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> hlsgen.Project:
    return designed(model(1)).build(tmp_path_factory.mktemp("weights") / "build")


def test_new_weights_need_no_new_kernel(first: hlsgen.Project) -> None:
    second = designed(model(2))
    x = np.random.default_rng(0).normal(0, 1, (5, 4, 6, 6))
    y = first.csim(x, weights=second)
    assert np.array_equal(y, second.golden(x)) and not np.array_equal(y, first.golden(x))
    assert np.array_equal(first.csim(x), first.golden(x))
    inputs = first.design.sample_inputs(2)
    plans = [
        {
            path: content
            for path, content in one.style.plan(inputs, one.golden_codes(inputs)).items()
            if not path.endswith(".npy")
        }
        for one in (first.design, first.design.with_weights(second))
    ]
    assert plans[0] == plans[1]
    assert any(path.startswith("src/") for path in plans[0])


def test_new_weights_go_into_the_testbench(first: hlsgen.Project) -> None:
    before = {path: path.read_bytes() for path in first.folder.rglob("*") if path.is_file()}
    first.write_weights(designed(model(3)))
    changed = {path.name for path, content in before.items() if path.read_bytes() != content}
    assert changed == {"weights.npy", f"{first.design.graph.outputs[0].name}_golden.npy"}
    done = subprocess.run(["make", "csim"], cwd=first.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_any_weights_are_safe_where_they_come_at_run_time() -> None:
    """The accumulators hold the sums of the largest weights that the types have."""
    for layer in convolutions(designed(model(1))):
        assert isinstance(layer.weight_type, FixedType) and isinstance(layer.bias_type, FixedType)
        worst = replace(
            layer,
            weights=np.full_like(layer.weights, layer.weight_type.min_code),
            bias=np.full_like(layer.bias, layer.bias_type.max_code),
        )
        assert worst.accumulator_suffices()
    pairs = zip(convolutions(designed(model(1), "auto")), convolutions(designed(model(1))), strict=True)
    assert all(tight.accumulator.width < wide.accumulator.width for tight, wide in pairs)  # type: ignore[union-attr]


def test_sums_beyond_a_tight_accumulator_are_refused() -> None:
    small = designed(model(1, scale=0.1), accumulator="tight")
    with pytest.raises(DesignError, match="beyond the accumulator") as refused:
        small.with_weights(designed(model(1)))
    assert "accumulator: exact" in str(refused.value)
    small.with_weights(designed(model(1, scale=0.05)))


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda: designed(model(1, channels=12)), "other sizes|another out_channels"),
        (lambda: designed(model(1, scale=9.0)), "leave the range of fixed<8,1>"),
        (lambda: designed(torch.nn.Sequential(torch.nn.Conv2d(4, 6, 3))), "other layers"),
    ],
)
def test_what_does_not_fit_the_kernel_is_refused(
    first: hlsgen.Project, other: Callable[[], hlsgen.Design], message: str
) -> None:
    with pytest.raises(DesignError, match=message):
        first.csim(np.zeros((1, 4, 6, 6)), weights=other())


def test_constants_take_no_other_weights() -> None:
    design = designed(model(1), "constant")
    with pytest.raises(DesignError, match="stand in the kernel's source") as refused:
        design.with_weights(designed(model(2)))
    assert "weights: runtime" in str(refused.value)
    design.with_weights(designed(model(1)))


def test_networks_in_fixed_point_must_agree_in_types() -> None:
    """As QKeras and ONNX give them: no values in floating point to quantise anew."""
    constraints = NetworkConstraints(weights=weight_constraints("runtime"))
    options = Options(board="u200", clock_mhz=None, batch=4, constraints=constraints, style="dataflow")
    one, two = (Design(from_fixed(network(dense("fc", 8, 4, seed)), options, "test")) for seed in (1, 5))
    x = {"x": codes(SOURCE, (3, 8, 1, 1), 9)}
    fresh = one.with_weights(two)
    assert np.array_equal(fresh.golden_codes(x)["fc"], two.golden_codes(x)["fc"])
    other = replace(dense("fc", 8, 4, 5), result_type=FixedType(14, 6))
    with pytest.raises(DesignError, match="another result_type"):
        one.with_weights(Design(from_fixed(network(other), options, "test")))
