"""What `hlsgen explore` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from hlsgen.explore.result import Explored
from hlsgen.report.cells import cells_line
from hlsgen.report.explored import model_text, some_points
from hlsgen.report.fit import fit_line
from hlsgen.search.board_limits import COLUMNS, whole_of


def headline(explored: Explored[Any]) -> list[str]:
    """The result in a few lines."""
    point, design = explored.point, explored.design
    lines = [
        f"{design.name} on {design.board.name} at {design.clock_mhz:g} MHz, modelled: "
        f"{point.frames_per_s:,.0f} frames/s, latency {point.latency_us:,.1f} us",
        f"{_where(explored)}; a frame every {point.interval_cycles:,} cycles each",
        _proof(explored),
    ]
    if explored.multiplier_fps:
        assert explored.multiplier_share is not None
        lines.append(
            f"all usable DSPs at work in every cycle: {explored.multiplier_fps:,.0f} frames/s; "
            f"reached {explored.multiplier_share:.1%} of it"
        )
    lines.append(f"binds: {explored.binds}")
    if explored.greedy:
        rate = explored.greedy.frames_per_s
        more = point.frames_per_s / rate - 1
        lines.append(f"{explored.baseline}: {rate:,.0f} frames/s; this is {more:.1%} faster")
    elif explored.goal.fastest:
        lines.append(f"{explored.baseline}: nothing that fits")
    estimate = explored.chosen.estimate()
    return [*lines, cells_line(estimate.cost), fit_line(estimate.fit)]


def _where(explored: Explored[Any]) -> str:
    point = explored.point
    count = f"{point.instances} instance{'s' if point.instances > 1 else ''}"
    if point.by_slr is None:
        return f"{count} over several SLRs with {explored.crossings} crossings"
    return f"{count} ({', '.join(f'{number} in {slr}' for slr, number in point.by_slr.items() if number)})"


def _proof(explored: Explored[Any]) -> str:
    best = "fastest" if explored.goal.fastest else "cheapest"
    figure = f"{explored.bound:,.0f} frames/s" if explored.goal.fastest else f"a cost of {explored.bound:.4f}"
    made = f"{explored.built} kernel{'' if explored.built == 1 else 's'} made"
    counted = f"{explored.solved} problems solved, {made}"
    model = model_text(explored.streamed)
    if explored.proven:
        return f"proven the {best} of {model} ({counted})"
    side = "more" if explored.goal.fastest else "less"
    return f"within {explored.gap:.2%} of the {best} of {model}: none has {side} than {figure} ({counted})"


def layer_table(explored: Explored[Any]) -> Table:
    if not explored.layers[0].used:
        return _task_table(explored)
    table = Table(
        "layer",
        "kind",
        "PX/PE/SIMD" if "px" in explored.layers[0].mapping else "mapping",
        "SLR",
        "cycles",
        "options",
        *(one.upper() for one in COLUMNS),
    )
    for layer in explored.layers:
        table.add_row(
            layer.name,
            layer.kind,
            _short(layer.mapping),
            layer.slr or "",
            f"{layer.interval_cycles:,}",
            f"{layer.options} of {layer.seen}",
            *(f"{layer.used[kind]:,}" for kind in COLUMNS),
        )
    return table


def _task_table(explored: Explored[Any]) -> Table:
    """The tasks of shared processors, which no layer has a part of."""
    table, frame = Table("task", "kinds", "cycles a frame", "share"), explored.point.interval_cycles
    for task in explored.layers:
        share = f"{task.interval_cycles / frame:.1%}"
        table.add_row(task.name, task.kind, f"{task.interval_cycles:,}", share)
    return table


def _short(mapping: Mapping[str, Any]) -> str:
    """ "4/2/1 lutram": the values, the numbers of them together."""
    numbers = [str(value) for value in mapping.values() if isinstance(value, int)]
    return " ".join(["/".join(numbers), *(str(one) for one in mapping.values() if isinstance(one, str))])


def front_table(explored: Explored[Any]) -> Table:
    """The front, the chosen point marked; of a long one some, evenly."""
    whole = whole_of(explored.design.board)
    table = Table(
        "frames/s",
        "instances",
        "cycles",
        "largest",
        *(one.upper() for one in COLUMNS),
        title="Pareto front",
    )
    for one in some_points(explored.front):
        shares = (
            f"{one.used[kind] / getattr(whole, kind):.1%}" if getattr(whole, kind) else "" for kind in COLUMNS
        )
        rate = f"{one.frames_per_s:,.0f}" + (" *" if one.chosen else "")
        table.add_row(rate, str(one.instances), f"{one.interval:,}", f"{one.largest_share:.1%}", *shares)
    table.caption = "* chosen; shares of what may be used"
    return table
