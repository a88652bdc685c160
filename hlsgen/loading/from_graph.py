"""A network's graph, and what is wished of its design -> a design. Its graph comes from from_model.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hlsgen.base.errors import DesignError, Problem, warned
from hlsgen.base.fixed import FixedType, FloatType
from hlsgen.base.floating import FLOAT32, HALF
from hlsgen.base.progress import Progress, Say, silent
from hlsgen.base.short_repr import Brief
from hlsgen.designfile.clock import DEFAULT_UNCERTAINTY
from hlsgen.designfile.constraints import NetworkConstraints, interface_constraints, interface_problems
from hlsgen.designfile.margins import Margin
from hlsgen.designfile.precision_grammar import Given, overrides_of, precision_of
from hlsgen.designfile.style_keys import mapping_problems
from hlsgen.loading.arguments import argument_problems, frames_array, range_problems
from hlsgen.model.calibration import Calibration
from hlsgen.model.ir import Graph, Port
from hlsgen.model.ports import Floats, transposition
from hlsgen.model.precision import Precision, saturating, to_nearest
from hlsgen.passes import FIXED_PASSES, FLOAT_PASSES, run_passes
from hlsgen.passes.even_signs import even_signs
from hlsgen.passes.half_borders import half_borders
from hlsgen.passes.half_precision import half_precision
from hlsgen.passes.override_types import override_types
from hlsgen.passes.single_precision import refused_by_kernels, single_precision
from hlsgen.passes.size_accumulators import for_any_weights
from hlsgen.quantising.balance_channels import balanced_run
from hlsgen.quantising.float_run import FloatRun
from hlsgen.quantising.search_types import quantised_network
from hlsgen.styles.auto import AUTO, STYLES, AutoNetwork
from hlsgen.styles.network_style import NetworkStyle, overridden_text
from hlsgen.targets.board import Board, load_board


@dataclass(frozen=True, kw_only=True)
class Options(Brief):
    """What is wished of a network's design: the keywords of `hlsgen.from_torch`, which says what they mean.

    interface: None: the wish's. calibration_source: where its frames are from, in words; stand_in: they are
    not the user's own. refused: of style auto the styles that are known to have no hardware, and why.
    Raises DesignError: there is no such style or interface, or not together.
    """

    calibration: ArrayLike | Sequence[ArrayLike] | None = None
    precision: Given = None
    board: str | Board
    clock_mhz: float | None
    uncertainty: float = DEFAULT_UNCERTAINTY
    margin: Margin | None = None
    batch: int
    constraints: NetworkConstraints | None
    style: str
    interface: object = None
    calibration_source: str = "calibration= in Python"
    stand_in: bool = False
    refused: Mapping[str, Problem] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.style not in (*STYLES, AUTO):
            message = f"style is {self.style!r}, which there is not"
            raise DesignError(Problem(message=message, fix=f"one of {', '.join((*STYLES, AUTO))}"))
        problems = argument_problems(self.board, self.clock_mhz, self.batch, self.uncertainty, self.margin)
        by_style = {name: self._style_problems(name) for name in self.styles}
        if all(by_style.values()):
            problems += [one for found in by_style.values() for one in found]
        if problems:
            raise DesignError(problems)

    @property
    def styles(self) -> tuple[str, ...]:
        """The style, or those that are compared."""
        return tuple(STYLES) if self.style == AUTO else (self.style,)

    @property
    def refusals(self) -> dict[str, Problem]:
        """The styles that are compared and cannot obey what is wished, and why."""
        own = {name: found[0] for name in self.styles if (found := self._style_problems(name))}
        return {**own, **self.refused}

    def _style_problems(self, style: str) -> list[Problem]:
        """What is wished and a style cannot obey."""
        constraints = self.full_constraints
        problems = interface_problems(constraints.interface, style)
        return [*problems, *(problem for _, problem in mapping_problems(constraints, style))]

    @property
    def full_constraints(self) -> NetworkConstraints:
        """The wish with the interface that is asked for beside it."""
        constraints = self.constraints or NetworkConstraints()
        if self.interface is not None:
            constraints = replace(constraints, interface=interface_constraints(self.interface))
        # each instance would need streams of its own: between other kernels there is one
        alone = constraints.interface.streams and constraints.instances is None
        return replace(constraints, instances=1) if alone else constraints


def from_graph(
    graph: Graph, options: Options, source: str, *, default_type: FixedType | None = None
) -> NetworkStyle[Any]:
    """`source` says where the graph is from. default_type: as of `from_fixed`.

    Raises DesignError: a network with types of its own, and a precision of more than its inputs, or one that
    contradicts them.
    """
    if graph.inputs[0].tensor.is_float:
        return from_float(graph, options, source)
    asked = Precision() if options.precision is None else overrides_of(precision_of(options.precision))
    wished = asked.input
    assert wished is None or isinstance(wished, FixedType)
    for port in graph.inputs:
        if wished is not None and port.tensor.type not in (wished, to_nearest(wished)):
            message = f"the input is to be {wished}, but the network's own quantizers make {port.name}"
            fix = "leave it out of precision="
            raise DesignError(Problem(message=f"{message} {port.tensor.type}", fix=fix))
    given = frozenset() if wished is None else frozenset(port.name for port in graph.inputs)
    return from_fixed(
        graph,
        replace(options, precision=None),
        source,
        given_types=given,
        default_type=default_type,
        overrides=asked,
    )


def from_float(
    graph: Graph, options: Options, source: str, *, progress: Progress = silent
) -> NetworkStyle[Any]:
    """A network in floating point -> a design: batch norms folded, types chosen."""
    read, reference = graph, run_passes(graph, FLOAT_PASSES)
    frames = _calibration(reference, options.calibration)
    precision = options.precision
    if precision is None and frames is None:
        precision = "fixed<16,6>"
    constraints = options.full_constraints
    any_weights = constraints.weights.any_weights(reference)
    asked = precision_of(precision)
    floating = isinstance(asked.default, FloatType) or asked.mixes_half
    if isinstance(asked.accumulator, FloatType) and not floating:
        message = f"accumulator is {asked.accumulator}, in which only products of halves are added up"
        fix = "precision: {default: half, accumulator: float32}; or exact, tight or a fixed-point type"
        raise DesignError(Problem(message=message, fix=fix))
    if asked.balance and (floating or isinstance(asked.default, FixedType)):
        message = (
            f"balance: channels are scaled where frames choose the types, and precision is {asked.default}"
        )
        raise DesignError(Problem(message=message, fix="a width such as 8, or auto; or no balance"))
    graph, typing = reference, asked
    if asked.mixes_half:
        options = _with_half(asked, options)
        graph, typing = half_borders(reference, asked)
    elif isinstance(asked.default, FloatType):
        options = _in_floating_point(asked, asked.default, options, reference)
        if asked.default.is_half:
            sums = asked.accumulator if isinstance(asked.accumulator, FloatType) else HALF
            graph = half_precision(reference, sums)
        else:
            graph = single_precision(reference, shared="shared" in options.styles)
        return _design(
            graph,
            options,
            source,
            constraints=constraints,
            reference=reference,
            as_read=read,
            samples=frames or {},
        )
    if not asked.mixes_half:
        graph = reference = even_signs(reference, {*any_weights, *_of_given_types(asked, reference)})
    calibration = None if frames is None else _float_run(graph, frames, progress)
    if calibration is not None and typing.by_frames:
        _check_ranges(calibration)
    if calibration is not None and asked.balance:
        calibration = balanced_run(calibration, any_weights, asked.headroom, progress)
        graph = reference = calibration.graph
    fixed, known = quantised_network(graph, typing, calibration, any_weights, progress)
    return _design(
        fixed,
        options,
        source,
        constraints=constraints,
        reference=reference,
        as_read=read,
        accuracy=known.accuracy if known else (),
        reached=known.reached if known else None,
        precision=asked,
        measured=known,
        samples=frames or {},
        calibration=None
        if calibration is None
        else Calibration(
            source=options.calibration_source,
            frames=calibration.count,
            given=calibration.given,
            stand_in=options.stand_in,
            chooses=typing.by_frames,
            of_ranges=calibration.given_range_frames,
        ),
    )


def _of_given_types(asked: Precision, graph: Graph) -> set[str]:
    """The layers whose weights or results the user gives a type, which says what range they have."""
    types = {
        name: (one.weights or asked.weights, one.bias, one.output)
        for name, one in ((layer.name, asked.of(layer.name)) for layer in graph.layers)
    }
    return {name for name, some in types.items() if any(isinstance(one, FixedType) for one in some)}


def calibrated(style: NetworkStyle[Any], progress: Progress = silent) -> FloatRun:
    """The run of a network's calibration frames in floating point, for `with_precision`.

    Raises DesignError: it has none, or brings types of its own; values that no type holds.
    """
    if style.reference is None:
        message = f"{style.name} brings its own number types: no others can be chosen"
        raise DesignError(Problem(message=message, fix="the network in floating point, without quantizers"))
    if not style.samples:
        message = f"{style.name} has no calibration frames to choose number types from"
        raise DesignError(Problem(message=message, fix="calibration=x with some typical frames"))
    run = _float_run(style.reference, style.samples, progress)
    _check_ranges(run)
    return run


def with_precision(
    style: NetworkStyle[Any], precision: Precision, run: FloatRun, progress: Progress = silent
) -> NetworkStyle[Any]:
    """The same network with other number types, its hardware not chosen. run: what `calibrated` gave.

    Raises DesignError: types that cannot be, or float32.
    """
    if isinstance(precision.default, FloatType) or precision.mixes_half:
        floating = precision.default if isinstance(precision.default, FloatType) else HALF
        message = f"precision: {floating} is no fixed point, and its hardware is of other styles"
        raise DesignError(Problem(message=message, fix="a width such as 8, auto, or a type"))
    any_weights = style.constraints.weights.any_weights(run.graph)
    graph, known = quantised_network(run.graph, precision, run, any_weights, progress)
    assert known is not None, "there are calibration frames"
    frames = style.calibration
    return replace(
        style,
        graph=graph,
        accuracy=known.accuracy,
        reached=known.reached,
        precision=precision,
        measured=known,
        calibration=None if frames is None else replace(frames, chooses=precision.by_frames),
        chosen=None,
        explored=None,
        styles=(),
    )


def _float_run(reference: Graph, frames: Mapping[str, Floats], progress: Progress) -> FloatRun:
    progress("running the calibration frames in floating point")
    return FloatRun(reference, frames)


def _check_ranges(run: FloatRun) -> None:
    """Refuses calibration frames on which tensors have values that no number type holds."""
    held = run.tensors(range(len(run.kept)))
    problems = range_problems(run.samples) or range_problems(held)
    if problems:
        raise DesignError(problems)


def _in_floating_point(precision: Precision, type_: FloatType, options: Options, graph: Graph) -> Options:
    """The options of a network in float32, which styles dataflow and mixed have no hardware for; or in half,
    of which style shared has none either.

    Raises DesignError: one of these, or other types too.
    """
    lacks = ("dataflow", "mixed", "shared") if type_.is_half else ("dataflow", "mixed")
    refused = {name: _others_only(name, type_) for name in options.styles if name in lacks}
    lacking = refused_by_kernels(graph)
    if options.style == AUTO and lacking:
        refused["tasks"] = lacking[0]
    if options.style in refused:
        raise DesignError(refused[options.style])
    sums = (None, type_, FLOAT32) if type_.is_half else (None,)
    if precision.accumulator not in sums or replace(precision, accumulator=None) != Precision(default=type_):
        message = f"precision: {type_} is of weights, sums and results alike"
        keys = "no other key but accumulator: float32" if type_.is_half else "no other key"
        raise DesignError(Problem(message=message, fix=f"precision: {type_} and {keys}"))
    return replace(options, refused={**options.refused, **refused})


def _with_half(precision: Precision, options: Options) -> Options:
    """The options of a network that is partly in half, which style tasks alone has hardware for.

    Raises DesignError: another style, or a key that says nothing of either part.
    """
    refused = {name: _others_only(name, HALF) for name in options.styles if name != "tasks"}
    if options.style in refused:
        raise DesignError(refused[options.style])
    if precision.default == HALF and precision.weights is not None:
        message = "precision: half is of weights, too, and `weights` would be those of the other layers"
        fix = 'their own: precision: {default: half, conv1: {weights: "fixed<8,1>", output: "fixed<8,3>"}}'
        raise DesignError(Problem(message=message, fix=fix))
    return replace(options, refused={**options.refused, **refused})


def _others_only(style: str, type_: FloatType) -> Problem:
    """Why a style has no hardware for the type."""
    if style == "shared":
        message = f"precision is {type_}, and shared processors compute in fixed point or float32"
        return Problem(message=message, fix="style: tasks; or float32, or fixed<16,6>")
    what = "what feeds shared processors" if style == "mixed" else "a streaming kernel"
    message = f"precision is {type_}, and {what} computes in fixed point"
    styles = "tasks" if type_.is_half else "tasks or shared"
    return Problem(message=message, fix=f"style: {styles}; or auto, or fixed<16,6>")


def from_fixed(
    graph: Graph,
    options: Options,
    source: str,
    *,
    given_types: frozenset[str] = frozenset(),
    default_type: FixedType | None = None,
    overrides: Precision | None = None,
    say: Say = warned,
) -> NetworkStyle[Any]:
    """A network that has its types already -> a design. given_types: inputs whose type the user says;
    default_type: what the user says of layers that have no quantizers; overrides: of layers and accumulators
    that have the model's own, which `say` is told.
    """
    assert options.precision is None
    constraints = options.full_constraints
    given_types |= {port.name for port in graph.inputs if not port.own}
    inputs = tuple(replace(port, own=port.name not in given_types) for port in graph.inputs)
    fixed = run_passes(replace(graph, inputs=inputs), FIXED_PASSES)
    overridden: frozenset[str] = frozenset()
    if overrides is not None and (overrides.layers or overrides.accumulator is not None):
        found = override_types(fixed, overrides)
        fixed, overridden = run_passes(found.graph, ()), found.layers
        given_types |= overridden
        if overridden:
            say(overridden_text(overridden, found.scales))
    if default_type is not None:
        default = saturating(default_type)
        given_types |= {layer.name for layer in fixed.layers if layer.output_type == default}
    fixed = for_any_weights(fixed, constraints.weights.any_weights(fixed))
    frames = _calibration(fixed, options.calibration)
    return _design(
        fixed,
        options,
        source,
        constraints=constraints,
        as_read=graph,
        samples=frames or {},
        given_types=given_types,
        overridden=overridden,
    )


def _design(graph: Graph, options: Options, source: str, **more: Any) -> NetworkStyle[Any]:
    """`more`: the fields of a design that are not the options'."""
    if not graph.layers:
        message = f"the model {graph.name} computes nothing: it only quantises its inputs"
        raise DesignError(Problem(message=message, fix="a model with layers"))
    board = load_board(options.board) if isinstance(options.board, str) else options.board
    if options.margin is not None:
        board = board.with_margin(options.margin)
    kind = AutoNetwork if options.style == AUTO else STYLES[options.style]
    if options.style == AUTO:
        more["refused"] = options.refusals
    return kind(
        name=graph.name,
        graph=graph,
        board=board,
        clock_mhz=options.clock_mhz or board.clock_mhz,
        uncertainty=float(options.uncertainty),
        batch=options.batch,
        source=source,
        **more,
    )


def _calibration_shape(port: Port, values: Floats) -> Problem:
    """What is said of frames of another shape than the input's."""
    wanted = ", ".join(map(str, port.shape))
    message = f"calibration for {port.name} has shape {values.shape}, not [frames, {wanted}]"
    axes = transposition(values.shape, port.shape)
    if axes is not None:
        return Problem(message=message, fix=f"move its axes: x.transpose{axes}")
    if values.shape[1:] == port.shape:
        return Problem(message=message, fix="some frames")
    return Problem(message=message, fix=f"frames of {wanted}, as the model takes them")


def _calibration(graph: Graph, given: ArrayLike | Sequence[ArrayLike] | None) -> dict[str, Floats] | None:
    """Values [N, C, H, W] of each input. Raises DesignError: shapes that are not the inputs'."""
    if given is None:
        return None
    ports = graph.inputs
    arrays: Sequence[Any] = [given] if len(ports) == 1 else list(given)  # type: ignore[arg-type]
    if len(arrays) != len(ports):
        message = f"calibration has {len(arrays)} arrays for {len(ports)} inputs"
        raise DesignError(Problem(message=message, fix="a list with one array for each input"))
    found = {}
    for port, array in zip(ports, arrays, strict=True):
        values = frames_array(array, port.name)
        if values.shape[1:] != port.shape or not len(values):
            raise DesignError(_calibration_shape(port, values))
        if not np.isfinite(values).all():
            frame = int(np.argmin(np.isfinite(values).reshape(len(values), -1).all(axis=1)))
            message = f"calibration for {port.name} holds NaN or infinity, first in frame {frame}"
            raise DesignError(Problem(message=message, fix="finite numbers"))
        found[port.name] = port.to_tensor(values)
    return found
