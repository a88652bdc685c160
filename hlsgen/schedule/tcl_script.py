"""The kernels that a Tcl script of Vitis HLS has compiled: the commands are read, and none is run.

    open_project prj; set_top fir; add_files fir.cpp -cflags "-Isrc"
    open_solution solution1; set_part xc7z020clg400-1; create_clock -period 10
    source directives.tcl; config_compile -pipeline_loops 0

Which of them count tells tcl_reader.py; what the others say, and what only a run could tell, is named and
not obeyed.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from hlsgen.designfile.tcl_commands import TclCommand
from hlsgen.designfile.text_files import refuse
from hlsgen.schedule.configuration import (
    CLOCK,
    FILE,
    FLAGS,
    FLOW,
    PART,
    SHOWN_UNREAD,
    TOP,
    UNCERTAINTY,
    Configuration,
)
from hlsgen.schedule.directives import directives_of
from hlsgen.schedule.languages import is_code
from hlsgen.schedule.moved_files import is_there
from hlsgen.schedule.tcl_reader import EVALUATED, ReadCommand, ScriptReader, only_a_run_could_tell

KEPT = "script.tcl"
"""What the tool calls the script that it keeps in a solution."""
_OPTION = re.compile(r"-([A-Za-z_]\w*)(?:=(.*))?$", re.DOTALL)
_CONFIG = "config_"


def read_script(path: Path) -> list[Configuration]:
    """What a script says of each of its solutions. Names of files are relative to its folder, or to the
    working folder if they are there alone; in the script that the tool keeps in a solution, to the folder
    around the project, which may have another name since.

    Raises DesignError: it cannot be read, or makes no solution.
    """
    project = path.resolve().parent.parent if path.name == KEPT else None
    state = _State(path, path.parent)
    for read in ScriptReader(path).of(path):
        state.take(read)
    found = [_from_where_it_is_run(one, name, project) for one, name in state.solutions()]
    if not found:
        why = "".join(f"; {one}" for one in [*state.outside, *state.unread][:SHOWN_UNREAD])
        refuse(path, f"compiles nothing{why}", "a script of Vitis HLS with set_top and add_files")
    return found


def solution_scripts(folder: Path) -> list[Path]:
    """The scripts that the tool wrote into a solution, or into the solutions of a project; none of any other
    folder. The file that makes a folder a project is seldom kept under version control."""
    if (folder / KEPT).is_file():
        return [folder / KEPT]
    return sorted(folder.glob(f"*/{KEPT}")) if _is_project(folder) else []


def _from_where_it_is_run(configuration: Configuration, name: str, project: Path | None) -> Configuration:
    """The configuration with the folder in which its files are. name: what the script calls its project.
    project: the folder of it, if the tool keeps the script there."""
    tried = [configuration, replace(configuration, folder=Path())]
    if project is not None:
        around = replace(_with_project_at(configuration, name, project.name), folder=project.parent)
        tried.insert(0 if _is_project(project) else 1, around)
    for one in tried:
        if all(is_there(one.folder / file) for file in one.all(FILE)):
            return one
    return tried[0]


def _with_project_at(configuration: Configuration, name: str, folder: str) -> Configuration:
    """The configuration with files and include folders of the project in the folder that it has now."""
    if not name or name == folder:
        return configuration
    inside = re.compile(rf"(^|-I\s*)(?:\./)?{re.escape(name)}/")

    def moved(key: str, now: str) -> list[tuple[int, str]]:
        said = configuration.values.get(key, ())
        return [(line, inside.sub(lambda found: f"{found[1]}{now}/", value)) for line, value in said]

    changed = {FILE: moved(FILE, folder), FLAGS: moved(FLAGS, shlex.quote(folder))}
    return replace(configuration, values={**configuration.values, **changed})


def _is_project(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("hls.app", "vivado_hls.app"))


@dataclass
class _State:
    """What has been said of the project and the solution that are open."""

    path: Path
    folder: Path
    project: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    solution: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    directives: list[ReadCommand] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    """What is not obeyed in front of the first project: all of them may hang on it."""
    done: list[tuple[Configuration, str]] = field(default_factory=list)
    """Each solution with the name of its project."""
    name: str = ""
    """The project's."""
    opened: bool = False
    """Whether a solution is open."""
    solution_name: str = ""
    compiled: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    """What was said of the project when the solution was compiled: files of the next may follow."""
    component: bool = False
    """Whether it is a component, which may have solutions of its own."""

    def take(self, read: ReadCommand) -> None:
        command, name = read.command, read.command.name
        if read.unread:
            self._leave(read, read.unread)
        elif name in ("open_project", "open_solution", "open_component"):
            self._open(read)
        elif name.startswith("set_directive_"):
            self.directives.append(read)
        elif name.startswith(_CONFIG):
            for key, value in options_of(command):
                self._say(self.solution, key, value, read)
        elif name == "add_files":
            self._add(read)
        elif name == "csynth_design":
            self.compiled = dict(self.project)
        elif name in ("delete_files", "remove_files"):
            self._remove(read)
        elif name in _SAID:
            key, option = _SAID[name]
            options, loose = command.values()
            value = options.get(option, "") if option else "".join(loose[:1])
            self._say(self.project if key == TOP else self.solution, key, value, read)

    def solutions(self) -> list[tuple[Configuration, str]]:
        """What was said of each, with the name of its project, after the last command."""
        self.opened = self.opened or not self.done  # a script may leave to another what it opens
        self._close()
        return self.done

    def _open(self, read: ReadCommand) -> None:
        options, loose = read.command.values()
        name, is_solution = "".join(loose[:1]), read.command.name == "open_solution"
        bare = self.component and not self.directives and self.solution.keys() <= {FLOW}
        again = self.opened and name == self.solution_name and "reset" not in options
        if is_solution and bare:
            self.directives = []  # of a component that had no part of its own
        elif not (is_solution and again):
            self._close()
            self.solution, self.directives = {}, []
        self.opened = read.command.name != "open_project"
        self.component = read.command.name == "open_component"
        self.solution_name = name if is_solution else ""
        if not is_solution:
            self.project, self.unread, self.name = {}, [], name
        if options.get(FLOW):
            self._say(self.solution, FLOW, options[FLOW], read)

    def _close(self) -> None:
        """Keep the solution that is open, if it compiles something."""
        project, self.compiled = self.compiled or self.project, {}
        if not self.opened or FILE not in project:
            return
        directives = (directives_of([one.command], str(one.path)) for one in self.directives)
        said = Configuration(
            path=self.path,
            values={**project, **self.solution},
            folder=self.folder,
            directives=tuple(found for each in directives for found in each),
            solution=self.solution_name,
            unread=tuple(dict.fromkeys([*self.outside, *self.unread])),
        )
        self.done.append((said, self.name))

    def _add(self, read: ReadCommand) -> None:
        options, loose = read.command.values()
        if "tb" in options:
            return
        names = " ".join([*loose, *filter(None, [options.get("blackbox")])]).split()
        for name in names:
            if name != "[list" and is_code(name.rstrip("]")):
                self._say(self.project, FILE, name.rstrip("]") if names[0] == "[list" else name, read)
        if options.get("cflags"):
            self._say(self.project, FLAGS, options["cflags"], read)

    def _remove(self, read: ReadCommand) -> None:
        said = " ".join(read.command.words[1:])
        if re.search(r"-tb\b", said):
            return
        if said == "[get_files]":
            self.project[FILE] = []
        elif EVALUATED.search(said):
            self._leave(read, f"{read.command.name}, {only_a_run_could_tell(said)}")
        else:
            kept = self.project.get(FILE, [])
            self.project[FILE] = [(line, name) for line, name in kept if name not in said.split()]

    def _say(self, where: dict[str, list[tuple[int, str]]], key: str, value: str, read: ReadCommand) -> None:
        if EVALUATED.search(value):
            self._leave(read, f"{read.command.name}, {only_a_run_could_tell(value)}")
        else:
            where[key] = [*where.get(key, ()), (read.command.line, value.strip())]

    def _leave(self, read: ReadCommand, what: str) -> None:
        said = self.unread if self.name else self.outside
        said.append(f"{read.path}:{read.command.line}: {what} is not obeyed")


_SAID = {
    "set_top": (TOP, ""),
    "set_part": (PART, ""),
    "create_clock": (CLOCK, "period"),
    "set_clock_uncertainty": (UNCERTAINTY, ""),
}
"""What commands say, and with which option; empty: with their first word."""


def options_said(script: Iterable[TclCommand]) -> dict[str, str]:
    """What the config_ commands of a script and its set_clock_uncertainty say at last, by the keys of a
    configuration."""
    found: dict[str, str] = {}
    for command in script:
        if command.name.startswith(_CONFIG):
            found |= dict(options_of(command))
        elif command.name == "set_clock_uncertainty":
            found |= dict.fromkeys([UNCERTAINTY], next(iter(command.values()[1]), ""))
    return found


def options_of(command: TclCommand) -> Iterator[tuple[str, str]]:
    """The options of a config_ command as keys and values of a configuration: `-name value`, `-name=value`
    and `-name` alone, which says yes; what has no name is the command's own."""
    prefix = f"syn.{command.name.removeprefix(_CONFIG)}"
    words = list(command.words[1:])
    if words and not words[0].startswith("-"):  # config_op mul -impl dsp
        yield prefix, " ".join(words)
        return
    at = 0
    while at < len(words):
        found = _OPTION.match(words[at])
        at += 1
        if found is None:
            continue
        value = found[2] or ""
        if found[2] is None and at < len(words) and not _OPTION.match(words[at]):
            value = words[at]
            at += 1
        yield f"{prefix}.{found[1]}", value or "1"
