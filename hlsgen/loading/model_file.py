"""A design file of a network, of a framework or written out -> a design."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hlsgen.base.errors import DesignError, Place, Problem, collecting, warned
from hlsgen.base.fixed import FixedType, FloatType
from hlsgen.base.floating import HALF
from hlsgen.base.progress import Progress, Say, silent
from hlsgen.base.quantise import WRAPPING
from hlsgen.designfile.document import Document
from hlsgen.designfile.layers_file import LayersFile, read_layers_file
from hlsgen.designfile.model_schema import ModelFile, NetworkFile
from hlsgen.designfile.precision_grammar import Written, overrides_of, section_of
from hlsgen.designfile.schema_values import SampleFile, Samples
from hlsgen.loading.frameworks import FRAMEWORKS, Original, Source, graph_of, with_original
from hlsgen.loading.from_graph import Options, from_fixed, from_float
from hlsgen.loading.layer_file import board_problems
from hlsgen.loading.network_wishes import wishes
from hlsgen.model import samples
from hlsgen.model.calibration import STAND_INS, described
from hlsgen.model.ir import Graph, Port
from hlsgen.model.judging import Judging
from hlsgen.model.ports import Floats
from hlsgen.model.precision import Bits, Precision, to_nearest
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.targets.board import Board, load_board

STAND_IN_FRAMES = 32
"""Frames of a stand-in photograph or of random numbers that types are chosen from."""
STAND_IN_MACS = 1 << 32
"""Fewer, if together they would need more multiply-accumulates."""


def load_model(
    path: Path,
    *,
    board: str | None = None,
    precision: Written = None,
    say: Say | None = None,
    progress: Progress = silent,
) -> NetworkStyle[Any]:
    """The network in a design file; arguments as of `hlsgen.load`. `say` is told when the user's code runs.

    Raises DesignError with every mistake found, each with its place.
    """
    file, document, chosen = _read(path, board)
    found = _network(path, file, document, chosen, precision, say, progress)
    return replace(found, judging=_judging(file, document))


def _judging(file: NetworkFile, document: Document) -> Judging:
    """What the design says its answers are judged by; the frames of its one input, if it says no others."""
    said = file.accuracy
    frames = said.frames
    if frames is None and len(file.input) == 1 and isinstance(file.input[0].samples, SampleFile):
        frames = file.input[0].samples.path
    return Judging(
        frames=document.beside(frames) if frames else None,
        labels=document.beside(said.labels) if said.labels else None,
        metric=document.beside(said.metric.path) if said.metric else None,
        function=said.metric.function if said.metric else "",
    )


def _network(
    path: Path,
    file: NetworkFile,
    document: Document,
    chosen: Board,
    precision: Written,
    say: Say | None,
    progress: Progress,
) -> NetworkStyle[Any]:
    """The network that a checked file says."""
    if precision is not None:
        replaced = file.precision.replaced(section_of(precision))
        file = file.model_copy(update={"precision": replaced})
    at_precision = document.place(("precision",), key=True) if precision is None else None
    original = _original(file, document)
    graph = _graph(file, document, original, say)
    _check_input_types(file, graph, document)
    wish = wishes(file, graph, document, chosen)
    frames = [_frames(file, document, index, port) for index, port in enumerate(graph.inputs)]
    options = Options(
        board=chosen,
        clock_mhz=file.clock_mhz,
        uncertainty=file.uncertainty,
        margin=file.margin,
        batch=file.batch,
        constraints=wish.constraints,
        style=file.style,
        refused=wish.refused,
    )
    if not graph.inputs[0].tensor.is_float:
        assert isinstance(file, ModelFile), "layers that are written are in floating point"
        overrides, default = file.precision.precision, None
        if file.model.qkeras is not None and isinstance(overrides.default, FixedType):
            # the frontend has used both for what has no quantizer
            default = overrides.default
            overrides = replace(overrides, default="auto", weights=None)
        with _at(at_precision):
            overrides = overrides_of(overrides)
        named = zip(graph.inputs, file.input, strict=False)
        given_types = frozenset(port.name for port, one in named if one.type is not None)
        options = replace(options, calibration=_given(frames))
        with _at(at_precision):
            style = from_fixed(
                graph,
                options,
                path.name,
                given_types=given_types,
                default_type=default,
                overrides=overrides,
                say=say or warned,
            )
        return with_original(style, original)
    options = _with_calibration(options, file, document, graph, frames)
    with _at(at_precision and document.place(("precision",))):
        options = replace(options, precision=_precision(file))
        style = from_float(graph, options, path.name, progress=progress)
    return with_original(style, original)


def _read(path: Path, board: str | None) -> tuple[NetworkFile, Document, Board]:
    """The file, with the board that it or `board` names. Raises DesignError: mistakes of its form."""
    document = Document.read(path)
    problems: list[Problem] = []
    file: NetworkFile | None = None
    if "model" in document.data:
        with collecting(problems):
            file = document.validate(ModelFile)
    else:
        file, document, problems = read_layers_file(path)
    chosen: Board | None = None
    if board is None:
        problems += board_problems(document)
    if not problems:
        assert file is not None, "it has no mistakes"
        with collecting(problems):
            chosen = load_board(board) if board else load_board(file.board, folder=path.parent)
    if file is None or chosen is None:
        raise document.error(problems)
    return file, document, chosen


class _at:
    """Problems without a place get that of a key of the document."""

    def __init__(self, place: Place | None) -> None:
        """place: None: it is not in the file."""
        self.place = place

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        if isinstance(error, DesignError):
            problems = [one if one.place else replace(one, place=self.place) for one in error.problems]
            raise DesignError(problems) from None


def _original(file: NetworkFile, document: Document) -> Original | None:
    """The model that the file names; None: its layers are written in it."""
    if isinstance(file, LayersFile):
        return None
    assert isinstance(file, ModelFile), "a network has one of the two"
    return Original(framework=file.model.framework, source=_source(file, document))


def _graph(file: NetworkFile, document: Document, original: Original | None, say: Say | None) -> Graph:
    if isinstance(file, LayersFile):
        return _written_graph(file, document)
    assert isinstance(file, ModelFile) and original is not None, "a network has one of the two"
    function = None if file.model.torch is None else file.model.torch.function
    if function is not None:
        told = say or silent
        told(f"running {document.beside(file.model.file)}, your own code, for {function}()")
    with _at(document.place(("model", file.model.framework))):
        return graph_of(original.framework, original.source, say or warned)


def _source(file: ModelFile, document: Document) -> Source:
    model = file.model
    wished = [_input_type(file, index) for index in range(max(1, len(file.input)))]
    return Source(
        model=document.beside(model.file),
        name=file.name,
        function=None if model.torch is None else model.torch.function,
        input_shapes=_input_shapes(file, document),
        input_types=[to_nearest(one) if isinstance(one, FixedType) else None for one in wished],
        precision=_precision(file),
        weights=document.beside(model.weights) if model.weights else None,
        place=document.place(("model", model.framework)),
    )


def _input_shapes(file: ModelFile, document: Document) -> list[tuple[int, ...]]:
    """The shapes of the inputs, as far as the file of the model does not say them."""
    said = FRAMEWORKS[file.model.framework].shapes
    if said == "needed":
        return _shapes(file, document)
    if said == "open":
        return _open_shapes(file, document)
    if any(one.shape is not None for one in file.input):
        message = "the model's file says what shape the input has"
        place = document.place(("input",), key=True)
        raise document.error([Problem(message=message, fix="leave shape out", place=place)])
    return []


def _written_graph(file: LayersFile, document: Document) -> Graph:
    """The graph of the file's layers. Raises DesignError with its mistakes, and those of the samples."""
    from hlsgen.frontends.builder.written_layers import graph_of_layers

    problems: list[Problem] = []
    for index, one in enumerate(file.input):
        if isinstance(one.samples, SampleFile):
            place = document.place(("input", index, "samples"))
            with collecting(problems):
                samples.from_file(document.beside(one.samples.path), one.shape, place)
    with collecting(problems):
        graph = graph_of_layers(file, document)
    if problems:
        raise document.error(problems)
    return graph


def _open_shapes(file: ModelFile, document: Document) -> list[tuple[int, ...]]:
    """The shapes of an ONNX model's open inputs; empty: its file says them all."""
    return _shapes(file, document) if any(one.shape is not None for one in file.input) else []


def _check_input_types(file: NetworkFile, graph: Graph, document: Document) -> None:
    """A type that the design gives an input of a quantised network must be the network's own."""
    problems = _float32_problems(file, document, graph)
    for index, (given, port) in enumerate(zip(file.input, graph.inputs, strict=False)):
        own, wished = port.tensor.type, _input_type(file, index)
        if wished is None or port.tensor.is_float or wished == own:
            continue
        if isinstance(wished, FixedType) and own == to_nearest(wished):
            continue
        problems.append(
            Problem(
                message=f"type is {wished}, but the network's own quantizers make {port.name} {own}",
                fix=f"leave type out, or write {own}",
                place=document.place(("input", index, "type") if given.type else ("precision", "input")),
            )
        )
    if problems:
        raise document.error(problems)


def _shapes(file: ModelFile, document: Document) -> list[tuple[int, ...]]:
    missing = [index for index, one in enumerate(file.input) if one.shape is None]
    if missing:
        what = "a PyTorch module does not say what it takes" if file.model.torch else "others have one"
        message = f"shape is missing: {what}"
        fix = "input: {shape: [3, 32, 32]}, the batch left out"
        place = document.place(("input",) if "input" in document.data else ("model",), key=True)
        raise document.error([Problem(message=message, fix=fix, place=place)])
    return [one.shape for one in file.input if one.shape is not None]


def _frames(file: NetworkFile, document: Document, index: int, port: Port) -> Floats | None:
    """Frames in the framework's layout; None: the photograph, which is made when it is needed."""
    wanted = _samples_of(file, index)
    if isinstance(wanted, SampleFile):
        place = document.place(("input", index, "samples"))
        return samples.from_file(document.beside(wanted.path), port.shape, place)
    if wanted == "random":
        random = samples.random_frames(port.tensor.shape, min(file.batch, STAND_IN_FRAMES), seed=index)
        return port.from_tensor(_within_type(random, file, port))
    return None


def _within_type(frames: Floats, file: NetworkFile, port: Port) -> Floats:
    """Frames that stand in for a user's, clipped to what a type that wraps would refuse of these."""
    type_ = file.input[0].type if port.tensor.is_float else port.tensor.type
    if not isinstance(type_, FixedType) or type_.overflow not in WRAPPING:
        return frames
    return np.clip(frames, type_.min_code * type_.resolution, type_.max_code * type_.resolution)


def _given(frames: list[Floats | None]) -> Floats | list[Floats] | None:
    """The frames of all inputs as `calibration=` takes them, if every input has some."""
    given = [array for array in frames if array is not None]
    if len(given) < len(frames):
        return None
    return given[0] if len(given) == 1 else given


def _with_calibration(
    options: Options, file: NetworkFile, document: Document, graph: Graph, frames: list[Floats | None]
) -> Options:
    """`options` with the frames that types are chosen from or judged by, and with where they are from."""
    ports = graph.inputs
    given = file.precision.calibration
    if given is not None:
        place = document.place(("precision", "calibration"))
        if len(ports) > 1:
            message = f"calibration is one file, but the network has {len(ports)} inputs"
            raise document.error([Problem(message=message, fix="samples for each input", place=place)])
        array = samples.from_file(document.beside(given), ports[0].shape, place)
        return replace(options, calibration=array, calibration_source=given.name)
    most = max(1, min(STAND_IN_FRAMES, STAND_IN_MACS // max(1, graph.macs)))
    arrays = [
        port.from_tensor(_within_type(samples.photograph(port.tensor.shape, most), file, port))
        if array is None
        else array
        for port, array in zip(ports, frames, strict=True)
    ]
    sources = [(port.name, _samples_of(file, index)) for index, port in enumerate(ports)]
    return replace(
        options,
        calibration=arrays[0] if len(arrays) == 1 else arrays,
        calibration_source=described(
            [
                (name, one.path.name if isinstance(one, SampleFile) else STAND_INS[one])
                for name, one in sources
            ]
        ),
        stand_in=not all(isinstance(one, SampleFile) for _, one in sources),
    )


def _samples_of(file: NetworkFile, index: int) -> Samples:
    return file.input[index].samples if index < len(file.input) else "photograph"


def _precision(file: NetworkFile) -> Precision:
    asked = file.precision.precision
    floating = [one.type for one in file.input if isinstance(one.type, FloatType)]
    if floating and _half_input_alone(file):
        return replace(asked, input=HALF)
    if floating:
        return replace(asked, default=floating[0])
    return replace(asked, input=_input_type(file, 0))


def _half_input_alone(file: NetworkFile) -> bool:
    """Whether every input is in half and `default` says another type of the layers."""
    said = "default" in file.precision.model_fields_set
    others = said and not isinstance(file.precision.default, FloatType)
    return others and all(one.type == HALF for one in file.input)


def _in_float32(file: NetworkFile) -> bool:
    """Whether an input, and so the network, is in float32."""
    return any(isinstance(one.type, FloatType) for one in file.input)


def _float32_problems(file: NetworkFile, document: Document, graph: Graph) -> list[Problem]:
    """What contradicts an input in float32: other types, or those that the network brings."""
    if not _in_float32(file):
        return []
    index = [isinstance(one.type, FloatType) for one in file.input].index(True)
    place = document.place(("input", index, "type"))
    if not graph.inputs[0].tensor.is_float:
        message = "the input is to be float32, but the network brings its own number types"
        return [Problem(message=message, fix="leave type out", place=place)]
    fixed = [one.type for one in file.input if isinstance(one.type, FixedType | Bits)]
    if _half_input_alone(file):
        return []
    if "default" in file.precision.model_fields_set and not isinstance(file.precision.default, FloatType):
        fixed.insert(0, file.precision.default)  # type: ignore[arg-type]
    if not fixed:
        return []
    message = f"the input is float32, but {fixed[0]} is asked for too"
    return [Problem(message=message, fix="float32 for all, or for none", place=place)]


def _input_type(file: NetworkFile, index: int) -> FixedType | FloatType | Bits | None:
    """The type of an input, or its width: its own key, or that of all in precision."""
    given = file.input[index].type if index < len(file.input) else None
    return given if isinstance(given, FixedType | Bits) else file.precision.input
