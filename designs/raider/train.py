"""Trains the RAIDER network and its float twin on simulated events, and measures both.

python designs/raider/train.py [--events N] [--out DIR]

Writes raider.h5 (the network; its weights are multiples of 1/128 within ap_fixed<8,1>), test_events.npz
(2,000 events with which to check an implementation) and accuracy.json. The float twin is trained first; its
weights, clipped to -1..1, are where quantisation-aware training starts. The twin then gets as many more
epochs as the network, so that the two differ in number formats only. All seeds are fixed: on one machine, two
runs write the same network. It took 6 minutes on two busy cores, without a GPU.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import click
import model  # before TensorFlow: it chooses Keras 2
import numpy as np
import tensorflow as tf
import tf_keras as keras
from events import CLASSES, SIDE, events
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
TRAIN_EVENTS, TRAIN_SEED = 400_000, 1
TEST_EVENTS, TEST_SEED = 2_000, 2  # few enough for C simulation
LARGE_EVENTS, LARGE_SEED = 50_000, 3
FIRST_EPOCHS, FIRST_RATE = 12, 3e-3  # the float twin
LATER_EPOCHS, LATER_RATE = 8, 1e-3  # the network, and the float twin
BATCH = 256
# The loss sees the scores this much larger; else sure cases push them past 32, where ap_fixed<16,6> ends
SHARPNESS = 4.0
QUANTIZED_LAYERS = ("conv1", "conv2", "dense1", "dense2")


def loss(labels: tf.Tensor, scores: tf.Tensor) -> tf.Tensor:
    """Cross-entropy [n] of scores [n, CLASSES] sharpened by SHARPNESS, for labels [n] or [n, 1]."""
    return keras.losses.sparse_categorical_crossentropy(labels, SHARPNESS * scores, from_logits=True)


def pixels(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Images [n, SIDE, SIDE] as the network's input [n, SIDE, SIDE, 1]."""
    return images[..., np.newaxis].astype(np.float32)


def fit(
    net: keras.Model, x: NDArray[np.float32], labels: NDArray[np.int64], epochs: int, rate: float
) -> float:
    """Trains net on x [n, SIDE, SIDE, 1] with a learning rate that falls from rate to 0; seconds it took."""
    steps = epochs * -(-len(x) // BATCH)
    optimiser = keras.optimizers.legacy.Adam(keras.optimizers.schedules.CosineDecay(rate, steps))
    net.compile(optimiser, loss, metrics=["accuracy"])
    start = time.perf_counter()
    net.fit(x, labels, batch_size=BATCH, epochs=epochs, verbose=2)
    return time.perf_counter() - start


def snapped(net: keras.Model) -> keras.Model:
    """The network with the weights that net computes with: multiples of 1/128, kept by the quantizer."""
    result = model.make_net()
    for name in QUANTIZED_LAYERS:
        layer = net.get_layer(name)
        quantised = [
            quantizer(weights) for quantizer, weights in zip(layer.quantizers, layer.weights, strict=True)
        ]
        result.get_layer(name).set_weights([weights.numpy() for weights in quantised])
    return result


def scores(net: keras.Model, x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scores [n, CLASSES] of x [n, SIDE, SIDE, 1]."""
    return np.asarray(net.predict(x, batch_size=1000, verbose=0))


def quality(found: NDArray[np.int64], labels: NDArray[np.int64]) -> dict[str, Any]:
    """Accuracy, and each class's efficiency (recall) and purity (precision), of classes found [n]."""
    confusion = np.zeros((CLASSES, CLASSES), dtype=np.int64)
    np.add.at(confusion, (labels, found), 1)
    right = np.diag(confusion)
    return {
        "accuracy": round(float(right.sum() / confusion.sum()), 4),
        "efficiency": [round(float(share), 4) for share in right / confusion.sum(axis=1)],
        "purity": [round(float(share), 4) for share in right / np.maximum(confusion.sum(axis=0), 1)],
        "confusion": confusion.tolist(),  # row: true class, column: class found
    }


def hit_classes(images: NDArray[np.uint8], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The likeliest class [SIDE * SIDE + 1] for every number of lit pixels, from images [n, SIDE, SIDE]."""
    seen = np.zeros((SIDE * SIDE + 1, CLASSES), dtype=np.int64)
    np.add.at(seen, (images.sum(axis=(1, 2), dtype=np.int64), labels), 1)
    seen[:, -1] += seen.sum(axis=1) == 0  # never seen: only the fullest images
    return np.asarray(seen.argmax(axis=1))


def ranges(net: keras.Model, x: NDArray[np.float32]) -> dict[str, dict[str, list[float]]]:
    """Least and largest weight of every layer, and of the sums that its activation quantizes, on x."""
    layers = [net.get_layer(name) for name in QUANTIZED_LAYERS]
    sums = keras.Model(net.inputs, [layer.output for layer in layers]).predict(x, batch_size=1000, verbose=0)
    weights = [np.concatenate([part.ravel() for part in layer.get_weights()]) for layer in layers]
    return {
        "weights": {
            n: [float(w.min()), float(w.max())] for n, w in zip(QUANTIZED_LAYERS, weights, strict=True)
        },
        "sums": {n: [float(s.min()), float(s.max())] for n, s in zip(QUANTIZED_LAYERS, sums, strict=True)},
    }


def check_ranges(found: dict[str, dict[str, list[float]]]) -> None:
    """Raises ValueError where a weight does not fit ap_fixed<8,1>, or a sum overflows ap_fixed<16,6>.

    Negative sums before a ReLU come out as 0 however large they are; they are not asked to fit.
    """
    for name, (least, largest) in found["weights"].items():
        if least < -1.0 or largest > 1.0 - 2.0**-7:
            raise ValueError(f"{name}: weights {least} to {largest} do not fit ap_fixed<8,1>")
    for name, (least, largest) in found["sums"].items():
        if largest > 32.0 - 2.0**-10 or (name == "dense2" and least < -32.0):
            raise ValueError(f"{name}: sums {least} to {largest} overflow ap_fixed<16,6>")


@click.command()
@click.option("--events", "count", default=TRAIN_EVENTS, show_default=True, help="events to train on")
@click.option("--out", default=HERE, type=click.Path(path_type=Path), help="folder for the three files")
def main(count: int, out: Path) -> None:
    """Train the network and its float twin; write raider.h5, test_events.npz and accuracy.json."""
    keras.utils.set_random_seed(TRAIN_SEED)
    tf.config.experimental.enable_op_determinism()
    start = time.perf_counter()
    images, labels = events(count, TRAIN_SEED)
    samples = {
        "test_events": (TEST_SEED, *events(TEST_EVENTS, TEST_SEED)),
        "larger_sample": (LARGE_SEED, *events(LARGE_EVENTS, LARGE_SEED)),
    }
    seconds = {"simulation": time.perf_counter() - start}

    x = pixels(images)
    float_net, net = model.make_float_net(), model.make_net()
    seconds["float"] = fit(float_net, x, labels, FIRST_EPOCHS, FIRST_RATE)
    net.set_weights([np.clip(weights, -1.0, 1.0) for weights in float_net.get_weights()])
    seconds["quantised"] = fit(net, x, labels, LATER_EPOCHS, LATER_RATE)
    seconds["float"] += fit(float_net, x, labels, LATER_EPOCHS, LATER_RATE)
    net = snapped(net)

    report: dict[str, Any] = {
        "classes": ["0", "1", "2", "3 or more"],
        "training": {
            "events": count,
            "seed": TRAIN_SEED,
            "epochs": {"float": FIRST_EPOCHS + LATER_EPOCHS, "quantised": LATER_EPOCHS},
            "seconds": {stage: round(taken, 1) for stage, taken in seconds.items()},
            "versions": {
                "tensorflow": tf.__version__,
                "tf_keras": keras.__version__,
                "numpy": np.__version__,
            },
        },
    }
    by_hits = hit_classes(images, labels)
    for name, (seed, seen, truth) in samples.items():
        float_found = scores(float_net, pixels(seen)).argmax(axis=1)
        found = scores(net, pixels(seen)).argmax(axis=1)
        report[name] = {
            "events": len(truth),
            "seed": seed,
            "float": quality(float_found, truth),
            "qkeras": quality(found, truth),
            "lit_pixels_only": quality(by_hits[seen.sum(axis=(1, 2), dtype=np.int64)], truth),
            "float_and_qkeras_agree": round(float(np.mean(float_found == found)), 4),
            "ranges": ranges(net, pixels(seen)),
        }
        check_ranges(report[name]["ranges"])

    out.mkdir(parents=True, exist_ok=True)
    # no optimiser state: who trains on, does so from these weights
    net.save(out / "raider.h5", save_format="h5", include_optimizer=False)
    _, seen, truth = samples["test_events"]
    # images [2000, 32]: eight pixels a byte, the first in the highest bit, row by row
    packed = np.packbits(seen.reshape(len(seen), -1), axis=1)
    np.savez_compressed(out / "test_events.npz", images=packed, labels=truth.astype(np.uint8))
    text = json.dumps(report, indent=1)
    text = re.sub(
        r"\[[^\[\]{}]*\]", lambda numbers: " ".join(numbers[0].split()), text
    )  # a list of numbers a line
    (out / "accuracy.json").write_text(text + "\n", encoding="utf-8")
    for name in samples:
        for kind in ("float", "qkeras", "lit_pixels_only"):
            click.echo(f"{name} {kind}: {report[name][kind]}")
        click.echo(f"{name} ranges: {report[name]['ranges']}")


if __name__ == "__main__":
    main()
