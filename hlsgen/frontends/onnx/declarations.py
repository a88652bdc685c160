"""What an ONNX file declares of its tensors, held against what they are: shapes and element types.

Exporters write shapes by other roundings than ONNX Runtime computes, which runs such files all the same:
there the shape that it computes is taken, and said. Other ranks and element types it refuses, as this does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from hlsgen.base.errors import DesignError, Problem, ToolError
from hlsgen.base.progress import Say
from hlsgen.frontends.onnx.layer_values import computed_shapes
from hlsgen.frontends.onnx.model import Node, OnnxModel

Sizes = tuple[int | None, ...]
AGAIN = (
    "export the model again, or declare no shape there (onnx.shape_inference.infer_shapes says the right one)"
)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A tensor whose shape is not the declared one; None stands for sizes that are left open."""

    node: Node
    name: str
    declared: Sizes
    found: tuple[int, ...]

    def problem(self, runs: str) -> Problem:
        """The difference as an error. runs: what a runtime says of it."""
        message = (
            f"{self.node.label}: the file declares the shape {_shown(self.declared)} for {self.name}, "
            f"which is {list(self.found)}{runs}"
        )
        return Problem(message=message, fix=AGAIN)


def declared_shapes(model: OnnxModel) -> dict[str, Sizes]:
    """The shapes that the file declares of results, by name; the batch is None where inputs leave it open."""
    graph = model.proto.graph
    open_batch = all(one.batch == 0 for one in model.inputs)
    shapes: dict[str, Sizes] = {}
    for value in (*graph.value_info, *graph.output):
        tensor = value.type.tensor_type
        if tensor.HasField("shape"):
            sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]
            shapes[value.name] = (None, *sizes[1:]) if open_batch and sizes else tuple(sizes)
    return shapes


def _shown(sizes: Sequence[int | None]) -> str:
    return "[" + ", ".join("?" if size is None else str(size) for size in sizes) + "]"


def difference(
    node: Node, name: str, found: tuple[int, ...], declared: Mapping[str, Sizes]
) -> Difference | None:
    """How the shape of a result departs from the declared one. Raises DesignError: in its number of axes."""
    wanted = declared.get(name)
    if wanted is None:
        return None
    made = Difference(node=node, name=name, declared=wanted, found=found)
    if len(wanted) != len(found):
        raise DesignError(made.problem(""))
    return made if any(want not in (None, size) for want, size in zip(wanted, found, strict=True)) else None


def settle(model: OnnxModel, differences: Sequence[Difference], say: Say) -> None:
    """Says each difference where a runtime computes the shape that was found.

    Raises DesignError: it computes another one, or does not run the file.
    """
    if not differences:
        return
    try:
        title, shapes = computed_shapes(model, [one.name for one in differences])
    except ToolError as error:
        runs = f"; {str(error).splitlines()[0]}"
        raise DesignError([one.problem(runs) for one in differences]) from error
    wrong = [one for one in differences if shapes.get(one.name, one.found) != one.found]
    if wrong:
        raise DesignError([one.problem(f"; {title} has {list(shapes[one.name])}") for one in wrong])
    for one in differences:
        say(
            f"{one.node.label}: the file declares the shape {_shown(one.declared)} for {one.name}, and "
            f"{title} computes {list(one.found)}, which is taken"
        )


def check_types(onnx: ModuleType, proto: Any, title: str) -> None:
    """Refuses declared element types that are not those of the operations, as ONNX Runtime does.

    Only types are looked at: weights are left out and shapes not compared. Raises DesignError.
    """
    bare = type(proto)()
    bare.opset_import.extend(proto.opset_import)
    bare.ir_version = proto.ir_version
    bare.graph.name = proto.graph.name
    bare.graph.node.extend(proto.graph.node)
    values = onnx.helper.make_tensor_value_info
    named = {value.name for value in proto.graph.input}
    bare.graph.input.extend(
        [value for value in proto.graph.input]
        + [values(one.name, one.data_type, None) for one in proto.graph.initializer if one.name not in named]
    )
    for kept, given in (
        (bare.graph.output, proto.graph.output),
        (bare.graph.value_info, proto.graph.value_info),
    ):
        tensors = (value for value in given if value.type.tensor_type.elem_type)
        kept.extend(values(value.name, value.type.tensor_type.elem_type, None) for value in tensors)
    try:
        onnx.shape_inference.infer_shapes(bare, strict_mode=True)
    except onnx.shape_inference.InferenceError as error:
        said = next((line for line in str(error).splitlines() if "elem type differs" in line), "")
        if said:
            fix = "export the model again: ONNX Runtime refuses a tensor of another type than its node's"
            raise DesignError(Problem(message=f"{title}: {said.strip()}", fix=fix)) from None
