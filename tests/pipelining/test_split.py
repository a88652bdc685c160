"""Networks in parts on CPU and FPGA: equal to the whole, saved in one file, refused where that is wrong."""

from __future__ import annotations

import itertools
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.api.design import Design
from hlsgen.api.from_model import from_torch
from hlsgen.base.errors import DesignError, HlsgenError, ToolError
from hlsgen.csim import testbench
from hlsgen.partitioning.balance import balanced
from hlsgen.pipelining.pipeline import Pipeline
from hlsgen.pipelining.running import Running, run_in_sequence
from hlsgen.pipelining.split import Wish, split
from tests.support.command_line import run
from tests.support.places import ROOT

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
SHAPE = (3, 8, 8)


class Net(torch.nn.Module):
    """A skip over a cut, two outputs."""

    def __init__(self) -> None:
        super().__init__()
        nn = torch.nn
        self.a, self.b = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.c, self.d = nn.Conv2d(4, 2, 1), nn.Linear(4 * 16, 5)

    def forward(self, x):  # type: ignore[no-untyped-def]
        x = torch.relu(self.a(x))
        x = torch.nn.functional.max_pool2d(torch.relu(self.b(x)) + x, 2)
        return self.c(x), self.d(x.flatten(1))


def frames(count: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.9, 0.9, (count, *SHAPE))


@pytest.fixture(scope="module")
def module() -> torch.nn.Module:
    torch.manual_seed(4)
    return Net().eval()


@pytest.fixture(scope="module")
def design(module: torch.nn.Module) -> Design:
    return from_torch(module, SHAPE, name="net", calibration=frames(16), precision=12, board="zcu102")


@pytest.fixture(scope="module")
def mixed(design: Design) -> Pipeline:
    """CPU, then FPGA in C-simulation, then CPU: the FPGA's part has the skip and the pool."""
    names = [layer.name for layer in design.graph.layers]
    cuts = [names[0], next(name for name in names if "pool" in name)]
    return split(design, cuts, wishes=[Wish(), Wish(target="fpga"), Wish(framework="onnxruntime", workers=2)])


@pytest.mark.parametrize("framework", ["onnxruntime", "torch"])
def test_cpu_parts_equal_the_module(design: Design, module: torch.nn.Module, framework: str) -> None:
    """The framework's own prediction, wherever it is cut."""
    x = frames(5)
    with torch.no_grad():
        wanted = [one.numpy() for one in module.double()(torch.from_numpy(x))]
    module.float()
    names = [layer.name for layer in design.graph.layers]
    wish = Wish(framework=framework)  # type: ignore[arg-type]
    for cuts in ([], names[:1], names[1:3], names[:-1]):
        with split(design, cuts, wishes=[wish]).open() as running:
            found = running.run(x, 2)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_an_fpga_part_is_golden(design: Design) -> None:
    """The whole network as one part on the FPGA, and in two: equal to golden in every bit."""
    x = frames(4)
    wanted = design.golden(x)
    name = next(layer.name for layer in design.graph.layers if "pool" in layer.name)
    for cuts in ([], [name]):
        with split(design, cuts, wishes=[Wish(target="fpga")]).open() as running:
            found = running.run(x, 3)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)


def test_cpu_and_fpga_together(design: Design, mixed: Pipeline) -> None:
    """Near golden, equal to the parts in sequence, saved and loaded and still equal."""
    x = frames(6)
    golden = design.golden(x)
    with mixed.open() as running:
        found = running.run(x, 2)
    for one, other, near in zip(found, run_in_sequence(mixed, x, 2), golden, strict=True):
        np.testing.assert_array_equal(one, other)
        assert np.abs(one - near).max() < 0.05 * np.abs(near).max()


def test_one_file(mixed: Pipeline, tmp_path: Path) -> None:
    x = frames(3)
    wanted = run_in_sequence(mixed, x)
    files = tmp_path / "a.zip", tmp_path / "b.zip"
    mixed.save(files[0])
    told: list[str] = []
    loaded = Pipeline.load(files[0], say=told.append)
    loaded.save(files[1])
    assert files[0].read_bytes() == files[1].read_bytes()
    assert told == [f"compiling and running the C++ of part b, from {files[0]}"]
    assert [(one.name, one.workers, one.about) for one in loaded.in_order()] == [
        (one.name, one.workers, one.about) for one in mixed.in_order()
    ]
    with loaded.open() as running:
        found = running.run(x)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def changed(source: Path, target: Path, **contents: bytes) -> Path:
    """A copy of an archive with other files in it; by the last word of their names."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        names = old.namelist()
        for name in names:
            key = next((key for key in contents if name.split("/")[-1].startswith(key)), None)
            new.writestr(name, old.read(name) if key is None else contents[key])
        for key, content in contents.items():
            if "/" in key:
                new.writestr(key, content)
    return target


def test_files_from_others_are_data(mixed: Pipeline, tmp_path: Path) -> None:
    """Nothing is written outside, nothing is read that they name; what is damaged is said."""
    import onnx

    good = tmp_path / "good.zip"
    mixed.save(good)
    with zipfile.ZipFile(good) as archive:
        contents = json.loads(archive.read("pipeline.json"))
        model = onnx.load_model_from_string(archive.read("parts/a/model.onnx"))
    elsewhere = onnx.numpy_helper.from_array(np.zeros(3, np.float32), "elsewhere")
    elsewhere.data_location = onnx.TensorProto.EXTERNAL
    elsewhere.external_data.add(key="location", value="/etc/passwd")
    constant, sparse = (onnx.ModelProto.FromString(model.SerializeToString()) for _ in range(2))
    model.graph.initializer[0].CopyFrom(elsewhere)
    constant.graph.node.append(onnx.helper.make_node("Constant", [], ["elsewhere"], value=elsewhere))
    sparse.graph.sparse_initializer.add(values=elsewhere, dims=[3])
    cycle = json.loads(json.dumps(contents))
    cycle["parts"][0]["inputs"][0]["source"] = ["c", cycle["parts"][2]["outputs"][0]["name"]]
    named = json.loads(json.dumps(contents))
    named["parts"][0]["name"] = "../../a"
    cases = {
        "weights lie in other files": {"model": model.SerializeToString()},
        "lie in other files": {"model": constant.SerializeToString()},
        "in other files": {"model": sparse.SerializeToString()},
        "cannot read": {"model": b"not a model"},
        "name": {"pipeline": json.dumps(named).encode()},
        "format": {"pipeline": json.dumps({**contents, "format": "other"}).encode()},
        "shapes differ|cycle": {"pipeline": json.dumps(cycle).encode()},
        "pipeline": {"pipeline": b"[]"},
    }
    for number, (message, files) in enumerate(cases.items()):
        with pytest.raises(DesignError, match=message):
            Pipeline.load(changed(good, tmp_path / f"{number}.zip", **files))
    paths = {
        "parts/b/build/../../../../evil.txt": "has the path",
        "/evil.txt": "has the path",
        "parts/b/.": "has the path",
        "parts/b//evil.txt": "has the path",
        "parts/b\\evil.txt": "has the path",
        "parts/b/" + "x" * 5000: "has the path",
        "parts/b/" + "x/" * 600 + "evil.txt": "has the path",
        "parts/b/new\nline": "has the path",
        "pipeline.json/evil.txt": "is a file and a folder",
    }
    for member, message in paths.items():
        with pytest.raises(DesignError, match=message):
            Pipeline.load(changed(good, tmp_path / "out.zip", **{member: b"x"}))
    assert not list(tmp_path.parent.rglob("evil.txt"))
    large = json.dumps(contents).encode() + b" " * (17 << 20)
    with pytest.raises(DesignError, match="has more than 16,777,216 bytes"):
        Pipeline.load(changed(good, tmp_path / "large.zip", pipeline=large))
    turned = json.loads(json.dumps(contents))
    turned["inputs"][0]["axes"] = [0, 0, 0]
    with pytest.raises(DesignError, match="not 0, 1 and 2 in some order"):
        Pipeline.load(changed(good, tmp_path / "axes.zip", pipeline=json.dumps(turned).encode()))
    pinned = json.loads(json.dumps(contents))
    pinned["parts"][0]["cpus"] = [60000]
    with pytest.raises(ToolError, match="wants core 60000"):
        Pipeline.load(changed(good, tmp_path / "cpus.zip", pipeline=json.dumps(pinned).encode())).open()
    (tmp_path / "text.zip").write_text("no archive")
    for path in (tmp_path / "text.zip", tmp_path / "missing.zip"):
        with pytest.raises(DesignError, match="is no pipeline that hlsgen saved"):
            Pipeline.load(path)


def test_pytorch_is_not_saved(design: Design, tmp_path: Path) -> None:
    with pytest.raises(DesignError, match="has no form in an archive that is data alone"):
        split(design, parts=2, wishes=[Wish(framework="torch")]).save(tmp_path / "n.zip")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cuts": ["nothing"]}, "cannot be cut behind 'nothing'"),
        ({"cuts": None}, "by hand or into a number of parts"),
        ({"cuts": [], "parts": 2}, "by hand or into a number of parts"),
        ({"parts": 9}, "layers that multiply, for 9 parts"),
        ({"parts": 2, "wishes": [Wish()] * 3}, "2 parts with 3 targets"),
    ],
)
def test_refusals(design: Design, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(DesignError, match=message):
        split(design, **arguments)  # type: ignore[arg-type]


def test_cuts_in_order(design: Design) -> None:
    names = [layer.name for layer in design.graph.layers]
    with pytest.raises(DesignError, match="not in the network's order"):
        split(design, [names[2], names[1]])
    for wrong in ({"target": "gpu"}, {"workers": 0}, {"threads": 0}, {"style": "none"}, {"framework": "jax"}):
        with pytest.raises(DesignError, match="a part cannot have"):
            Wish(**wrong)  # type: ignore[arg-type]


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 9999), st.integers(1, 4), st.integers(1, 7))
def test_balanced_is_the_best(seed: int, devices: int, tasks: int) -> None:
    """Against every way to cut."""
    tasks = max(tasks, devices)
    seconds = np.random.default_rng(seed).uniform(0, 1, (devices, tasks))
    ways = [
        max(
            seconds[at, first:end].sum()
            for at, (first, end) in enumerate(itertools.pairwise([0, *cut, tasks]))
        )
        for cut in itertools.combinations(range(1, tasks), devices - 1)
    ]
    ends = balanced(seconds.tolist())
    slowest = max(seconds[at, a:b].sum() for at, (a, b) in enumerate(itertools.pairwise([0, *ends])))
    assert slowest == pytest.approx(min(ways)) and ends[-1] == tasks


def test_parts_by_number(design: Design) -> None:
    """Cut where CPU times say; each layer is in one part."""
    found = split(design, parts=2)
    assert list(found) == ["a", "b"]
    x = frames(2)
    whole = run_in_sequence(split(design, []), x)
    for one, other in zip(run_in_sequence(found, x), whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_command(tmp_path: Path) -> None:
    design = str(ROOT / "designs" / "digits.yaml")
    x, y, file = tmp_path / "x.npy", tmp_path / "y.npy", tmp_path / "net.zip"
    array = np.random.default_rng(1).uniform(0, 0.9, (7, 1, 8, 8))
    np.save(x, array)
    made = run("pipeline", design, "--cut", "pool1", "--target", "cpu,fpga", "-o", str(file))
    assert made.exit_code == 0 and "wrote" in made.stdout
    done = run("pipeline", str(file), "--input", str(x), "--results", str(y), "--batch", "3", "--json")
    told = json.loads(done.stdout)
    assert done.exit_code == 0 and told["simulated"] and told["frames"] == 7
    assert {name: one["items"] for name, one in told["figures"].items()} == {"a": 3, "b": 3}
    assert np.load(y).shape == (7, 10)
    text = run("pipeline", str(file), "--input", str(x))
    assert "its time is not an FPGA's" in text.stderr and "equal in every bit" in text.stdout
    for words, message in (
        ((design, "--input", str(x)), "where to cut?"),
        ((design,), "say what for"),
        ((design, "--cut", "pool1", "--parts", "2", "--input", str(x)), "one of both"),
        ((design, "--parts", "2", "--workers", "a", "--input", str(x)), "is no list"),
        ((design, "--parts", "2", "--target", "cpu,cpu,cpu", "--input", str(x)), "3 values for 2 parts"),
        ((str(file), "--parts", "2", "--input", str(x)), "is cut already"),
    ):
        wrong = run("pipeline", *words)
        assert wrong.exit_code == 2 and message in " ".join(wrong.stderr.split())


def test_places_that_cannot_be_written_are_said_before_the_work(tmp_path: Path) -> None:
    design, x = str(ROOT / "designs" / "digits.yaml"), tmp_path / "x.npy"
    np.save(x, np.zeros((2, 1, 8, 8)))
    words = ("pipeline", design, "--parts", "2")
    for more, message in (
        (("-o", str(tmp_path / "no" / "net.zip")), f"there is no folder {tmp_path / 'no'}"),
        (("-o", str(tmp_path)), "it is a folder"),
        (("--input", str(x), "--results", str(tmp_path / "no" / "y.npy")), "another file with --results"),
    ):
        result = run(*words, *more)
        assert result.exit_code == 4 and message in " ".join(result.stderr.split())
    assert run(*words, "-o", str(tmp_path / "a.zip"), "--results", "y.npy").exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]


def test_results_that_differ_from_the_sequence_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 3, as for a C-simulation that differs; the file of results is not written."""
    design, x, y = str(ROOT / "designs" / "digits.yaml"), tmp_path / "x.npy", tmp_path / "y.npy"
    np.save(x, np.random.default_rng(1).uniform(0, 0.9, (3, 1, 8, 8)))
    whole = Running.in_sequence

    def one_bit_off(self: Running, *words: Any) -> Any:
        found = whole(self, *words)
        return np.nextafter(found, np.inf)

    monkeypatch.setattr(Running, "in_sequence", one_bit_off)
    result = run("pipeline", design, "--parts", "2", "--input", str(x), "--results", str(y))
    assert result.exit_code == 3 and not y.exists()
    assert "results differ from those of the same parts in sequence" in result.stderr


def test_an_archive_that_unpacks_to_too_much(
    mixed: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = tmp_path / "good.zip"
    mixed.save(good)
    with zipfile.ZipFile(good) as archive:
        files, size = len(archive.infolist()), sum(one.file_size for one in archive.infolist())
    for name, most in (("MOST_FILES", files - 1), ("MOST_BYTES", size - 1)):
        with monkeypatch.context() as patch:
            patch.setattr(f"hlsgen.pipelining.archive.{name}", most)
            with pytest.raises(DesignError, match="more than .* files or .* bytes"):
                Pipeline.load(good)
    # a bomb says that it is small: no more is unpacked than it says
    data = bytearray(good.read_bytes())
    with zipfile.ZipFile(good) as archive:
        model = archive.getinfo("parts/a/model.onnx")
    at = data.index(b"PK\x01\x02")
    while data[at + 46 : at + 46 + len(model.filename)] != model.filename.encode():
        at = data.index(b"PK\x01\x02", at + 4)
    data[at + 24 : at + 28] = (10).to_bytes(4, "little")
    good.write_bytes(bytes(data))
    with pytest.raises(DesignError, match="is no pipeline that hlsgen saved|cannot read"):
        Pipeline.load(good)


def test_a_simulation_that_is_killed_ends_the_pipeline(
    design: Design, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The part's process dies as by the kernel's want of memory: an error that names it, and no hanging."""
    names = [layer.name for layer in design.graph.layers]
    pipe = split(design, [names[0]], wishes=[Wish(), Wish(target="fpga")])
    with pipe.open() as running:
        running.run(frames(1))
        real = testbench.running

        def killed(_command: Any, **more: Any) -> Any:
            return real(["sh", "-c", "kill -9 $$"], **more)

        monkeypatch.setattr(testbench, "running", killed)
        with pytest.raises(HlsgenError) as caught:
            running.run(frames(3))
    assert caught.value.exit_code == 4, str(caught.value)
    assert "was ended by signal SIGKILL" in str(caught.value) and "memory" in str(caught.value)
