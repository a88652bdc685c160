"""Networks through the Python interface and the command line: load, build, csim, golden, report, errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import hlsgen
from hlsgen.base.errors import DesignError, MismatchError
from hlsgen.cli.commands import cli
from hlsgen.csim.compiler import reference_headers
from hlsgen.designfile.constraints import NetworkConstraints, WeightConstraints
from hlsgen.model.precision import Precision
from tests.support.examples import compiled

torch = pytest.importorskip("torch", reason="torch is not installed")
nn = torch.nn

NET = """
import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(2, 4, 3, padding=1)
        conv = nn.Conv2d(4, 4, 3, padding=1, bias=False)
        self.body = nn.Sequential(conv, nn.BatchNorm2d(4), nn.LeakyReLU(0.1))
        self.pool = nn.AvgPool2d(2)
        self.head = nn.Linear(4 * 4 * 3, 5)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        x = torch.relu(self.body(x) + x)
        return self.head(self.pool(x).flatten(1))


def make_net():
    torch.manual_seed(3)
    return Residual()


def not_a_net():
    return 7
"""
DESIGN = """
name: small
board: zcu102
batch: 8
model: {torch: "net.py:make_net"}
input: {shape: [2, 8, 6], samples: x.npy}
precision: auto
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("network")
    (place / "net.py").write_text(NET)
    (place / "small.yaml").write_text(DESIGN)
    np.save(place / "x.npy", np.random.default_rng(0).normal(0, 1, (6, 2, 8, 6)))
    return place


@pytest.fixture(scope="module")
def project(folder: Path) -> hlsgen.Project:
    return hlsgen.load(folder / "small.yaml").build(folder / "build")


def test_csim_equals_golden_in_the_frameworks_layout(project: hlsgen.Project) -> None:
    x = np.random.default_rng(1).normal(0, 1, (7, 2, 8, 6))
    y = project.csim(x)
    assert isinstance(y, np.ndarray) and y.shape == (7, 5)
    np.testing.assert_array_equal(y, project.golden(x))
    np.testing.assert_array_equal(project.csim(x[0]), y[:1])


def test_it_is_close_to_torch(project: hlsgen.Project, folder: Path) -> None:
    from hlsgen.frontends.torch.to_graph import load_module

    module = load_module(folder / "net.py", "make_net", None, None)
    x = np.load(folder / "x.npy")
    with torch.no_grad():
        wanted = module(torch.from_numpy(x).float()).numpy()
    error = np.sqrt(np.mean((project.csim(x) - wanted) ** 2) / np.mean(wanted**2))
    assert error < 0.05


def test_the_report_has_every_layer_and_its_figures_add_up(project: hlsgen.Project) -> None:
    report = project.report
    assert json.loads((project.folder / "report.json").read_text()) == report
    names = [layer["name"] for layer in report["layers"]]
    assert names == [layer.name for layer in project.design.graph.layers]
    for key in ("name", "kind", "macs", "folding", "ii", "interval_cycles", "latency_cycles", "dsp", "lut"):
        assert all(key in layer for layer in report["layers"])
    total = report["total"]
    assert total["macs"] == sum(layer["macs"] for layer in report["layers"])
    assert total["interval_cycles"] >= max(layer["interval_cycles"] for layer in report["layers"])
    each = total["dsp"] / total["instances"]
    assert each == sum(one["dsp"] for one in report["layers"]) + sum(one["dsp"] for one in report["joints"])
    csim = report["csim"]
    assert csim["verdict"] == "equal" and [one["name"] for one in csim["layers"]] == names
    measured = csim["iterations_measured"]
    frames = csim["frames"]
    assert measured["stem"] >= report["layers"][0]["interval_cycles"]
    assert frames == 6
    assert all(fifo["depth"] >= fifo["least_depth"] for fifo in report["fifos"])
    text = (project.folder / "report.md").read_text()
    assert all(f"`{name}`" in text for name in names)


def test_the_same_design_gives_the_same_bytes(project: hlsgen.Project, folder: Path, tmp_path: Path) -> None:
    again = hlsgen.load(folder / "small.yaml").build(tmp_path / "again", csim=False)
    for path in sorted(project.folder.rglob("*")):
        if path.is_file() and path.suffix not in (".json", ".md", ".html"):
            assert path.read_bytes() == (again.folder / path.relative_to(project.folder)).read_bytes()


def test_a_fault_in_one_layer_is_found_there(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result of the first wrong layer is named, not that of the network."""
    from hlsgen.styles.streaming import StreamingNetwork

    design = hlsgen.load(folder / "small.yaml")
    plan = StreamingNetwork.plan

    def faulty(self: StreamingNetwork, *args: object) -> dict[str, str | bytes]:
        files = plan(self, *args)  # type: ignore[arg-type]
        path = "src/body_0.h"
        text = files[path]
        assert isinstance(text, str) and "in_row >= 0 &&" in text
        return {**files, path: text.replace("in_row >= 0 &&", "in_row >= 1 &&")}

    monkeypatch.setattr(StreamingNetwork, "plan", faulty)
    with pytest.raises(MismatchError, match="differs from golden first in layer body_0: .* frame 0, channel"):
        design.build(tmp_path / "faulty")
    assert not (tmp_path / "faulty").exists()


def test_instances_and_foldings_that_the_design_fixes(folder: Path) -> None:
    text = DESIGN + "mapping: {instances: 2, stem: {pe: 2, simd: 1}}\n"
    (folder / "fixed.yaml").write_text(text)
    report = hlsgen.load(folder / "fixed.yaml").estimate().as_json()
    assert report["total"]["instances"] == 2
    assert {key: report["layers"][0]["folding"][key] for key in ("pe", "simd")} == {"pe": 2, "simd": 1}


def test_a_target_interval_costs_no_more_than_it_needs(folder: Path) -> None:
    costs = []
    for interval in (100, 400, 1600):
        # weights that may change have multipliers, the fewer the slower
        constraints = NetworkConstraints(
            instances=1, target_interval=interval, weights=WeightConstraints(place="runtime")
        )
        from hlsgen.frontends.torch.to_graph import load_module

        module = load_module(folder / "net.py", "make_net", None, None)
        design = hlsgen.from_torch(
            module, (2, 8, 6), precision="fixed<12,5>", board="zcu102", constraints=constraints
        )
        figures = design.estimate().as_json()["total"]
        assert figures["interval_cycles"] <= interval
        costs.append(figures["dsp"])
    assert costs[0] > costs[1] > costs[2]


@pytest.mark.parametrize(
    ("mapping", "said", "fix"),
    [
        ("{interval: 3}", "at its fastest folding, more than the interval of 3 ", "interval: "),
        ("{interval: 60, stem: {pe: 1, simd: 1}}", r"stem takes [\d,]+ cycles", "no fixed folding of stem"),
        ("{instances: 900}", "900 instances do not fit", "fewer instances"),
    ],
)  # fmt: skip
def test_a_mapping_out_of_reach_is_refused(folder: Path, mapping: str, said: str, fix: str) -> None:
    (folder / "fast.yaml").write_text(DESIGN + f"mapping: {mapping}\n")
    with pytest.raises(DesignError, match=said) as failure:
        hlsgen.load(folder / "fast.yaml").estimate()
    assert fix in str(failure.value)


def deep(layers: int) -> nn.Module:
    """Noise adds up: random weights, nothing trained."""
    torch.manual_seed(3)
    stages: list[nn.Module] = []
    for _ in range(layers):
        stages += [nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.ReLU6()]
    return nn.Sequential(*stages, nn.Flatten(), nn.Linear(4 * 36, 3, bias=False)).eval()


def test_auto_raises_its_target_until_the_output_is_near_enough() -> None:
    frames = np.random.default_rng(0).normal(0, 1, (6, 4, 6, 6))
    found = {}
    for wanted in (0.0, 20.0, 40.0):
        precision = Precision(target_db=12.0, output_db=wanted, agreement=0)
        design = hlsgen.from_torch(deep(12), (4, 6, 6), calibration=frames, precision=precision)
        found[wanted] = design.accuracy[-1].snr_db
    assert found[0.0] < 12 and found[20.0] > 19 and found[40.0] > 38
    assert found[20.0] < 38


def test_an_offset_of_the_output_is_no_signal() -> None:
    """Small changes on a large constant keep their 20 dB."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(4, 8, 3), nn.Tanh(), nn.Flatten(), nn.Linear(8 * 16, 1))
    with torch.no_grad():
        net[3].bias.fill_(50.0)
    frames = np.random.default_rng(0).normal(0, 1, (16, 4, 6, 6))
    design = hlsgen.from_torch(net.eval(), (4, 6, 6), calibration=frames)
    with torch.no_grad():
        wanted = net(torch.from_numpy(frames).float()).numpy()
    error = np.std(design.golden(frames) - wanted) / np.std(wanted)
    assert error < 0.12
    assert design.accuracy[-1].snr_db == pytest.approx(-20 * np.log10(error), abs=3)


def test_a_build_warns_of_an_output_that_is_far_from_floating_point(tmp_path: Path) -> None:
    frames = np.random.default_rng(0).normal(0, 1, (2, 4, 6, 6))
    for wanted, warns in ((0.0, True), (25.0, False)):
        precision = Precision(target_db=12.0, output_db=wanted, agreement=0)
        design = hlsgen.from_torch(deep(12), (4, 6, 6), calibration=frames, precision=precision)
        report = design.build(tmp_path / f"net{wanted}", csim=False).report
        said = [warning for warning in report["warnings"] if "signal to noise" in warning]
        assert bool(said) == warns
        assert all(one.startswith("out0 has only ") for one in said)


def test_what_g_takes_for_a_read_of_nothing_ends_no_build(tmp_path: Path) -> None:
    torch.manual_seed(0)
    precision = {"default": "fixed<18,3>", "input": "fixed<7,1>", "weights": "fixed<8,-1>"}
    fold = {"px": 1, "pe": 2, "simd": 1, "multipliers": "packed"}
    constraints = NetworkConstraints(instances=1, folds={"conv2d": fold})
    convolution = nn.Conv2d(3, 8, 3, stride=2, padding=1)
    design = hlsgen.from_torch(
        convolution, (3, 16, 16), precision=precision, batch=2, constraints=constraints
    )
    assert design.build(tmp_path / "net").report["csim"]["verdict"] == "equal"


def test_several_inputs_and_outputs_are_lists(tmp_path: Path) -> None:
    class Two(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.one = nn.Conv2d(1, 2, 1)
            self.two = nn.Conv2d(2, 2, 1)

        def forward(self, a, b):  # type: ignore[no-untyped-def]
            both = self.one(a) + self.two(b)
            return both, torch.relu(both).mean((2, 3))

    design = hlsgen.from_torch(Two().eval(), [(1, 4, 4), (2, 4, 4)], precision="fixed<16,6>", name="two")
    project = design.build(tmp_path / "two")
    generator = np.random.default_rng(0)
    x = [generator.normal(0, 1, (3, 1, 4, 4)), generator.normal(0, 1, (3, 2, 4, 4))]
    outputs = project.csim(x)
    assert isinstance(outputs, list) and [one.shape for one in outputs] == [(3, 2, 4, 4), (3, 2)]
    for got, wanted in zip(outputs, project.golden(x), strict=True):
        np.testing.assert_array_equal(got, wanted)
    if reference_headers() is not None:  # of the hls4ml wheel
        for got, wanted in zip(project.csim(x, headers="reference"), outputs, strict=True):
            np.testing.assert_array_equal(got, wanted)
    with pytest.raises(DesignError, match="two has 2 inputs: a, b"):
        project.csim(x[0])
    with pytest.raises(DesignError, match="the inputs have a: 3, b: 2 frames"):
        project.csim([x[0], x[1][:2]])


# ---------------------------------------------------------------- random networks, end to end


@st.composite
def networks(draw: st.DrawFn) -> tuple[object, tuple[int, int, int]]:
    """A convolution, an activation, a pool, a second convolution, a head: parameters drawn."""
    channels, height, width = draw(st.integers(1, 3)), draw(st.integers(6, 10)), draw(st.integers(6, 10))
    middle = draw(st.sampled_from([2, 3, 4, 6]))
    kernel = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    activation = draw(
        st.sampled_from([nn.ReLU, nn.ReLU6, nn.Sigmoid, nn.Tanh, nn.SiLU, nn.Hardswish, nn.GELU, nn.ELU])
    )()
    pool = draw(
        st.sampled_from(
            [
                nn.MaxPool2d(2, ceil_mode=True),
                nn.MaxPool2d(3, 2, 1),
                nn.AvgPool2d(3, 2, 1, count_include_pad=False),
                nn.AvgPool2d(2, 2, ceil_mode=True),
                nn.Upsample(scale_factor=2),
                nn.PixelUnshuffle(1),
                nn.ZeroPad2d((1, 0, 2, 1)),
            ]
        )
    )
    groups = draw(st.sampled_from([1, middle]))
    second = draw(
        st.sampled_from(
            [
                nn.Conv2d(middle, middle, 3, padding=2, dilation=2, groups=groups),
                nn.Conv2d(middle, 5, 1, stride=2),
                nn.ConvTranspose2d(middle, 3, 3, stride=2, padding=1, output_padding=1),
                nn.Sequential(nn.BatchNorm2d(middle), nn.Conv2d(middle, 4, 3, padding="same")),
            ]
        )
    )
    head = draw(st.sampled_from([nn.Flatten(), nn.AdaptiveAvgPool2d(1), nn.Softmax(1), nn.Identity()]))
    net = nn.Sequential(nn.Conv2d(channels, middle, kernel, padding=1), activation, pool, second, head)
    return net.eval(), (channels, height, width)


@settings(
    max_examples=compiled(3),
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(drawn=networks(), seed=st.integers(0, 1 << 30))
def test_random_networks_from_torch_to_csimulation(
    tmp_path_factory: pytest.TempPathFactory, drawn: tuple[object, tuple[int, int, int]], seed: int
) -> None:
    """The emitted C++ equals golden on every layer (build checks it), and is near torch at 16 bits."""
    net, shape = drawn
    x = np.random.default_rng(seed).uniform(-1, 1, (3, *shape))
    design = hlsgen.from_torch(net, shape, calibration=x, precision={"default": "fixed<18,6>"}, name="drawn")
    project = design.build(tmp_path_factory.mktemp("drawn") / "b", frames=2)
    y = project.csim(x)
    with torch.no_grad():
        wanted = net(torch.from_numpy(x).float()).numpy()  # type: ignore[operator]
    assert isinstance(y, np.ndarray) and y.shape == wanted.shape
    assert np.abs(y - wanted).max() < 0.02


# ---------------------------------------------------------------- mistakes in design files of models


MISTAKES = {
    "no shape": (DESIGN.replace("shape: [2, 8, 6], ", ""), "shape is missing: a PyTorch module"),
    "two frameworks": (
        DESIGN.replace('"net.py:make_net"', '"net.py:make_net", onnx: net.onnx'),
        "names more than one of torch, qkeras, onnx",
    ),
    "no framework": (DESIGN.replace('torch: "net.py:make_net"', "weights: net.pt"), "names none of"),
    "no function": (DESIGN.replace("net.py:make_net", "net.py"), "must be a file and a function"),
    "no such file": (DESIGN.replace("net.py:make_net", "nett.py:make_net"), "nett.py"),
    "no such function": (DESIGN.replace("make_net", "make_nett"), "make_nett"),
    "no module": (DESIGN.replace("make_net", "not_a_net"), "not_a_net"),
    "no such weights": (DESIGN.replace('make_net"', 'make_net", weights: w.pt'), "w.pt"),
    "another shape": (DESIGN.replace("[2, 8, 6]", "[3, 8, 6]"), "3"),
    "samples of another shape": (DESIGN.replace("[2, 8, 6]", "[2, 8, 7]"), "2"),
    "float": (DESIGN.replace("auto", "float32"), "computes in fixed point"),
    "no such layer in precision": (
        DESIGN.replace(
            "precision: auto", 'precision: {default: "fixed<8,3>", layers: {conv: {output: "fixed<8,3>"}}}'
        ),
        "precision names conv, which is no layer of small",
    ),
    "no such layer in mapping": (DESIGN + "mapping: {conv: {pe: 2}}\n", "conv is no layer of this network"),
    "a folding that divides nothing": (DESIGN + "mapping: {stem: {pe: 3}}\n", "stem: no folding with pe: 3"),
    "too many instances": (DESIGN + "mapping: {instances: 1000}\n", "1000 instances do not fit"),
    "an unknown key": (DESIGN + "maping: auto\n", "`maping` is no key"),
    "layers and a model": (DESIGN + "layers: []\n", "`layers` is no key"),
    "a style": (DESIGN + "style: stream\n", "style"),
    "no such board": (DESIGN.replace("zcu102", "zcu103"), "zcu103"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_have_a_place_and_a_remedy(folder: Path, name: str) -> None:
    text, message = MISTAKES[name]
    path = folder / "mistake.yaml"
    path.write_text(text)
    result = CliRunner().invoke(cli, ["check", str(path)], standalone_mode=False)
    assert isinstance(result.exception, SystemExit) and result.exception.code == 1, result.output
    assert message in result.output
    assert "fix: " in result.output
    assert "Traceback" not in result.output


def test_an_operation_that_there_is_no_layer_for_names_its_place() -> None:
    class Odd(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Sequential(nn.Conv2d(1, 1, 1))

        def forward(self, x):  # type: ignore[no-untyped-def]
            return torch.cumsum(self.inner(x), 3)

    with pytest.raises(DesignError, match="cumsum"):
        hlsgen.from_torch(Odd(), (1, 4, 4))


def test_calibration_of_another_shape() -> None:
    with pytest.raises(DesignError, match=r"calibration for .* has shape \(2, 3\)"):
        hlsgen.from_torch(nn.Conv2d(1, 1, 1), (1, 4, 4), calibration=np.zeros((2, 3)))


def test_the_users_own_code_is_announced(folder: Path) -> None:
    result = CliRunner().invoke(cli, ["check", str(folder / "small.yaml")])
    assert "your own code, for make_net()" in result.output
    assert "ok; " in result.output
