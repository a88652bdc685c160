"""`hlsgen import`: what a model's file holds, and a design file to start from."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from hlsgen.errors import DesignError, OutputError, Problem
from hlsgen.frontends.names import valid_name
from hlsgen.ir import Graph
from hlsgen.model_schema import FRAMEWORKS
from hlsgen.precision import saturating
from hlsgen.precision_grammar import input_type_of

ONNX_ENDINGS = (".onnx",)
KERAS_ENDINGS = (".h5", ".hdf5", ".keras")


@dataclass(frozen=True, kw_only=True)
class Imported:
    """A model's graph, and the design file that names it."""

    graph: Graph
    framework: str
    text: str


def import_model(
    model: str,
    folder: Path,
    *,
    shapes: Sequence[tuple[int, ...]],
    input_type: str | None,
    weights: Path | None,
    board: str,
) -> Imported:
    """The model as users name it: net.py:make_net, net.onnx, or net.h5; the design will lie in `folder`.

    shapes: of a frame of each input, which a PyTorch module does not say. input_type: of inputs that a
    quantised model does not quantise first. Raises DesignError as the frontends do.
    """
    framework = framework_of(model)
    wished = input_type_of(None if input_type is None else {"input": input_type})
    if framework == "torch":
        if wished is not None:
            message = f"{model} is in floating point: the design file's precision says its types"
            raise DesignError(Problem(message=message, fix="leave --input-type out"))
        return _from_torch(model, folder, shapes, weights, board)
    if shapes or weights is not None:
        message = f"{model} says itself what shape the input has, and holds its weights"
        raise DesignError(Problem(message=message, fix="leave --shape and --weights out"))
    path = Path(model)
    name = valid_name(path.stem)
    if framework == "onnx":
        from hlsgen.frontends.onnx import graph_of_onnx

        types = [] if wished is None else [saturating(wished)]
        graph = graph_of_onnx(path, name=name, input_types=types)
    else:
        from hlsgen.frontends.qkeras import graph_of_keras

        graph = graph_of_keras(path, name=name, input_type=wished)
    source = {framework: _relative(path, folder)}
    inputs = [] if input_type is None else [{"type": input_type} for _ in graph.inputs]
    return Imported(graph=graph, framework=framework, text=_text(graph, source, inputs, board))


def framework_of(model: str) -> str:
    """torch, qkeras or onnx, by the file's ending. Raises DesignError: none of them."""
    if re.fullmatch(r".+\.py:[A-Za-z_]\w*", model):
        return "torch"
    path = Path(model)
    if path.suffix in ONNX_ENDINGS:
        return "onnx"
    if path.suffix in KERAS_ENDINGS or path.is_dir():
        return "qkeras"
    raise DesignError(
        Problem(
            message=f"{model} is no model that hlsgen knows ({', '.join(FRAMEWORKS)})",
            fix="net.py:make_net for PyTorch, net.onnx, or net.h5, net.keras or a SavedModel folder",
        )
    )


def _from_torch(
    model: str, folder: Path, shapes: Sequence[tuple[int, ...]], weights: Path | None, board: str
) -> Imported:
    from hlsgen.frontends.torch import graph_of_module, load_module

    if not shapes:
        message = f"{model}: a PyTorch module does not say what it takes"
        raise DesignError(Problem(message=message, fix="--shape 3,32,32, the batch left out"))
    file, function = model.rsplit(":", 1)
    path = Path(file)
    module = load_module(path, function, weights, None)
    graph = graph_of_module(module, shapes, name=valid_name(path.stem))
    source = {"torch": f"{_relative(path, folder)}:{function}"}
    if weights is not None:
        source["weights"] = _relative(weights, folder)
    return Imported(
        graph=graph,
        framework="torch",
        text=_text(graph, source, [{"shape": list(shape)} for shape in shapes], board),
    )


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()


def _text(graph: Graph, source: dict[str, str], inputs: Sequence[Mapping[str, object]], board: str) -> str:
    """The design file; `inputs`: what it says of each. Values from outside go through the YAML writer."""
    document: dict[str, object] = {"name": graph.name, "board": board, "batch": 64, "model": source}
    if inputs:
        document["input"] = dict(inputs[0]) if len(inputs) == 1 else [dict(one) for one in inputs]
    if graph.input.is_float:
        document["precision"] = "auto"
    document["mapping"] = "auto"
    return yaml.safe_dump(document, sort_keys=False, default_flow_style=None, allow_unicode=True)


def write_design(text: str, path: Path, *, force: bool) -> None:
    """Raises OutputError: there is a file already, or it cannot be written."""
    try:
        with path.open("w" if force else "x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise OutputError(f"error: {path} is there already\nfix: another -o, or --force") from None
    except OSError as error:
        message = f"error: cannot write {path}: {error.strerror or error}\nfix: another -o"
        raise OutputError(message) from None
