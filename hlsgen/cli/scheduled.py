"""What hlsgen schedule is asked to schedule: the kernels that files, projects and options say."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from hlsgen.schedule.component import Component
    from hlsgen.schedule.directives import Directive

PART, CLOCK, VERSION, FLOW = "xcu200-fsgd2104-2-e", "300MHz", "2024.2", "vitis"
"""What C++ files are scheduled for where no option says it."""


def target_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say for what C++ files are scheduled; the command gets them as `asked`."""

    @functools.wraps(command)
    def wrapped(
        top: str | None,
        part: str | None,
        clock: str | None,
        uncertainty: str | None,
        tool_version: str | None,
        flow: str | None,
        folders: tuple[str, ...],
        defines: tuple[str, ...],
        scripts: tuple[str, ...],
        **rest: Any,
    ) -> None:
        asked = Asked(
            top=top,
            part=part,
            clock=clock,
            uncertainty=uncertainty,
            version=tool_version,
            flow=flow,
            folders=tuple(Path(folder) for folder in folders),
            defines=defines,
            scripts=tuple(Path(script) for script in scripts),
        )
        command(asked=asked, **rest)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


_OPTIONS = (
    click.option("--top", metavar="NAME", help="The kernel's function [what nothing calls]."),
    click.option("--part", show_default=PART, metavar="PART", help="The device."),
    click.option("--clock", show_default=CLOCK, metavar="CLOCK", help="300MHz, 3.33ns."),
    click.option("--uncertainty", metavar="TIME", help="Kept back of the clock, ns or % [27%]."),
    click.option("--tool-version", show_default=VERSION, metavar="RELEASE", help="Of Vitis HLS."),
    click.option(
        "--flow",
        type=click.Choice(["vitis", "vivado"]),
        show_default=FLOW,
        help="A kernel of a card, or an IP.",
    ),
    click.option(
        "-I",
        "folders",
        multiple=True,
        type=click.Path(exists=True, file_okay=False),
        metavar="DIR",
        help="Look for included headers there too.",
    ),
    click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro."),
    click.option(
        "--directives",
        "scripts",
        multiple=True,
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help="Obey directives of a Tcl script (read, not run) or a configuration.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the options say of a kernel and of its target; None: nothing."""

    top: str | None
    part: str | None
    clock: str | None
    uncertainty: str | None
    version: str | None
    flow: str | None
    folders: tuple[Path, ...]
    defines: tuple[str, ...]
    scripts: tuple[Path, ...]

    @property
    def keys(self) -> dict[str, str]:
        """What they say by the keys of a configuration. Raises DesignError: a time cannot be read."""
        from hlsgen.base.errors import DesignError, Problem
        from hlsgen.schedule import configuration as keys

        if self.clock is not None and self.clock.strip().replace(".", "", 1).isdigit():
            message = f"the clock {self.clock} has no unit"
            raise DesignError(Problem(message=message, fix=f"{self.clock}MHz or {self.clock}ns"))
        kept = None if self.uncertainty and keys.is_nothing(self.uncertainty) else self.uncertainty
        for said in (self.clock, kept):
            if said is not None and keys.amount(said, 1.0) is None:
                raise DesignError(Problem(message=f"{said!r} is no time", fix="as 300MHz, 3.33ns or 27%"))
        given = {
            keys.TOP: self.top,
            keys.PART: self.part,
            keys.CLOCK: self.clock,
            keys.UNCERTAINTY: self.uncertainty,
            keys.FLOW: self.flow,
        }
        return {key: value for key, value in given.items() if value is not None}

    def is_a_build(self, path: Path) -> bool:
        """Whether a path is a folder of configurations, to be scheduled as it says."""
        from hlsgen.schedule.tcl_script import solution_scripts

        options = (*self.keys, *self.folders, *self.defines, *self.scripts, *filter(None, [self.version]))
        return path.is_dir() and not options and not solution_scripts(path)

    def of_project(self, component: Component) -> Component:
        """The kernel of a project, with what the options add to it."""
        target = component.target
        return replace(
            component,
            target=replace(target, version=self.version) if self.version else target,
            include_folders=(*component.include_folders, *self.folders),
            defines={**component.defines, **self._macros()},
            directives=(*component.directives, *self._directives()),
        )

    def of_files(self, files: Sequence[Path]) -> Component:
        """The kernel of those files. Raises DesignError: a time, or a script, cannot be read."""
        from hlsgen.schedule import configuration as keys

        defaults = {keys.TOP: "", keys.PART: PART, keys.CLOCK: CLOCK, keys.FLOW: FLOW}
        said = {key: [(1, value)] for key, value in (defaults | self.keys).items()}
        said[keys.FILE] = [(1, str(path)) for path in files]
        found = keys.Configuration(path=files[0], values=said, folder=Path())
        return self.of_project(found.component())

    def _macros(self) -> dict[str, str]:
        pairs = (one.partition("=")[::2] for one in self.defines)
        return {name: value or "1" for name, value in pairs}

    def _directives(self) -> Iterator[Directive]:
        from hlsgen.schedule.directives import read_directives

        for script in self.scripts:
            yield from read_directives(script)


def components_of(paths: Sequence[Path], asked: Asked) -> list[Component]:
    """The kernels of projects, in the order of paths, then that of C++ files. Raises DesignError."""
    files = [path for path in paths if not (path.is_dir() or path.suffix in (".cfg", ".ini", ".tcl"))]
    found = [
        asked.of_project(component)
        for path in paths
        if path not in files
        for component in _of_project(path, asked.keys)
    ]
    return [*found, *([asked.of_files(files)] if files else [])]


def _of_project(path: Path, given: Mapping[str, str]) -> Iterator[Component]:
    from hlsgen.base.errors import DesignError, Problem
    from hlsgen.schedule.configuration import components_of_build, read_config
    from hlsgen.schedule.tcl_script import read_script, solution_scripts

    scripts = solution_scripts(path) if path.is_dir() else []
    if path.suffix == ".tcl":
        yield from (one.changed(given).component() for one in read_script(path))
    elif scripts:
        for script in scripts:
            yield from (one.changed(given).component() for one in read_script(script))
    elif path.is_dir():
        yield from components_of_build(path, given)
    else:
        component = read_config(path, given)
        if component is None:
            message = f"{path} names no syn.top"
            raise DesignError(Problem(message=message, fix="the configuration of a kernel"))
        yield component
