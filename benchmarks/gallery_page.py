"""The tables of docs/gallery.md, out of the results of benchmarks/gallery.py and what others measured.

python benchmarks/gallery_page.py      writes them anew without measuring anything
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hlsgen.report.fit import percent_text

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "gallery.json"
PEERS = FOLDER / "gallery_peers.csv"
PAGE = FOLDER.parent / "docs" / "gallery.md"
BEGIN, END = "<!-- {name}: written by benchmarks/gallery.py -->", "<!-- end of {name} -->"
ANSWERS = {
    "class": "of frames, the largest score",
    "cells": "of pixels or cells, the largest score",
    "order": "of pairs of frames, which has the larger error",
}
"""What agrees, by gallery_networks.Answer."""
Networks = Mapping[str, Mapping[str, Any]]


def write_page(results: Path, page: Path) -> None:
    """Replaces what stands between the markers of each table. Raises ValueError: a marker is not there."""
    text = page.read_text(encoding="utf-8")
    for name, table in tables(json.loads(results.read_text(encoding="utf-8"))).items():
        begin, end = BEGIN.format(name=name), END.format(name=name)
        if begin not in text or end not in text:
            raise ValueError(f"{page} has no place for the table {name}: {begin} and {end} are lacking")
        before, _, rest = text.partition(begin)
        text = before + begin + "\n" + table + "\n" + end + rest.partition(end)[2]
    page.write_text(text, encoding="utf-8")


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """Markdown by the name of the table."""
    networks: Networks = results["networks"]
    boards = list(dict.fromkeys(board for one in networks.values() for board in one["boards"]))
    found = {f"modelled {board}": _modelled(networks, board) for board in boards}
    found["measured here"] = _measured(networks, boards)
    found["number types"] = _types(results)
    found["measured by others"] = _beside(networks)
    found["the machine"] = _machine(results)
    return found


def _table(heads: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "-|" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def _rate(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return ""
    if "problem" in row:
        return "none fits"
    rate = row["frames_per_s"]
    return f"{rate:,.0f}" if rate >= 1000 else f"{rate:,.1f}"


def _modelled(networks: Networks, board: str) -> str:
    """Frames a second by clock; the resources are those at the highest."""
    clocks = sorted({clock for one in networks.values() for clock in _clocks(one, board)}, key=float)

    def rows() -> Iterator[list[str]]:
        for one in networks.values():
            at = _clocks(one, board)
            if not at:
                continue
            last = at.get(clocks[-1], {})
            cells = [one["title"], *(_rate(at.get(clock)) for clock in clocks)]
            if "frames_per_s" not in last:
                yield [*cells, *([""] * 7)]
                continue
            used = [f"{last[key]:,}" for key in ("dsp", "bram18", "uram", "lut")]
            yield [
                *cells,
                f"{last['style']} x {last['instances']}",
                *used,
                percent_text(last["fits"]),
                last["binds"],
            ]

    rates = [f"{clock} MHz" for clock in clocks]
    return _table(["network", *rates, "style", "DSP", "BRAM18", "URAM", "LUT", "fits", "binds"], rows())


def _clocks(one: Mapping[str, Any], board: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = one["boards"].get(board, {}).get("clocks", {})
    return found


def _measured(networks: Networks, boards: Sequence[str]) -> str:
    """Accuracy, and what C-simulation took on each board's kernel."""

    def rows() -> Iterator[list[str]]:
        for one in networks.values():
            of = one["accuracy"]
            decibels = "equal" if of["db"] is None else f"{of['db']:.1f}"
            judged = f"{of['frames']} frames: {ANSWERS[of['answer']]}"
            cells = [one["title"], one["weights"]["kind"], f"{of['agreement']:.1%}", decibels, judged]
            yield [*cells, *(_simulated(one["boards"].get(board, {}).get("csim")) for board in boards)]

    heads = [
        "network",
        "weights",
        "as in float",
        "dB",
        "judged on",
        *(f"C-simulation, {one}" for one in boards),
    ]
    return _table(heads, rows())


def _types(results: Mapping[str, Any]) -> str:
    """What number types keep of the answers, those of benchmarks/gallery_types.py."""
    of: Mapping[str, Mapping[str, Any]] = results.get("types", {})
    heads = list(dict.fromkeys(head for row in of.values() for head in row))

    def rows() -> Iterator[list[str]]:
        for name, row in of.items():
            cells = [_kept(row[head]) if head in row else "" for head in heads]
            yield [results["networks"][name]["title"], *cells]

    return _table(["network", *heads], rows())


def _kept(figures: Mapping[str, Any]) -> str:
    text = f"{figures['db']:.1f} dB, {figures['agreement']:.1%}"
    if "bits" not in figures:
        return text
    weights, others = (
        "-".join(map(str, dict.fromkeys(figures["bits"][key]))) for key in ("weights", "activations")
    )
    return f"{text}; {weights} / {others} bits"


def _simulated(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return ""
    if "problem" in row:
        return "failed"
    equal = "all equal" if not row["mismatches"] else f"{row['mismatches']:,} differ"
    each = row["run_s"] / row["frames"]
    shown = f"{each:,.0f}" if each >= 10 else f"{each:.2g}"
    return f"{row['compile_s']:.0f} s + {shown} s a frame; {row['compared']:,} results, {equal}"


def peers() -> list[dict[str, str]]:
    """The rows of gallery_peers.csv."""
    with PEERS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _beside(networks: Networks) -> str:
    """A published figure a line, with what is modelled for the same board in a column of its own."""

    def rows() -> Iterator[list[str]]:
        for peer in peers():
            one = networks.get(peer["network"])
            title = peer["network"] if one is None else one["title"]
            clocks = {} if one is None else _clocks(one, peer["our_board"])
            modelled = f"{_rate(clocks.get('300'))}, {peer['our_board']}" if clocks else ""
            figure = f"{float(peer['frames_per_s']):,.10g}"
            told = f"{peer['tool']}, {peer['version']}"
            clock = f"{peer['clock_mhz']} MHz" if peer["clock_mhz"] else "not said"
            yield [title, figure, told, peer["board"], clock, peer["precision"], modelled, _compares(peer)]

    heads = ["network", "measured, frames/s", "by", "on", "clock", "bits"]
    return _table([*heads, "modelled here at 300 MHz", "how it compares"], rows())


def _compares(peer: Mapping[str, str]) -> str:
    return f"{peer['compares']} ([source]({peer['address']}): {peer['place']})"


def _machine(results: Mapping[str, Any]) -> str:
    machine = results["machine"]
    return (
        f"hlsgen {results['hlsgen']}; batches of {results['batch']}; measured on {machine['cores']} cores of "
        f"{machine['cpu']} with {machine['compiler']}, Python {machine['python']}, at other work too."
    )


if __name__ == "__main__":
    write_page(RESULTS, PAGE)
