"""The gallery: its page says what its results say, and its command makes them."""

from __future__ import annotations

import copy
import hashlib
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.places import ROOT

pytest.importorskip("torch", reason="torch is not installed")
FOLDER = ROOT / "benchmarks"
NAMES = (
    "lenet",
    "autoencoder",
    "ds_cnn",
    "resnet8",
    "mobilenet_v1_vww",
    "squeezenet",
    "mobilenet_v2",
    "unet",
    "resnet18",
    "yolov3_tiny",
)


@pytest.fixture(autouse=True)
def gallery(monkeypatch: pytest.MonkeyPatch) -> Any:
    """benchmarks/gallery.py as a module, found as when it is run."""
    monkeypatch.syspath_prepend(FOLDER)
    import gallery

    return gallery


@pytest.fixture
def results(gallery: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gallery.RESULTS.read_text(encoding="utf-8"))
    return found


# ---------------------------------------------------------------- the page


def test_the_page_says_what_the_results_say(gallery: Any, tmp_path: Path) -> None:
    page = tmp_path / "gallery.md"
    page.write_text(gallery.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    gallery.write_page(gallery.RESULTS, page)
    assert page.read_text(encoding="utf-8") == gallery.PAGE.read_text(encoding="utf-8")


def test_the_page_has_every_figure_of_the_results(gallery: Any, results: dict[str, Any]) -> None:
    """Looked for here without the code that writes the tables."""
    rows = [line for line in gallery.PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    for one in results["networks"].values():
        own = [row for row in rows if row.startswith(f"| {one['title']} |")]
        for found in one["boards"].values():
            for at in found["clocks"].values():
                rate = at.get("frames_per_s")
                text = "none fits" if rate is None else f"{rate:,.0f}" if rate >= 1000 else f"{rate:,.1f}"
                assert any(f"| {text} |" in row for row in own), (one["title"], text)
        assert any(f"| {one['weights']['kind']} | {one['accuracy']['agreement']:.1%} |" in row for row in own)


def test_all_networks_on_both_boards_at_three_clocks(results: dict[str, Any]) -> None:
    assert tuple(results["networks"]) == NAMES
    for one in results["networks"].values():
        assert list(one["boards"])[:2] == ["zcu102", "u200"]
        for found in one["boards"].values():
            assert list(found["clocks"]) == ["220", "250", "300"]
            assert all(at["kind"] == "modelled" for at in found["clocks"].values())
            rates = [at["frames_per_s"] for at in found["clocks"].values() if "problem" not in at]
            assert rates == sorted(rates), "a higher clock is slower"
            if "csim" in found:
                assert found["csim"]["kind"] == "measured"
                assert found["csim"]["mismatches"] == 0 and found["csim"]["compared"] > 0
    trained = [name for name, one in results["networks"].items() if one["weights"]["kind"] == "trained"]
    assert trained == ["autoencoder", "ds_cnn", "resnet8", "mobilenet_v1_vww"]


def test_a_network_is_what_the_results_say_today(gallery: Any, results: dict[str, Any]) -> None:
    """LeNet, the cheapest, in the style that was the fastest: where the model moved further than this, the
    gallery is to be made again."""
    (network,) = [one for one in gallery.NETWORKS if one.name == "lenet"]
    one = gallery.read(network, None)
    kept = results["networks"]["lenet"]["boards"]["zcu102"]["clocks"]["300"]
    found = gallery.modelled(gallery.on(one.design, "zcu102", 300.0, kept["style"]))
    assert found["frames_per_s"] == pytest.approx(kept["frames_per_s"], rel=0.05), "make gallery"
    assert found["lut"] == pytest.approx(kept["lut"], rel=0.2)
    assert one.design.macs == results["networks"]["lenet"]["macs"]


def test_each_published_figure_names_its_source_and_a_network(gallery: Any) -> None:
    from gallery_page import peers

    rows = peers()
    assert {row["network"] for row in rows} <= set(NAMES)
    for row in rows:
        assert float(row["frames_per_s"]) > 0
        assert row["address"].startswith("https://") and row["place"] and row["compares"]
        assert not row["our_board"] or row["our_board"].upper() in row["board"].upper()


def test_the_text_says_what_number_types_keep(gallery: Any, results: dict[str, Any]) -> None:
    """The figures of "Where the decibels go" are those of the results."""
    text = gallery.PAGE.read_text(encoding="utf-8")
    of = results["types"]
    sixteen = [row["16 bits"]["db"] for row in of.values()]
    assert f"within {min(sixteen):.0f} to {max(sixteen):.0f} dB of Keras" in text
    gains = {name: row["8, balanced"]["db"] - row["8 bits"]["db"] for name, row in of.items()}
    assert gains["autoencoder"] == pytest.approx(2.5, abs=0.2)
    assert gains["mobilenet_v1_vww"] > 10 and gains["resnet8"] == gains["ds_cnn"] == 0
    assert "gains 2.5 and 10 dB there" in text
    behind = {name: row["its own 8 bits"]["db"] - row["8, balanced"]["db"] for name, row in of.items()}
    assert (
        f"come within {behind['autoencoder']:.1f} dB (autoencoder), {behind['resnet8']:.1f} (ResNet-8)"
        in text
    )
    assert f"and {behind['mobilenet_v1_vww']:.1f} (visual wake words)" in text
    assert all(row["10, balanced"]["db"] > row["its own 8 bits"]["db"] for row in of.values())
    for name, row in of.items():
        kept = results["networks"][name]["accuracy"]
        assert (row["8, balanced"]["db"], row["8, balanced"]["agreement"]) == (kept["db"], kept["agreement"])


# ---------------------------------------------------------------- number types


@pytest.mark.filterwarnings("ignore")
def test_types_are_compared(gallery: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the command, of a small network: Keras and TensorFlow Lite judge; a wrong file is refused."""
    tf = pytest.importorskip("tensorflow")
    tf_keras = pytest.importorskip("tf_keras")
    import gallery_types
    from gallery_networks import Download, Network

    tf_keras.utils.set_random_seed(0)
    dense = tf_keras.layers.Dense
    net = tf_keras.Sequential([dense(16, activation="relu", input_shape=(8,)), dense(4)])
    net.save(tmp_path / "net.h5")
    frames = np.random.default_rng(0).normal(0, 1, (64, 8)).astype(np.float32)
    converter = tf.lite.TFLiteConverter.from_keras_model(net)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([frame[None]] for frame in frames)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    (tmp_path / "net.tflite").write_bytes(converter.convert())
    checksums = {
        name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in ("net.h5", "net.tflite")
    }
    download = Download(
        path="net.h5", name="net.h5", checksums={"": checksums["net.h5"]}, frames=lambda count: frames[:count]
    )
    network = Network(name="net", title="net", calibration=32, judged=32, download=download)
    monkeypatch.setattr(gallery_types, "NETWORKS", [network])
    monkeypatch.setattr(gallery_types, "INTEGERS", {"net": ("net.tflite", checksums["net.tflite"])})
    (tmp_path / "r.json").write_text('{"networks": {}}')
    words = ["--models", str(tmp_path), "--results", str(tmp_path / "r.json"), "--page", str(tmp_path / "no")]
    assert gallery_types.main(words) == 0
    (row,) = json.loads((tmp_path / "r.json").read_text())["types"].values()
    assert list(row) == [*gallery_types.PRECISIONS, gallery_types.TFLITE]
    assert (
        15
        < row["8 bits"]["db"]
        < row["10, balanced"]["db"]
        < row["12, balanced"]["db"]
        < row["16 bits"]["db"]
    )
    assert row["its own 8 bits"]["db"] > 15
    assert set(row["auto, balanced"]["bits"]) == {"weights", "activations"}
    monkeypatch.setattr(gallery_types, "INTEGERS", {"net": ("net.tflite", "0" * 64)})
    assert gallery_types.main(words) == 1


# ---------------------------------------------------------------- the command


SMALL = """
import numpy as np
import torch


def make_net():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))


def frames(count):
    return np.random.default_rng(0).normal(0, 1, (count, 4)).astype(np.float32)
"""


def test_the_command_goes_on_where_it_ended(
    gallery: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a small network; its second clock has the figures of the first, for each takes a search."""
    from gallery_networks import Network

    (tmp_path / "small_gallery_net.py").write_text(SMALL, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    name = "small_gallery_net"
    monkeypatch.setattr(gallery, "NETWORKS", [Network(name=name, title="small", calibration=8, judged=8)])
    words = ["--networks", name, "--csim", "--results", str(tmp_path / "r.json"), "--page", "none.md"]
    asked: list[Any] = []
    modelled = gallery.modelled
    figures = cache(lambda: modelled(asked[0]))

    def noted(design: Any) -> Any:
        asked.append(design)
        return figures()

    monkeypatch.setattr(gallery, "modelled", noted)
    assert gallery.main([*words, "--boards", "zcu102", "--clocks", "220"]) == 0
    first = json.loads((tmp_path / "r.json").read_text())
    assert list(first["networks"][name]["boards"]["zcu102"]["clocks"]) == ["220"]
    assert gallery.main([*words, "--boards", "zcu102", "--clocks", "220", "250"]) == 0
    second = json.loads((tmp_path / "r.json").read_text())
    assert list(second["networks"][name]["boards"]["zcu102"]["clocks"]) == ["220", "250"]
    assert [design.clock_mhz for design in asked] == [220, 250]  # what is there is kept
    assert first["networks"][name]["accuracy"] == second["networks"][name]["accuracy"]
    capsys.readouterr()
    assert gallery.main([*words, "--boards", "zcu102", "--clocks", "220", "250"]) == 0
    assert f"{name}: nothing is lacking" in capsys.readouterr().err


def test_another_file_is_not_opened(gallery: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ad01.h5").write_bytes(b"not that one")
    words = ["--networks", "autoencoder", "--models", str(tmp_path), "--results", str(tmp_path / "r.json")]
    assert gallery.main([*words, "--page", "none.md"]) == 1
    said = capsys.readouterr().err
    assert "ad01.h5 is not the file that the gallery knows" in said and "https://github.com/mlcommons" in said
    assert not (tmp_path / "r.json").exists()


def test_a_file_is_known_by_its_checksum(gallery: Any, tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "a").write_bytes(b"weights")
    right = hashlib.sha256(b"weights").hexdigest()
    of = next(one.download for one in gallery.NETWORKS if one.download is not None)
    assert replace(of, name="net", checksums={"a": right}).found_in(tmp_path) == tmp_path / "net"
    assert replace(of, name="other", checksums={"a": right}).found_in(tmp_path) is None
    for wrong in ({"a": right[::-1]}, {"a": right, "b": right}):
        with pytest.raises(gallery.WrongFileError):
            replace(of, name="net", checksums=wrong).found_in(tmp_path)


def test_the_list_names_all_four(gallery: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert gallery.main(["--list"]) == 0
    said = capsys.readouterr().out
    for name in ("ad01.h5", "kws_ref_model", "pretrainedResnet.h5", "vww_96.h5"):
        assert name in said
    assert said.count("SHA-256") == 6


# ---------------------------------------------------------------- what is compared


def test_agreement() -> None:
    from gallery_accuracy import agreement, decibels, same_order

    wanted = np.array([[1.0, 2.0], [3.0, 0.0], [0.0, 1.0], [5.0, 4.0]])
    got = copy.deepcopy(wanted)
    assert agreement("class", [got], [wanted], got) == 1 and decibels(got, wanted) == np.inf
    got[0] = [2.0, 1.0]
    assert agreement("class", [got], [wanted], got) == 0.75
    cells = np.zeros((1, 2, 2, 2))
    other = cells.copy()
    other[0, 1, 0, 0] = 1
    assert agreement("cells", [cells, cells], [cells, other], cells) == 7 / 8
    assert same_order(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])) == pytest.approx(2 / 3)
    # errors 0, 4 beside 0, 1: the same order; and the other way round
    frames = np.zeros((2, 3))
    assert (
        agreement("order", [np.array([[0.0] * 3, [2.0] * 3])], [np.array([[0.0] * 3, [1.0] * 3])], frames)
        == 1
    )
    assert (
        agreement("order", [np.array([[2.0] * 3, [0.0] * 3])], [np.array([[0.0] * 3, [1.0] * 3])], frames)
        == 0
    )
    # signal 2 around its mean, noise 0.02
    assert decibels(np.array([[1.1], [-1.1]]), np.array([[1.0], [-1.0]])) == pytest.approx(20)


@pytest.mark.parametrize(
    ("name", "parameters", "macs"),
    [
        ("lenet", 61_706, 416_520),
        ("autoencoder", 267_928, 264_192),
        ("ds_cnn", 23_756, 2_656_768),
        ("mobilenet_v1_vww", 213_586, 7_489_664),
        ("unet", 1_942_594, 758_382_592),
        ("squeezenet", 1_235_496, 349_151_936),
    ],
)
def test_definitions(gallery: Any, name: str, parameters: int, macs: int) -> None:
    """Parameters as published; MACs of MLPerf Tiny's as hlsgen counts those of the trained files."""
    (network,) = [one for one in gallery.NETWORKS if one.name == name]
    module = network.definition()
    from describe import observe

    net = module.make_net()
    assert sum(one.numel() for one in net.parameters()) == parameters
    import torch

    assert observe(net, torch.from_numpy(replace(network, calibration=1, judged=0).frames(None))).macs == macs
