"""Networks as tasks: every layer a kernel, called in turn, the same results as one streaming kernel."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from hlsgen.api.design import Design
from hlsgen.api.from_model import from_torch
from hlsgen.api.project import Project, build, simulate_only
from hlsgen.base.errors import DesignError
from hlsgen.base.fixed import FixedType
from hlsgen.cost.resources import Resources
from hlsgen.csim.compiler import Headers
from hlsgen.designfile.constraints import LayerWeightConstraints, NetworkConstraints, NoFit, WeightConstraints
from hlsgen.hardware.ports import DdrPort, ddr_word_bits, frame_bytes
from hlsgen.layers.base import Layer, Tensor
from hlsgen.layers.binary import Add
from hlsgen.layers.clamp import Clamp
from hlsgen.model.ir import Graph, Port
from hlsgen.search.board_limits import KINDS, whole_of
from hlsgen.search.candidates import foldings
from hlsgen.search.layerwise import LayerwiseHardware, layerwise_hardware
from hlsgen.search.task_kernels import ddr_words, kernel_names, task_kernel
from hlsgen.search.task_placement import packed, shared_banks
from hlsgen.styles.layerwise import LayerwiseNetwork
from hlsgen.targets.board import load_board
from tests.support.networks import frames

torch = pytest.importorskip("torch")
U200 = load_board("u200")
BYTE = FixedType(8, 4)


class Residual(torch.nn.Module):  # type: ignore[name-defined, misc]
    """A convolution with constant weights, a skip, and a dense layer that loads its weights."""

    def __init__(self) -> None:
        super().__init__()
        nn = torch.nn
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(128, 70)

    def forward(self, x: object) -> object:
        first = torch.relu(self.bn1(self.conv1(x)))
        second = torch.relu(self.conv2(first) + first)
        return self.fc(torch.flatten(self.pool(second), 1))


def residual(style: str, **options: object) -> Design:
    torch.manual_seed(3)
    module = Residual().eval()
    return from_torch(
        module,
        (3, 8, 8),
        calibration=frames(4),
        batch=4,
        name="net",
        style=style,
        constraints=NetworkConstraints(instances=2),
        **options,  # type: ignore[arg-type]
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return build(residual("tasks"), tmp_path_factory.mktemp("tasks") / "net")


def test_both_styles_give_the_same(built: Project) -> None:
    x: NDArray[np.float64] = frames(3) * 1.5
    got = built.csim(x)
    assert isinstance(got, np.ndarray) and got.shape == (3, 70)
    np.testing.assert_array_equal(got, built.golden(x))
    np.testing.assert_array_equal(got, residual("dataflow").golden(x))


def test_every_layer_is_compared(built: Project) -> None:
    csim = built.report["csim"]
    layers = [layer.name for layer in built.design.graph.layers]
    assert [layer["name"] for layer in csim["layers"]] == layers
    assert csim["verdict"] == "equal" and csim["mismatches"] == 0
    shapes = {layer.name: layer.output_shape for layer in built.design.graph.layers}
    for layer in csim["layers"]:
        assert layer["compared"] == csim["frames"] * np.prod(shapes[layer["name"]])


def test_the_report_adds_up(built: Project) -> None:
    report = json.loads((built.folder / "report.json").read_text())
    total, layers, memory = report["total"], report["layers"], report["memory"]
    assert report["style"] == "tasks"
    assert total["interval_cycles"] == sum(layer["interval_cycles"] for layer in layers)
    for kind in ("dsp", "bram18", "uram", "lut", "ff"):
        assert total[kind] == total["instances"] * sum(layer[kind] for layer in layers)
        assert total[kind] == sum(slr["used"][kind] for slr in report["slrs"])
        assert all(slr["used"][kind] <= slr["usable"][kind] for slr in report["slrs"])
    for layer in layers:
        slowest = max(layer["kernel_interval_cycles"], layer["ddr_cycles"])
        assert layer["interval_cycles"] == slowest >= layer["stage_interval_cycles"]
        assert (layer["binds"] == "DDR bandwidth") == (layer["ddr_cycles"] > layer["kernel_interval_cycles"])
    moved = sum(sum(layer["ddr_bytes"].values()) for layer in layers)
    assert memory["frame_bytes"] == moved
    ends = layers[0]["ddr_bytes"]["read"] + layers[-1]["ddr_bytes"]["written"]
    assert memory["intermediate_bytes"] == moved - ends
    assert memory["weight_bytes"] > 0
    rate = total["instances"] * report["clock_mhz"] * 1e6 / total["interval_cycles"]
    assert report["performance"]["frames_per_s"] == pytest.approx(rate, rel=1e-6)
    text = (built.folder / "report.md").read_text()
    assert all(f"`{layer['kernel']}`" in text for layer in layers)


def test_a_kernel_a_layer_with_settings_and_links(built: Project) -> None:
    names = [f"net_{layer.name}" for layer in built.design.graph.layers]
    link = (built.folder / "vitis" / "link.cfg").read_text()
    script = (built.folder / "vitis" / "run_hls.tcl").read_text()
    for name in names:
        assert f'extern "C" void {name}(' in (built.folder / "src" / f"{name}.cpp").read_text()
        settings = (built.folder / "vitis" / f"{name}.cfg").read_text()
        assert f"syn.top={name}\n" in settings and f"syn.file=../src/{name}.cpp\n" in settings
        assert "tb.file=../tb/net_tb.cpp\n" in settings
        assert f"nk={name}:2:{name}_1.{name}_2\n" in link
        assert f"sp={name}_2.m_axi_gmem_out:" in link
        assert f"    {name}\n" in script
    assert "sp=net_add_1.m_axi_gmem_in1:" in link and "sp=net_fc_1.m_axi_gmem_weights:" in link
    for path in built.folder.rglob("*"):
        if path.suffix in (".h", ".cpp", ".cfg", ".tcl") and "csim" not in path.parts:
            text = path.read_text()
            assert "{{" not in text.replace("{{-", "") or path.suffix == ".h", path
            assert "{%" not in text and not any(line != line.rstrip() for line in text.splitlines()), path


def banks_of(built: Project) -> dict[str, set[str]]:
    """By instance and tensor the banks of the ports that reach it, as link.cfg has them."""
    link = (built.folder / "vitis" / "link.cfg").read_text()
    led = {
        (unit, port): bank
        for unit, port, bank in re.findall(r"^sp=(\w+)\.m_axi_gmem_(\w+):(\S+)$", link, re.MULTILINE)
    }
    interface = json.loads((built.folder / "interface.json").read_text())
    found: dict[str, set[str]] = {}
    for step in interface["steps"]:
        source = (built.folder / "src" / f"{step['kernel']}.cpp").read_text()
        bundles = dict(re.findall(r"m_axi port=(\w+) offset=slave bundle=gmem_(\w+)", source))
        for number, unit in enumerate(step["units"]):
            for one in step["arguments"]:
                if one["port"] in bundles:
                    bank = led[unit, bundles[one["port"]]]
                    found.setdefault(f"{number}.{one['name']}", set()).add(bank)
    return found


def test_all_ports_of_a_tensor_reach_its_bank(built: Project) -> None:
    found = banks_of(built)
    assert found and all(len(banks) == 1 for banks in found.values())
    assert len(set.union(*found.values())) > 1


def test_kernels_share_ports_where_the_banks_take_no_more(tmp_path: Path) -> None:
    tight = U200.model_copy(update={"memory": U200.memory.model_copy(update={"masters": 7})})
    built = build(Design(replace(residual("tasks").given, board=tight)), tmp_path / "net")
    assert built.report["total"]["instances"] == 2 and built.report["csim"]["verdict"] == "equal"
    sources = [path.read_text() for path in (built.folder / "src").glob("net_*.cpp")]
    assert any("port=out offset=slave bundle=gmem_in0 " in text for text in sources)
    link = (built.folder / "vitis" / "link.cfg").read_text()
    ports = Counter(re.findall(r"^sp=\S+:(\S+)$", link, re.MULTILINE))
    assert max(ports.values()) <= 7
    assert all(len(banks) == 1 for banks in banks_of(built).values())


@pytest.mark.parametrize("target", ["csim", "csim-bounded"])
def test_the_makefile_simulates(built: Project, target: str) -> None:
    done = subprocess.run(
        ["make", target, "CXXFLAGS=-O1 -Wall -Wextra -Werror"],
        cwd=built.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "280 of 280 equal" in done.stdout


# ---------------------------------------------------------------- kernels and their words


def test_words_in_ddr_are_wide_and_hold_every_element() -> None:
    for shape in ((3, 7, 9), (64, 5, 5), (96, 1, 1), (5, 4, 2), (1, 8, 64)):
        tensor = Tensor(shape=shape, type=BYTE)
        sizes = []
        for bits in (64, 128, 256, 512):
            words = ddr_words(tensor, bits, DdrPort())
            assert ddr_word_bits(words) <= bits
            assert words.frame_words * words.lanes >= np.prod(shape)
            sizes.append(words.frame_words)
            assert frame_bytes(words) >= np.prod(shape)
        assert sizes == sorted(sizes, reverse=True)
    assert ddr_words(Tensor(shape=(64, 5, 5), type=BYTE), 512, DdrPort()).channels == 64


def test_names_of_kernels_are_no_layers_files() -> None:
    layers = [replace(clamp("x"), name=name) for name in ("b", "a_b", "c_weights")]
    assert kernel_names("a", layers) == {"b": "a_b_kernel", "a_b": "a_a_b", "c_weights": "a_c_weights"}


def clamp(source: str, name: str = "limit") -> Layer:
    tensor = Tensor(shape=(4, 6, 8), type=BYTE)
    return Clamp(name=name, inputs=(source,), source=tensor, low=0.0, high=2.0, result_type=BYTE)


def twice() -> Graph:
    """A tensor that one layer reads twice, two outputs, an output that is also read, awkward names."""
    tensor = Tensor(shape=(4, 6, 8), type=BYTE)
    first = clamp("x", "in0")
    double = Add(name="out", inputs=("in0", "in0"), left=tensor, right=tensor, result_type=BYTE)
    outputs = (Port.of("y", first.output, "in0"), Port.of("z", double.output, "out"))
    return Graph(name="twice", inputs=(Port.of("x", tensor),), layers=(first, double), outputs=outputs)


def design_of(network: Graph, constraints: NetworkConstraints) -> LayerwiseNetwork:
    return LayerwiseNetwork(
        name=network.name,
        graph=network,
        board=U200,
        clock_mhz=300.0,
        batch=2,
        source="test",
        constraints=constraints,
    )


def test_a_tensor_that_is_read_twice_and_several_outputs() -> None:
    constraints = NetworkConstraints(folds={"in0": {"px": 2}, "out": {"px": 1, "pe": 1}})
    for headers in (Headers.FAST, Headers.REFERENCE):  # of what packs and unpacks the words of DDR
        verification = simulate_only(Design(design_of(twice(), constraints)), headers=headers).verification
        assert [layer.name for layer in verification.layers] == ["in0", "out"]  # type: ignore[attr-defined]
        assert verification.comparison.verdict == "equal"


# ---------------------------------------------------------------- foldings


def chosen(
    constraints: NetworkConstraints | None = None, *, board: str = "u200", batch: int = 64
) -> LayerwiseHardware:
    return layerwise_hardware(
        graph(),
        load_board(board),
        constraints or NetworkConstraints(),
        name="net",
        batch=batch,
        clock_mhz=300,
    )


@cache
def graph() -> Graph:
    return residual("tasks").graph


def test_no_single_exchange_is_faster() -> None:
    """One with a folding that costs less than another and is no slower, which alone are looked at."""
    board = load_board("zcu102")
    choice = chosen(NetworkConstraints(instances=1), board="zcu102")
    whole = whole_of(board)
    for kernel in choice.kernels:
        rest = [one.resources for one in choice.kernels if one is not kernel]
        for one in foldings(kernel.layer, board, NetworkConstraints(), kernel.place):
            other = task_kernel(kernel.layer, kernel.name, one.fold, kernel.place, choice.formats, board)
            if choice.interval_of(other) < choice.interval_of(kernel):
                more = sum(rest, other.resources)
                assert any(getattr(more, kind) > getattr(whole, kind) for kind in KINDS), one.fold


def test_wishes_are_kept() -> None:
    fixed = chosen(NetworkConstraints(instances=1, folds={"conv2": {"pe": 2, "simd": 4}}))
    fold = next(kernel.fold for kernel in fixed.kernels if kernel.layer.name == "conv2")
    assert (fold.pe, fold.simd) == (2, 4)
    slow = chosen(NetworkConstraints(instances=1, target_interval=4000))
    assert chosen(NetworkConstraints(instances=1)).interval < slow.interval <= 4000
    assert slow.each.dsp < fixed.each.dsp


def test_smaller_boards_are_slower() -> None:
    large, small = chosen(batch=1), chosen(batch=1, board="zcu102")
    assert large.instances == small.instances == 1
    assert large.interval <= small.interval


def test_instances_share_what_a_bank_carries() -> None:
    banks, alone = shared_banks(U200, 4, 300)
    assert len(set(banks)) == 4 and alone == pytest.approx(19.2e9 * 0.8 / 300e6)
    assert shared_banks(U200, 5, 300)[1] == pytest.approx(alone / 2)


def test_packing_keeps_to_every_slr() -> None:
    half = Resources(dsp=1000)
    assert packed([half], 2, U200) is not None
    assert packed([half], 4, U200) is None  # 1,824, 1,056 and 1,824 DSPs may be used
    assert packed([Resources(dsp=1900)], 1, U200) is None


# ---------------------------------------------------------------- errors


def test_no_such_style() -> None:
    with pytest.raises(DesignError, match="style is 'task', which there is not"):
        from_torch(torch.nn.ReLU(), (1, 4, 4), style="task")


def test_too_many_instances() -> None:
    with pytest.raises(DesignError, match=r"net: 20 instances of its \d+ kernels do not fit AMD Alveo U200"):
        replace(residual("tasks").given, constraints=NetworkConstraints(instances=20), batch=64).check()


def test_an_interval_that_is_too_short() -> None:
    with pytest.raises(NoFit, match="no foldings that fit AMD Alveo U200 take 3 cycles a frame or fewer"):
        chosen(NetworkConstraints(target_interval=3))


def test_a_folding_that_a_layer_has_not() -> None:
    with pytest.raises(NoFit, match="conv1: no folding with pe: 5 fits it"):
        chosen(NetworkConstraints(folds={"conv1": {"pe": 5}}))


def test_a_network_that_is_too_large() -> None:
    slrs = tuple(slr.model_copy(update={"lut": 9000}) for slr in U200.slrs)
    board = U200.model_copy(update={"slrs": slrs})
    with pytest.raises(NoFit, match="with the smallest foldings the kernels need .* LUT of 18,900"):
        layerwise_hardware(graph(), board, NetworkConstraints(), name="net", batch=1, clock_mhz=300)


def test_a_design_file_chooses_the_style(tmp_path: Path) -> None:
    from hlsgen.api.design import load

    (tmp_path / "net.py").write_text(
        "import torch\n\ndef make_net():\n    torch.manual_seed(0)\n"
        "    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU()).eval()\n"
    )
    text = "name: filed\nboard: u200\nmodel: {torch: 'net.py:make_net'}\ninput: {shape: [3, 8, 8]}\nstyle: "
    (tmp_path / "net.yaml").write_text(text + "tasks\n")
    loaded = load(tmp_path / "net.yaml")
    assert isinstance(loaded.style, LayerwiseNetwork)
    loaded.check()
    assert loaded.estimate().as_json()["style"] == "tasks"
    (tmp_path / "net.yaml").write_text(text + "task\n")
    with pytest.raises(DesignError, match="style"):
        load(tmp_path / "net.yaml")


# ---------------------------------------------------------------- weights


def test_other_weights_for_the_same_kernels(tmp_path: Path) -> None:
    constraints = NetworkConstraints(instances=1, weights=WeightConstraints(place="runtime"))
    first = replace(residual("tasks").given, constraints=constraints)
    assert first.reference is not None
    fc = next(layer for layer in first.reference.layers if layer.name == "fc")
    halved = replace(fc, weights=fc.weights / 2)  # type: ignore[attr-defined, call-arg]
    others = [halved if layer is fc else layer for layer in first.reference.layers]
    second = replace(first, reference=first.reference.with_layers(others))
    project = build(Design(first), tmp_path / "net", frames=1)
    x: NDArray[np.float64] = frames(2)
    got = project.csim(x, weights=Design(second))
    np.testing.assert_array_equal(got, Design(first.with_weights(second)).golden(x))
    assert not np.array_equal(got, project.golden(x))
    before = {path: path.read_bytes() for path in project.folder.glob("tb/*.npy")}
    project.write_weights(Design(second))
    changed = {path.name for path, content in before.items() if path.read_bytes() != content}
    golden = {f"{port.name}_golden.npy" for port in first.graph.outputs}
    assert changed == golden | {"fc.weights.npy"}


def test_constants_stay() -> None:
    first = residual("tasks").given
    assert isinstance(first, LayerwiseNetwork)
    assert first.hardware.weights["conv1"].place == "constant"
    assert first.hardware.weights["fc"].place == "runtime"
    assert first.reference is not None
    conv = next(layer for layer in first.reference.layers if layer.name == "conv1")
    halved = replace(conv, weights=conv.weights / 2)  # type: ignore[attr-defined, call-arg]
    others = [halved if layer is conv else layer for layer in first.reference.layers]
    with pytest.raises(DesignError, match="conv1.*stand in the kernel's source"):
        first.with_weights(replace(first, reference=first.reference.with_layers(others)))


def test_streamed_weights_are_refused() -> None:
    constraints = NetworkConstraints(
        weights=WeightConstraints(layers={"fc": LayerWeightConstraints(place="stream")})
    )
    with pytest.raises(DesignError, match="fc.*weights: stream is not for networks as tasks"):
        replace(residual("tasks").given, constraints=constraints).check()
