"""hlsgen quantise: the widths of every tensor with the least hardware that keeps the answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from rich.table import Table

from hlsgen.cli.console import note, print_json, reporting, show, working
from hlsgen.cli.designs import GivenDesign, design_options, frame_options, metric_options, note_own_metric
from hlsgen.cli.printing import print_warnings

if TYPE_CHECKING:
    from hlsgen.api.design import Design
    from hlsgen.base.progress import Progress
    from hlsgen.training.recipe import Recipe
    from hlsgen.training.trained import TrainedFront
    from hlsgen.widths.quantised import Candidate, Quantised

T = TypeVar("T")


@click.command()
@design_options
@frame_options
@metric_options
@click.option(
    "--loss",
    type=float,
    default=0.01,
    show_default=True,
    metavar="L",
    help="What the metric may lose against floating point, on the frames that choose.",
)
@click.option(
    "--sigma",
    type=float,
    default=1.5,
    show_default=True,
    metavar="S",
    help="How many standard errors of the loss are to stay below --loss too; 0: the loss alone.",
)
@click.option(
    "--least",
    type=click.Choice(["all", "lut", "ff", "bram18", "uram", "dsp"]),
    default="all",
    show_default=True,
    help="What shall be the least: the sum of the board's shares, or one kind's.",
)
@click.option(
    "--widths",
    default="2,3,4,5,6,7,8,10,12,16",
    show_default=True,
    metavar="B,B",
    help="Bits that a tensor may have.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DESIGN",
    help="Write the choice as a design file.",
)
@click.option(
    "--front",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write the front's designs as files into DIR.",
)
@click.option("--force", is_flag=True, help="Replace design files that are there already.")
@click.option(
    "--plot", type=click.Path(path_type=Path), metavar="FILE", help="The Pareto front: .svg or .png."
)
@click.option(
    "--train",
    type=click.Path(path_type=Path),
    metavar="RECIPE.py",
    help="Then train what was found, and what is cheaper, on frames() of a Python file of your own, which is "
    "run; -o and --front write trained designs and their weights.",
)
@click.option(
    "--trained",
    type=click.IntRange(1, 100),
    default=6,
    show_default=True,
    metavar="N",
    help="With --train: how many networks are trained at the most.",
)
@click.option(
    "--memory",
    metavar="400MB",
    help="With --train: the most memory of a training step; what does not fit is computed again.",
)
def quantise(
    given: GivenDesign,
    as_json: bool,
    frames: int | None,
    input_file: Path | None,
    labels: Path | None,
    metric: str | None,
    loss: float,
    sigma: float,
    least: str,
    widths: str,
    output: Path | None,
    front: Path | None,
    force: bool,
    plot: Path | None,
    train: Path | None,
    trained: int,
    memory: str | None,
) -> None:
    """Find the bits of every tensor of DESIGN with the least hardware that keeps its answers."""
    with reporting(as_json):
        from hlsgen.report.front_file import check_ending
        from hlsgen.widths.search import quantise as search

        if plot is not None:
            check_ending(plot)
        bits = _bits(widths)
        if memory is not None and train is None:
            raise click.UsageError("--memory is a training's: say of which recipe, --train recipe.py")
        recipe = None if train is None else _recipe(train, output or front)
        with working(as_json) as progress:
            loaded = given.load(progress)
            note_own_metric(loaded, metric)
            if recipe is not None:
                _check_trainable(loaded)
            found = search(
                loaded,
                input_file,
                labels,
                metric=metric,
                loss=loss,
                sigma=sigma,
                least=least,
                widths=bits,
                frames=frames,
                progress=progress,
            )
            after = None if recipe is None else _trained(found, recipe, trained, memory, progress)
        written = (
            _write(found, given, output, front, force)
            if after is None
            else _write_trained(after, given, output, front, force)
        )
        if plot is not None:
            _draw(found, after, plot)
            written.append(plot)
        if as_json:
            print_json(found.as_json() | ({} if after is None else {"trained": after.as_json()}))
            return
        _show(found)
        if after is not None:
            _show_trained(after)
        for path in written:
            click.echo(f"wrote {click.format_filename(path)}")


def _recipe(path: Path, output: Path | None) -> Recipe:
    """The recipe, before the search takes its time. Raises DesignError as `hlsgen.train` does."""
    if output is None:
        raise click.UsageError("--train leaves trained weights and a design: say where, -o trained.yaml")
    from hlsgen.training.recipe import load_recipe

    note(f"running {path}, your own code, for frames()")
    return load_recipe(path)


def _check_trainable(design: Design) -> None:
    from hlsgen.training.train import check

    check(design)


def _trained(
    found: Quantised, recipe: Recipe, most: int, memory: str | None, progress: Progress
) -> TrainedFront:
    from hlsgen.training.train import train

    return train(found, recipe, most=most, memory=memory, progress=progress, say=note)


def _write(
    found: Quantised, given: GivenDesign, output: Path | None, front: Path | None, force: bool
) -> list[Path]:
    """The choice and the front as design files."""
    from hlsgen.loading.importing import write_design
    from hlsgen.widths.design_file import design_text

    def text(one: Candidate, path: Path) -> str:
        return design_text(found, one, given.path, path, given.board, given.clock_mhz)

    places = _places(found.design.name, found.chosen, found.front, output, front)
    for one, path in places:
        write_design(text(one, path), path, force=force)
    return [path for _, path in places]


def _write_trained(
    after: TrainedFront, given: GivenDesign, output: Path | None, front: Path | None, force: bool
) -> list[Path]:
    """The trained choice and all that was trained as design files and weights."""
    from hlsgen.training.files import write_trained

    written: list[Path] = []
    for one, path in _places(after.found.design.name, after.chosen, after.rows, output, front):
        written += write_trained(
            after, one, given.path, path, board=given.board, clock_mhz=given.clock_mhz, force=force
        )
    return written


def _places(
    name: str, chosen: T, others: Sequence[T], output: Path | None, front: Path | None
) -> list[tuple[T, Path]]:
    """Which design goes to which file; makes the folder of the front."""
    found = [] if output is None else [(chosen, output)]
    if front is not None:
        front.mkdir(parents=True, exist_ok=True)
        found += [(one, front / f"{name}_{number}.yaml") for number, one in enumerate(others, 1)]
    return found


def _draw(found: Quantised, after: TrainedFront | None, plot: Path) -> None:
    from hlsgen.training.picture import write_trained_picture
    from hlsgen.widths.front_file import write_picture

    if after is None:
        write_picture(found, plot)
    else:
        write_trained_picture(after, plot)


def _show(found: Quantised) -> None:
    """The search as text."""
    table = Table(*found.heads)
    for cells in found.cells:
        table.add_row(*cells)
    print_warnings(found.warnings)
    for line in found.headline:
        click.echo(line)
    show(table)
    click.echo("chosen: " + ", ".join(f"{name} {bits}" for name, bits in found.chosen.widths.items()))


def _show_trained(after: TrainedFront) -> None:
    """What training regained as text."""
    text, found = after.found.metric.text, after.found
    table = Table("trained", "weights / others", found.metric.name, "held out", "LUT", "DSP", "share", "s")
    for one in after.rows:
        of = one.after.hardware
        cells = [f"{of.lut:,}", f"{of.dsp:,}", f"{one.after.price:.2%}"]
        table.add_row(
            f"{'chosen: ' if one is after.chosen else ''}{one.before.name}"
            f"{'*' if one.after in after.front else ''}",
            one.before.bits,
            f"{text(one.before.metric)} -> {text(one.after.metric)}",
            f"{text(one.before.held_out)} -> {text(one.after.held_out)}",
            *(["none fits", "", ""] if of.refusal else cells),
            f"{one.seconds:.0f}",
        )
    print_warnings(after.warnings)
    for line in after.notes:
        note(line)
    for line in after.headline:
        click.echo(line)
    show(table)


def _bits(text: str) -> list[int]:
    """The numbers of --widths. Raises click.BadParameter: it lists none."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) < 4 for part in parts):
        raise click.BadParameter(f"{text!r:.80} is no list such as 4,6,8", param_hint="--widths")
    return [int(part) for part in parts]
