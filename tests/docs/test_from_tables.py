"""docs/from-hls4ml.md, docs/from-finn.md: what a row of their tables says to write runs on a QKeras and a
QONNX model.

Keys are written into a design file that is checked then; commands are run. A row about models in floating
point has a Keras model without quantizers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import hlsgen
from hlsgen.base.errors import DesignError
from tests.support.command_line import run
from tests.support.documents import document, rows, ticked
from tests.support.frontends.keras_models import WARNINGS, packages

pytestmark = [*WARNINGS, pytest.mark.filterwarnings("ignore::hlsgen.base.errors.HlsgenWarning")]
PAGES = ("from-hls4ml.md", "from-finn.md")
FILLED = {
    "{weights, bias, output}": '{weights: "fixed<5,1>", bias: "fixed<8,2>", output: "fixed<12,6>"}',
    "{accumulator: ...}": "{accumulator: exact}",
    "LAYER": "fc1",
    "simd: 49": "simd: 16",  # a divisor of this model's inputs
}
OF_A_LAYER = ("weights", "storage", "multipliers", "px")
OUTSIDE = 4
"""The exit code of a command whose vendor tool is missing here."""


def models(folder: Path) -> None:
    """net.h5 and net.onnx: a convolution, a pool, two dense layers; plain.h5: the same without quantizers."""
    found = packages()
    keras, qkeras = found.keras, found.qkeras
    keras.utils.set_random_seed(3)
    bits = {f"{what}_quantizer": qkeras.quantized_bits(4, 0, alpha=1) for what in ("kernel", "bias")}

    def relu(name: str) -> Any:
        return qkeras.QActivation(qkeras.quantized_relu(4, 2), name=name)

    pool = keras.layers.MaxPooling2D
    layers = [
        *(qkeras.QConv2D(4, 3, padding="same", name="conv1", **bits), relu("relu1"), pool(name="pool1")),
        *(qkeras.QConv2D(4, 3, padding="same", name="conv2", **bits), relu("relu3")),
        *(keras.layers.Flatten(), qkeras.QDense(16, name="fc0", **bits), relu("relu2")),
        qkeras.QDense(16, name="fc1", **bits),
    ]
    keras.Sequential([keras.Input((8, 8, 1)), *layers]).save(folder / "net.h5")
    plain = [
        keras.layers.Conv2D(4, 3, padding="same", activation="relu", name="conv1"),
        keras.layers.Flatten(),
        keras.layers.Dense(16, name="fc1"),
    ]
    keras.Sequential([keras.Input((8, 8, 1)), *plain]).save(folder / "plain.h5")
    _onnx_model(folder / "net.onnx")
    frames = np.random.default_rng(6).integers(0, 256, (4, 8, 8, 1)) / 256
    np.save(folder / "net.npy", frames)
    np.save(folder / "onnx.npy", frames.transpose(0, 3, 1, 2))


def _onnx_model(path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    make, rng = onnx.helper, np.random.default_rng(7)
    held = {"zero": 0, "b4": 4, "b8": 8, "s_in": 1 / 256, "s_w": 1 / 8, "s": 1 / 4}
    arrays = {name: np.asarray(value) for name, value in held.items()}
    arrays |= {"w1": rng.normal(0, 0.3, (4, 1, 3, 3)), "w4": rng.normal(0, 0.3, (4, 4, 3, 3))}
    arrays |= {"w2": rng.normal(0, 0.3, (64, 16)), "w3": rng.normal(0, 0.3, (16, 16))}

    def quant(name: str, scale: str, bits: str, signed: int) -> Any:
        fields = {"signed": signed, "narrow": 0, "rounding_mode": "ROUND"}
        given = [name, scale, "zero", bits]
        return make.make_node("Quant", given, [f"{name}q"], domain="qonnx.custom_op.general", **fields)

    nodes = [
        *(quant("x", "s_in", "b8", 0), quant("w1", "s_w", "b4", 1)),
        make.make_node("Conv", ["xq", "w1q"], ["c"], name="conv1", pads=[1, 1, 1, 1]),
        *(make.make_node("Relu", ["c"], ["r"]), quant("r", "s", "b4", 0)),
        make.make_node("MaxPool", ["rq"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        quant("w4", "s_w", "b4", 1),
        make.make_node("Conv", ["p", "w4q"], ["k"], name="conv2", pads=[1, 1, 1, 1]),
        *(make.make_node("Relu", ["k"], ["l"]), quant("l", "s", "b4", 0)),
        *(make.make_node("Flatten", ["lq"], ["f"]), quant("w2", "s_w", "b4", 1)),
        make.make_node("MatMul", ["f", "w2q"], ["m"], name="fc0"),
        *(make.make_node("Relu", ["m"], ["n"]), quant("n", "s", "b4", 0), quant("w3", "s_w", "b4", 1)),
        make.make_node("MatMul", ["nq", "w3q"], ["y"], name="fc1"),
    ]
    graph = make.make_graph(
        nodes,
        "net",
        [make.make_tensor_value_info("x", 1, [1, 1, 8, 8])],
        [make.make_tensor_value_info("y", 1, [1, 16])],
        [onnx.numpy_helper.from_array(one.astype(np.float32), name) for name, one in arrays.items()],
    )
    sets = [make.make_opsetid("", 17), make.make_opsetid("qonnx.custom_op.general", 1)]
    onnx.save(make.make_model(graph, opset_imports=sets, ir_version=8), path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tables")
    models(made)
    return made


def design_of(model: str, keys: dict[str, Any]) -> dict[str, Any]:
    """A design file of a model with these keys; the style is the network's default."""
    kind = "onnx" if model.endswith(".onnx") else "qkeras"
    base: dict[str, Any] = {"name": "net", "board": "u200", "batch": 4, "model": {kind: model}}
    base["input"] = {"samples": "onnx.npy" if kind == "onnx" else "net.npy"}
    if model == "net.h5":
        base["input"]["type"] = "ufixed<8,0>"
    return base | keys | {"input": {**base["input"], **keys.get("input", {})}}


def written(cell: str, samples: str) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """(a snippet, its keys; None: a command) of a cell; others, file names and Python, are left out."""
    last = ""
    for snippet in ticked(cell):
        text = snippet
        for name, value in FILLED.items():
            text = text.replace(name, value)
        text = re.sub(r"\bN\b", "1000" if "interval" in text else "2", text).replace("x.npy", samples)
        if text.startswith("hlsgen "):
            yield text, None
            continue
        if re.fullmatch(r"\w+", text) and last:
            text = f"{last}: {text}"
        if text.startswith("{"):
            text = f"mapping: {text}"
        try:
            keys = yaml.safe_load(text)
        except yaml.YAMLError:
            continue
        if not isinstance(keys, dict) or set(keys) & {"model"}:
            continue
        ((key, value),) = keys.items()
        last = key
        if key in OF_A_LAYER:
            yield snippet, {"mapping": {"?": keys}}
        else:
            yield snippet, {"precision": keys} if key == "accumulator" else keys


def obeyed(folder: Path, model: str, keys: dict[str, Any]) -> str | None:
    """Why a design with these keys has no hardware; None: it has. `?` is a layer that may have them; an slr
    is of every layer.
    """
    mapping = keys.get("mapping")
    if "slr" in str(mapping):
        path = folder / "net.yaml"
        path.write_text(yaml.safe_dump(design_of(model, {}), sort_keys=False))
        (own,) = mapping.values()
        keys = {"mapping": {layer.name: own for layer in hlsgen.load(path).graph.layers}}
    layers = ["fc1", "conv1", "conv2"] if isinstance(mapping, dict) and "?" in mapping else [None]
    said = None
    for layer in layers:
        own = {**keys, "mapping": {layer: mapping["?"]}} if layer and isinstance(mapping, dict) else keys
        path = folder / "net.yaml"
        path.write_text(yaml.safe_dump(design_of(model, own), sort_keys=False))
        try:
            hlsgen.load(path).check()
        except DesignError as error:
            said = said or str(error)
        else:
            return None
    return said


@pytest.mark.parametrize("model", ["net.h5", "net.onnx"])
@pytest.mark.parametrize("page", PAGES)
def test_what_rows_say_runs(page: str, model: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    samples = "onnx.npy" if model.endswith(".onnx") else "net.npy"
    count, faults = 0, []
    for row in rows(document(page)):
        floating = "floating point" in " ".join(row[2:])
        for snippet, keys in written(row[1], samples) if len(row) > 1 else ():
            if keys is None:
                continue
            count += 1
            said = obeyed(folder, "plain.h5" if floating else model, keys)
            if said is not None:
                faults.append(f"| {row[0]} | {snippet}: {said}")
    assert not faults, "\n".join(faults)
    assert count >= 12


@pytest.mark.parametrize("model", ["net.h5", "net.onnx"])
def test_what_rows_say_to_run_runs(model: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands on a build of the model; vendor tools are missing here, which is their exit code."""
    monkeypatch.chdir(folder)
    (folder / "net.yaml").write_text(yaml.safe_dump(design_of(model, {})))
    built = folder / f"build_{model.partition('.')[2]}"
    assert run("build", "net.yaml", "-o", str(built), "--frames", "1", "--no-schedule").exit_code == 0
    seen = set()
    for page in PAGES:
        for row in rows(document(page)):
            for snippet, keys in written(row[1], "x.npy") if len(row) > 1 else ():
                if keys is None:
                    seen.add(snippet)
    assert len(seen) >= 8
    for command in sorted(seen):
        name, *more = command.removeprefix("hlsgen ").replace("build/net", "").split()
        given = {"F": "1000", "P": "xilinx_u200"}
        options = [given.get(word, word) for word in more]
        subject = "net.yaml" if name in ("explore", "estimate", "check", "import") else str(built)
        done = run(name, subject, *options)
        nothing_yet = name == "compare" and "holds no report of the vendor tools" in done.output
        assert done.exit_code in (0, OUTSIDE) or nothing_yet, f"{command}: {done.output}"
