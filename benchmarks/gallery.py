"""The gallery: ten known networks in 8 bits, on each board at three clocks; docs/gallery.md is made of it.

python benchmarks/gallery.py [--models FOLDER] [--networks N ...] [--boards B ...] [--clocks MHZ ...]
                             [--csim B ...] [--again] [--results PATH] [--page PATH]

--models: a folder with the trained models of MLPerf Tiny that a user downloaded; --list says which they are.
Networks without one have random weights of the same shapes, and the table says so.

Frames a second and resources are modelled, of what `style: auto` chooses inside the board's margin at the
highest clock; at the others the same style. Accuracy and the time of C-simulation are measured on the machine
at hand; that time is a CPU's. The results are written after each board; started again, the command goes on
with what is lacking.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gallery_accuracy import compared
from gallery_networks import NETWORKS, WHERE, Network, WrongFileError
from gallery_page import PAGE, RESULTS, write_page
from machine import machine

import hlsgen
from hlsgen.api.design import Design
from hlsgen.base.errors import DesignError, HlsgenError
from hlsgen.styles.auto import AUTO, STYLES, AutoNetwork
from hlsgen.targets.board import load_board

BOARDS = ("zcu102", "u200", "kv260")
CLOCKS = (220.0, 250.0, 300.0)
BATCH = 512
WIDTH = 8
"""Bits of every activation and weight; biases and sums take what they need."""
PRECISION = {"default": WIDTH, "balance": True}


@dataclass(frozen=True, kw_only=True)
class Read:
    """A network that was read. model: its trained weights' file, None for random ones."""

    network: Network
    model: Path | None
    design: Design
    frames: Any
    seconds: float

    @property
    def weights(self) -> dict[str, Any]:
        """What the results say of the weights."""
        if self.model is None:
            return {"kind": "random"}
        assert self.network.download is not None
        return {"kind": "trained", "file": self.network.download.path}


def read(network: Network, models: Path | None) -> Read:
    """The network in 8 bits, in no style yet. Raises DesignError; WrongFileError: a file is another one."""
    model = None
    if models is not None and network.download is not None:
        model = network.download.found_in(models)
    frames = network.frames(model)
    start = time.perf_counter()
    given: dict[str, Any] = {
        "calibration": frames[: network.calibration],
        "precision": PRECISION,
        "style": "auto",
        "batch": BATCH,
        "name": network.name,
    }
    if model is None:
        design = hlsgen.from_torch(network.definition().make_net(), frames.shape[1:], **given)
    else:
        design = hlsgen.from_qkeras(model, **given)
    return Read(
        network=network, model=model, design=design, frames=frames, seconds=time.perf_counter() - start
    )


def on(design: Design, board: str, clock: float, style: str = AUTO) -> Design:
    """The same network on another board and clock, in a style; its hardware is chosen anew."""
    network = design.given
    assert isinstance(network, AutoNetwork)
    moved = replace(network, board=load_board(board))
    return Design(moved if style == AUTO else moved.in_style(style)).at_clock(clock)


def modelled(design: Design) -> dict[str, Any]:
    """The figures of the hardware that is chosen, or why there is none."""
    start = time.perf_counter()
    try:
        found = design.estimate()
    except DesignError as error:
        return {"kind": "modelled", "problem": [problem.message for problem in error.problems]}
    used = found.used
    return {
        "kind": "modelled",
        "style": _style(design),
        "frames_per_s": round(found.frames_per_s, 1),
        "latency_us": round(found.latency_cycles / found.clock_mhz, 1),
        "gops": round(found.gops, 1),
        "instances": found.instances,
        "dsp": used.dsp,
        "bram18": used.bram18,
        "uram": used.uram,
        "lut": used.lut,
        "ff": used.ff,
        "fits": round(found.fit.usable, 3),
        "binds": found.binds,
        "search_s": round(time.perf_counter() - start, 1),
    }


def _style(design: Design) -> str:
    """The style, or the one that was found the fastest."""
    return next(name for name, kind in STYLES.items() if isinstance(design.style, kind))


def simulated(design: Design, frames: int) -> dict[str, Any]:
    """What building and C-simulating it took here, and whether it equals golden."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="hlsgen-gallery-") as scratch:
        try:
            project = design.build(Path(scratch) / "build", frames=frames, schedule=False)
        except HlsgenError as error:
            return {"kind": "measured", "problem": str(error).replace(scratch, "build")}
        found = project.verification
    assert found is not None
    return {
        "kind": "measured",
        "style": _style(design),
        "clock_mhz": design.clock_mhz,
        "frames": found.frames,
        "compared": found.comparison.compared,
        "mismatches": found.comparison.mismatches,
        "compile_s": round(found.compile_seconds, 1),
        "run_s": round(found.run_seconds, 3),
        "build_s": round(time.perf_counter() - start, 1),
    }


def entry(one: Read) -> dict[str, Any]:
    """What is known of a network apart from any board."""
    judged = one.frames[one.network.calibration :]
    start = time.perf_counter()
    accuracy = compared(one.design, one.model, one.network, judged)
    return {
        "title": one.network.title,
        "weights": one.weights,
        "macs": one.design.macs,
        "read_s": round(one.seconds, 1),
        "accuracy": {
            "kind": "measured",
            "answer": one.network.answer,
            "frames": len(judged),
            "calibration_frames": one.network.calibration,
            **accuracy,
            "seconds": round(time.perf_counter() - start, 1),
        },
        "boards": {},
    }


def made(
    network: Network, known: dict[str, Any] | None, arguments: argparse.Namespace, keep: Any, say: Any
) -> None:
    """Fills in what is lacking of a network. keep: is given the entry after every board."""
    trained = (
        network.download is not None
        and arguments.models is not None
        and network.download.found_in(arguments.models) is not None
    )
    if known is not None and (arguments.again or (known["weights"]["kind"] == "trained") != trained):
        known = None
    lacking = [board for board in arguments.boards if _lacks(known, board, arguments)]
    if known is not None and not lacking:
        say(f"{network.name}: nothing is lacking")
        return
    one = read(network, arguments.models)
    found = entry(one) if known is None else known
    keep(found)
    for board in lacking:
        say(f"{network.name} on {board} ...")
        rows = found["boards"].setdefault(board, {"clocks": {}})
        highest = max(arguments.clocks)
        for clock in sorted(arguments.clocks, reverse=True):
            if f"{clock:g}" in rows["clocks"]:
                continue
            fastest = rows["clocks"].get(f"{highest:g}", {}).get("style", AUTO)
            rows["clocks"][f"{clock:g}"] = modelled(on(one.design, board, clock, fastest))
            rows["clocks"] = dict(sorted(rows["clocks"].items(), key=lambda row: float(row[0])))
            keep(found)
        if board in arguments.csim and "csim" not in rows and "style" in rows["clocks"][f"{highest:g}"]:
            design = on(one.design, board, highest, rows["clocks"][f"{highest:g}"]["style"])
            rows["csim"] = simulated(design, network.simulated)
        keep(found)


def _lacks(known: dict[str, Any] | None, board: str, arguments: argparse.Namespace) -> bool:
    rows = {} if known is None else known["boards"].get(board, {})
    clocks = rows.get("clocks", {})
    if any(f"{clock:g}" not in clocks for clock in arguments.clocks):
        return True
    hardware = "style" in clocks[f"{max(arguments.clocks):g}"]
    return hardware and board in arguments.csim and "csim" not in rows


def listed() -> str:
    """Which trained models a user may download, from where, with their checksums."""
    lines = [f"from {WHERE}:"]
    for network in NETWORKS:
        if network.download is not None:
            lines.append(f"{network.title}: {network.download.path}, as FOLDER/{network.download.name}")
            lines += [f"  SHA-256 {value} {part}" for part, value in network.download.checksums.items()]
    return "\n".join(lines)


def arguments_of(words: Sequence[str] | None) -> argparse.Namespace:
    names = [network.name for network in NETWORKS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--models", type=Path, metavar="FOLDER", help="trained models that were downloaded")
    parser.add_argument("--list", action="store_true", help="say which those are, and end")
    parser.add_argument("--networks", nargs="+", choices=names, default=names)
    parser.add_argument("--boards", nargs="+", default=BOARDS, metavar="B")
    parser.add_argument("--clocks", type=float, nargs="+", default=CLOCKS, metavar="MHZ")
    parser.add_argument(
        "--csim", nargs="*", default=BOARDS, metavar="B", help="boards whose kernels are C-simulated; or none"
    )
    parser.add_argument("--again", action="store_true", help="make all anew; else what is there is kept")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="PATH")
    parser.add_argument(
        "--page", type=Path, default=PAGE, metavar="PATH", help="whose tables are written anew"
    )
    given = parser.parse_args(words)
    if given.models is not None and not given.models.is_dir():
        parser.error(f"there is no folder {given.models}")
    return given


def main(words: Sequence[str] | None = None) -> int:
    arguments = arguments_of(words)
    if arguments.list:
        print(listed())
        return 0
    warnings.simplefilter("ignore", hlsgen.HlsgenWarning)
    results: dict[str, Any] = {"networks": {}}
    if arguments.results.exists():
        results = json.loads(arguments.results.read_text(encoding="utf-8"))
    results |= {"hlsgen": hlsgen.__version__, "machine": machine(), "batch": BATCH, "bits": WIDTH}
    failed = False

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    for network in NETWORKS:
        if network.name not in arguments.networks:
            continue

        def keep(found: dict[str, Any], name: str = network.name) -> None:
            every = results["networks"] | {name: found}
            results["networks"] = {one.name: every[one.name] for one in NETWORKS if one.name in every}
            arguments.results.parent.mkdir(parents=True, exist_ok=True)
            written = arguments.results.with_suffix(".new")
            written.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
            written.replace(arguments.results)

        try:
            made(network, results["networks"].get(network.name), arguments, keep, say)
        except (HlsgenError, WrongFileError) as error:
            say(f"{network.name}: {error}")
            failed = True
    if arguments.page.exists() and arguments.results.exists():
        write_page(arguments.results, arguments.page)
        say(f"wrote {arguments.results} and the tables of {arguments.page}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
