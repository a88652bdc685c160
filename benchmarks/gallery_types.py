"""What number types make of MLPerf Tiny's trained networks, beside MLPerf Tiny's own 8-bit models.

python benchmarks/gallery_types.py --models FOLDER [--networks N ...] [--results PATH] [--page PATH]

FOLDER: as of benchmarks/gallery.py, and in it the .tflite files of the same folders of mlcommons/tiny: 8 bits
with a scale of its own for each tensor, and for each channel of a convolution's weights. They are run by
TensorFlow Lite. All are compared with Keras's prediction in float32 on the gallery's frames.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gallery_accuracy import agreement, compared, decibels, predicted_by_keras
from gallery_networks import NETWORKS, Frames, Network, WrongFileError
from gallery_page import PAGE, RESULTS, write_page

import hlsgen
from hlsgen.base.fixed import FixedType
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph

PRECISIONS: Mapping[str, Any] = {
    "8 bits": 8,
    "8, balanced": {"default": 8, "balance": True},
    "8, balanced, headroom 1": {"default": 8, "balance": True, "headroom": 1},
    "10, balanced": {"default": 10, "balance": True},
    "12, balanced": {"default": 12, "balance": True},
    "16 bits": 16,
    "auto, balanced": {"default": "auto", "balance": True},
}
"""What `precision` is given, by the head of its column."""
TFLITE = "its own 8 bits"
INTEGERS = {
    "autoencoder": (
        "ad01_int8.tflite",
        "87cf24194ef93d1d9b11a591d805526b98008e351655d29883c825c9c106ba24",
    ),
    "ds_cnn": ("kws_ref_model.tflite", "aeea436800704fce17b17292e4412630ad856e9d777c044c64ef748a880bd0ae"),
    "resnet8": (
        "pretrainedResnet_quant.tflite",
        "3c002613d1b2475eb51dd78dfb85a546c8ae658dee71cf6ade43b022fe205415",
    ),
    "mobilenet_v1_vww": (
        "vww_96_int8.tflite",
        "597a384c8c2c8a1276f04702f25013b7838f2f814f1ca7c174d295b73e3d6b7b",
    ),
}
"""MLPerf Tiny's own integer models in the user's folder, with their SHA-256."""


def figures(network: Network, model: Path, folder: Path) -> dict[str, Any]:
    """Agreement and decibels by the head of a column."""
    frames = network.frames(model)
    judged = frames[network.calibration :]
    found: dict[str, Any] = {}
    for head, precision in PRECISIONS.items():
        design = hlsgen.from_qkeras(
            model,
            calibration=frames[: network.calibration],
            precision=precision,
            style="dataflow",
            name=network.name,
        )
        found[head] = compared(design, model, network, judged)
        if "auto" in head:
            found[head]["bits"] = bits_of(design.given.graph)  # type: ignore[attr-defined]
    name, checksum = INTEGERS[network.name]
    if (folder / name).exists():
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != checksum:
            raise WrongFileError(f"{folder / name} has not the SHA-256 {checksum}; it is not opened")
        wanted = predicted_by_keras(model, judged)[0]
        got = predicted_by_tflite(folder / name, judged).reshape(wanted.shape)
        found[TFLITE] = {
            "framework": "Keras",
            "agreement": round(agreement(network.answer, [got], [wanted], np.asarray(judged, np.float64)), 4),
            "db": round(decibels(got, wanted), 1),
        }
    return found


def bits_of(graph: Graph) -> dict[str, list[int]]:
    """The narrowest and the widest type of the weights, and of what layers give."""
    weights = [layer.weight_type for layer in graph.layers if isinstance(layer, Conv2d)]
    given = [layer.output_type for layer in graph.layers if isinstance(layer, Conv2d)]
    return {key: _ends(types) for key, types in (("weights", weights), ("activations", given))}


def _ends(types: Sequence[object]) -> list[int]:
    widths = [one.width for one in types if isinstance(one, FixedType)]
    return [min(widths), max(widths)]


def predicted_by_tflite(model: Path, frames: Frames) -> Any:
    """What TensorFlow Lite gives for each frame; codes are taken in and out by the model's own scales."""
    import tensorflow as tf

    interpreter = tf.lite.Interpreter(model_path=str(model))
    interpreter.allocate_tensors()
    (source,), (result,) = interpreter.get_input_details(), interpreter.get_output_details()
    ends = np.iinfo(source["dtype"])
    scale, zero = source["quantization"]
    results = []
    for frame in frames:
        codes = np.clip(np.rint(frame.reshape(source["shape"]) / scale + zero), ends.min, ends.max)
        interpreter.set_tensor(source["index"], codes.astype(source["dtype"]))
        interpreter.invoke()
        results.append(interpreter.get_tensor(result["index"]).astype(np.float64))
    scale, zero = result["quantization"]
    return (np.concatenate(results) - zero) * scale


def read(folder: Path, names: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for network in NETWORKS:
        model = None if network.download is None else network.download.found_in(folder)
        if network.name in names and model is not None:
            print(f"{network.name} ...", file=sys.stderr, flush=True)
            yield network.name, figures(network, model, folder)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--models", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--networks", nargs="+", choices=list(INTEGERS), default=list(INTEGERS))
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="PATH")
    parser.add_argument("--page", type=Path, default=PAGE, metavar="PATH")
    given = parser.parse_args(words)
    warnings.simplefilter("ignore", hlsgen.HlsgenWarning)
    results = json.loads(given.results.read_text(encoding="utf-8"))
    try:
        found = dict(read(given.models, given.networks))
    except WrongFileError as error:
        print(error, file=sys.stderr)
        return 1
    every = results.get("types", {}) | found
    results["types"] = {name: every[name] for name in INTEGERS if name in every}
    given.results.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if given.page.exists():
        write_page(given.results, given.page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
