"""The tables of report.html."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hlsgen.report.charts import RESOURCES, TITLES
from hlsgen.report.content import Figures, Report
from hlsgen.report.explored import Search
from hlsgen.report.figures import Fifo, Layer, fifo_memory
from hlsgen.report.fit import FIT_HEAD, fit_rows
from hlsgen.report.frames import CLIPPING_HEADS, clipping_cells
from hlsgen.report.judge import JUDGE_HEAD, TIE_HEAD, output_rows, tie_rows
from hlsgen.report.kernels import KERNEL_HEADS, kernel_rows
from hlsgen.report.mixture import MIXTURE_HEADS, MixtureFigures, mixture_rows
from hlsgen.report.page_graph import folding_text, shape_text
from hlsgen.report.processor import TASK_HEADS, task_cells
from hlsgen.report.schedule import CELLS_HEAD, SCHEDULE_HEAD, cells_rows, interval_text, schedule_rows
from hlsgen.report.styles import StyleFigures
from hlsgen.report.synthesised import HEADS

SHALLOW = 2
"""Words of a FIFO that is there for the handshake only."""
FIFO_LIMITS = {"smallest_depth": "no slower from", "least_depth": "deadlock below"}
"""Depths of a FIFO that are not computed for every network, and what their column is called."""
FOLDING = {
    "rows": "output rows at once",
    "pe": "output channels at once (PE)",
    "simd": "input channels at once (SIMD)",
    "fabric_pe": "PE with adders or multipliers in LUTs",
    "order": "outermost loop",
    "chain": "products added in a packed chain",
    "macs_per_cycle": "multiply-accumulates a cycle",
    "in_lanes": "elements of an input word",
    "out_lanes": "elements of an output word",
}
"""Keys of a layer's folding in words."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of the page. numbers: the columns that are aligned at their right."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...] = ()


def front_table(search: Search) -> Table:
    """The Pareto front, ascending in frames a second."""
    rows = [
        (
            f"{one.frames_per_s:,.0f}" + (" (this one)" if one.chosen else ""),
            f"{one.instances:,}",
            f"{one.interval:,}",
            f"{one.largest_share:.1%}",
        )
        for one in search.front
    ]
    head = ("frames a second", "instances", "cycles a frame", "largest share")
    return Table(title=f"All {len(rows)} points", head=head, rows=tuple(rows), numbers=(0, 1, 2, 3))


def styles_table(styles: Sequence[StyleFigures]) -> Table:
    """The styles that were compared: what each reaches, or why it has no hardware."""
    rows = tuple((f"{one.style} (this one)" if one.chosen else one.style, one.text) for one in styles)
    return Table(title="Styles compared", head=("style", "modelled"), rows=rows)


def mixture_table(found: MixtureFigures) -> Table:
    """Both sides of a streaming kernel that feeds processors."""
    numbers = tuple(range(1, len(MIXTURE_HEADS)))
    return Table(title="Both sides", head=MIXTURE_HEADS, rows=mixture_rows(found), numbers=numbers)


def instance_table(report: Figures) -> Table:
    """Folding and resources of the one layer's kernel."""
    layer = report.layers[0]
    rows = [(FOLDING.get(key, key), _cell(value)) for key, value in layer.folding.as_json().items()]
    rows += [
        ("II", interval_text(layer.ii, report.schedule if isinstance(report, Report) else None)),
        ("interval, cycles a frame", f"{layer.interval_cycles:,}"),
        ("latency, cycles of a call", f"{layer.latency_cycles:,}"),
        ("multiply-accumulates a frame", f"{layer.macs:,}"),
        *((TITLES[kind], f"{getattr(layer, kind):,}") for kind in RESOURCES),
    ]
    return Table(title=f"{layer.name}, {layer.kind}", head=("what", "value"), rows=tuple(rows), numbers=(1,))


def kernel_table(report: Report) -> Table:
    """The kernels of instances that differ in folding, resources of one instance each."""
    rows = tuple(kernel_rows(report.kernels))
    title = "Kernels: the instances differ in folding; above is the first of them"
    return Table(title=title, head=KERNEL_HEADS, rows=rows, numbers=(1, 4, 5, 6, 7, 8, 9, 10))


def _cell(value: int | str) -> str:
    return f"{value:,}" if isinstance(value, int) else value


def layer_tables(report: Figures) -> tuple[Table, ...]:
    """Every layer, then every process between them."""
    tasks = report.cost.style == "tasks"
    layers = Table(
        title="Kernels in the order of their calls" if tasks else "Layers of one instance",
        head=(
            *("layer", "kind", "folding", "cycles", *(("set by",) if tasks else ())),
            *(TITLES[kind] for kind in RESOURCES),
            *("MAC", "gives", "type", "weights"),
        ),
        rows=tuple(
            (
                layer.name,
                layer.kind,
                folding_text(layer),
                f"{layer.interval_cycles:,}",
                *((layer.binds,) if tasks else ()),
                *(f"{getattr(layer, kind):,}" for kind in RESOURCES),
                f"{layer.macs:,}",
                shape_text(layer.shape),
                layer.type,
                _weights(layer),
            )
            for layer in report.layers
        ),
        numbers=(3, *range(4 + tasks, 10 + tasks)),
    )
    if report.tasks:
        rows = tuple(map(task_cells, report.tasks))
        numbers = tuple(range(2, len(TASK_HEADS) - 1))
        return (Table(title="Tasks of a round", head=TASK_HEADS, rows=rows, numbers=numbers), layers)
    if not report.joints:
        return (layers,)
    joints = Table(
        title="Ports, forks and converters" + (" of the kernels" if tasks else ""),
        head=("process", *(("kernel",) if tasks else ()), "cycles", *(TITLES[kind] for kind in RESOURCES)),
        rows=tuple(
            (
                joint.name,
                *((joint.kernel,) if tasks else ()),
                f"{joint.interval_cycles:,}",
                *(f"{getattr(joint, kind):,}" for kind in RESOURCES),
            )
            for joint in report.joints
        ),
        numbers=tuple(range(1 + tasks, 7 + tasks)),
    )
    return (layers, joints)


def _weights(layer: Layer) -> str:
    weights = layer.weights
    return f"{weights.codes:,} x {weights.type}, {weights.place} in {weights.storage}" if weights else ""


def fifo_tables(report: Report) -> tuple[Table, ...]:
    """The deep ones, then those that are as shallow as a FIFO can be."""
    deep = [fifo for fifo in report.fifos if fifo.depth > SHALLOW]
    shallow = [fifo for fifo in report.fifos if fifo.depth <= SHALLOW]
    found = []
    if deep:
        deep.sort(key=lambda fifo: -fifo.depth)
        found.append(_fifo_table(f"{len(deep):,} of more than {SHALLOW} words, the deepest first", deep))
    if shallow:
        found.append(_fifo_table(f"{len(shallow):,} of {SHALLOW} words", shallow))
    return tuple(found)


def _fifo_table(title: str, fifos: list[Fifo]) -> Table:
    if any(fifo.kernel for fifo in fifos):
        return Table(
            title=title,
            head=("stream", "kernel", "words", "elements a word", "type", "memory"),
            rows=tuple(
                (
                    fifo.name,
                    fifo.kernel,
                    f"{fifo.depth:,}",
                    f"{fifo.lanes:,}",
                    fifo.type,
                    fifo_memory(fifo),
                )
                for fifo in fifos
            ),
            numbers=(2, 3),
        )
    limits = [name for name in FIFO_LIMITS if any(getattr(fifo, name) is not None for fifo in fifos)]
    return Table(
        title=title,
        head=(
            "stream",
            "words",
            *(FIFO_LIMITS[name] for name in limits),
            "elements a word",
            "type",
            "memory",
        ),
        rows=tuple(
            (
                fifo.name,
                f"{fifo.depth:,}",
                *(_known(getattr(fifo, name)) for name in limits),
                f"{fifo.lanes:,}",
                fifo.type,
                fifo_memory(fifo),
            )
            for fifo in fifos
        ),
        numbers=tuple(range(1, 3 + len(limits))),
    )


def _known(depth: int | None) -> str:
    return "not computed" if depth is None else f"{depth:,}"


def bank_tables(report: Report) -> tuple[Table, ...]:
    """Memories of the kernel, and the offset of each row slot."""
    assert report.banks is not None
    memories = Table(
        title="Memories of one instance",
        head=("memory", "copies", "words", "bits", "storage", "BRAM18", "URAM", "LUT"),
        rows=tuple(
            (
                one.name,
                f"{one.copies:,}",
                f"{one.depth:,}",
                f"{one.bits:,}",
                one.storage,
                f"{one.bram18:,}",
                f"{one.uram:,}",
                f"{one.lut:,}",
            )
            for one in report.memories
        ),
        numbers=(1, 2, 3, 5, 6, 7),
    )
    offsets = report.banks.offsets
    rows = (("slot", *map(str, range(len(offsets)))), ("offset", *map(str, offsets)))
    numbers = tuple(range(1, len(offsets) + 1))
    return (memories, Table(title="Offset of each row slot", head=rows[0], rows=rows[1:], numbers=numbers))


def fit_table(report: Report) -> Table:
    """How likely each kind of resource is to be enough."""
    return Table(
        title="Probability that it fits",
        head=FIT_HEAD,
        rows=tuple(fit_rows(report.fit)),
        numbers=(2, 3, 4, 5, 6),
    )


def term_table(report: Report) -> Table:
    """LUT and FF by term of the cost model, as routed and as csynth is expected to report them."""
    cost = report.cost
    rows = [
        (
            part.term.replace("_", " "),
            *(f"{cells:,}" for cells in (part.routed.lut, part.routed.ff, part.csynth.lut, part.csynth.ff)),
        )
        for part in cost.by_term
    ]
    total = (
        "together",
        *(
            f"{cells:,} ± {error:.0%}"
            for target in (cost.routed, cost.csynth)
            for cells, error in ((target.lut, target.lut_error), (target.ff, target.ff_error))
        ),
    )
    return Table(
        title="LUT and FF by term of the cost model",
        head=("term", "LUT routed", "FF routed", "LUT in csynth", "FF in csynth"),
        rows=(*rows, total),
        numbers=(1, 2, 3, 4),
    )


def clipping_table(report: Report) -> Table:
    """The tensors of which values are clipped."""
    rows = tuple(clipping_cells(one) for one in report.clipping if one.clipped)
    return Table(title="Clipped values", head=CLIPPING_HEADS, rows=rows, numbers=(2, 3))


def csim_table(report: Report) -> Table:
    rows = [
        (one.name, f"{one.compared:,}", f"{one.mismatches:,}", "equal" if not one.mismatches else "differs")
        for one in report.csim.layers
    ]
    head = ("layer", "compared", "mismatches", "verdict")
    return Table(title="Results compared with golden", head=head, rows=tuple(rows), numbers=(1, 2))


def judge_tables(report: Report) -> tuple[Table, ...]:
    """The outputs beside the framework's, and the ties of float32 if there are some."""
    found = report.judge
    if found is None:
        return ()
    outputs = tuple(output_rows(found.outputs))
    tables = (
        Table(title="Outputs beside the framework's", head=JUDGE_HEAD, rows=outputs, numbers=(1, 2, 3, 4, 5)),
        Table(
            title="Ties that float32 decides", head=TIE_HEAD, rows=tuple(tie_rows(found.ties)), numbers=(1, 2)
        ),
    )
    return tuple(one for one in tables if one.rows)


def schedule_table(report: Report) -> Table:
    """Every pipelined loop of the emitted code."""
    loops = () if report.schedule is None else report.schedule.loops
    rows = schedule_rows(loops)
    title = f"All {len(rows):,} pipelined loops"
    return Table(title=title, head=SCHEDULE_HEAD, rows=tuple(rows), numbers=(2, 4, 5, 6, 7))


def cells_table(report: Report) -> Table:
    """What a compute unit takes by its operations, beside the model."""
    cells = () if report.schedule is None else report.schedule.cells
    numbers = (1, 2, 3, 4, 5, 6)
    return Table(
        title="LUT and FF by operations", head=CELLS_HEAD, rows=tuple(cells_rows(cells)), numbers=numbers
    )


def difference_tables(report: Report) -> tuple[Table, ...]:
    """One for each report of the vendor's tools."""
    return tuple(
        Table(
            title=f"{one.top}: {one.about} ({one.file})",
            head=HEADS,
            rows=tuple(one.rows(unknown="–")),
            numbers=(1, 2, 3),
        )
        for one in report.synthesised
    )
