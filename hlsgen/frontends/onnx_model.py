"""Loading of an ONNX file: what it may name outside itself, what it must say, and its nodes decoded.

A model is data from outside. Nothing in it is executed; external tensor data must lie inside the model's own
folder; every declared size is compared with the bytes that are there before they are read.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.errors import DesignError, Problem, ToolError
from hlsgen.real_numbers import REAL_PART

OPSETS = range(9, 23)
"""Versions of the operator set ai.onnx that are read."""
LARGEST_FILE = (1 << 31) - 1
"""Bytes; protobuf holds no larger message. Larger weights lie in external data."""
LARGEST_TENSOR = 1 << 28
"""Elements of a tensor, constant or not."""
QUANT_DOMAINS = ("qonnx.custom_op.general", "onnx.brevitas", "finn.custom_op.general")
FLOAT_INPUTS = ("float16", "float32", "float64")
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


def loaded_model(source: Any) -> OnnxModel:
    """An ONNX file, or an onnx.ModelProto, as an OnnxModel.

    Raises ToolError: no onnx package. DesignError: no such file, not ONNX, external data outside its folder
    or of another size, what onnx.checker finds, an operator set outside OPSETS, an input whose size is open.
    """
    onnx = onnx_package()
    if isinstance(source, onnx.ModelProto):
        proto, folder, title = source, None, source.graph.name or "the ONNX model"
    else:
        path = Path(source)
        proto, folder, title = _parsed(onnx, path), path.parent, path.name
    proto = _with_external_data(onnx, proto, folder, title)
    _check(onnx, proto, title)
    opset = _opset(proto, title)
    if proto.functions:
        proto = onnx.inliner.inline_local_functions(proto)
    constants = _initialisers(onnx, proto, title)
    inputs = _inputs(onnx, proto, constants, title)
    return OnnxModel(
        title=title,
        opset=opset,
        batch=max(1, *(one.batch for one in inputs)),
        inputs=inputs,
        outputs=tuple(value.name for value in proto.graph.output),
        nodes=tuple(decoded_node(onnx, node, title) for node in proto.graph.node),
        constants=constants,
    )


def external_files(path: Path) -> tuple[str, ...]:
    """Where the tensors lie that are not in the file itself, as it says it: names relative to its folder.

    Raises as `loaded_model` does; whether they lie inside the folder is not looked at.
    """
    onnx = onnx_package()
    proto = _parsed(onnx, path)
    external = onnx.external_data_helper.uses_external_data
    tensors = (tensor for graph in (proto.graph, *proto.functions) for tensor in _tensors(graph))
    entries = (entry for tensor in tensors if external(tensor) for entry in tensor.external_data)
    return tuple(sorted({entry.value for entry in entries if entry.key == "location"}))


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
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield from _tensors(inner)


def _with_external_data(onnx: ModuleType, proto: Any, folder: Path | None, title: str) -> Any:
    """The model with its external tensors read. The caller's own ModelProto stays as it is."""
    external = onnx.external_data_helper.uses_external_data
    graphs = [proto.graph, *proto.functions]
    if not any(external(tensor) for graph in graphs for tensor in _tensors(graph)):
        return proto
    if folder is None:
        message = "its weights are external data, and a model without a file has no folder to look in"
        raise _refuse(title, message, "pass the path of the .onnx file, or load the external data first")
    for graph in graphs:
        for tensor in filter(external, _tensors(graph)):
            _read_external(onnx, tensor, folder, title)
    return proto


def _read_external(onnx: ModuleType, tensor: Any, folder: Path, title: str) -> None:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location, what = entries.get("location", ""), f"tensor {tensor.name}"
    home = folder.resolve()
    file = (home / location).resolve()
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
    packed = onnx.TensorProto.DataType.Name(tensor.data_type) in ("INT4", "UINT4", "FLOAT4E2M1")
    return -(-elements // 2) if packed else int(elements * np.dtype(dtype).itemsize)


def _check(onnx: ModuleType, proto: Any, title: str) -> None:
    try:
        onnx.checker.check_model(proto)
    except (onnx.checker.ValidationError, ValueError) as error:
        message = f"onnx.checker finds: {_first_line(error)}"
        raise _refuse(title, message, "a model that onnx.checker.check_model accepts") from error
    if proto.graph.sparse_initializer:
        name = proto.graph.sparse_initializer[0].values.name
        raise _refuse(title, f"initialiser {name} is sparse", "save it as a dense initialiser")


def _opset(proto: Any, title: str) -> int:
    versions = [entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")]
    if len(versions) == 1 and versions[0] in OPSETS:
        return int(versions[0])
    found = f"it uses operator set {versions[0]}" if versions else "it names no ai.onnx operator set"
    fix = (
        f"export with an operator set from {OPSETS[0]} to {OPSETS[-1]}, or use "
        f"onnx.version_converter.convert_version(model, {OPSETS[-1]})"
    )
    raise _refuse(title, f"{found}; {OPSETS[0]} to {OPSETS[-1]} are supported", fix)


def _initialisers(onnx: ModuleType, proto: Any, title: str) -> dict[str, NDArray[Any]]:
    return {tensor.name: _array(onnx, tensor, title) for tensor in proto.graph.initializer}


def _array(onnx: ModuleType, tensor: Any, title: str) -> NDArray[Any]:
    _bytes_of(onnx, tensor, title)
    try:
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
    onnx: ModuleType, proto: Any, constants: dict[str, NDArray[Any]], title: str
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
    inputs = tuple(_input(onnx, value, annotations.get(value.name, ""), title) for value in values)
    fixed = {one.batch for one in inputs if one.batch}
    if len(fixed) > 1:
        found = ", ".join(f"{one.name} {one.batch}" for one in inputs)
        raise _refuse(title, f"its inputs differ in their batch ({found})", "the same batch for all inputs")
    return inputs


def _input(onnx: ModuleType, value: Any, annotation: str, title: str) -> Input:
    what = f"input {value.name}"
    if not value.type.HasField("tensor_type"):
        raise _refuse(title, f"{what} is not a tensor", "a model whose inputs are tensors")
    tensor = value.type.tensor_type
    dtype = str(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    if dtype not in FLOAT_INPUTS + INTEGER_INPUTS:
        accepted = ", ".join(FLOAT_INPUTS + INTEGER_INPUTS)
        raise _refuse(title, f"{what} holds {dtype}", f"an input of one of the types {accepted}")
    if not 2 <= len(tensor.shape.dim) <= 4:
        message = f"{what} has {len(tensor.shape.dim)} axes"
        raise _refuse(title, message, "two to four axes, the batch first, as [N, C, H, W]")
    batch, *rest = [dim.dim_value if dim.HasField("dim_value") else 0 for dim in tensor.shape.dim]
    if any(size < 1 for size in rest):
        names = [dim.dim_value or dim.dim_param or "?" for dim in tensor.shape.dim]
        shown = ", ".join(str(name) for name in names)
        fix = (
            "fix every size but the batch: export without dynamic axes, or "
            "onnx.tools.update_model_dims.update_inputs_outputs_dims"
        )
        raise _refuse(title, f"{what} has the shape [{shown}], whose size is open", fix)
    if math.prod(rest) > LARGEST_TENSOR:
        raise _refuse(title, f"{what} has {math.prod(rest)} elements", f"at most {LARGEST_TENSOR}")
    return Input(
        name=value.name, batch=max(0, int(batch)), shape=tuple(rest), dtype=dtype, annotation=annotation
    )
