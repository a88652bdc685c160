"""The ten networks of the gallery: definitions with random weights, a user's trained ones, frames.

Nobody else's weights are in this repository: WHERE says where a user finds those of MLPerf Tiny.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from machine import DESIGNS
from numpy.typing import NDArray

Frames = NDArray[np.float32]
Answer = Literal["class", "cells", "order"]
"""What of the outputs is compared with the framework's: the largest score of a frame; that of every pixel or
cell; which of two frames has the larger reconstruction error, which is what detects an anomaly."""
FOLDER = DESIGNS / "networks"
WHERE = "https://github.com/mlcommons/tiny, folder benchmark/training"


class WrongFileError(Exception):
    """A file that is not the one whose checksum the gallery knows."""


@dataclass(frozen=True, kw_only=True)
class Download:
    """A trained model of MLPerf Tiny. path: in WHERE; name: in the user's folder.

    checksums: SHA-256 of each file, by its path below `name` ("" for the model itself).
    frames: as the network was trained on them, batch first, in the framework's layout.
    """

    path: str
    name: str
    checksums: Mapping[str, str]
    frames: Callable[[int], Frames]

    def found_in(self, folder: Path) -> Path | None:
        """The model in a folder; None: it is not there. Raises WrongFileError."""
        model = folder / self.name
        if not model.exists():
            return None
        for part, checksum in self.checksums.items():
            file = model / part if part else model
            if not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != checksum:
                raise WrongFileError(
                    f"{file} is not the file that the gallery knows (SHA-256 {checksum}); it is not opened. "
                    f"Take {self.path} of {WHERE}"
                )
        return model


@dataclass(frozen=True, kw_only=True)
class Network:
    """calibration, judged: frames that choose ranges, and others that are compared with the framework.

    simulated: frames of the C-simulation.
    """

    name: str
    title: str
    answer: Answer = "class"
    calibration: int = 64
    judged: int = 256
    simulated: int = 4
    download: Download | None = None

    def definition(self) -> Any:
        """The module in designs/networks that makes the network with random weights."""
        if str(FOLDER) not in sys.path:
            sys.path.insert(0, str(FOLDER))
        return importlib.import_module(self.name)

    def frames(self, model: Path | None) -> Frames:
        """Those of the calibration, then those that judge. model: the trained one, if there is one."""
        count = self.calibration + self.judged
        if model is not None:
            assert self.download is not None
            return self.download.frames(count)
        module = self.definition()
        if hasattr(module, "frames"):
            return np.asarray(module.frames(count), np.float32)
        return _photograph(module.SIZE, count)


def _photograph(size: int, count: int) -> Frames:
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    return np.asarray(importlib.import_module("photograph").photograph(size, size, count), np.float32)


def _picture(size: int, largest: float) -> Callable[[int], Frames]:
    """Crops of the photograph as Keras has pictures, [N, size, size, 3] from 0 to `largest`."""
    return lambda count: (
        (_photograph(size, count).transpose(0, 2, 3, 1) + 1) * np.float32(128 / 255 * largest)
    )


def _heard(name: str, made: str) -> Callable[[int], Frames]:
    """Spectra of designs/networks/sounds.py; an image gets its one channel last."""

    def frames(count: int) -> Frames:
        if str(FOLDER) not in sys.path:
            sys.path.insert(0, str(FOLDER))
        found = np.asarray(getattr(importlib.import_module(name), made)(count), np.float32)
        return found if found.ndim == 2 else found[..., None]

    return frames


NETWORKS = (
    Network(name="lenet", title="LeNet-5"),
    Network(
        name="autoencoder",
        title="autoencoder, MLPerf Tiny",
        answer="order",
        download=Download(
            path="anomaly_detection/trained_models/ad01.h5",
            name="ad01.h5",
            checksums={"": "651a62de1b7facd68d1269373992a2d09ffd28e6a816935d4834fcc558bde512"},
            frames=_heard("sounds", "mel_decibels"),
        ),
    ),
    Network(
        name="ds_cnn",
        title="keyword spotting DS-CNN, MLPerf Tiny",
        download=Download(
            path="keyword_spotting/trained_models/kws_ref_model (a folder)",
            name="kws_ref_model",
            checksums={
                "saved_model.pb": "80665dd19eeb03d1152fdc098b5635261731b23478d09f6ff2166da799f98138",
                "variables/variables.index": (
                    "3f21dd9ea6736e20e70c5ed2f40ed9d8a7d12b98316ac0e4ab8f4eb7e303d738"
                ),
                "variables/variables.data-00000-of-00001": (
                    "5ebfddd34e85a2d35e87e27a8a803353534019bb460907b16db5fa72d757e8c5"
                ),
            },
            frames=_heard("sounds", "cepstra"),
        ),
    ),
    Network(
        name="resnet8",
        title="ResNet-8, MLPerf Tiny",
        download=Download(
            path="image_classification/trained_models/pretrainedResnet.h5",
            name="pretrainedResnet.h5",
            checksums={"": "5f938a8eea605438cc7360aa13c987bc6d7bd0c8d931b2917361ae7ae4eeda2f"},
            frames=_picture(32, 255.0),
        ),
    ),
    Network(
        name="mobilenet_v1_vww",
        title="visual wake words MobileNet v1 0.25, MLPerf Tiny",
        download=Download(
            path="visual_wake_words/trained_models/vww_96.h5",
            name="vww_96.h5",
            checksums={"": "af9111d50e6e85b2f2123345e0316ef1c384865ebf6b06340ddac7e66017450f"},
            frames=_picture(96, 1.0),
        ),
    ),
    Network(name="squeezenet", title="SqueezeNet 1.1, 224", calibration=8, judged=16, simulated=1),
    Network(name="mobilenet_v2", title="MobileNetV2, 224", calibration=8, judged=16, simulated=1),
    Network(
        name="unet", title="U-Net, 128, 16 channels", answer="cells", calibration=8, judged=16, simulated=1
    ),
    Network(name="resnet18", title="ResNet-18, 224", calibration=8, judged=16, simulated=1),
    Network(
        name="yolov3_tiny", title="Tiny-YOLOv3, 416", answer="cells", calibration=4, judged=4, simulated=1
    ),
)
"""In the order in which they are made: the cheap ones first."""
