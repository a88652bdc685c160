"""hlsgen pipeline: a network in parts at work at once; one file of them, or frames through it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource
from rich.table import Table

from hlsgen.base.errors import DesignError, MismatchError, OutputError, Problem
from hlsgen.base.output import check_place
from hlsgen.base.rates import rate_text
from hlsgen.cli.console import note, print_json, reporting, show, working
from hlsgen.cli.designs import GivenDesign, design_options

if TYPE_CHECKING:
    from hlsgen.base.progress import Progress
    from hlsgen.pipelining.pipeline import Pipeline
    from hlsgen.pipelining.running import Running

T = TypeVar("T")


@click.command()
@design_options
@click.option("--cut", metavar="LAYER,LAYER", help="Layers that each end a part.")
@click.option(
    "--parts", type=click.IntRange(1, 26), metavar="N", help="So many parts, the slowest as fast as can be."
)
@click.option(
    "--target", default="cpu", show_default=True, metavar="cpu,fpga", help="Of each part, or of all."
)
@click.option(
    "--framework", default="onnxruntime", show_default=True, metavar="F,F", help="Of CPU parts; or torch."
)
@click.option("--threads", default="1", show_default=True, metavar="N,N", help="Of each CPU part.")
@click.option("--workers", default="1", show_default=True, metavar="N,N", help="Copies of each part at once.")
@click.option("--cpus", default="", metavar="0+1,2", help="Cores of each part; without it all.")
@click.option("--style", default="dataflow", show_default=True, metavar="S,S", help="Of FPGA parts.")
@click.option(
    "--xclbin",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What the card of FPGA parts gets; without it their C-simulation takes its place.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="NET.zip", help="One file of all.")
@click.option(
    "--input",
    "input_file",
    type=click.Path(path_type=Path),
    metavar="X.npy",
    help="Frames to run, batch first.",
)
@click.option("--results", type=click.Path(path_type=Path), metavar="Y.npy", help="Where results go.")
@click.option(
    "--batch", type=click.IntRange(1, 65536), default=1, show_default=True, help="Frames of an item."
)
@click.option("--depth", type=click.IntRange(1, 1024), default=2, show_default=True, help="Items that wait.")
def pipeline(
    given: GivenDesign,
    as_json: bool,
    output: Path | None,
    input_file: Path | None,
    results: Path | None,
    batch: int,
    depth: int,
    **wishes: Any,
) -> None:
    """Cut DESIGN into parts on CPU and FPGA that work at once; DESIGN may be a file that -o wrote."""
    with reporting(as_json):
        if output is None and input_file is None:
            raise click.UsageError("say what for: -o NET.zip writes all parts, --input X.npy runs frames")
        if results is not None and input_file is None:
            raise click.UsageError("--results are those of --input X.npy, which is missing")
        for path, option in ((output, "-o"), (results, "--results")):
            if path is not None:
                check_place(path, option)
        with working(as_json) as progress:
            found = _opened(given, wishes, progress)
            if output is not None:
                found.save(output)
            told: dict[str, Any] = {"name": found.name, "parts": _parts(found)}
            if input_file is not None:
                told |= _run(found, input_file, results, batch, depth, progress)
        if as_json:
            print_json(told)
            return
        _show(told)
        if output is not None:
            click.echo(f"wrote {click.format_filename(output)}")


def _opened(given: GivenDesign, wishes: dict[str, Any], progress: Progress) -> Pipeline:
    from hlsgen.pipelining.pipeline import Pipeline
    from hlsgen.pipelining.split import split

    if given.path.suffix == ".zip":
        named = [f"--{name}" for name in wishes if name != "xclbin" and _is_given(name)]
        if named:
            raise click.UsageError(f"{given.path} is cut already; {', '.join(named)} is for a design")
        return Pipeline.load(given.path, say=note, xclbin=wishes["xclbin"])
    if not wishes["cut"] and not wishes["parts"]:
        raise click.UsageError("where to cut? --cut LAYER,LAYER by hand, or --parts N")
    if wishes["cut"] and wishes["parts"]:
        raise click.UsageError("--cut says where, --parts how many: one of both")
    cuts = wishes["cut"].split(",") if wishes["cut"] else None
    count = wishes["parts"] or len(cuts or ()) + 1
    return split(
        given.load(progress), cuts, parts=wishes["parts"], wishes=_wishes(count, wishes), progress=progress
    )


def _wishes(count: int, given: dict[str, Any]) -> list[Any]:
    from hlsgen.pipelining.split import Wish

    columns = {
        "target": _each("--target", given["target"].split(","), count),
        "framework": _each("--framework", given["framework"].split(","), count),
        "style": _each("--style", given["style"].split(","), count),
        "threads": _each("--threads", _numbers("--threads", given["threads"]), count),
        "workers": _each("--workers", _numbers("--workers", given["workers"]), count),
        "cpus": _each("--cpus", [_cores(part) for part in given["cpus"].split(",")], count),
    }
    found = [Wish(**{key: values[at] for key, values in columns.items()}) for at in range(count)]
    if given["xclbin"] is None:
        return found
    if all(one.target == "cpu" for one in found):
        raise click.UsageError("--xclbin is for parts on an FPGA; there is none")
    return [replace(one, xclbin=given["xclbin"] if one.target == "fpga" else None) for one in found]


def _is_given(option: str) -> bool:
    """Whether the command line has the option."""
    source = click.get_current_context().get_parameter_source(option)
    return source is not None and source is not ParameterSource.DEFAULT


def _each(option: str, values: Sequence[T], count: int) -> list[T]:
    if len(values) == 1:
        return list(values) * count
    if len(values) != count:
        raise click.BadParameter(f"{len(values)} values for {count} parts", param_hint=option)
    return list(values)


def _numbers(option: str, text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.isdecimal() and len(part) < 6 for part in parts):
        raise click.BadParameter(f"{text!r:.80} is no list such as 1,2", param_hint=option)
    return [int(part) for part in parts]


def _cores(text: str) -> tuple[int, ...]:
    return tuple(number for part in text.split("+") if part for number in _numbers("--cpus", part))


def _parts(found: Pipeline) -> list[dict[str, Any]]:
    return [
        {
            "name": part.name,
            "target": part.target,
            "about": part.about,
            "workers": part.workers,
            "reads": [port.name for port in part.inputs],
            "gives": [port.name for port in part.outputs],
        }
        for part in found.in_order()
    ]


def _run(
    found: Pipeline, file: Path, results: Path | None, batch: int, depth: int, progress: Progress
) -> dict[str, Any]:
    import numpy as np

    try:
        frames = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        message = f"{file} cannot be read: {getattr(error, 'strerror', None) or error}"
        raise DesignError(Problem(message=message, fix="an array of numpy.save, [frames, ...]")) from None
    progress("opening the parts")
    with found.open(depth) as running:
        progress("running")
        begin = time.perf_counter()
        outputs = running.run(frames, batch)
        seconds = time.perf_counter() - begin
        told = _figures(running, len(frames), seconds)
        progress("the same parts in sequence")
        begin = time.perf_counter()
        wanted = running.in_sequence(frames, batch)
        told["sequence_seconds"] = time.perf_counter() - begin
    every = outputs if isinstance(outputs, list) else [outputs]
    alike = wanted if isinstance(wanted, list) else [wanted]
    if not all(np.array_equal(one, other) for one, other in zip(every, alike, strict=True)):
        raise MismatchError("error: results differ from those of the same parts in sequence")
    if results is not None:
        _write(results, every)
    return told


def _write(path: Path, outputs: list[Any]) -> None:
    """One array as .npy; several, by their number, as y0.npy, y1.npy beside it."""
    import numpy as np

    paths = (
        [path] if len(outputs) == 1 else [path.with_stem(f"{path.stem}{at}") for at in range(len(outputs))]
    )
    try:
        for one, array in zip(paths, outputs, strict=True):
            with one.open("wb") as file:
                np.save(file, array)
    except OSError as error:
        message = f"error: cannot write {path}: {error.strerror or error}\nfix: another --results"
        raise OutputError(message) from None


def _figures(running: Running, frames: int, seconds: float) -> dict[str, Any]:
    parts = {name: {"busy_seconds": one.busy, "items": one.items} for name, one in running.figures().items()}
    return {"frames": frames, "seconds": seconds, "simulated": running.simulated, "figures": parts}


def _show(told: dict[str, Any]) -> None:
    """Parts and, of a run, what each took: measured here."""
    figures = told.get("figures", {})
    table = Table("part", "on", "workers", "reads", "gives", *(["busy, s"] if figures else []))
    for part in told["parts"]:
        busy = [f"{figures[part['name']]['busy_seconds']:.3f}"] if figures else []
        names = (", ".join(part["reads"]), ", ".join(part["gives"]))
        table.add_row(part["name"], part["about"], str(part["workers"]), *names, *busy)
    show(table)
    if not figures:
        return
    rate = told["frames"] / told["seconds"]
    click.echo(
        f"{told['frames']:,} frames in {told['seconds']:.3f} s, measured here: {rate_text(rate)} frames/s"
    )
    click.echo(
        f"the same parts in sequence: {told['sequence_seconds']:.3f} s, measured here; results are equal in "
        "every bit"
    )
    if told["simulated"]:
        note("an FPGA part was simulated here: its time is not an FPGA's")
