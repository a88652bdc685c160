"""The commands of a Tcl script in the order in which the tool takes them, those of other scripts, branches,
loops and procedures among them. None is run.

What stands in a branch counts if all branches say the same, or if it asks for a variable that is not there;
`foreach` counts over a list that is written out, a procedure where it is called. Other loops do not count.
Variables of the environment are those of this process whose values name a file, a folder or a part: a script
may come from anywhere, and what it says is printed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from hlsgen.designfile.tcl_commands import (
    ANY_OF_ENVIRONMENT,
    TclCommand,
    Variables,
    commands,
    environment_of,
    plain_name,
)
from hlsgen.designfile.text_files import read_text, refuse
from hlsgen.schedule.moved_files import is_there

DEEPEST = 5
"""Scripts within scripts, and branches within branches."""
MOST_COMMANDS = 20_000
"""Of a script with those that it sources."""
MOST_ROUNDS = 64
"""Of a loop over a list."""
DEEP = "what stands so deep"
EVALUATED = re.compile(r"[$\[\]]")
"""A sign of what only a run could tell."""
_MATTERS = re.compile(
    r"\b(?:set_top|add_files(?!\s+-tb)|(?:delete|remove)_files|open_solution|open_component|set_part|create_clock|set_clock_uncertainty"
    r"|config_(?:array_partition|compile|dataflow|interface|op|schedule|storage|unroll)|set_directive_\w+)\b"
)
_UNLESS = re.compile(r"!\s*\[\s*info\s+exists\s+(?:::)?(\w+)\s*\]")
_EXISTS = re.compile(r"(!?)\s*\[\s*info\s+exists\s+(?:::)?(env\(\w+\))\s*\]")
_NEEDED = re.compile(r"\$\{?(?:::)?env\((\w+)\)")
_SET = re.compile(r"\b(?:set|append|lappend|incr|foreach|unset|array\s+\w+)\s+((?:::)?env\(\w+\)|(?:::)?\w+)")
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"\w+(?:::\w+)*")
_PART = re.compile(r"x[aqc]\w{2,20}(-\w{1,12}){1,4}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class ReadCommand:
    """A command with the script that it stands in; `unread`: why it counts for nothing, if it does not."""

    command: TclCommand
    path: Path
    unread: str = ""


@dataclass
class ScriptReader:
    """What is read of a script and of those that it sources, in the order of commands.

    variables: the values that are known where it is read, those of the environment among them. outside: the
    script's own, while a procedure is read. procedures: the commands that made them. count: of commands so
    far.
    """

    script: Path
    variables: Variables = field(default_factory=lambda: _environment(os.environ))
    outside: Variables | None = None
    procedures: dict[str, ReadCommand] = field(default_factory=dict)
    count: int = 0

    def of(self, path: Path, depth: int = 0) -> Iterator[ReadCommand]:
        """The commands of a script, with those that stand in them. Raises DesignError: it cannot be read, or
        they come to too many."""
        for command in commands(path, read_text(path), self.variables):
            yield from self._expanded(ReadCommand(command=command, path=path), depth)

    def _expanded(self, read: ReadCommand, depth: int) -> Iterator[ReadCommand]:
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
        elif name == "foreach" and len(words) == 4 and not EVALUATED.search(words[1] + words[2]):
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
            self._forget(_set_in(text))
            yield from self._left_out(read, text)
        else:
            yield read

    def _sourced(self, read: ReadCommand, depth: int) -> Iterator[ReadCommand]:
        """The commands of another script, which is looked for by its path and beside this one."""
        named = read.command.words[-1].rstrip("]").replace("\\", "/")
        if depth >= DEEPEST:
            yield replace(read, unread=DEEP)
            return
        for path in (read.path.parent / named, read.path.parent / named.rpartition("/")[2]):
            if not EVALUATED.search(str(path)) and is_there(path):
                yield from self.of(path, depth + 1)
                return
        yield replace(read, unread=f"{named}, which is not there,")

    def _body(self, text: str, read: ReadCommand, depth: int) -> Iterator[ReadCommand]:
        """The commands of a body."""
        if depth >= DEEPEST:
            yield replace(read, unread=DEEP)
            return
        for one in commands(read.path, text, self.variables):
            moved = TclCommand(words=one.words, line=read.command.line + one.line - 1)
            yield from self._expanded(ReadCommand(command=moved, path=read.path), depth + 1)

    def _called(self, read: ReadCommand, depth: int) -> Iterator[ReadCommand]:
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
        self._know({**environment_of(before), **values})
        yield from self._body(body, made, depth)
        self.outside = outside
        changed = _set_in(body) if re.search(r"\b(?:global|upvar|uplevel)\b|::", body) else ()
        own = {name: value for name, value in before.items() if not name.startswith("env(")}
        self._know({**own, **environment_of(self.variables)})
        self._forget(name for name in changed if not name.startswith("env("))

    def _branches(self, read: ReadCommand, depth: int) -> Iterator[ReadCommand]:
        """The commands of a branch, if all branches have the same of those that matter and none can be passed
        by, or if it alone can be run. What they set to different values is not known behind them."""
        words = read.command.words
        unless = _UNLESS.fullmatch(words[1].strip()) if len(words) == 3 else None
        if unless and self.variables.get(unless[1], "") is not None:
            if unless[1] not in self.variables:
                yield from self._body(words[2], read, depth)
            return
        words = tuple(self._without_known(words))
        if words[:1] == ("else",):
            yield from self._body(" ".join(words[1:2]), read, depth)
            return
        bodies, complete = _bodies_of(words)
        if not bodies:
            return
        before = dict(self.variables)
        each: list[list[ReadCommand]] = []
        states = [] if complete else [before]
        for body in bodies:
            self._know(before)
            each.append([one for one in self._body(body, read, depth) if _matters(one)])
            states.append(dict(self.variables))
        self._know(_alike(states))
        said = [[_without_reset(one) for one in branch] for branch in each]
        if complete and all(one == said[0] for one in said):
            yield from each[0]
        elif any(said):
            yield from self._left_out(read, "\n".join(bodies))

    def _without_known(self, words: Sequence[str]) -> Sequence[str]:
        """The branches of `if` without those that are never run for what the environment has, or has not."""
        while len(words) > 2 and words[0] in ("if", "elseif"):
            asked = _EXISTS.fullmatch(words[1].strip())
            body = 3 if words[2] == "then" else 2
            if asked is None or len(words) <= body or self._may_be(asked[2]):
                return words
            if (asked[2] in self.variables) != bool(asked[1]):
                return ["else", words[body]]
            words = words[body + 1 :]
        return words

    def _may_be(self, name: str) -> bool:
        """Whether only a run could tell if there is a variable of the environment."""
        return self.variables.get(name, self.variables.get(ANY_OF_ENVIRONMENT, "")) is None

    def _left_out(self, read: ReadCommand, text: str) -> Iterator[ReadCommand]:
        """What is said of a body that is not read, if it has commands that matter, or calls of procedures
        that have."""
        waiting = {name: one.command.words[3] for name, one in self.procedures.items()}
        unread = text
        while called := waiting.keys() & {*_NAME.findall(unread), *_WORD.findall(unread)}:
            unread = "\n".join(waiting.pop(name) for name in sorted(called))
            text += f"\n{unread}"
        matters = dict.fromkeys(_MATTERS.findall(text))
        if matters:
            yield replace(read, unread=f"{', '.join(matters)} in {read.command.name}")

    def _forget(self, names: Iterable[str]) -> None:
        """Take it that only a run could tell what these variables are, from here on."""
        forgotten = set(names)
        if ANY_OF_ENVIRONMENT in forgotten:
            forgotten.update(environment_of(self.variables))
        self.variables.update(dict.fromkeys(forgotten))

    def _know(self, variables: Mapping[str, str | None]) -> None:
        """Make these the known values, for the commands that are being read as well."""
        self.variables.clear()
        self.variables.update(variables)


def _environment(variables: Mapping[str, str]) -> Variables:
    """The values of the environment's variables by the names that scripts have for them, `env(HOME)`: paths
    that are there, and parts. No other value is given to a script, which may print it; that there is one,
    is."""
    return {
        f"env({name})": value if _PART.fullmatch(value) or _is_path(value) else f"$::env({name})"
        for name, value in variables.items()
    }


def _is_path(value: str) -> bool:
    try:
        return value.startswith("/") and os.path.exists(value)
    except ValueError:  # a NUL
        return False


def _set_in(text: str) -> Iterator[str]:
    """The variables that a body may set; if it is an array of the environment, all of that."""
    for name in map(plain_name, _SET.findall(text)):
        yield ANY_OF_ENVIRONMENT if name in ("env", "::env") else name.removeprefix("::")


def _alike(states: Sequence[Variables]) -> Variables:
    """What is known behind one of several branches: of a variable that they leave with other values, that
    there may be one."""
    names = dict.fromkeys(name for state in states for name in state)
    return {
        name: states[0].get(name) if all(state.get(name) == states[0].get(name) for state in states) else None
        for name in names
    }


def only_a_run_could_tell(value: str) -> str:
    """Why a value is not known that has signs of what is evaluated."""
    needed = _NEEDED.search(value)
    if needed:
        what = "names no path" if needed[1] in os.environ else "is not set"
        return f"for which {needed[1]} {what} in the environment,"
    return "a value of which only a run could tell"


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


def _matters(read: ReadCommand) -> bool:
    return bool(read.unread or _MATTERS.match(read.command.name) or read.command.name == "open_project")


def _without_reset(read: ReadCommand) -> tuple[str, ...]:
    return tuple(word for word in read.command.words if word != "-reset")
