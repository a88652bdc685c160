"""`hlsgen import`: what a model's file holds, and a design file to start from."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from hlsgen.base.errors import DesignError, OutputError, Problem, collecting
from hlsgen.base.fixed import FixedType
from hlsgen.base.output import write_whole
from hlsgen.base.progress import Say, silent
from hlsgen.base.short_repr import Brief
from hlsgen.designfile.json_schemas import EDITOR_LINE, FILE_NAME, schema_text
from hlsgen.designfile.names import valid_name
from hlsgen.designfile.precision_grammar import overrides_of, precision_of
from hlsgen.loading.frameworks import FRAMEWORKS, Source, graph_of
from hlsgen.model.ir import Graph
from hlsgen.model.precision import to_nearest
from hlsgen.model.samples import from_file

YAML_ENDINGS = (".yaml", ".yml")
STAND_IN = (
    "no samples are given: number types (precision: auto) will be chosen from a stand-in photograph, values "
    "within -1 to 1. What lies beyond it in your own inputs will be clipped, and the accuracy reported will "
    "not be that of your inputs. Save typical frames, {sizes}, with numpy.save, and name the file: "
    '--samples frames.npy, or in the design file "samples: frames.npy" in place of "samples: photograph"'
)
"""What is said of a design in floating point without samples."""


@dataclass(frozen=True, kw_only=True)
class Imported(Brief):
    """A model's graph, and the design file that names it. warnings: what its user should know of the file."""

    graph: Graph
    framework: str
    text: str
    warnings: tuple[str, ...] = ()


def import_model(
    model: str,
    folder: Path,
    *,
    shapes: Sequence[tuple[int, ...]],
    input_type: str | None,
    default_type: str | None = None,
    weights: Path | None,
    board: str,
    samples: Sequence[Path] = (),
    say: Say = silent,
) -> Imported:
    """The model as users name it: net.py:make_net, net.onnx, or net.h5; the design will lie in `folder`.

    shapes: of a frame of each input, which a PyTorch module does not say, and an ONNX file may leave open.
    input_type: of inputs that a quantised model does not quantise first. default_type: of what has no
    quantizer in a model of Keras that has some. samples: files of typical frames, of each input in turn.
    `say` is told what was mended. Raises DesignError as the frontends do, and for samples that do not fit.
    """
    framework = framework_of(model)
    given = None if input_type is None else overrides_of(precision_of({"input": input_type})).input
    wished = to_nearest(given) if isinstance(given, FixedType) else None
    if default_type is not None and framework != "qkeras":
        message = f"{model}: only a Keras model has layers with and without quantizers"
        raise DesignError(Problem(message=message, fix="leave --default-type out"))
    if framework == "torch":
        if wished is not None:
            message = f"{model} is in floating point: the design file's precision says its types"
            raise DesignError(Problem(message=message, fix="leave --input-type out"))
        return _from_torch(model, folder, shapes, weights, board, samples)
    beside = framework == "qkeras" and Path(model).suffix == ".json"
    if weights is not None and not beside:
        raise DesignError(Problem(message=f"{model} holds its weights itself", fix="leave --weights out"))
    if shapes and FRAMEWORKS[framework].shapes == "known":
        message = f"{model} says itself what shape the input has"
        raise DesignError(Problem(message=message, fix="leave --shape out"))
    path = Path(model)
    name = valid_name(path.stem)
    graph = graph_of(
        framework,
        Source(
            model=path,
            name=name,
            input_shapes=shapes,
            input_types=[wished],
            precision=None if default_type is None else precision_of({"default": default_type}),
            weights=weights,
        ),
        say,
    )
    if default_type is not None and graph.input.is_float:
        message = f"{model} is in floating point: the design file's precision says its types"
        raise DesignError(Problem(message=message, fix="leave --default-type out"))
    source = {framework: _relative(path, folder)}
    if weights is not None:
        source["weights"] = _relative(weights, folder)
    inputs: list[dict[str, object]] = [{} for _ in graph.inputs]
    for one, shape in zip(inputs, shapes, strict=False):
        one["shape"] = list(shape)
    if input_type is not None:
        for one in inputs:
            one["type"] = input_type
    return _imported(graph, source, inputs, board, folder, samples, default_type)


WEIGHT_ENDINGS = (".pt", ".pth", ".ckpt", ".safetensors")
"""Endings of what PyTorch and its like save."""


def refuse_models(path: Path) -> None:
    """Refuses a model where a design is wanted. Raises DesignError."""
    endings = {ending for one in FRAMEWORKS.values() for ending in one.endings} - {".json"}
    if path.suffix in endings or path.suffix in WEIGHT_ENDINGS:
        model = f"{path}:make_net" if path.suffix == ".py" else str(path)
        fix = f"hlsgen import {model}, which writes a design file that names it"
        if path.suffix in WEIGHT_ENDINGS:
            fix = f"hlsgen import net.py:make_net --weights {path} --shape C,H,W, which writes a design file"
        raise DesignError(Problem(message=f"{path} is no design", fix=fix))


def framework_of(model: str) -> str:
    """torch, qkeras or onnx, by the file's ending. Raises DesignError: none of them."""
    if re.fullmatch(r".+\.py:[A-Za-z_]\w*", model):
        return "torch"
    path = Path(model)
    for name, one in FRAMEWORKS.items():
        if path.suffix in one.endings and name != "torch":
            return name
    if path.is_dir():
        return "qkeras"
    if path.suffix in WEIGHT_ENDINGS:
        raise DesignError(
            Problem(
                message=f"{model} holds weights, or a module without its Python, and no model to read",
                fix=f"the function that makes it: net.py:make_net --weights {model} --shape C,H,W",
            )
        )
    raise DesignError(
        Problem(
            message=f"{model} is no model that hlsgen knows ({', '.join(FRAMEWORKS)})",
            fix="net.py:make_net for PyTorch, net.onnx, or net.h5, net.keras or a SavedModel folder",
        )
    )


def _from_torch(
    model: str,
    folder: Path,
    shapes: Sequence[tuple[int, ...]],
    weights: Path | None,
    board: str,
    samples: Sequence[Path],
) -> Imported:
    if not shapes:
        message = f"{model}: a PyTorch module does not say what it takes"
        raise DesignError(Problem(message=message, fix="--shape 3,32,32, the batch left out"))
    file, function = model.rsplit(":", 1)
    path = Path(file)
    name = valid_name(path.stem)
    given = Source(model=path, name=name, function=function, input_shapes=shapes, weights=weights)
    graph = graph_of("torch", given)
    source = {"torch": f"{_relative(path, folder)}:{function}"}
    if weights is not None:
        source["weights"] = _relative(weights, folder)
    return _imported(graph, source, [{"shape": list(shape)} for shape in shapes], board, folder, samples)


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()


def _imported(
    graph: Graph,
    source: dict[str, str],
    inputs: list[dict[str, object]],
    board: str,
    folder: Path,
    samples: Sequence[Path],
    default_type: str | None = None,
) -> Imported:
    """inputs: what the design file says of each, but for its samples."""
    _check_samples(graph, samples)
    warnings = []
    for number, one in enumerate(inputs):
        if samples:
            one["samples"] = _relative(samples[number], folder)
        elif graph.input.is_float:
            one["samples"] = "photograph"
    if graph.input.is_float and not samples:
        sizes = "; ".join(f"[N, {', '.join(map(str, port.shape))}]" for port in graph.inputs)
        warnings.append(STAND_IN.format(sizes=sizes))
    precision: object = "auto" if graph.input.is_float else None
    if default_type is not None:
        precision = {"default": default_type}
    text = _text(graph, source, [one for one in inputs if one], board, precision)
    comment = "".join(
        textwrap.fill(one, 110, initial_indent="# ", subsequent_indent="# ") + "\n" for one in warnings
    )
    text = EDITOR_LINE + comment + text
    return Imported(graph=graph, framework=next(iter(source)), text=text, warnings=tuple(warnings))


def _check_samples(graph: Graph, samples: Sequence[Path]) -> None:
    """Refuses samples. Raises DesignError: not a file for each input, or one that holds no frames of it."""
    if not samples:
        return
    if len(samples) != len(graph.inputs):
        names = ", ".join(port.name for port in graph.inputs)
        message = f"--samples is given {len(samples)} times, and the inputs are {names}"
        raise DesignError(Problem(message=message, fix="a file for each of them, in this order"))
    problems: list[Problem] = []
    for port, path in zip(graph.inputs, samples, strict=True):
        with collecting(problems):
            from_file(path, port.shape)
    if problems:
        raise DesignError(problems)


def _text(
    graph: Graph,
    source: dict[str, str],
    inputs: Sequence[Mapping[str, object]],
    board: str,
    precision: object,
) -> str:
    """The design file; values from outside go through the YAML writer.

    inputs: what it says of each. precision: what it says of number types; None: nothing.
    """
    document: dict[str, object] = {"name": graph.name, "board": board, "batch": 64, "model": source}
    if inputs:
        document["input"] = dict(inputs[0]) if len(inputs) == 1 else [dict(one) for one in inputs]
    if precision is not None:
        document["precision"] = precision
    document["mapping"] = "auto"
    return yaml.safe_dump(document, sort_keys=False, default_flow_style=None, allow_unicode=True)


def write_schema(folder: Path) -> None:
    """Writes the JSON Schema that EDITOR_LINE names. Raises OutputError: it cannot be written."""
    write_whole(folder / FILE_NAME, schema_text())


def write_design(text: str, path: Path, *, force: bool) -> None:
    """Writes a YAML file; `force` replaces one that is there, whole, and no file of another kind.

    Raises OutputError: there is a file already, or it cannot be written.
    """
    if force and path.is_file():
        if path.suffix not in YAML_ENDINGS:
            message = f"error: {path} is there already, and no YAML file by its name; nothing was changed"
            raise OutputError(f"{message}\nfix: another -o, or remove it yourself")
        write_whole(path, text)
        return
    try:
        with path.open("w" if force else "x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise OutputError(f"error: {path} is there already\nfix: another -o, or --force") from None
    except OSError as error:
        message = f"error: cannot write {path}: {error.strerror or error}\nfix: another -o"
        raise OutputError(message) from None
