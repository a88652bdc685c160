"""A PyTorch model as a graph of aten operations, by torch.export: any number of frames, nothing in place."""

from __future__ import annotations

import inspect
import logging
import os
import re
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

from hlsgen.base.errors import DesignError, Place, Problem
from hlsgen.frontends.builder.limits import shape_problem
from hlsgen.frontends.torch.alternatives import BEFORE
from hlsgen.frontends.torch.package import fx, nn, torch
from hlsgen.frontends.torch.patterns import restored
from hlsgen.frontends.torch.tensors import tensor_problems

EXAMPLE_FRAMES = 2
"""Frames that the model is traced with; their number is a symbol, and no shape depends on it."""
TORCH_FOLDER = str(Path(torch.__file__).parent)
EMBEDDINGS = (nn.Embedding, nn.EmbeddingBag)
"""Modules that take indices, which no input of a design is."""
LONGEST_QUOTE = 300
"""Letters of what PyTorch says that a message quotes."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """What an exported model is.

    nodes: in an order of computation. inputs: the placeholders of the model's inputs. constants: its
    parameters and buffers by placeholder, and `paths` what the model calls them. outputs: (name, node) in the
    order in which the model gives them. batch: the symbol of the number of frames.
    """

    nodes: tuple[fx.Node, ...]
    inputs: tuple[fx.Node, ...]
    constants: dict[fx.Node, torch.Tensor]
    paths: dict[fx.Node, str]
    outputs: tuple[tuple[str, object], ...]
    batch: Any


def exported(
    model: nn.Module,
    input_shapes: Sequence[tuple[int, ...]],
    place: Place | None = None,
    *,
    as_written: bool = False,
) -> Program:
    """The model in evaluation mode as a program; input_shapes are without the batch.

    as_written: with the operations of the model's author: flatten and relu_ in place, not view and relu.

    Raises DesignError: it takes another number of inputs, it fails on such inputs, it cannot be exported
    (control flow that depends on values, a fixed number of frames), it changes its own buffers.
    """
    if not input_shapes:
        raise _error("the model has no inputs", "at least one input, with its shape", place)
    problems = [shape_problem("the input", shape) for shape in input_shapes]
    model, found = traceable(model), [replace(one, place=place) for one in problems if one is not None]
    found += tensor_problems(_held(model), "the model", place)
    if found:
        raise DesignError(found)
    # what was exported before has one mode for good
    with suppress(NotImplementedError):
        model.eval()
    examples = _examples(model, input_shapes)
    shapes = _dynamic_shapes(model, examples, place)
    try:
        with torch.no_grad(), _quiet():
            program = torch.export.export(model, examples, dynamic_shapes=shapes, strict=False)
            if not as_written:
                # nothing in place any more, and every operation as layers.py and the others know it
                program = program.run_decompositions({})
                restored(program.graph)
    except Exception as error:
        failure = _model_failure(model, examples, place) or _recurrent_failure(model, place)
        raise (failure or _export_failure(error, place)) from error
    return _program(program, place)


MOST_MODULES = 5
"""Modules that a message names."""
QUANTISING: dict[str, Callable[[type], bool]] = {
    "quantised by PyTorch": lambda kind: ".quantized" in kind.__module__ and kind.__module__[:5] == "torch",
    "prepared for quantisation by PyTorch": lambda kind: (
        kind.__module__ in ("torch.ao.quantization.observer", "torch.ao.quantization.fake_quantize")
    ),
}
"""What PyTorch has done to a module of a class."""


def traceable(model: Any) -> nn.Module:
    """The module to trace. Raises DesignError: it is none, or its Python is gone."""
    if isinstance(model, torch.export.ExportedProgram):
        return model.module()
    if isinstance(model, torch.jit.ScriptModule):
        message = f"{type(model).__name__}: TorchScript has no Python code left that could be traced"
        raise _error(message, "the torch.nn.Module that it was made of", None)
    if not isinstance(model, nn.Module):
        what = f"the class {model.__name__}" if isinstance(model, type) else f"a {type(model).__name__}"
        raise _error(f"the model is {what}, not a torch.nn.Module", "a module, such as Net()", None)
    _refuse_quantised(model)
    return model


def _refuse_quantised(model: nn.Module) -> None:
    """Refuses a model with modules of PyTorch's own quantisation. Raises DesignError."""
    kinds = {path or "the model itself": type(module) for path, module in model.named_modules()}
    for what, is_of in QUANTISING.items():
        named = [f"{path} ({kind.__name__})" for path, kind in kinds.items() if is_of(kind)]
        if named:
            shown = ", ".join(named[:MOST_MODULES]) + (" and more" if len(named) > MOST_MODULES else "")
            fix = "the model from before: hlsgen quantises itself; or that one as ONNX, with from_onnx"
            raise _error(f"the model is {what}: {shown}", fix, None)


def _held(model: nn.Module) -> list[tuple[str, torch.Tensor]]:
    """Parameters and buffers by name."""
    return [*model.named_parameters(), *model.named_buffers()]


def _model_failure(
    model: nn.Module, examples: tuple[torch.Tensor, ...], place: Place | None
) -> DesignError | None:
    """Why the model itself fails on such inputs; None: it runs, it only cannot be exported."""
    try:
        with torch.no_grad(), _quiet():
            model(*examples)
    except Exception as error:
        sizes = ", ".join(" x ".join(str(size) for size in example.shape[1:]) for example in examples)
        message = f"the model fails on inputs of {sizes} (without the batch): {_quoted(error)}"
        fix = _shapes_that_run(model, examples) or "the shapes that the model is made for, or mend the model"
        if "indices" in str(error) and any(isinstance(one, EMBEDDINGS) for one in model.modules()):
            fix = BEFORE
        if isinstance(model, fx.GraphModule):
            fix = "the module itself, or export it with dynamic_shapes whose first axis is a Dim: the batch"
        return _error(message, fix, _user_place(error) or place)
    return None


def _shapes_that_run(model: nn.Module, examples: tuple[torch.Tensor, ...]) -> str | None:
    """Shapes on which the model runs, where those given have the batch too, or channels last."""
    shapes = [tuple(example.shape[1:]) for example in examples]
    meant = {
        "sizes without the batch": [shape[1:] for shape in shapes if len(shape) > 1],
        "channels first": [(shape[-1], *shape[:-1]) for shape in shapes if len(shape) > 1],
    }
    for what, others in meant.items():
        if len(others) < len(shapes):
            continue
        with suppress(Exception), torch.no_grad(), _quiet():
            model(*(torch.zeros(EXAMPLE_FRAMES, *one, dtype=examples[0].dtype) for one in others))
            return f"{what}: {', '.join(str(one) for one in others)}, with which it runs"
    return None


def _recurrent_failure(model: nn.Module, place: Place | None) -> DesignError | None:
    """What is said of a model with recurrent layers, which PyTorch does not export for any batch."""
    kinds = (nn.RNNBase, nn.RNNCellBase)
    found = [(path, type(one).__name__) for path, one in model.named_modules() if isinstance(one, kinds)]
    named = [f"{path or 'the model'} ({kind})" for path, kind in found]
    if not named:
        return None
    message = f"{', '.join(named[:MOST_MODULES])}: recurrent, and hlsgen has no such layer yet"
    return _error(message, "convolutions over the sequence (Conv1d): a layer keeps no state", place)


def _examples(model: nn.Module, input_shapes: Sequence[tuple[int, ...]]) -> tuple[torch.Tensor, ...]:
    """Inputs of zeros, of the type that the parameters and buffers have."""
    types = {tensor.dtype for _, tensor in _held(model) if tensor.is_floating_point()}
    dtype = types.pop() if len(types) == 1 else torch.float32
    return tuple(torch.zeros(EXAMPLE_FRAMES, *shape, dtype=dtype) for shape in input_shapes)


def _dynamic_shapes(
    model: nn.Module, examples: tuple[torch.Tensor, ...], place: Place | None
) -> dict[str, Any]:
    """What tells PyTorch that the first axis of every input is the batch."""
    signature = inspect.signature(model.forward)
    try:
        bound = signature.bind(*examples)
    except TypeError as error:
        names = ", ".join(signature.parameters)
        message = f"the model's forward({names}) does not take {len(examples)} inputs: {error}"
        raise _error(message, "as many input shapes as the model has inputs", place) from error
    batch = torch.export.Dim("batch", min=EXAMPLE_FRAMES)
    return {
        name: tuple({0: batch} for _ in value) if isinstance(value, tuple) else {0: batch}
        for name, value in bound.arguments.items()
    }


@contextmanager
def _quiet() -> Iterator[None]:
    """Without PyTorch's own warnings and log, and what it or the model prints: its errors say it all."""
    logger = logging.getLogger("torch")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"torch(\.|$)")
            warnings.filterwarnings("ignore", message=".*LeafSpec", category=FutureWarning)
            warnings.filterwarnings("ignore", message="The tensor attribute.*assigned during export")
            with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                yield
    finally:
        logger.setLevel(before)


def _program(program: torch.export.ExportedProgram, place: Place | None) -> Program:
    """The parts of an exported program that the frontend reads."""
    signature = program.graph_signature
    nodes = {node.name: node for node in program.graph.nodes}
    changed = sorted(signature.buffers_to_mutate.values())
    if changed:
        message = f"the model changes its own buffers when it runs: {', '.join(changed)}"
        raise _error(message, "a model whose result depends on its inputs alone", place)
    held = program.state_dict | program.constants
    names = signature.inputs_to_parameters | signature.inputs_to_buffers
    names = names | signature.inputs_to_lifted_tensor_constants
    paths = {nodes[placeholder]: target for placeholder, target in names.items() if placeholder in nodes}
    inputs = tuple(nodes[name] for name in signature.user_inputs if isinstance(name, str))
    given = [node for node in inputs if isinstance(node.meta.get("val"), torch.Tensor)]
    (output,) = [node for node in program.graph.nodes if node.op == "output"]
    flat = output.args[0]
    assert isinstance(flat, tuple | list)
    kinds = torch.export.graph_signature.OutputKind
    shown = [
        value
        for value, spec in zip(flat, signature.output_specs, strict=True)
        if spec.kind is kinds.USER_OUTPUT
    ]
    spec = program.call_spec.out_spec
    assert spec is not None
    tree = torch.utils._pytree.tree_unflatten(shown, spec)
    return Program(
        nodes=tuple(program.graph.nodes),
        inputs=tuple(given),
        constants={node: held[target] for node, target in paths.items()},
        paths=paths,
        outputs=tuple(named_results(tree)),
        batch=given[0].meta["val"].shape[0],
    )


def named_results(tree: object, name: str = "") -> Iterator[tuple[str, object]]:
    """The leaves of what a model returns: out0, out1 ..., or by the keys of dictionaries."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from named_results(value, f"{name}_{key}" if name else str(key))
    elif isinstance(tree, tuple | list):
        names = getattr(tree, "_fields", None) or [
            f"{name}_{n}" if name else f"out{n}" for n in range(len(tree))
        ]
        for each, value in zip(names, tree, strict=True):
            yield from named_results(value, each)
    else:
        yield name or "out0", tree


def _export_failure(error: Exception, place: Place | None) -> DesignError:
    said = _quoted(error)
    kind = type(error).__name__
    if "batch" in said and ("Constraints violated" in said or "constraint" in said.lower()):
        message = f"the model works only for a certain number of frames: {said}"
        fix = "shapes that do not name the number of frames: -1 or x.shape[0], never a number"
    elif "DataDependent" in kind or "data-dependent" in said.lower() or "data dependent" in said.lower():
        message = f"the model does different things for different values, which hardware cannot: {said}"
        fix = "a forward() without if and while on values of tensors, and without .item()"
    else:
        message = f"torch.export cannot trace the model: {kind}: {said}"
        fix = "a forward() that torch.export.export(model, ..., strict=False) takes"
    return _error(message, fix, _user_place(error) or place)


def _user_place(error: BaseException) -> Place | None:
    """The line of the model's code that an error comes from."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.name == "forward" and is_users(frame.filename) and frame.lineno:
            return user_place(frame.filename, frame.lineno, frame.line or "")
    return None


def is_users(file: str) -> bool:
    """Whether a file is neither PyTorch's own nor code that it made up."""
    return not file.startswith(TORCH_FOLDER) and os.path.isfile(file)


def user_place(file: str, line: int, code: str) -> Place:
    """A line of the user's code; the path is relative to the current folder if it is below that."""
    near = os.path.relpath(file)
    return Place(file=file if near.startswith(os.pardir) else near, line=line, column=1, excerpt=code)


def _quoted(error: BaseException) -> str:
    """The first paragraph of what an error says, in one line, not too long."""
    first = str(error).strip().split("\n\n")[0]
    text = " ".join(first.split()) or type(error).__name__
    # advice on PyTorch's own interfaces, which are not the user's
    text = re.sub(r' For more information, run with TORCH_LOGS="[^"]*"\.?| If you\'re using .*', "", text)
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]} ..."


def _error(message: str, fix: str, place: Place | None) -> DesignError:
    return DesignError(Problem(message=message, fix=fix, place=place))
