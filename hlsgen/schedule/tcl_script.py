"""The kernels that a Tcl script of Vitis HLS has compiled: the commands are read, and none is run.

    open_project prj; set_top fir; add_files fir.cpp -cflags "-Isrc"
    open_solution solution1; set_part xc7z020clg400-1; create_clock -period 10
    source directives.tcl; config_compile -pipeline_loops 0

What stands in a branch counts if all branches say the same, or if it asks for a variable that is not there;
`foreach` counts over a list that is written out, a procedure where it is called. Other loops do not count:
what they say, and what only a run could tell, is named and not obeyed.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from hlsgen.designfile.tcl_commands import TclCommand, commands
from hlsgen.designfile.text_files import read_text, refuse
from hlsgen.schedule.configuration import CLOCK, FILE, FLAGS, FLOW, PART, TOP, UNCERTAINTY, Configuration
from hlsgen.schedule.directives import directives_of

KEPT = "script.tcl"
"""What the tool calls the script that it keeps in a solution."""
DEEPEST = 5
"""Scripts within scripts, and branches within branches."""
MOST_COMMANDS = 20_000
"""Of a script with those that it sources."""
MOST_ROUNDS = 64
"""Of a loop over a list."""
DEEP = "what stands so deep"
CODE = (".c", ".cc", ".cpp", ".cxx", ".c++")
_EVALUATED = re.compile(r"[$\[\]]")
_MATTERS = re.compile(
    r"\b(?:set_top|add_files(?!\s+-tb)|(?:delete|remove)_files|open_solution|open_component|set_part|create_clock|set_clock_uncertainty"
    r"|config_(?:array_partition|compile|dataflow|interface|op|schedule|storage|unroll)|set_directive_\w+)\b"
)
_UNLESS = re.compile(r"!\s*\[\s*info\s+exists\s+(?:::)?(\w+)\s*\]")
_SET = re.compile(r"\b(?:set|append|lappend|incr|foreach)\s+(\w+)")
_OPTION = re.compile(r"-([A-Za-z_]\w*)(?:=(.*))?$", re.DOTALL)
_CONFIG = "config_"


@dataclass(frozen=True, kw_only=True)
class _Read:
    """A command with the script that it stands in; `unread`: why it counts for nothing, if it does not."""

    command: TclCommand
    path: Path
    unread: str = ""


def read_script(path: Path) -> list[Configuration]:
    """What a script says of each of its solutions. Names of files are relative to its folder, or to the
    working folder if they are there alone; in the script that the tool keeps in a solution, to the folder
    around the project, which may have another name since.

    Raises DesignError: it cannot be read, or makes no solution.
    """
    project = path.resolve().parent.parent if path.name == KEPT else None
    state = _State(path, path.parent)
    for read in _Reader(path).of(path):
        state.take(read)
    found = [_from_where_it_is_run(one, name, project) for one, name in state.solutions()]
    if not found:
        refuse(path, "compiles nothing", "a script of Vitis HLS with set_top and add_files")
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
        if all((one.folder / file).is_file() for file in one.all(FILE)):
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


# commands


@dataclass
class _Reader:
    """What is read of a script and of those that it sources, in the order of commands.

    variables: the values that are known where it is read. outside: the script's own, while a procedure is
    read. procedures: the commands that made them. count: of commands so far.
    """

    script: Path
    variables: dict[str, str] = field(default_factory=dict)
    outside: dict[str, str] | None = None
    procedures: dict[str, _Read] = field(default_factory=dict)
    count: int = 0

    def of(self, path: Path, depth: int = 0) -> Iterator[_Read]:
        """The commands of a script, with those that stand in them. Raises DesignError: it cannot be read, or
        they come to too many."""
        for command in commands(path, read_text(path), self.variables):
            yield from self._expanded(_Read(command=command, path=path), depth)

    def _expanded(self, read: _Read, depth: int) -> Iterator[_Read]:
        """A command, or those that stand in it."""
        self.count += 1
        if self.count > MOST_COMMANDS:
            refuse(
                self.script, f"comes to more than {MOST_COMMANDS:,} commands", "name the script of a project"
            )
        name, words = read.command.name, read.command.words
        if name == "source":
            yield from self._sourced(read, depth)
        elif name == "catch" and len(words) > 1:
            yield from self._body(words[1], read, depth)
        elif name == "if":
            yield from self._branches(read, depth)
        elif name == "foreach" and len(words) == 4 and not _EVALUATED.search(words[1] + words[2]):
            for value in words[2].split()[:MOST_ROUNDS]:
                self.variables[words[1]] = value
                yield from self._body(words[3], read, depth)
        elif name == "proc" and len(words) == 4:
            self.procedures[words[1].removeprefix("::")] = read
        elif name.removeprefix("::") in self.procedures:
            yield from self._called(read, depth)
        elif name == "global" and self.outside is not None:
            self.variables.update({one: self.outside[one] for one in words[1:] if one in self.outside})
        elif name in ("foreach", "for", "while", "switch", "proc", "eval"):
            text = " ".join(words)
            for variable in _SET.findall(text):
                self.variables.pop(variable, None)
            yield from self._left_out(read, text)
        else:
            yield read

    def _sourced(self, read: _Read, depth: int) -> Iterator[_Read]:
        """The commands of another script, which is looked for by its path and beside this one."""
        named = read.command.words[-1].rstrip("]").replace("\\", "/")
        if depth >= DEEPEST:
            yield replace(read, unread=DEEP)
            return
        for path in (read.path.parent / named, read.path.parent / named.rpartition("/")[2]):
            if not _EVALUATED.search(str(path)) and path.is_file():
                yield from self.of(path, depth + 1)
                return
        yield replace(read, unread=f"{named}, which is not there,")

    def _body(self, text: str, read: _Read, depth: int) -> Iterator[_Read]:
        """The commands of a body."""
        if depth >= DEEPEST:
            yield replace(read, unread=DEEP)
            return
        for one in commands(read.path, text, self.variables):
            moved = TclCommand(words=one.words, line=read.command.line + one.line - 1)
            yield from self._expanded(_Read(command=moved, path=read.path), depth + 1)

    def _called(self, read: _Read, depth: int) -> Iterator[_Read]:
        """The commands of a procedure, in which its parameters alone have values; what it sets outside is not
        known behind it."""
        made = self.procedures[read.command.name.removeprefix("::")]
        _, name, parameters, body = made.command.words
        values = _arguments(read.path, parameters, _with_whole_brackets(read.command.words[1:]))
        if values is None:
            yield replace(read, unread=f"{name}, which has other parameters,")
            return
        before, outside = dict(self.variables), self.outside
        self.outside = before if outside is None else outside
        self._know(values)
        yield from self._body(body, made, depth)
        self.outside = outside
        changed = _SET.findall(body) if re.search(r"\b(?:global|upvar|uplevel)\b|::", body) else ()
        self._know({one: value for one, value in before.items() if one not in changed})

    def _branches(self, read: _Read, depth: int) -> Iterator[_Read]:
        """The commands of a branch, if all branches have the same of those that matter and none can be passed
        by. What branches set is not known behind them."""
        words = read.command.words
        unless = _UNLESS.fullmatch(words[1].strip()) if len(words) == 3 else None
        if unless:
            if unless[1] not in self.variables:
                yield from self._body(words[2], read, depth)
            return
        bodies, complete = _bodies_of(words)
        before = dict(self.variables)
        known = dict(before)
        each: list[list[_Read]] = []
        for body in bodies:
            self._know(before)
            each.append([one for one in self._body(body, read, depth) if _matters(one)])
            known = {name: value for name, value in known.items() if self.variables.get(name) == value}
        self._know(known)
        said = [[_without_reset(one) for one in branch] for branch in each]
        if complete and all(one == said[0] for one in said):
            yield from each[0]
        elif any(said):
            yield from self._left_out(read, "\n".join(bodies))

    def _left_out(self, read: _Read, text: str) -> Iterator[_Read]:
        """What is said of a body that is not read, if it has commands that matter, or calls of procedures
        that have."""
        waiting = {name: one.command.words[3] for name, one in self.procedures.items()}
        while called := [name for name in waiting if re.search(rf"\b{re.escape(name)}\b", text)]:
            text += "".join(f"\n{waiting.pop(name)}" for name in called)
        matters = dict.fromkeys(_MATTERS.findall(text))
        if matters:
            yield replace(read, unread=f"{', '.join(matters)} in {read.command.name}")

    def _know(self, variables: Mapping[str, str]) -> None:
        """Make these the known values, for the commands that are being read as well."""
        self.variables.clear()
        self.variables.update(variables)


def _with_whole_brackets(words: Sequence[str]) -> list[str]:
    """The words, those of a command in brackets as one."""
    found: list[str] = []
    for word in words:
        if found and found[-1].count("[") > found[-1].count("]"):
            found[-1] += f" {word}"
        else:
            found.append(word)
    return found


def _arguments(path: Path, parameters: str, given: Sequence[str]) -> dict[str, str] | None:
    """A procedure's parameters with what a call gives them, or what they are without; None: other ones."""
    values: dict[str, str] = {}
    names = [word for one in commands(path, parameters) for word in one.words]
    for at, name in enumerate(names):
        if name == "args" and at == len(names) - 1:
            return values
        named, _, default = name.strip().partition(" ")
        if at >= len(given) and not default:
            return None
        values[named] = given[at] if at < len(given) else default.strip().strip('"{}')
    return values if len(given) <= len(names) else None


def _bodies_of(words: Sequence[str]) -> tuple[list[str], bool]:
    """The bodies of `if`, and whether one of them is always run."""
    bodies: list[str] = []
    at, complete = 0, False
    while at < len(words):
        if words[at] in ("if", "elseif"):
            at += 2
        elif words[at] == "then":
            at += 1
        else:
            complete = words[at] == "else"
            at += int(complete)
        if words[at : at + 1] == ["then"]:
            at += 1
        bodies += words[at : at + 1]
        at += 1
    return bodies, complete


def _matters(read: _Read) -> bool:
    return bool(read.unread or _MATTERS.match(read.command.name) or read.command.name == "open_project")


def _without_reset(read: _Read) -> tuple[str, ...]:
    return tuple(word for word in read.command.words if word != "-reset")


# what they say


@dataclass
class _State:
    """What has been said of the project and the solution that are open."""

    path: Path
    folder: Path
    project: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    solution: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    directives: list[_Read] = field(default_factory=list)
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

    def take(self, read: _Read) -> None:
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

    def _open(self, read: _Read) -> None:
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

    def _add(self, read: _Read) -> None:
        options, loose = read.command.values()
        if "tb" in options:
            return
        names = " ".join([*loose, *filter(None, [options.get("blackbox")])]).split()
        for name in names:
            if name != "[list" and Path(name.rstrip("]")).suffix.lower() in CODE:
                self._say(self.project, FILE, name.rstrip("]") if names[0] == "[list" else name, read)
        if options.get("cflags"):
            self._say(self.project, FLAGS, options["cflags"], read)

    def _remove(self, read: _Read) -> None:
        said = " ".join(read.command.words[1:])
        if re.search(r"-tb\b", said):
            return
        if said == "[get_files]":
            self.project[FILE] = []
        elif _EVALUATED.search(said):
            self._leave(read, f"{read.command.name}, a value of which only a run could tell")
        else:
            kept = self.project.get(FILE, [])
            self.project[FILE] = [(line, name) for line, name in kept if name not in said.split()]

    def _say(self, where: dict[str, list[tuple[int, str]]], key: str, value: str, read: _Read) -> None:
        if _EVALUATED.search(value):
            self._leave(read, f"{read.command.name}, a value of which only a run could tell")
        else:
            where[key] = [*where.get(key, ()), (read.command.line, value.strip())]

    def _leave(self, read: _Read, what: str) -> None:
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
