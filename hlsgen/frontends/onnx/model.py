"""Loading of an ONNX file: what it may name outside itself, what it must say, and its nodes decoded.

A model is data from outside. Nothing in it is executed; external tensor data must lie inside the model's own
folder; every declared size is compared with the bytes that are there before they are read.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError, Problem, ToolError
from hlsgen.base.progress import Say, silent
from hlsgen.base.real_numbers import REAL_PART
from hlsgen.frontends.builder.limits import MOST_NODES
from hlsgen.frontends.onnx.dialects import QUANT_DOMAINS, opset_of, with_quantisers_at_home
from hlsgen.frontends.onnx.functions import inlined_nodes
from hlsgen.frontends.onnx.input_shapes import InputShapes, Sizes, elements, fixed_sizes

LARGEST_FILE = (1 << 31) - 1
"""Bytes; protobuf holds no larger message. Larger weights lie in external data."""
LARGEST_TENSOR = 1 << 28
"""Elements of a tensor, constant or not."""
LONGEST_SHOWN = 80
"""Letters of a path in a message."""
PACKED = {"INT4": 4, "UINT4": 4, "FLOAT4E2M1": 4, "INT2": 2, "UINT2": 2}
"""Bits of the types that lie several in a byte."""
FLOAT_INPUTS = ("float16", "float32", "float64")
MULTI_THRESHOLD = "MultiThreshold"
"""QONNX's operation for activations of few bits, see thresholds.py."""
INTEGER_INPUTS = ("uint8", "int8", "uint16", "int16")


@dataclass(frozen=True, kw_only=True)
class Node:
    """One node: attributes are Python values or NumPy arrays; a missing optional input is an empty name."""

    op: str
    domain: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]
    proto: Any = field(repr=False)

    @property
    def label(self) -> str:
        """How messages call it."""
        return f"node {self.name or self.outputs[0]} ({self.op})"

    @property
    def is_quantiser(self) -> bool:
        return self.domain in QUANT_DOMAINS

    def problem(self, message: str, fix: str) -> DesignError:
        return DesignError(Problem(message=f"{self.label}: {message}", fix=fix))

    def attribute(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)

    def number(self, name: str, default: float) -> float:
        """An attribute that is a finite number."""
        value = float(self.attributes.get(name, default))
        if not math.isfinite(value):
            raise self.problem(f"{name} is {value}", f"a finite {name}")
        return value

    def flag(self, name: str, default: int = 0) -> bool:
        """An attribute that is 0 or 1."""
        value = self.attributes.get(name, default)
        if value not in (0, 1):
            raise self.problem(f"{name} is {value}", f"{name} 0 or 1")
        return bool(value)

    def input(self, index: int) -> str:
        """The name of an input; empty where an optional one is left out."""
        return self.inputs[index] if index < len(self.inputs) else ""


@dataclass(frozen=True, kw_only=True)
class Input:
    """A graph input: `shape` without the batch, which is 0 if open; `annotation` is QONNX's data type."""

    name: str
    batch: int
    shape: tuple[int, ...]
    dtype: str
    annotation: str = ""


@dataclass(frozen=True, kw_only=True)
class OnnxModel:
    """A model whose sizes and types are checked. `batch` is 1 if the model leaves it open."""

    title: str
    opset: int
    batch: int
    inputs: tuple[Input, ...]
    outputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    constants: dict[str, NDArray[Any]]
    proto: Any = field(repr=False)
    """The ModelProto that all this was read from: external data read, local functions written out."""


def onnx_package() -> ModuleType:
    """The onnx package. Raises ToolError with the command that installs it."""
    try:
        import onnx
        import onnx.external_data_helper
        import onnx.inliner
        import onnx.reference
    except ImportError as error:
        message = f"reading an ONNX model needs the package onnx, which cannot be imported ({error})"
        raise ToolError(f"{message}\nfix: pip install 'hlsgen[onnx]'") from error
    return onnx


def loaded_model(source: Any, input_shapes: InputShapes = (), say: Say = silent) -> OnnxModel:
    """An ONNX file, an onnx.ModelProto, or qonnx's ModelWrapper of one, as an OnnxModel.

    `say` is told what was mended.

    Raises ToolError: no onnx package. DesignError: no such file, not ONNX, external data outside its folder
    or of another size, what onnx.checker finds, an operator set that is not read, an input whose size is open
    and not among input_shapes.
    """
    onnx = onnx_package()
    source = _unwrapped(onnx, source)
    if isinstance(source, onnx.ModelProto):
        proto, folder, title = source, None, source.graph.name or "the ONNX model"
    else:
        path = Path(source)
        proto, folder, title = _parsed(onnx, path), path.parent, path.name
    proto = _with_external_data(onnx, proto, folder, title)
    _refuse_many_nodes(proto, title)
    proto = with_quantisers_at_home(onnx, proto, say)
    _check(onnx, proto, title)
    opset = opset_of(onnx, proto, title)
    if proto.functions:
        proto = onnx.inliner.inline_local_functions(proto)
    constants = initialisers(onnx, proto.graph, title)
    inputs = _inputs(onnx, proto, constants, input_shapes, title)
    return OnnxModel(
        title=title,
        opset=opset,
        batch=max(1, *(one.batch for one in inputs)),
        inputs=inputs,
        outputs=tuple(value.name for value in proto.graph.output),
        nodes=tuple(decoded_node(onnx, node, title) for node in proto.graph.node),
        constants=constants,
        proto=proto,
    )


def _unwrapped(onnx: ModuleType, source: Any) -> Any:
    """The ModelProto that qonnx's ModelWrapper holds; anything else as it is.

    Raises DesignError: it is neither a path nor a model.
    """
    held = getattr(source, "model", None)
    if isinstance(held, onnx.ModelProto):
        return held
    if isinstance(source, onnx.ModelProto | str | os.PathLike):
        return source
    message = f"from_onnx takes no {type(source).__name__}"
    fix = "the path of a .onnx file, an onnx.ModelProto, or qonnx's ModelWrapper"
    raise DesignError(Problem(message=message, fix=fix))


def _refuse_many_nodes(proto: Any, title: str) -> None:
    """Refuses before they are written out what local functions would make of it."""
    count = inlined_nodes(proto)
    if count > MOST_NODES:
        message = f"it has {count:,} nodes, its local functions written out, more than {MOST_NODES:,}"
        raise _refuse(title, message, "a smaller model, without functions that call each other many times")


def external_files(path: Path) -> tuple[str, ...]:
    """The files of the tensors that are not in the model's own, as it says it: relative to its folder.

    Raises as `loaded_model` does; whether they lie inside the folder is not looked at.
    """
    onnx = onnx_package()
    entries = (
        entry for tensor in external_tensors(onnx, _parsed(onnx, path)) for entry in tensor.external_data
    )
    return tuple(sorted({entry.value for entry in entries if entry.key == "location"}))


def external_tensors(onnx: ModuleType, proto: Any) -> Iterator[Any]:
    """Every TensorProto of a ModelProto whose data lie in another file, wherever in the model it stands."""
    graphs = (proto.graph, *proto.functions)
    return filter(
        onnx.external_data_helper.uses_external_data,
        (tensor for graph in graphs for tensor in _tensors(graph)),
    )


def _refuse(title: str, message: str, fix: str) -> DesignError:
    return DesignError(Problem(message=f"{title}: {message}", fix=fix))


def _parsed(onnx: ModuleType, path: Path) -> Any:
    if not path.is_file():
        raise _refuse(str(path), "there is no such file", "the path of a .onnx file")
    if path.stat().st_size > LARGEST_FILE:
        raise _refuse(path.name, "the file exceeds 2 GiB", "save the weights as external data")
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(path.read_bytes())
    except Exception as error:  # protobuf's own DecodeError, of whichever of its implementations
        message = f"this is not an ONNX model, or it is damaged ({_first_line(error)})"
        raise _refuse(path.name, message, "a file that onnx.load reads") from error
    return proto


def few(values: Iterable[object], most: int = 8) -> str:
    """A list in a message, its first few elements."""
    shown = [str(value) for value in itertools.islice(values, most + 1)]
    return f"[{', '.join(shown[:most])}{', ...' if len(shown) > most else ''}]"


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _tensors(graph: Any) -> Iterator[Any]:
    """Every TensorProto of a graph or function: initialisers and attributes, those of inner graphs too."""
    yield from getattr(graph, "initializer", ())
    sparse = list(getattr(graph, "sparse_initializer", ()))
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            sparse += [attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []
            sparse += attribute.sparse_tensors
            for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield from _tensors(inner)
    for one in sparse:
        yield from (one.values, one.indices)


def _with_external_data(onnx: ModuleType, proto: Any, folder: Path | None, title: str) -> Any:
    """The model with its external tensors read. The caller's own ModelProto stays as it is."""
    tensors = list(external_tensors(onnx, proto))
    if not tensors:
        return proto
    if folder is None:
        message = "its weights are external data, and a model without a file has no folder to look in"
        raise _refuse(title, message, "pass the path of the .onnx file, or load the external data first")
    for tensor in tensors:
        _read_external(onnx, tensor, folder, title)
    return proto


def _read_external(onnx: ModuleType, tensor: Any, folder: Path, title: str) -> None:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location, what = entries.get("location", ""), f"tensor {tensor.name}"
    home = folder.resolve()
    try:
        file = (home / location).resolve()
        file.stat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:  # ValueError: a NUL in it
        shown = repr(location if len(location) <= LONGEST_SHOWN else f"{location[:LONGEST_SHOWN]}...")
        message = f"{what} takes its data from {shown}, which is no path"
        raise _refuse(title, message, "a plain name") from error
    if not location or Path(location).is_absolute() or not file.is_relative_to(home):
        message = f"{what} takes its data from {location!r}, which is not inside the model's folder"
        raise _refuse(title, message, "external data beside the model, named by a relative path")
    if not file.is_file():
        message = f"{what} takes its data from {location!r}, and there is no such file beside the model"
        raise _refuse(title, message, f"put {location} beside {title}")
    wanted = _bytes_of(onnx, tensor, title)
    try:
        offset = int(entries.get("offset", 0))
        length = int(entries.get("length", wanted))
    except ValueError as error:
        raise _refuse(title, f"{what}: offset or length is no number", "export the model again") from error
    if length != wanted or offset < 0 or offset + wanted > file.stat().st_size:
        message = (
            f"{what} of shape {list(tensor.dims)} needs {wanted} bytes; {location!r} has "
            f"{file.stat().st_size} and the model names {length} of them from {offset}"
        )
        raise _refuse(title, message, "the data file that was written with this model")
    try:
        onnx.external_data_helper.load_external_data_for_tensor(tensor, str(home))
    except (OSError, ValueError, onnx.checker.ValidationError) as error:
        message = f"{what}: its external data cannot be read ({_first_line(error)})"
        raise _refuse(title, message, "a plain file beside the model") from error


def _bytes_of(onnx: ModuleType, tensor: Any, title: str) -> int:
    """Bytes that the tensor's shape and type need. Raises DesignError: a negative size or no numeric type."""
    try:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
    except KeyError as error:
        message = f"tensor {tensor.name} has the unknown element type {tensor.data_type}"
        raise _refuse(title, message, "export the model again") from error
    if any(size < 0 for size in tensor.dims):
        raise _refuse(title, f"tensor {tensor.name} has a negative size", "export the model again")
    elements = math.prod(tensor.dims)
    packed = PACKED.get(onnx.TensorProto.DataType.Name(tensor.data_type))
    return -(-elements * packed // 8) if packed else int(elements * np.dtype(dtype).itemsize)


def _check(onnx: ModuleType, proto: Any, title: str) -> None:
    try:
        onnx.checker.check_model(_with_output_shapes(onnx, proto))
    except (onnx.checker.ValidationError, ValueError) as error:
        message = f"onnx.checker finds: {_first_line(error)}"
        raise _refuse(title, message, _remedy(onnx, proto)) from error
    if proto.graph.sparse_initializer:
        name = proto.graph.sparse_initializer[0].values.name
        raise _refuse(title, f"initialiser {name} is sparse", "save it as a dense initialiser")


def _with_output_shapes(onnx: ModuleType, proto: Any) -> Any:
    """The model, or a copy whose outputs all say type and shape: the checker asks for these."""
    bare = [
        number
        for number, value in enumerate(proto.graph.output)
        if not value.type.WhichOneof("value")
        or (value.type.HasField("tensor_type") and not value.type.tensor_type.HasField("shape"))
    ]
    if not bare:
        return proto
    copy = type(proto)()
    copy.CopyFrom(proto)
    for number in bare:
        tensor = copy.graph.output[number].type.tensor_type
        tensor.shape.SetInParent()
        tensor.elem_type = tensor.elem_type or onnx.TensorProto.FLOAT
    return copy


def _remedy(onnx: ModuleType, proto: Any) -> str:
    """What could mend a model that the checker refuses."""
    newest = onnx.defs.onnx_opset_version()
    opsets = [entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")]
    if proto.ir_version > onnx.IR_VERSION or max(opsets, default=0) > newest:
        return (
            f"pip install --upgrade onnx ({onnx.__version__} knows operator sets up to {newest}, IR versions "
            f"up to {onnx.IR_VERSION}), or export the model for these"
        )
    return "a model that onnx.checker.check_model accepts"


def initialisers(onnx: ModuleType, graph: Any, title: str) -> dict[str, NDArray[Any]]:
    """The constants that a graph brings. Raises DesignError: one does not hold what it says."""
    return {tensor.name: _array(onnx, tensor, title) for tensor in graph.initializer}


def _array(onnx: ModuleType, tensor: Any, title: str) -> NDArray[Any]:
    wanted = _bytes_of(onnx, tensor, title)
    try:
        if tensor.HasField("raw_data") and len(tensor.raw_data) != wanted:
            raise ValueError
        array: NDArray[Any] = onnx.numpy_helper.to_array(tensor)
    except (TypeError, ValueError) as error:
        message = f"tensor {tensor.name} does not hold the data that its shape {list(tensor.dims)} asks for"
        raise _refuse(title, message, "export the model again") from error
    if np.iscomplexobj(array):
        raise _refuse(title, f"tensor {tensor.name} holds {array.dtype}, not real numbers", REAL_PART)
    return array


def decoded_node(onnx: ModuleType, node: Any, title: str) -> Node:
    return Node(
        op=node.op_type,
        domain="" if node.domain == "ai.onnx" else node.domain,
        name=node.name,
        inputs=tuple(node.input),
        outputs=tuple(node.output),
        attributes={entry.name: _attribute(onnx, entry, title) for entry in node.attribute},
        proto=node,
    )


def _attribute(onnx: ModuleType, entry: Any, title: str) -> Any:
    value = onnx.helper.get_attribute_value(entry)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, onnx.TensorProto):
        return _array(onnx, value, title)
    return list(value) if entry.type in (entry.INTS, entry.FLOATS) else value


def _inputs(
    onnx: ModuleType, proto: Any, constants: dict[str, NDArray[Any]], shapes: InputShapes, title: str
) -> tuple[Input, ...]:
    annotations = {
        note.tensor_name: pair.value
        for note in proto.graph.quantization_annotation
        for pair in note.quant_parameter_tensor_names
        if pair.key == "finn_datatype"
    }
    values = [value for value in proto.graph.input if value.name not in constants]
    if not values:
        raise _refuse(title, "it has no inputs", "a model with at least one input")
    types = {value.name: _element_type(onnx, value, title) for value in values}
    sizes = fixed_sizes([Sizes.of(value) for value in values], shapes, title)
    inputs = tuple(
        _input(sizes[name], dtype, annotations.get(name, ""), title) for name, dtype in types.items()
    )
    fixed = {one.batch for one in inputs if one.batch}
    if len(fixed) > 1:
        found = ", ".join(f"{one.name} {one.batch}" for one in inputs)
        raise _refuse(title, f"its inputs differ in their batch ({found})", "the same batch for all inputs")
    return inputs


def _type_name(onnx: ModuleType, number: int) -> str:
    """NumPy's name of an element type, or what to call it in a message."""
    try:
        return str(onnx.helper.tensor_dtype_to_np_dtype(number))
    except KeyError:
        return f"the unknown element type {number}"


def _element_type(onnx: ModuleType, value: Any, title: str) -> str:
    """The element type of an input that is a tensor of a type that is read, and of two to four axes."""
    what = f"input {value.name}"
    if not value.type.HasField("tensor_type"):
        raise _refuse(title, f"{what} is not a tensor", "a model whose inputs are tensors")
    tensor = value.type.tensor_type
    dtype = _type_name(onnx, tensor.elem_type)
    if dtype not in FLOAT_INPUTS + INTEGER_INPUTS:
        accepted = ", ".join(FLOAT_INPUTS + INTEGER_INPUTS)
        fix = f"an input of one of the types {accepted}"
        if dtype in ("int32", "int64"):
            fix += "; indices of a table (Gather): look them up before, and give the model what is found"
        raise _refuse(title, f"{what} holds {dtype}", fix)
    if not 2 <= len(tensor.shape.dim) <= 4:
        message = f"{what} has {len(tensor.shape.dim)} axes"
        raise _refuse(title, message, "two to four axes, the batch first, as [N, C, H, W]")
    return dtype


def _input(sizes: Sizes, dtype: str, annotation: str, title: str) -> Input:
    if elements(sizes) > LARGEST_TENSOR:
        message = f"input {sizes.name} has {elements(sizes)} elements"
        raise _refuse(title, message, f"at most {LARGEST_TENSOR}")
    batch, *rest = (size if isinstance(size, int) else 0 for size in sizes.axes)
    return Input(name=sizes.name, batch=batch, shape=tuple(rest), dtype=dtype, annotation=annotation)
