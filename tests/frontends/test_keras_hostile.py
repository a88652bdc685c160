"""Keras files that would run code, are damaged, or take gigabytes: refused as data, before Keras sees them.

The files are made by hand: what is refused needs no TensorFlow.
"""

from __future__ import annotations

import copy
import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import pytest

from hlsgen.base.errors import DesignError
from hlsgen.frontends.qkeras import files as qkeras_files
from hlsgen.frontends.qkeras.to_graph import graph_of_keras

PAYLOAD = {"class_name": "__lambda__", "config": {"code": "4wE=", "defaults": None, "closure": None}}
DENSE = {
    "class_name": "Dense",
    "config": {"name": "dense", "trainable": True, "dtype": "float32", "units": 2, "activation": "linear"},
}


def description(*layers: Any, legacy: bool = True) -> dict[str, Any]:
    """A Sequential model of layers after an input of four numbers."""
    shape = "batch_input_shape" if legacy else "batch_shape"
    source = {"class_name": "InputLayer", "config": {shape: [None, 4], "dtype": "float32", "name": "x"}}
    described = {"class_name": "Sequential", "config": {"name": "net", "layers": [source, *layers]}}
    return described if legacy else {**described, "module": "keras", "registered_name": None}


def h5(path: Path, described: object, version: str = "2.15.0") -> Path:
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = described if isinstance(described, str) else json.dumps(described)
        file.attrs["keras_version"] = version
        file.create_group("model_weights").attrs["layer_names"] = []
    return path


def archive(path: Path, described: object, version: str = "3.15.1") -> Path:
    text = described if isinstance(described, str | bytes) else json.dumps(described)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("metadata.json", json.dumps({"keras_version": version}))
        file.writestr("config.json", text, zipfile.ZIP_DEFLATED)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(DesignError) as caught:
        graph_of_keras(path, name="net")
    assert all(problem.fix for problem in caught.value.problems)
    str(caught.value).encode()  # no half characters
    return str(caught.value)


# files that are two things


def test_a_zip_archive_behind_an_hdf5_file(tmp_path: Path) -> None:
    """Who inspected the archive would see a Dense, who loads the HDF5 file a Lambda."""
    path = h5(tmp_path / "net.h5", description({"class_name": "Lambda", "config": {"name": "code"}}))
    harmless = archive(tmp_path / "harmless.keras", description(DENSE)).read_bytes()
    path.write_bytes(path.read_bytes() + harmless)
    assert zipfile.is_zipfile(path) and h5py.is_hdf5(path)
    assert "is an HDF5 file and a zip archive at once" in refusal(path)
    assert "is an HDF5 file and a zip archive at once" in refusal(path.rename(tmp_path / "net.keras"))


def test_an_archive_behind_something_else_and_names_that_are_there_twice(tmp_path: Path) -> None:
    path = archive(tmp_path / "net.keras", description(DENSE))
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "a") as file:
        file.writestr("config.json", "{}")
    assert "it holds files of the same name" in refusal(path)
    path.write_bytes(b"#!/bin/sh\n" + archive(path, description(DENSE)).read_bytes())
    assert "something stands before its zip archive" in refusal(path)


@pytest.mark.parametrize("write, ending", [(h5, "h5"), (archive, "keras")])
@pytest.mark.parametrize("ending_lies", [False, True])
def test_the_reader_goes_by_the_contents(
    write: Callable[..., Path], ending: str, ending_lies: bool, tmp_path: Path
) -> None:
    wrong = {"h5": "keras", "keras": "h5"}[ending] if ending_lies else ending
    path = write(tmp_path / f"net.{wrong}", description({"class_name": "Lambda", "config": {"name": "code"}}))
    assert "layer code is a Lambda: the file holds Python code for it, which is not run" in refusal(path)


# code


def nested(layer: Any) -> Any:
    return {"class_name": "Sequential", "config": {"name": "inner", "layers": [layer]}}


LAMBDA = {"class_name": "Lambda", "config": {"name": "code", "trainable": True, "function": PAYLOAD}}
WRAPPED = {"class_name": "TimeDistributed", "config": {"name": "steps", "trainable": True, "layer": LAMBDA}}
OF_HGQ_1 = {"class_name": "HGQ>HDense", "config": {"name": "hidden", "trainable": True, "units": 3}}
CELL = {"class_name": "RNN", "config": {"name": "rnn", "trainable": True, "cell": {"class_name": "Cell"}}}


def dense_with(key: str, value: Any) -> Any:
    changed = copy.deepcopy(DENSE)
    changed["config"][key] = value  # type: ignore[index]
    return changed


@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize(
    "layer, said",
    [
        (LAMBDA, "layer code is a Lambda"),
        (nested(LAMBDA), "layer code is a Lambda"),
        (nested(nested(LAMBDA)), "layer code is a Lambda"),
        (WRAPPED, "layer code is a Lambda"),
        (CELL, "layer rnn is a RNN, which is recurrent"),
        (OF_HGQ_1, "layer hidden is a HDense of HGQ 1, which hlsgen does not read"),
        (dense_with("activation", PAYLOAD), "is of class __lambda__"),
        (dense_with("activation", LAMBDA), "layer code is a Lambda"),
        (dense_with("extra", {"deep": [PAYLOAD]}), "is of class __lambda__"),
        (
            dense_with("activation", {"class_name": "function", "config": "system", "module": "os"}),
            "the activation system is not known",
        ),
        ({**DENSE, "module": "touching"}, "is to come from the package touching, which is not imported"),
        ({**DENSE, "class_name": "mine>Dense"}, "is of class mine>Dense"),
        ({**DENSE, "build_config": {"a": PAYLOAD}}, "is of class __lambda__"),
        ({**DENSE, "inbound_nodes": [PAYLOAD]}, "is of class __lambda__"),
        (
            {"class_name": "TFOpLambda", "config": {"name": "t", "function": "io.write_file"}},
            "calls the function io.write_file",
        ),
        ({"class_name": "__typespec__", "spec_name": "Popen", "module": "subprocess"}, "package subprocess"),
    ],
)
def test_what_would_run_code_is_refused(layer: Any, said: str, legacy: bool, tmp_path: Path) -> None:
    described = description(layer, legacy=legacy)
    write = h5 if legacy else archive
    assert said in refusal(write(tmp_path / "net", described))


@pytest.mark.parametrize("version", ["2.15.0", "3.15.1"])
def test_what_only_training_needs_is_not_even_looked_up(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package touching would leave a file behind when it is imported: nothing does; the layer is fine.

    What is refused in the end is that there are no weights in the file.
    """
    pytest.importorskip("tf_keras" if version < "3" else "keras", reason="Keras is not installed")
    touch = f"open({str(tmp_path / 'ran')!r}, 'w').close()"
    (tmp_path / "touching.py").write_text(f"{touch}\nclass Mine: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    strange = {"module": "touching", "class_name": "Mine", "config": {}, "registered_name": "touching>Mine"}
    layer = copy.deepcopy(DENSE)
    for key in ("kernel_initializer", "kernel_regularizer", "bias_constraint", "activity_regularizer"):
        layer["config"][key] = strange  # type: ignore[index]
    described = description(layer, legacy=version < "3")
    described |= {"compile_config": {"optimizer": strange, "loss": strange}}
    text = refusal(h5(tmp_path / "net.h5", described, version))
    assert "Mine" not in text and "touching" not in text and "Keras cannot load the model" in text
    assert not (tmp_path / "ran").exists() and "touching" not in sys.modules


def test_weights_in_other_files(tmp_path: Path) -> None:
    pytest.importorskip("tf_keras", reason="legacy Keras is not installed")
    path = h5(tmp_path / "net.h5", description(DENSE))
    with h5py.File(path, "a") as file:
        file["model_weights"]["stolen"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/x")
    assert "its weights are to be read from another file" in refusal(path)
    path = h5(tmp_path / "raw.h5", description(DENSE))
    (tmp_path / "secret").write_bytes(bytes(64))
    with h5py.File(path, "a") as file:
        file["model_weights"].create_dataset("x", (16,), "f4", external=[(str(tmp_path / "secret"), 0, 64)])
    assert "its weights are to be read from another file" in refusal(path)


# sizes


def test_small_files_of_gigabytes(tmp_path: Path) -> None:
    pytest.importorskip("tf_keras", reason="legacy Keras is not installed")
    long = archive(tmp_path / "long.keras", b" " * (qkeras_files.MOST_DESCRIPTION + 1))
    assert long.stat().st_size < 100_000
    assert "its description has 16,777,217 bytes, more than the 16,777,216 that are read" in refusal(long)
    described = tmp_path / "net.json"
    described.write_text(" " * (qkeras_files.MOST_DESCRIPTION + 1))
    assert "more than the 16,777,216 that are read" in refusal(described)
    wide = h5(tmp_path / "wide.h5", description(DENSE))
    with h5py.File(wide, "a") as file:
        file["model_weights"].create_dataset("x", (1 << 20, 1 << 12), "f4", chunks=True, compression="gzip")
    assert wide.stat().st_size < 100_000
    assert "its weights have 17,179,869,184 bytes" in refusal(wide)


def test_a_member_that_says_it_has_gigabytes(tmp_path: Path) -> None:
    path = archive(tmp_path / "net.keras", description(DENSE, legacy=False))
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02")  # of config.json in the directory, whose size stands 24 bytes on
    data[at + 24 : at + 28] = (3 << 30).to_bytes(4, "little")
    path.write_bytes(data)
    assert "its description has 3,221,225,472 bytes" in refusal(path)


# damage


@pytest.mark.parametrize("kind", [3, None, True, [], ["Dense"], {}, {"class_name": "Dense"}, 1.5])
@pytest.mark.parametrize("legacy", [True, False])
def test_class_names_that_are_none(kind: Any, legacy: bool, tmp_path: Path) -> None:
    write = h5 if legacy else archive
    path = write(tmp_path / "net", description({**DENSE, "class_name": kind}, legacy=legacy))
    assert "is no name" in refusal(path)
    path = write(tmp_path / "top", {**description(DENSE, legacy=legacy), "class_name": kind, "config": 3})
    assert "the model is of class" in refusal(path)


@pytest.mark.parametrize(
    "config", [None, 3, "Dense", [1], {"layers": 3}, {"layers": {}}, {"layers": [3, None]}]
)
@pytest.mark.parametrize("version", ["2.15.0", "3.15.1"])
def test_configurations_that_are_none(config: Any, version: str, tmp_path: Path) -> None:
    pytest.importorskip("tf_keras", reason="legacy Keras is not installed")
    refusal(h5(tmp_path / "net.h5", {"class_name": "Sequential", "config": config}, version))
    refusal(h5(tmp_path / "inner.h5", description({"class_name": "Dense", "config": config}), version))


def test_deep_nesting(tmp_path: Path) -> None:
    layer: Any = DENSE
    for _ in range(60):
        layer = nested(layer)
    assert "nested more than 100 deep" in refusal(h5(tmp_path / "deep.h5", description(layer)))
    endless = '{"config": ' * 200_000
    assert "is no Keras model that hlsgen can read" in refusal(archive(tmp_path / "endless.keras", endless))


def test_damaged_files(tmp_path: Path) -> None:
    path = archive(tmp_path / "net.keras", description(DENSE))
    whole = path.read_bytes()
    start = whole.index(b"config.json") + len("config.json")
    for at in range(start, start + 8):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        assert "is no Keras model that hlsgen can read" in refusal(path)
    for text in ("3", "[]", "null", '{"class_name"', "\ud800".encode("utf-8", "surrogatepass"), b"\xff\x00"):
        assert "is no Keras model that hlsgen can read" in refusal(archive(tmp_path / "odd.keras", text))
    odd = h5(tmp_path / "odd.h5", "{}")
    with h5py.File(odd, "a") as file:
        file.attrs["model_config"] = [1, 2, 3]
    assert "its description is no text" in refusal(odd)


def test_names_that_no_terminal_prints(tmp_path: Path) -> None:
    layer = {"class_name": "Spline\u2028\x1b[31m", "config": {"name": "a\ud800b"}}
    text = refusal(h5(tmp_path / "net.h5", description(layer)))
    assert "a\\ud800b" in text and "\x1b" not in text


@pytest.mark.parametrize("units", [10**9, 10**5])
@pytest.mark.parametrize("form", ["h5", "keras 2", "keras 3"])
def test_a_small_description_of_many_weights_takes_no_memory(units: int, form: str, tmp_path: Path) -> None:
    """Two layers: of 10**5 units each is small, and their weights are 10**10."""
    pytest.importorskip("keras" if form == "keras 3" else "tf_keras", reason="Keras is not installed")
    config = {"trainable": True, "dtype": "float32", "units": units, "activation": "linear"}
    layers = [{"class_name": "Dense", "config": {"name": name, **config}} for name in ("first", "second")]
    if form == "h5":
        path = h5(tmp_path / "net.h5", description(*layers))
    else:
        version = "2.15.0" if form == "keras 2" else "3.15.1"
        path = archive(tmp_path / "net.keras", description(*layers, legacy=form == "keras 2"), version)
        with h5py.File(tmp_path / "weights", "w") as file:
            file["kernel"] = [0.0]
        with zipfile.ZipFile(path, "a") as model:
            model.write(tmp_path / "weights", "model.weights.h5")
    said = refusal(path)
    layer, bytes_ = "first" if units == 10**9 else "second", 0 if form == "h5" else 8
    assert f"weights, those of layer {layer} (" in said and f"{path} holds {bytes_} bytes" in said
