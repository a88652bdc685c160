"""hls4ml on whole networks, as PyTorch modules, in a process of its own."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import resource
import shutil
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from hls4ml_layer import hls4ml_model
from layer import Floats
from processes import Failed, Metered, TookTooLong, Use, environment, own_peak_mb, run, worker

if TYPE_CHECKING:
    import torch

HLS4ML_MEMORY = 8 << 30
"""Bytes of address space that each process of hls4ml's gets for a network."""


@dataclass(frozen=True, kw_only=True)
class Hls4mlNetwork:
    """What was measured of hls4ml on a network, None where it did not come so far; then `reason` says why.

    convert_s: wall, reading the model. write_s: wall, writing the project (compiling apart). compiler: of all
    its processes. rate: multiply-accumulates a second of predict(), by its CPU time. peak_mb: of the process
    that converts and predicts, with its frameworks. outputs [N, -1]: what it gives for the sample frames;
    reference: what the PyTorch module gives for them. respelled: modules it refuses and what stood for them.
    """

    version: str | None = None
    respelled: str | None = None
    convert_s: float | None = None
    write_s: float | None = None
    compiler: Use | None = None
    rate: float | None = None
    frames: int | None = None
    peak_mb: float | None = None
    outputs: Floats | None = None
    reference: Floats | None = None
    reason: str | None = None


def hls4ml_network(design: Path, macs: int, x: Floats, frames: int, seconds: float) -> Hls4mlNetwork:
    """hls4ml (PyTorch frontend, Vitis backend, io_stream, fixed<16,6>) on the network of a design file.

    macs: of a frame. x [N, C, H, W]: sample frames; predict() gets them over and over as `frames` frames.
    seconds: it is stopped after so many; each of its processes gets HLS4ML_MEMORY of address space.
    """
    end = time.monotonic() + seconds
    found = _attempt(design, macs, x, frames, seconds, respell=False)
    if not found.reason or not found.reason.startswith("convert: ") or time.monotonic() >= end:
        return found
    again = _attempt(design, macs, x, frames, end - time.monotonic(), respell=True)
    return again if again.respelled else found


def _attempt(
    design: Path, macs: int, x: Floats, frames: int, seconds: float, *, respell: bool
) -> Hls4mlNetwork:
    """As `hls4ml_network`, of the network as it is or as `respelled` writes it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bin").mkdir()
        # its build script calls the compiler by this name
        compiler = Metered(shutil.which("g++") or "g++", folder / "bin", "g++")
        path = os.pathsep.join([str(folder / "bin"), os.environ.get("PATH", os.defpath)])
        np.save(folder / "x.npy", x)
        found: dict[str, Any] = {"doing": "start"}
        reason = None
        command = worker(__file__, folder, design.resolve(), frames, *(["--respell"] if respell else []))
        try:
            run(command, folder, seconds, environment(PATH=path, TF_CPP_MIN_LOG_LEVEL="3"))
        except TookTooLong:
            reason = f"stopped after {seconds:.0f} s"
        except Failed as failure:
            reason = _said(str(failure))
        if (folder / "found.json").exists():
            found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
        doing, predict_s = found.pop("doing"), found.pop("predict_s", None)
        arrays = {
            key: np.load(folder / f"{key}.npy") if (folder / f"{key}.npy").exists() else None
            for key in ("outputs", "reference")
        }
        compile_s, use = found.pop("compile_s", None), compiler.use
    compiled = compile_s is not None and use is not None
    return Hls4mlNetwork(
        **found,
        **arrays,
        write_s=compile_s - use.wall_s if compiled else None,
        compiler=use if compiled else None,  # of a compilation that did not end, it would be a part
        rate=macs * frames / predict_s if predict_s else None,
        frames=frames if predict_s else None,
        reason=f"{doing}: {reason}" if reason else None,
    )


def _said(failure: str) -> str:
    """An assertion of hls4ml's C++ without the template arguments of its function."""
    found = re.search(r"(\w+\.h):\d+: .*(Assertion .* failed)", failure)
    return f"{found[1]}: {found[2]}" if found else failure


def _work(folder: Path, design: Path, frames: int, *, respell: bool) -> None:
    """Convert, compile and predict; found.json says how far it came, whatever becomes of this process.

    What hls4ml raises ends it: its last words are the reason that `hls4ml_network` gives.
    """
    resource.setrlimit(resource.RLIMIT_AS, (HLS4ML_MEMORY, resource.RLIM_INFINITY))
    found: dict[str, Any] = {}

    def note(**more: Any) -> None:
        found.update(more)
        (folder / "found.json").write_text(json.dumps(found), encoding="utf-8")

    try:
        _steps(folder, design, frames, note, respell=respell)
    finally:
        note(peak_mb=own_peak_mb())


def _steps(folder: Path, design: Path, frames: int, note: Callable[..., None], *, respell: bool) -> None:
    note(doing="load")
    import torch

    module = torch_form(design)
    x = np.load(folder / "x.npy").astype(np.float32)
    with torch.inference_mode():
        results = module(torch.from_numpy(x))
    references = [one.numpy() for one in (results if isinstance(results, tuple | list) else [results])]
    np.save(folder / "reference.npy", flat(references))
    import hls4ml  # type: ignore[import-untyped,unused-ignore]

    with contextlib.suppress(ImportError):
        import keras  # noqa: F401  # hls4ml would when it writes the project, where it is installed

    note(doing="convert", version=hls4ml.__version__)
    if respell:
        changes = respelled(module, x[:1])
        if not changes:
            return
        note(respelled=changes)
    start = time.perf_counter()
    model = hls4ml_model(module, x.shape[1:], folder / "project")
    note(doing="compile", convert_s=time.perf_counter() - start)
    start = time.perf_counter()
    model.compile()
    note(doing="predict", compile_s=time.perf_counter() - start)
    last = np.ascontiguousarray(np.moveaxis(x, 1, -1))
    batch = last[np.arange(frames) % len(last)]
    own = time.process_time()
    predicted = model.predict(batch)
    note(predict_s=time.process_time() - own)
    outputs = [np.asarray(one) for one in (predicted if isinstance(predicted, list) else [predicted])]
    shown = min(frames, len(x))
    placed = []
    for one, wanted in zip(outputs, references, strict=True):
        channels, *pixels = wanted.shape[1:]
        placed.append(np.moveaxis(one.reshape(frames, *pixels, channels)[:shown], -1, 1))
    np.save(folder / "outputs.npy", flat(placed))


def flat(arrays: Sequence[Floats]) -> Floats:
    """All outputs of a frame as one row: [N, ...] each -> [N, -1]."""
    return np.concatenate([array.reshape(len(array), -1) for array in arrays], axis=1)


def torch_form(design: Path) -> torch.nn.Module:
    """The network of a design file as a PyTorch module; RAIDER's is made from the weights of its QKeras file.

    hls4ml cannot read QKeras models beside Keras 3. Raises ValueError: another network that is no PyTorch.
    """
    from hlsgen.designfile.document import Document
    from hlsgen.designfile.model_schema import ModelFile
    from hlsgen.frontends.torch.to_graph import load_module

    document = Document.read(design)
    file = document.validate(ModelFile)
    if file.model.torch is not None:
        weights = document.beside(file.model.weights) if file.model.weights else None
        return load_module(document.beside(file.model.torch.path), file.model.torch.function, weights)
    if file.model.qkeras is not None and file.name == "raider":
        return _raider(document.beside(file.model.qkeras))
    raise ValueError("there is no PyTorch form of this network")


def _raider(path: Path) -> torch.nn.Module:
    """The RAIDER network in floating point, channels first: without the limits of its activations' types."""
    import h5py
    import torch
    from torch import nn

    net = nn.Sequential(
        OrderedDict(
            conv1=nn.Conv2d(1, 8, 3, padding=1),
            relu1=nn.ReLU(),
            pool1=nn.MaxPool2d(2),
            conv2=nn.Conv2d(8, 8, 3, padding=1),
            relu2=nn.ReLU(),
            pool2=nn.MaxPool2d(2),
            flatten=nn.Flatten(),
            dense1=nn.Linear(8 * 4 * 4, 16),
            relu3=nn.ReLU(),
            dense2=nn.Linear(16, 4),
        )
    )
    state = {}
    with h5py.File(path) as file:
        for name in ("conv1", "conv2", "dense1", "dense2"):
            group = file["model_weights"][name][name]
            kernel, bias = np.asarray(group["kernel:0"]), np.asarray(group["bias:0"])
            if name == "dense1":  # Keras flattens [4, 4, channels], PyTorch [channels, 4, 4]
                kernel = kernel.reshape(4, 4, 8, -1).transpose(2, 0, 1, 3).reshape(kernel.shape)
            weights = kernel.transpose(3, 2, 0, 1) if kernel.ndim == 4 else kernel.T
            state[f"{name}.weight"] = torch.from_numpy(weights.copy())
            state[f"{name}.bias"] = torch.from_numpy(bias)
    net.load_state_dict(state)
    return net.eval()


def respelled(module: torch.nn.Module, x: Floats) -> str:
    """Puts modules that hls4ml knows in place of equal ones that it does not, and says which.

    An adaptive average over the whole picture is an average of its size, a zero padding a constant one.
    """
    import torch

    sizes: dict[torch.nn.Module, tuple[int, int]] = {}

    def note_size(one: torch.nn.Module, given: Any) -> None:
        sizes[one] = tuple(given[0].shape[2:])

    wholes = [
        one
        for one in module.modules()
        if isinstance(one, torch.nn.AdaptiveAvgPool2d) and one.output_size in (1, (1, 1))
    ]
    hooks = [one.register_forward_pre_hook(note_size) for one in wholes]
    with torch.inference_mode():
        module(torch.from_numpy(x))
    for hook in hooks:
        hook.remove()
    done = []
    for parent in list(module.modules()):
        for name, child in list(parent.named_children()):
            other: torch.nn.Module
            if child in sizes:
                other = torch.nn.AvgPool2d(sizes[child])
            elif isinstance(child, torch.nn.ZeroPad2d):
                other = torch.nn.ConstantPad2d(child.padding, 0.0)
            else:
                continue
            setattr(parent, name, other)
            done.append(f"{type(other).__name__} for {type(child).__name__}")
    return ", ".join(done)


def main() -> None:
    parser = argparse.ArgumentParser(description="hls4ml on a network; for networks.py.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("design", type=Path)
    parser.add_argument("frames", type=int)
    parser.add_argument("--respell", action="store_true", help="with equal modules that hls4ml knows")
    arguments = parser.parse_args()
    _work(arguments.folder, arguments.design, arguments.frames, respell=arguments.respell)


if __name__ == "__main__":
    main()
