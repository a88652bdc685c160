"""What a design costs and how fast it is, as report.json says it. Every figure is the cost model's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hlsgen.cost.conv_instance import instance_resources
from hlsgen.cost.cycles import AXI_LATENCY, iterations
from hlsgen.cost.error_margins import by_term
from hlsgen.cost.resources import Resources
from hlsgen.designfile.clock import Clock
from hlsgen.emit.bank_picture import bank_table
from hlsgen.emit.conv2d import folding_names
from hlsgen.hardware.conv2d import ConvMapping
from hlsgen.model.ir import Graph
from hlsgen.report.cells import Cells, CellsByTarget, Cost, cost_figures, cost_text
from hlsgen.report.checks import CsimFigures, lint_text
from hlsgen.report.content import Figures, Report
from hlsgen.report.estimates import Estimates
from hlsgen.report.figures import Banks, Folding, Layer, Memory, OmpssFigures, Slr, slr_figures
from hlsgen.report.fit import fit_text
from hlsgen.report.frames import clipping_text, warning_lines
from hlsgen.report.judge import judge_text
from hlsgen.report.kernels import KERNEL_HEADS, KernelFigures, kernel_rows
from hlsgen.report.roofline import Roofline, built_ceiling, dsp_ceiling, roofline_figures
from hlsgen.report.schedule import interval_text, schedule_text
from hlsgen.report.section import resource_counts
from hlsgen.report.summary import summary_rows
from hlsgen.report.tables import SHARE_HEADS, kind_cells, page, shares, table
from hlsgen.report.timing import Span, spans_in_turn
from hlsgen.search.board_limits import COLUMNS
from hlsgen.search.conv_kernel import ConvHardware
from hlsgen.search.placement import Deployment, PlacedKernel, frame_copies, slrs_with
from hlsgen.targets.terms import OUTSIDE, Target, Terms


@dataclass(frozen=True, kw_only=True)
class Estimate(Estimates):
    """The modelled figures of a layer. `as_json` has the keys of report.json."""

    deployment: Deployment
    foldings_tried: int

    @property
    def hardware_text(self) -> str:
        return str(self.deployment)

    @property
    def instances(self) -> int:
        return len(self.deployment.instances)

    @property
    def interval_cycles(self) -> int:
        return self.deployment.cycles.interval

    @property
    def latency_cycles(self) -> int:
        """Cycles of a call with one frame, the loading of the weights included."""
        return self.deployment.cycles.latency

    @property
    def used(self) -> Resources:
        return self.deployment.total

    @property
    def frames_per_s(self) -> float:
        return self.deployment.frames_per_s

    @property
    def batch_frames_per_s(self) -> float:
        return self.deployment.batch_frames_per_s

    @property
    def binds(self) -> str:
        return self.deployment.bottleneck

    @cached_property
    def cost(self) -> Cost:
        def taken(terms: Terms) -> Resources:
            return Resources.sum(
                instance_resources(one.mapping, terms).times(len(one.instances))
                for one in self.deployment.kernels
            )

        return cost_figures(taken, self.board)

    def figures(self) -> Figures:
        copies = [frame_copies(one.mapping) for one in self.deployment.kernels]
        return replace(
            super().figures(),
            ompss=OmpssFigures(
                instances=sum(map(len, slrs_with(self.deployment, copies))), frames_bram18=copies[0].bram18
            ),
            banks=_banks_figures(self.deployment.mapping),
            memories=_memory_figures(self.deployment.mapping),
            foldings_tried=self.foldings_tried,
            kernels=self._kernels() if len(self.deployment.kernels) > 1 else (),
        )

    def _kernels(self) -> tuple[KernelFigures, ...]:
        deployment = self.deployment
        names = folding_names(self.design, deployment.layer.name, len(deployment.kernels))
        return tuple(
            KernelFigures(
                kernel=name,
                folding=_folding_figures(one.mapping),
                instances=len(one.instances),
                slrs=tuple(instance.slr for instance in one.instances),
                frames_share=round(share, 6),
                interval_cycles=one.cycles.interval,
                latency_cycles=one.cycles.latency,
                **resource_counts(one.each),
                cells=CellsByTarget(
                    routed=self._cells(one.mapping, "routed"), csynth=self._cells(one.mapping, "csynth")
                ),
                banks=_banks_figures(one.mapping),
                memories=_memory_figures(one.mapping),
            )
            for (name, _), one, share in zip(names, deployment.kernels, deployment.shares, strict=True)
        )

    def _cells(self, mapping: ConvMapping, target: Target) -> Cells:
        """Those of an instance without what lies outside of the kernel."""
        terms = self.board.terms.of(target)
        whole = instance_resources(mapping, terms)
        outside = by_term(lambda one: instance_resources(mapping, one), terms)[OUTSIDE]
        return Cells(lut=whole.lut - outside["lut"], ff=whole.ff - outside["ff"])

    def _layers(self) -> tuple[Layer, ...]:
        mapping = self.deployment.mapping
        layer = mapping.layer
        return (
            Layer(
                name=layer.name,
                kind=layer.kind,
                macs=layer.macs,
                type=str(layer.output_type),
                shape=layer.output_shape,
                folding=_folding_figures(mapping),
                ii=1,
                interval_cycles=self.interval_cycles,
                latency_cycles=self.latency_cycles,
                **resource_counts(self.deployment.kernels[0].each),
            ),
        )

    def _roofline(self) -> Roofline | None:
        deployment, mapping = self.deployment, self.deployment.mapping
        layer = mapping.layer
        products = 2 if mapping.arithmetic == "packed" else 1
        dsps = layer.float_cores.multiplier_dsp if layer.is_float else 1
        if mapping.folding.algorithm == "winograd":  # six products by four
            products, dsps = 3 * products, 2 * dsps
        return roofline_figures(
            ceilings=(
                dsp_ceiling(self.board, self.clock_mhz, products=products, dsps=dsps),
                built_ceiling(
                    ((one.mapping.macs_per_iteration, len(one.instances)) for one in deployment.kernels),
                    self.clock_mhz,
                ),
            ),
            gops=self.gops,
            macs=mapping.layer.macs,
            frame_bytes=round(deployment.ddr_cost),
            ddr_gb_per_s=deployment.ddr_rate / 1e9,
        )

    def _timeline(self) -> list[Span]:
        """A call with one frame, in the parts of `Cycles.call`."""
        counts = iterations(self.deployment.mapping, 1)
        parts = (
            ("weights", AXI_LATENCY + counts.weights),
            ("first rows", counts.fill),
            ("compute", counts.compute + self.deployment.cycles.depth - 1),
            ("last results", self.deployment.mapping.drain_steps + AXI_LATENCY + 2),
        )
        return spans_in_turn(parts)

    def _slrs(self) -> list[Slr]:
        rows = []
        for slr in self.board.slrs:
            here = [instance for instance in self.deployment.instances if instance.slr == slr.name]
            banks, used = sorted({one.bank for one in here}), self.deployment.used_in(slr.name)
            rows.append(slr_figures(slr, self.board, instances=len(here), used=used, banks=banks))
        return rows


def conv_kernel_estimate(name: str, graph: Graph, choice: ConvHardware, uncertainty: float) -> Estimate:
    """The figures of a layer's hardware. uncertainty: of the clock."""
    deployment = choice.deployment
    return Estimate(
        design=name,
        graph=graph,
        board=deployment.board,
        clock=Clock(mhz=deployment.clock_mhz, uncertainty=uncertainty),
        batch=deployment.batch,
        deployment=deployment,
        foldings_tried=choice.tried,
    )


def _folding_figures(mapping: ConvMapping) -> Folding:
    folding = mapping.folding
    return Folding(
        rows=folding.rows,
        pe=folding.pe,
        simd=folding.simd,
        fabric_pe=folding.fabric_pe,
        order=folding.order,
        algorithm=folding.algorithm,
        arithmetic=mapping.arithmetic,
        chain=mapping.chain,
        macs_per_cycle=mapping.macs_per_iteration,
        in_lanes=mapping.in_lanes,
        out_lanes=mapping.out_lanes,
    )


def _memory_figures(mapping: ConvMapping) -> tuple[Memory, ...]:
    return tuple(
        Memory(
            name=memory.name,
            depth=memory.depth,
            bits=memory.bits,
            copies=memory.copies,
            storage=memory.storage.value,
            bram18=memory.bram18,
            uram=memory.uram,
            lut=memory.lut,
        )
        for memory in mapping.memories
    )


def _banks_figures(mapping: ConvMapping) -> Banks:
    bank_map = mapping.bank_map
    return Banks(
        banks=bank_map.banks,
        slots=bank_map.slots,
        offsets=tuple(bank_map.offsets),
        fewest=bank_map.fewest,
        reads_per_iteration=len(mapping.patterns[0].elements),
        proven_anchors=bank_map.slots * bank_map.banks,
    )


# ---------------------------------------------------------------- report.md


def conv_kernel_markdown(deployment: Deployment, report: Report) -> str:
    """The report of a build. Every figure is modelled unless it says measured."""
    mapping = deployment.mapping
    parts = (
        f"# {report.design} on {report.board_title}",
        _summary(mapping, report),
        warning_lines(report.warnings),
        "## Board\n\n" + _slr_table(report),
        cost_text(report.cost),
        fit_text(report.fit),
        _ompss(report.ompss),
        _kernels(report),
        "## One instance\n\n" + _folding(mapping, report),
        "## On-chip memory\n\n" + _memory_table(report.memories),
        "## Banks\n\n" + _banks(mapping, report.banks),
        *(_other(*pair) for pair in zip(deployment.kernels[1:], report.kernels[1:], strict=True)),
        clipping_text(report.clipping),
        "## C-simulation\n\n" + _csim(report.csim),
        judge_text(report.judge),
        schedule_text(report.schedule),
        lint_text(report.lint),
    )
    return page(parts)


def _summary(mapping: ConvMapping, report: Report) -> str:
    layer = mapping.layer
    shapes = [" x ".join(str(size) for size in shape) for shape in (layer.in_shape, layer.output_shape)]
    rows = [
        ("modelled", ""),
        ("-", "-"),
        *summary_rows(
            report,
            interval=("interval of an instance", f"{report.total.interval_cycles:,} cycles a frame"),
            latency=("latency of a call with one frame", "weights loaded"),
            decimals=0,
        ),
    ]
    return (
        f"{layer.kind} `{layer.name}`: {shapes[0]} of {layer.input_type} -> "
        f"{shapes[1]} of {layer.result_type}; "
        f"weights {layer.weight_type} ({layer.weights_origin}), accumulator {layer.accumulator}.\n\n"
        + "\n".join(f"| {what} | {value} |" for what, value in rows)
    )


def _ompss(ompss: OmpssFigures | None) -> str:
    assert ompss is not None
    if not ompss.instances:
        return (
            f"OmpSs-2@FPGA: not even one instance fits, because its copy_deps keep whole frames on chip "
            f"({ompss.frames_bram18:,} BRAM18)."
        )
    return (
        f"OmpSs-2@FPGA: {ompss.instances} instances; its copy_deps keep whole frames on chip, "
        f"{ompss.frames_bram18:,} BRAM18 more for each of them."
    )


def _slr_table(report: Report) -> str:
    rows = [(slr.name, slr.instances, ", ".join(slr.ddr) or "-", *shares(slr)) for slr in report.slrs]
    total = f"| total | {report.total.instances} | | " + " | ".join(kind_cells(report.total)) + " |"
    return table(("SLR", "instances", "DDR", *SHARE_HEADS), rows) + "\n" + total


def _kernels(report: Report) -> str:
    """The kernels of instances that differ in folding; empty if they do not."""
    if not report.kernels:
        return ""
    return (
        "## Kernels\n\nThe instances differ in folding: what some of them leave of an SLR, others fill. All "
        "give the same results, and the host gives frames to each as fast as it takes them. Resources are "
        f"those of one instance; what follows is said of `{report.kernels[0].kernel}` first.\n\n"
        + table(KERNEL_HEADS, kernel_rows(report.kernels))
    )


def _other(placed: PlacedKernel, figures: KernelFigures) -> str:
    """Memories and banks of a kernel beside the first."""
    return (
        f"## Memory and banks of `{figures.kernel}`\n\n{_memory_table(figures.memories)}\n\n"
        + _banks_text(placed.mapping, figures.banks)
    )


ALGORITHMS = {
    "direct": "direct",
    "winograd": "Winograd F(2, 3): two rows by four products a column instead of six",
}


def _folding(mapping: ConvMapping, report: Report) -> str:
    (layer,) = report.layers
    folding = layer.folding
    kinds = {"fixed": "fixed point, a DSP a product", "packed": "fixed point, two products a DSP"}
    kind = mapping.layer.float_cores.title if mapping.layer.is_float else kinds[mapping.arithmetic]
    product = f"{folding.rows} x {folding.pe} x {folding.simd} x {mapping.layer.taps}"
    lines = [
        "| | |",
        "|-|-|",
        f"| rows x PE x SIMD x taps | {product} = {folding.macs_per_cycle} multiply-accumulates a cycle |",
        f"| arithmetic | {kind} |",
        f"| algorithm | {ALGORITHMS[mapping.folding.algorithm]} |",
        f"| outermost loop | {folding.order} |",
        f"| II | {interval_text(layer.ii, report.schedule)} |",
        f"| words | input {folding.in_lanes} elements, output {folding.out_lanes} elements |",
    ]
    if mapping.arithmetic == "packed":
        exact = f"{mapping.chain}, exact for these weights"
        lines.append(f"| products added before the lanes are taken apart | {exact} |")
    if folding.fabric_pe:
        what = "adders" if mapping.layer.is_float else "multipliers"
        lines.append(f"| output channels with {what} in LUTs | {folding.fabric_pe} of {folding.pe} |")
    lines += [f"| {kind.upper()} | {getattr(layer, kind):,} |" for kind in COLUMNS]
    lines.append(f"\nChosen among {report.foldings_tried} foldings.")
    return "\n".join(lines)


def _memory_table(memories: Sequence[Memory]) -> str:
    keys = ("name", "copies", "depth", "bits", "storage", "bram18", "uram", "lut")
    head = ("memory", "copies", "words", "bits", "storage", "BRAM18", "URAM", "LUT")
    return table(head, [[getattr(memory, key) for key in keys] for memory in memories])


def _banks(mapping: ConvMapping, banks: Banks | None) -> str:
    assert banks is not None
    picture = "\n\n![accesses over banks, before and after the offsets](banks.svg)"
    return _banks_text(mapping, banks) + picture


def _banks_text(mapping: ConvMapping, banks: Banks) -> str:
    return (
        f"Each iteration reads {banks.reads_per_iteration} elements of a channel and writes "
        f"{mapping.in_lanes}. Element (slot, column) of the {banks.slots} rows on chip lies in bank "
        f"(column + offset[slot]) mod {banks.banks}; {banks.proof}. Proven without conflict at all "
        f"{banks.proven_anchors} positions that differ (slots x banks).\n\n"
        + bank_table(mapping.bank_map).strip()
    )


def _csim(csim: CsimFigures) -> str:
    if csim.verdict == "skipped":
        return "Skipped."
    assert csim.iterations_measured is not None
    counted = ", ".join(f"{name} {count:,}" for name, count in csim.iterations_measured.items())
    return (
        f"Measured: {csim.equal:,} of {csim.compared:,} results of {csim.frames} frames equal golden "
        f"bit for bit. On {csim.iterations_frames} frames the memories recorded every access: no "
        f"iteration asks one for more ports than it has, and loops iterate as often as modelled ({counted})."
    )
