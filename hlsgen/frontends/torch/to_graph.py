"""PyTorch models as float graphs.

`load_module` runs the user's own file; `graph_of_module` exports the model with torch.export and
turns each aten operation into layers (layers.py, arithmetic.py) and views (views.py). What is
not there is refused, by name, with the line of the model's code.
"""

from __future__ import annotations

import inspect
import math
import operator
import re
from collections.abc import Sequence
from typing import Any

from hlsgen.base.errors import DesignError, Place, Problem
from hlsgen.frontends.builder.builder import GraphBuilder, Value
from hlsgen.frontends.torch import arithmetic as torch_arithmetic
from hlsgen.frontends.torch import choices as torch_choices
from hlsgen.frontends.torch import layers as torch_layers
from hlsgen.frontends.torch import resampling as torch_resampling
from hlsgen.frontends.torch import views as torch_views
from hlsgen.frontends.torch.alternatives import remedy
from hlsgen.frontends.torch.call import BATCH, CONVERTERS, KEPT_TYPES, TYPES, Call, Missing
from hlsgen.frontends.torch.choices import CHOICES, COMPARISONS, LOGICAL
from hlsgen.frontends.torch.export import Program, exported, is_users, user_place
from hlsgen.frontends.torch.load import load_module
from hlsgen.frontends.torch.named import Names, op_name
from hlsgen.frontends.torch.package import fx, nn, torch
from hlsgen.frontends.torch.patterns import RESTORED
from hlsgen.frontends.torch.refusals import BEFORE_A_DIVISION, made_of, whole_module, written_out
from hlsgen.model.ir import Graph

__all__ = ["graph_of_module", "load_module"]

UNCHANGED = frozenset({"clone", "detach", "alias", "_to_copy"})
"""Operations that give what they take, and that no model is written with."""
CHECKS = frozenset(
    {"_assert_tensor_metadata", "_assert_scalar", "_assert_async", "sym_constrain_range_for_size"}
)
"""Operations that give nothing: export writes down with them what it took for granted."""
INDEX_OPS = frozenset({"argmax", "argmin"})
"""Operations that give whole numbers."""
NO_LAYER = "hlsgen has no layer for this operation"
MODULES_OF = (torch_arithmetic, torch_choices, torch_layers, torch_resampling, torch_views)
"""Importing them registers their converters."""


def graph_of_module(
    model: nn.Module, input_shapes: Sequence[tuple[int, ...]], *, name: str, place: Place | None = None
) -> Graph:
    """The model in evaluation mode as a float graph called `name`.

    input_shapes: of each input of forward(), without the batch: (C, H, W), (C, L) or (F,). Inputs are called
    as the arguments of forward(); outputs out0, out1 ... or as the keys of the dictionary that it returns;
    layers after their modules. place: where the design names the model.

    Raises DesignError with every operation that has no hardware, at its line in the model's code; or what
    `exported` raises.
    """
    program = exported(model, input_shapes, place)
    return _Walk(model, program, name, place).graph()


class _Walk:
    """Converts a program node by node; what takes a result that failed gets a stand-in for it."""

    def __init__(self, model: nn.Module, program: Program, name: str, place: Place | None) -> None:
        self.model = model
        self.program = program
        self.place = place
        self.builder = GraphBuilder(name, channels_last=False)
        self.results: dict[fx.Node, Any] = {}
        self.last_users = {source: node for node in program.nodes for source in node.all_input_nodes}
        self.failed: set[fx.Node] = set()
        self.refused: set[str] = set()
        """Paths of modules of which no other part is told."""
        self.problems: list[Problem] = []
        self.names = Names(model)

    def graph(self) -> Graph:
        with self.builder.at(self.builder.name, self.place):
            for node in self.program.inputs:
                shape = tuple(int(size) for size in node.meta["val"].shape[1:])
                self.results[node] = self.builder.input(node.name, shape)
        for node in self.program.nodes:
            if node.op == "call_function":
                self._give_constants(node)
                self._take(node)
                self._drop_constants(node)
            elif node.op == "get_attr":
                self.results[node] = Missing(what="a function of the model", fix="operations in its place")
        if self.problems:
            raise DesignError(self.problems)
        for name, shown in self.program.outputs:
            self._output(name, shown)
        with self.builder.at(self.builder.name, self.place):
            return self.builder.build()

    def _give_constants(self, node: fx.Node) -> None:
        """Parameters that `node` takes."""
        for source in node.all_input_nodes:
            if source in self.program.constants and source not in self.results:
                self.results[source] = self.program.constants[source].detach().cpu()

    def _drop_constants(self, node: fx.Node) -> None:
        """Forgets the parameters that nothing takes after `node`."""
        for source in node.all_input_nodes:
            if source in self.program.constants and self.last_users[source] is node:
                self.results.pop(source, None)

    def _output(self, name: str, node: object) -> None:
        value = self.results.get(node) if isinstance(node, fx.Node) else node
        if not isinstance(value, Value):
            what = value.what if isinstance(value, Missing) else "None" if node is None else "a constant"
            message = f"the output {name} of the model is {what}"
            fix = "outputs that are computed from the inputs"
            raise DesignError(Problem(message=message, fix=fix, place=self.place))
        with self.builder.at(name, self.place):
            self.builder.output(name, value)

    def _take(self, node: fx.Node) -> None:
        """Converts a node, or notes why that fails; what takes it then takes a stand-in of its shape."""
        if node.target is operator.getitem:
            self._take_part(node)
            return
        path, said = self.names.path(node)
        with self.builder.at(path, _place_of(node) or self.place, said):
            try:
                self._refuse_parts(node)
                self.results[node] = self._converted(node)
                self._remember(node)
            except DesignError as error:
                self._note(node, error)
                self._stand_in(node)

    def _take_part(self, node: fx.Node) -> None:
        source, index = node.args
        assert isinstance(source, fx.Node) and isinstance(index, int)
        whole = self.results.get(source)
        if source in self.failed and not isinstance(whole, list):
            self.failed.add(node)
        else:
            self.results[node] = whole if whole is None or isinstance(whole, Missing) else whole[index]
            self._remember(node)

    def _remember(self, node: fx.Node) -> None:
        """Writes down that a node's result is the framework's tensor of this name."""
        value = self.results.get(node)
        if isinstance(value, Value) and op_name(node) not in UNCHANGED:
            name = self.names.of_result(node)
            self.builder.known_as(name.text, value, kind=name.kind, key=name.key)

    def _refuse_parts(self, node: fx.Node) -> None:
        """Refuses the rest of a refused module, and what takes a result that nothing stands in for."""
        whole = whole_module(self.model, node)
        if whole is not None and whole[0] in self.refused:
            raise DesignError([])
        lost = [source for source in node.all_input_nodes if source not in self.results]
        if lost and op_name(node) not in CONVERTERS and op_name(node) not in CHECKS:
            raise self.builder.refusal(NO_LAYER, remedy(op_name(node)))
        if lost:
            raise DesignError([])

    def _note(self, node: fx.Node, error: DesignError) -> None:
        """Keeps the problems of a node, or one in their place of what it is a part of."""
        if not error.problems:
            return
        whole = whole_module(self.model, node)
        apart = written_out(node)
        if whole is not None:
            self.refused.add(whole[0])
            if NO_LAYER not in error.problems[0].message:
                name = type(whole[1]).__name__
                message = f"{whole[0] or 'the model'} ({name}): hlsgen has no layer for {name}"
                place = _place_of(node) or self.place
                error = DesignError(Problem(message=message, fix=whole[2], place=place))
        elif apart is not None:
            message = f"with those around it this is {apart[0]}, for which hlsgen has no layer"
            error = self.builder.refusal(message, apart[1])
        elif op_name(node) == "div" and not self.failed.isdisjoint(made_of(node, BEFORE_A_DIVISION)):
            return  # by what is refused already
        self.problems += [problem for problem in error.problems if problem not in self.problems]

    def _stand_in(self, node: fx.Node) -> None:
        """Something of the result's shape in its place, so that one run finds what else is wrong."""
        self.failed.add(node)
        value = node.meta.get("val")
        made = [self._like(each) for each in value] if isinstance(value, list | tuple) else self._like(value)
        if made is not None and not (isinstance(made, list) and None in made):
            self.results[node] = made

    def _like(self, tensor: object) -> Value | None:
        """A value of a tensor's shape; None: it is none, or its batch is not in front."""
        if not isinstance(tensor, torch.Tensor) or not self._is_batch(tuple(tensor.shape[:1])):
            return None
        shape = tuple(tensor.shape[1:])
        if not all(isinstance(size, int) and size > 0 for size in shape) or not shape:
            return None
        return self.builder.reshape(self.builder.input("stand_in", (math.prod(shape),)), shape)

    def _converted(self, node: fx.Node) -> Any:
        """The node's result: Values, a tensor if it is constant, Missing if a graph does not have it."""
        given = [self.results[source] for source in node.all_input_nodes]
        op = op_name(node)
        if op in CHECKS:
            return None
        if not any(isinstance(each, Value) for each in _flat(given)):
            return BATCH if any(isinstance(each, Missing) for each in given) else self._constant(node)
        if isinstance(node.meta.get("val"), torch.SymInt | int):
            return BATCH
        arguments = _arguments(node)
        converter = CONVERTERS.get(op)
        if converter is None or arguments is None or not set(arguments) <= _takes(converter):
            raise self.builder.refusal(NO_LAYER, remedy(op))
        self._check_type(node, op)
        call = Call(builder=self.builder, op=op, shapes=self._shapes(node))
        result = converter(call, **fx.map_arg(arguments, lambda source: self.results[source]))
        self._check_shapes(node, result)
        return result

    def _check_shapes(self, node: fx.Node, result: object) -> None:
        """Refuses what a converter misunderstood: each result has the shape that PyTorch gives it."""
        wanted = node.meta["val"]
        pairs = zip(result, wanted, strict=False) if isinstance(result, list) else [(result, wanted)]
        for value, tensor in pairs:
            if isinstance(value, Value) and value.shape != tuple(tensor.shape[1:]):
                message = f"hlsgen takes its result to be {self._said_size(value.shape)} without the batch"
                raise self.builder.refusal(f"{message}, which it is not", "a report of this to hlsgen")

    def _check_type(self, node: fx.Node, op: str) -> None:
        """Refuses an operation that changes float numbers to others than float32 and float64.

        True and false are ones and zeros, whatever float numbers are made of them; what makes others of
        them that are true or false again has to be an operation of logic, or a view.
        """
        result = node.meta.get("val")
        if not isinstance(result, torch.Tensor) or op in INDEX_OPS or result.dtype in KEPT_TYPES:
            return
        sources = [source for source in node.all_input_nodes if isinstance(self.results[source], Value)]
        types = {source.meta["val"].dtype for source in sources}
        if op in COMPARISONS or op in CHOICES:
            return
        logical = op in LOGICAL and types == {torch.bool}
        view = op not in LOGICAL and CONVERTERS[op].__module__ == torch_views.__name__
        if torch.bool in types | {result.dtype} and not logical and not view:
            message = "it computes with true and false"
            raise self.builder.refusal(
                message, "comparisons, torch.where, masked_fill, & | ~, or .float() of them"
            )
        if result.dtype not in types:
            raise self.builder.refusal(
                f"it casts to {str(result.dtype).removeprefix('torch.')}", "leave it out: " + TYPES
            )

    def _constant(self, node: fx.Node) -> Any:
        """What an operation makes of constants alone: computed here, in float64, but for comparisons."""
        assert callable(node.target)
        compares = op_name(node) in COMPARISONS

        def argument(source: fx.Node) -> Any:
            value = self.results[source]
            if compares and isinstance(value, torch.Tensor):
                # 0.1 in float32 is not above 0.1, in float64 it is
                return value.to(source.meta["val"].dtype)
            return _as_double(value)

        arguments, named = fx.map_arg((node.args, dict(node.kwargs)), argument)
        with torch.no_grad():
            return _as_double(node.target(*arguments, **named))

    def _shapes(self, node: fx.Node) -> tuple[tuple[int, ...], ...]:
        """The shapes of the results, or of those that are used if there are several, without the batch.

        Raises DesignError: the batch of one is not its first axis, or not alone there.
        """
        results = node.meta.get("val")
        if isinstance(results, tuple | list):
            used = {user.args[1] for user in node.users if user.target is operator.getitem}
            results = [result for index, result in enumerate(results) if index in used]
        else:
            results = [results]
        shapes = []
        for result in results:
            size = tuple(result.shape)
            if [_symbol(each) for each in size].count(None) < len(size) - 1 or not self._is_batch(size[:1]):
                message = f"its result, {self._said_size(size)}, does not have the batch first and only there"
                fix = "operations that treat each frame by itself, with the batch as the first axis"
                raise self.builder.refusal(message, fix)
            if 0 in size[1:]:
                raise self.builder.refusal("its result has no elements", "leave it out")
            shapes.append(size[1:])
        return tuple(shapes)

    def _is_batch(self, first: tuple[Any, ...]) -> bool:
        return len(first) == 1 and _symbol(first[0]) == _symbol(self.program.batch)

    def _said_size(self, size: tuple[Any, ...]) -> str:
        """A shape in words, N for the batch."""
        batch = str(self.program.batch)
        return " x ".join(str(each).replace(batch, "N") for each in size) or "a single number"


def _symbol(size: object) -> object:
    """The expression of a size that depends on the number of frames; None: it does not."""
    return size.node.expr if isinstance(size, torch.SymInt) else None


def _arguments(node: fx.Node) -> dict[str, Any] | None:
    """The arguments by their names in the schema, defaults included; None: it has no schema."""
    target = node.target
    if target in RESTORED:
        names = list(inspect.signature(target).parameters)
        return dict(zip(names, node.args, strict=True))
    if not isinstance(target, torch._ops.OpOverload) or target.namespace != "aten":
        return None
    arguments: dict[str, Any] = {}
    for position, argument in enumerate(target._schema.arguments):
        if position < len(node.args):
            arguments[argument.name] = node.args[position]
        elif argument.name in node.kwargs:
            arguments[argument.name] = node.kwargs[argument.name]
        else:
            arguments[argument.name] = argument.default_value
    return arguments


def _takes(converter: Any) -> set[str]:
    """The names of the arguments that a converter knows."""
    named = getattr(converter, "parameters", None)
    return set(named if named is not None else inspect.signature(converter).parameters)


def _flat(values: Sequence[Any]) -> list[Any]:
    """The values, those of lists among them one by one."""
    return [each for value in values for each in (value if isinstance(value, list | tuple) else [value])]


def _as_double(value: Any) -> Any:
    """Floating tensors as float64, in lists and tuples too."""
    if isinstance(value, list | tuple):
        return [_as_double(each) for each in value]
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def _place_of(node: fx.Node) -> Place | None:
    """The line of the user's code that a node comes from: the innermost that is not PyTorch's own."""
    frames = re.findall(r'File "([^"]+)", line (\d+)[^\n]*\n\s*([^\n]*)', node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if is_users(frame[0])]
    if not own:
        return None
    file, line, code = own[-1]
    return user_place(file, int(line), code)
