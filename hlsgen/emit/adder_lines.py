"""The adders of constant weights as C++: a line each, in parts that a compiler can look at by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hlsgen.layers.adder_graph import Adder, AdderGraph, Interval, Term

PART = 256
"""Adders of a function: g++ takes 30 times as long for 4,000 in one, as it looks at all pairs of a block."""


Name = Callable[[int, int], str]
"""Of a signal, as a part names it."""


def adder_constants(graph: AdderGraph) -> dict[str, Any]:
    """What templates/hls/dataflow/adders.h.j2 names."""
    return {
        **_lines(graph),
        "ADDERS": graph.count,
        "ADDER_BITS": graph.bits,
        "ADDER_DEPTH": graph.depth,
        "ADDER_INPUTS": len(graph.inputs),
    }


def _lines(graph: AdderGraph) -> dict[str, Any]:
    """adder_parts: the lines of each part, and whether they read inputs; shared: declarations of the sums
    that other parts read, or the outputs do where there are several parts; sum_lines: those of the outputs.
    """
    first = len(graph.inputs)
    parts = list(_parts(graph.adders))
    known = {first + number: part for part, numbers in enumerate(parts) for number in numbers}
    shared = _shared(graph, parts, known) if len(parts) > 1 else set()

    def name(signal: int, part: int) -> str:
        if signal < first:
            return f"x[{signal}]"
        own = f"s{signal - first}"
        return own if known[signal] == part or not shared else f"sums.{own}"

    adder_parts = []
    for part, numbers in enumerate(parts):
        lines = []
        for number in numbers:
            one = graph.adders[number]
            lines.append(f"const {_type(one.range)} s{number} = {_sum(one, part, name)};")
            if first + number in shared:
                lines.append(f"sums.s{number} = s{number};")
        adder_parts.append({"lines": lines, "reads_inputs": any("x[" in line for line in lines)})
    last = 0 if len(parts) < 2 else len(parts)
    return {
        "adder_parts": adder_parts or [{"lines": []}],
        "shared": [f"{_type(graph.adders[one - first].range)} s{one - first};" for one in sorted(shared)],
        "sum_lines": [
            f"dot[{number}] = {_output(one, last, name)};" for number, one in enumerate(graph.outputs)
        ],
    }


def _parts(adders: Sequence[Adder]) -> Iterator[range]:
    """The numbers of the adders of each part, one after the other."""
    for begin in range(0, len(adders), PART):
        yield range(begin, min(begin + PART, len(adders)))


def _shared(graph: AdderGraph, parts: Sequence[range], known: dict[int, int]) -> set[int]:
    """The signals that are read outside of their part."""
    first = len(graph.inputs)
    found = {one.signal for one in graph.outputs if one is not None and one.signal >= first}
    for part, numbers in enumerate(parts):
        for number in numbers:
            terms = (graph.adders[number].left, graph.adders[number].right)
            found |= {one.signal for one in terms if one.signal >= first and known[one.signal] != part}
    return found


def _sum(adder: Adder, part: int, name: Name) -> str:
    sign = "-" if adder.right.sign < 0 else "+"
    return f"{_shifted(adder.left, part, name)} {sign} {_shifted(adder.right, part, name)}"


def _output(term: Term | None, part: int, name: Name) -> str:
    if term is None:
        return "0"
    return f"{'-' if term.sign < 0 else ''}{_shifted(term, part, name)}"


def _shifted(term: Term, part: int, name: Name) -> str:
    """A shift as the product that it is: of a number of so many bits `<<` would keep no more."""
    own = name(term.signal, part)
    return f"{own} * {1 << term.shift}" if term.shift else own


def _type(reach: Interval) -> str:
    return f"{'ap_int' if reach.signed else 'ap_uint'}<{reach.bits}>"
