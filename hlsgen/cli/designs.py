"""The argument DESIGN of a command and the options that go with it: another board, clock, number types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hlsgen.base.progress import Progress
from hlsgen.cli.completion import BoardName
from hlsgen.cli.console import as_json_option, note

if TYPE_CHECKING:
    from hlsgen.api.design import Design

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class GivenDesign:
    """A design file, and what its user puts in place of its keys; None: nothing.

    precision: as YAML has it.
    """

    path: Path
    board: str | None
    clock_mhz: float | None
    precision: Any
    terms: Path | None

    def load(self, progress: Progress) -> Design:
        """The design. Raises DesignError as `hlsgen.load` does."""
        from hlsgen.api.design import load

        progress("reading the design")
        return load(
            self.path,
            board=self.board,
            terms=self.terms,
            clock_mhz=self.clock_mhz,
            precision=self.precision,
            say=note,
            progress=progress,
        )


def design_options(command: F) -> F:
    """What every command on a design takes: DESIGN, --board, --precision, --clock, --terms, --json.

    The command gets all but the last as one, its first argument.
    """

    @wraps(command)
    def with_given(
        *,
        design: Path,
        board: str | None,
        clock: float | None,
        precision: Any,
        terms: Path | None,
        **others: Any,
    ) -> Any:
        given = GivenDesign(path=design, board=board, clock_mhz=clock, precision=precision, terms=terms)
        return command(given, **others)

    decorated: Any = with_given
    for option in (
        as_json_option,
        click.option(
            "--terms",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Terms of LUT and FF, such as hlsgen calibrate writes.",
        ),
        click.option("--clock", type=float, metavar="MHZ", help="Another clock than the design's."),
        click.option(
            "--precision",
            callback=_as_yaml,
            metavar="P",
            help="Number types in place of the design's, as a design file has them: 8, auto, 'fixed<16,6>'.",
        ),
        click.option(
            "--board",
            type=BoardName(),
            metavar="B",
            help="Another board than the design's (see: hlsgen boards).",
        ),
        click.argument("design", type=click.Path(path_type=Path)),
    ):
        decorated = option(decorated)
    found: F = decorated
    return found


def frame_options(command: F) -> F:
    """The options --input and --frames: what C-simulation runs on."""
    for option in (
        click.option(
            "--input",
            "input_file",
            type=click.Path(path_type=Path),
            metavar="X.npy",
            help="Your own frames, [N, C, H, W].",
        ),
        click.option(
            "--frames",
            type=click.IntRange(1, 100_000),
            metavar="N",
            help="How many frames (16, or the batch).",
        ),
    ):
        command = option(command)
    return command


judge_option = click.option(
    "--no-judge", is_flag=True, help="Do not run a few frames through the model's own framework."
)


def metric_options(command: F) -> F:
    """The options --labels and --metric: what answers are judged by."""
    for option in (
        click.option(
            "--metric",
            metavar="FILE.py:FUNCTION",
            help="function(outputs, labels) -> float of your own, which is run; larger is better.",
        ),
        click.option(
            "--labels",
            type=click.Path(path_type=Path),
            metavar="Y.npy",
            help="The class of each frame, or what --metric takes.",
        ),
    ):
        command = option(command)
    return command


def note_own_metric(design: Design, metric: str | None) -> None:
    """Says that code of the user's is run: what --metric names, or the design file."""
    judging = getattr(design.given, "judging", None)  # a single layer has none
    named = metric or (judging and judging.metric and f"{judging.metric}:{judging.function}")
    if named:
        file, _, function = named.rpartition(":")
        note(f"running {file}, your own code, for {function}()")


def _as_yaml(_context: click.Context, _option: click.Parameter, text: str | None) -> Any:
    """What a design file would hold. Raises click.BadParameter: it is no YAML, or empty."""
    if text is None:
        return None
    import yaml

    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        found = None
    if found is None:
        raise click.BadParameter(f"{text!r:.80} is no value of a design file; write for example 8")
    return found
