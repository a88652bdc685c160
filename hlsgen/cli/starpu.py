"""hlsgen starpu: a network as tasks of StarPU, whose parts run on CPUs and an FPGA as a policy decides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from hlsgen.cli.console import print_json, reporting, show, working
from hlsgen.cli.designs import GivenDesign, design_options

if TYPE_CHECKING:
    from hlsgen.starpu.description import TaskPart


@click.command()
@design_options
@click.option("--cut", metavar="LAYER,LAYER", help="Layers that each end a part.")
@click.option(
    "--parts", type=click.IntRange(1, 26), metavar="N", help="So many parts, the slowest as fast as can be."
)
@click.option(
    "--target", default="cpu", show_default=True, metavar="cpu,any", help="Of each part: cpu, fpga or any."
)
@click.option("--style", default="dataflow", show_default=True, metavar="S", help="Of kernels.")
@click.option("--cpus", type=click.IntRange(1, 64), metavar="N", help="CPU workers [the cores here].")
@click.option(
    "--frames",
    type=click.IntRange(1, 1024),
    default=4,
    show_default=True,
    help="That the program checks; requests bring them in turn.",
)
@click.option(
    "--input",
    "input_file",
    type=click.Path(path_type=Path),
    metavar="X.npy",
    help="Take frames from there, batch first.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="DIR", help="Folder [build/NAME_starpu]."
)
def starpu(
    given: GivenDesign,
    as_json: bool,
    cut: str | None,
    parts: int | None,
    target: str,
    output: Path | None,
    **wishes: Any,
) -> None:
    """Write DESIGN as a program of StarPU tasks: ONNX Runtime on CPUs, kernels on an FPGA."""
    with reporting(as_json):
        if bool(cut) == bool(parts):
            raise click.UsageError("where to cut? --cut LAYER,LAYER by hand, or --parts N")
        from hlsgen.starpu.building import build_starpu

        with working(as_json) as progress:
            loaded = given.load(progress)
            folder = output or Path("build") / f"{loaded.name}_starpu"
            made = build_starpu(
                loaded,
                folder,
                cut.split(",") if cut else None,
                parts=parts,
                targets=target.split(","),
                progress=progress,
                **wishes,
            )
        if as_json:
            rows = [_row(part) for part in made.parts]
            print_json({"design": loaded.name, "parts": rows, "cpus": made.cpus, "folder": str(folder)})
            return
        table = Table("part", "on", "reads", "gives", "us on the FPGA, modelled")
        for part in made.parts:
            names = (", ".join(part.reads), ", ".join(part.gives))
            table.add_row(part.name, _places(part), *names, f"{part.fpga_us:,.1f}" if part.on_fpga else "")
        show(table)
        shown = click.format_filename(folder)
        click.echo(f"wrote {shown}/; next: make -C {shown} run")


def _places(part: TaskPart) -> str:
    return " or ".join(name for name, there in (("CPU", part.on_cpu), ("FPGA", part.on_fpga)) if there)


def _row(part: TaskPart) -> dict[str, Any]:
    return {
        "name": part.name,
        "on": _places(part),
        "reads": list(part.reads),
        "gives": list(part.gives),
        "fpga_us": part.fpga_us if part.on_fpga else None,
        "kind": "modelled",
    }
