"""The adders of constant weights as C++: a line each."""

from __future__ import annotations

from typing import Any

from hlsgen.layers.adder_graph import Adder, AdderGraph, Interval, Term


def adder_constants(graph: AdderGraph) -> dict[str, Any]:
    """What templates/hls/dataflow/adders.h.j2 names."""
    first = len(graph.inputs)
    names = [f"x[{n}]" for n in range(first)] + [f"s{n}" for n in range(len(graph.adders))]
    return {
        "adder_lines": [_adder(f"s{n}", one, names) for n, one in enumerate(graph.adders)],
        "sum_lines": [f"dot[{n}] = {_output(one, names)};" for n, one in enumerate(graph.outputs)],
        "ADDERS": graph.count,
        "ADDER_BITS": graph.bits,
        "ADDER_DEPTH": graph.depth,
        "ADDER_INPUTS": first,
    }


def _adder(name: str, adder: Adder, names: list[str]) -> str:
    sign = "-" if adder.right.sign < 0 else "+"
    left, right = _shifted(adder.left, names), _shifted(adder.right, names)
    return f"const {_type(adder.range)} {name} = {left} {sign} {right};"


def _output(term: Term | None, names: list[str]) -> str:
    if term is None:
        return "0"
    return f"{'-' if term.sign < 0 else ''}{_shifted(term, names)}"


def _shifted(term: Term, names: list[str]) -> str:
    """A shift as the product that it is: of a number of so many bits `<<` would keep no more."""
    return f"{names[term.signal]} * {1 << term.shift}" if term.shift else names[term.signal]


def _type(reach: Interval) -> str:
    return f"{'ap_int' if reach.signed else 'ap_uint'}<{reach.bits}>"
