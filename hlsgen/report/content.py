"""What report.html is made of: report.json, checked, for it lies in a folder that anybody may have written.

Only what the page shows is here; other keys are left alone.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from hlsgen.designfile.validation import Entries, Mistake, Real, Whole, refused

AGAIN = "build the design again with this hlsgen"
MOST_ROWS = 20_000
MOST_CYCLES = 10**15


def _check_text(text: str) -> str:
    if len(text) > 4000 or not text.isprintable():
        raise refused(Mistake(message="must be one line of at most 4000 printable characters", fix=AGAIN))
    return text


def _none_if_empty(value: object) -> object:
    """A kernel whose period is too long to simulate has an empty mapping there."""
    return None if value == {} else value


Count = Annotated[int, Whole(0, MOST_CYCLES)]
Some = Annotated[int, Whole(1, MOST_CYCLES)]
Number = Annotated[float, Real(0, 1e18)]
Positive = Annotated[float, Real(1e-9, 1e18)]
Any_ = Annotated[float, Real(-1e18, 1e18)]
Text = Annotated[str, AfterValidator(_check_text)]
Rows = Entries(0, MOST_ROWS)
Shape = Annotated[tuple[Count, ...], Entries(1, 8)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Resources(_Section):
    dsp: Count
    bram18: Count
    uram: Count
    lut: Count
    ff: Count


class Weights(_Section):
    type: Text
    codes: Count
    place: Text
    storage: Text


class Layer(Resources):
    """`kernel`: of a network of tasks the C++ function."""

    name: Text
    kind: Text
    type: Text
    shape: Shape
    macs: Count
    folding: Annotated[dict[Text, Count | Text], Field(max_length=32)]
    ii: Count
    interval_cycles: Count
    latency_cycles: Count
    weights: Weights | None = None
    kernel: Text = ""
    binds: Text = ""


class Joint(Resources):
    name: Text
    kernel: Text = ""
    interval_cycles: Count


class Fifo(_Section):
    name: Text
    kernel: Text = ""
    depth: Count
    smallest_depth: Count | None = None
    least_depth: Count | None = None
    lanes: Some
    type: Text
    bram18: Count = 0
    uram: Count = 0


class Port(_Section):
    name: Text
    shape: Shape
    type: Text


class OutputPort(Port):
    source: Text
    fifos: Annotated[tuple[Text, ...], Rows]


class Edge(_Section):
    source: Text = Field(alias="from")
    to: Text
    fifos: Annotated[tuple[Text, ...], Rows]


class GraphSection(_Section):
    inputs: Annotated[tuple[Port, ...], Rows]
    edges: Annotated[tuple[Edge, ...], Rows]
    outputs: Annotated[tuple[OutputPort, ...], Rows]


class Total(Resources):
    macs: Count
    interval_cycles: Some
    latency_cycles: Count
    instances: Count


class Performance(_Section):
    frames_per_s: Number
    gops: Number
    batch: Count
    batch_frames_per_s: Number
    batch_gops: Number
    binds: Text


class Target(_Section):
    lut: Count
    lut_error: Number
    ff: Count
    ff_error: Number
    basis: Text


class Cells(_Section):
    lut: Count
    ff: Count


class TermCells(_Section):
    term: Text
    routed: Cells
    csynth: Cells


class Cost(_Section):
    terms: Text
    style: Literal["layer", "tasks", "dataflow"]
    routed: Target
    csynth: Target
    by_term: Annotated[tuple[TermCells, ...], Rows]


class Slr(_Section):
    name: Text
    instances: Count
    used: Resources
    usable: Resources
    free: Resources
    ddr: Annotated[tuple[Text, ...], Rows]


class Ceiling(_Section):
    name: Text
    gops: Positive
    basis: Text


class Roofline(_Section):
    ops_per_byte: Number
    frame_bytes: Count
    ddr_gb_per_s: Positive
    ddr_basis: Text
    ceilings: Annotated[tuple[Ceiling, ...], Entries(1, 10)]
    attainable_gops: Number
    achieved_gops: Number


class Span(_Section):
    name: Text
    begin: Count
    first_output: Count | None
    end: Count


class Stall(_Section):
    """Cycles of a period in which a process begins iterations, waits for words, and for room."""

    name: Text
    busy_cycles: Count
    starved_cycles: Count
    blocked_cycles: Count


class Timing(_Section):
    period_cycles: Count
    period_frames: Count
    waits: Annotated[tuple[Text, ...], Rows]
    stalls: Annotated[tuple[Stall, ...], Rows]


class Banks(_Section):
    banks: Count
    slots: Count
    offsets: Annotated[tuple[Count, ...], Rows]
    fewest: bool
    reads_per_iteration: Count
    proven_anchors: Count


class Memory(_Section):
    name: Text
    copies: Count
    depth: Count
    bits: Count
    storage: Text
    bram18: Count
    uram: Count
    lut: Count


class Accuracy(_Section):
    """snr_db: None where nothing is lost."""

    name: Text
    type: Text
    snr_db: Any_ | None
    agreement: Number | None


class Calibration(_Section):
    """Where the number types come from."""

    source: Text
    frames: Count
    stand_in: bool
    chooses_types: bool


class Clipped(_Section):
    """Values of a tensor that left the range of its type on the frames that were simulated."""

    name: Text
    part: Text
    type: Text
    values: Count
    clipped: Count
    share: Number
    furthest: Number
    own: bool


class Quality(_Section):
    """How near the outputs are to floating point, in words."""

    summary: Annotated[tuple[Text, ...], Rows]


class LayerVerdict(_Section):
    name: Text
    compared: Count
    mismatches: Count


class Csim(_Section):
    verdict: Literal["equal", "differs", "skipped"]
    compared: Count
    mismatches: Count
    max_abs_error: Number
    frames: Count = 0
    layers: Annotated[tuple[LayerVerdict, ...], Rows] = ()


class Difference(_Section):
    """percent: how far the model is above what is synthesised; None: above nothing."""

    modelled: Any_
    synthesised: Any_
    percent: Any_ | None


class Synthesised(_Section):
    stage: Text
    file: Text
    top: Text
    version: Text
    part: Text
    passed: bool | None = None
    differences: Annotated[dict[Text, Difference], Field(max_length=100)]


class FrontPoint(_Section):
    frames_per_s: Positive
    interval: Some
    instances: Some
    largest_share: Number
    chosen: bool


class SearchPoint(_Section):
    frames_per_s: Positive
    utilisation: Annotated[dict[Text, Number], Field(max_length=32)]


class Search(_Section):
    """What the search for the best mapping found."""

    point: SearchPoint
    bound: Number
    gap: Number
    proven: bool
    greedy: SearchPoint | None
    front: Annotated[tuple[FrontPoint, ...], Entries(1, MOST_ROWS)]
    problems_solved: Count
    kernels_made: Count
    streamed_layers: Count = 0

    @model_validator(mode="after")
    def check_chosen(self) -> Self:
        if sum(one.chosen for one in self.front) != 1:
            raise refused(Mistake(message="must have one point that is chosen", fix=AGAIN, at=("front",)))
        return self


class KernelPort(_Section):
    name: Text
    writes: bool
    stream: bool
    bits: Count


class Interface(_Section):
    free_running: bool
    ports: Annotated[tuple[KernelPort, ...], Rows]


class Report(_Section):
    """report.json, as far as the page shows it. Edges lead from inputs and earlier layers to later ones."""

    design: Text
    board: Text
    board_title: Text
    part: Text
    clock_mhz: Positive
    interface: Interface | None = None
    graph: GraphSection
    layers: Annotated[tuple[Layer, ...], Entries(1, MOST_ROWS)]
    total: Total
    performance: Performance
    cost: Cost
    slrs: Annotated[tuple[Slr, ...], Entries(1, 64)]
    roofline: Roofline | None
    timeline: Annotated[tuple[Span, ...], Rows]
    timing: Annotated[Timing | None, BeforeValidator(_none_if_empty)] = None
    joints: Annotated[tuple[Joint, ...], Rows] = ()
    fifos: Annotated[tuple[Fifo, ...], Rows] = ()
    banks: Banks | None = None
    memories: Annotated[tuple[Memory, ...], Rows] = ()
    quantisation: Annotated[tuple[Accuracy, ...], Rows] = ()
    calibration: Calibration | None = None
    clipping: Annotated[tuple[Clipped, ...], Rows] = ()
    quality: Quality | None = None
    warnings: Annotated[tuple[Text, ...], Rows] = ()
    csim: Csim
    synthesised: Annotated[tuple[Synthesised, ...], Rows] = ()
    explored: Search | None = None

    @model_validator(mode="after")
    def check_graph(self) -> Self:
        known = {port.name for port in self.graph.inputs}
        reads: dict[str, list[str]] = {}
        for edge in self.graph.edges:
            reads.setdefault(edge.to, []).append(edge.source)
        for layer in self.layers:
            if not set(reads.pop(layer.name, ())) <= known:
                message = f"has an edge to {layer.name} from what is no input and no earlier layer"
                raise refused(Mistake(message=message, fix=AGAIN, at=("graph",)))
            if layer.name in known:
                message = f"has the name {layer.name} twice"
                raise refused(Mistake(message=message, fix=AGAIN, at=("layers",)))
            known.add(layer.name)
        if reads or not {port.source for port in self.graph.outputs} <= known:
            raise refused(Mistake(message="names layers that are not there", fix=AGAIN, at=("graph",)))
        streams = {fifo.name for fifo in self.fifos}
        ways = [one.fifos for one in self.graph.edges] + [one.fifos for one in self.graph.outputs]
        if not all(set(way) <= streams for way in ways):
            raise refused(Mistake(message="names streams that are not there", fix=AGAIN, at=("graph",)))
        return self
