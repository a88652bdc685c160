"""Directives: pragmas that stand apart from the source, in Tcl or in a configuration of Vitis HLS.

    set_directive_unroll -factor 4 "fir/taps"          # directives.tcl, run_hls.tcl
    syn.directive.unroll=fir/taps factor=4             # hls_config.cfg

Scripts are read, never run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hlsgen.base.errors import DesignError, Problem
from hlsgen.designfile.tcl_commands import TclCommand, commands
from hlsgen.designfile.text_files import read_text
from hlsgen.lint.options import FORMS, Kind

_COMMAND = "set_directive_"
_CONFIGURED = re.compile(r"^[ \t]*syn\.directive\.(\w+)[ \t]*=[ \t]*(.*?)[ \t]*$")
_OF_THE_PROJECT = frozenset(("top",))
"""Directives that say what a project compiles: who asks for a schedule says that himself."""
_EVALUATED = re.compile(r"[$\[]")
_NAMED = {"interface": "port", "allocation": "instances"}
"""The option of a pragma whose value stands behind a directive's place, where that is no `variable`."""


@dataclass(frozen=True, kw_only=True)
class Directive:
    """A pragma that stands apart. place: a function, or function/label. options: "" is a word's value.

    file, line: where it stands, line from 1.
    """

    name: str
    place: str
    variable: str = ""
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    file: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)

    @property
    def text(self) -> str:
        """What would follow `#pragma HLS`."""
        words = [self.name, *(f"{name}={value}" if value else name for name, value in self.options.items())]
        named = _NAMED.get(self.name, "variable")
        return " ".join([*words, *([f"{named}={self.variable}"] if self.variable else [])])

    @property
    def trouble(self) -> str:
        """Why it cannot be understood; empty if it can."""
        if self.name not in FORMS:
            return "no pragma has that name"
        told = [self.place, self.variable, *self.options.values()]
        if any(_EVALUATED.search(one) for one in told):
            return "a value of it is known only to who runs the script"
        unknown = [name for name in self.options if FORMS[self.name].options and not _is_known(self, name)]
        if unknown:
            return f"it has no option {unknown[0]}"
        return "" if self.place else "it names no function"

    @property
    def origin(self) -> str:
        """Where it stands."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, kw_only=True)
class Unplaced:
    """A directive that counts for nothing, and why."""

    directive: Directive
    why: str

    def __str__(self) -> str:
        place = " ".join(word for word in (self.directive.place, self.directive.variable) if word)
        return f"{self.directive.origin}: directive {self.directive.name} {place}: {self.why}"


def read_directives(path: Path) -> tuple[Directive, ...]:
    """The directives of a Tcl script or a configuration.

    A script of comments alone, as the vendor's tool writes it where no directive was set, has none. Raises
    DesignError: the file cannot be read, or has other things alone.
    """
    text = read_text(path)
    name = str(path)
    if path.suffix == ".tcl":
        lines = list(commands(path, text))
        if not lines:
            return ()
        found = tuple(directives_of(lines, name))
    else:
        found = tuple(configured_directives(text, name))
    if not found:
        fix = "set_directive_... lines of a .tcl file, or syn.directive....= lines of a configuration"
        raise DesignError(Problem(message=f"{path} holds no directive", fix=fix))
    return found


def directives_of(script: Iterable[TclCommand], file: str) -> Iterator[Directive]:
    """The directives of a script's commands."""
    for command in script:
        name = command.name.removeprefix(_COMMAND)
        if name == command.name or name in _OF_THE_PROJECT:
            continue
        options, loose = command.values(_switches(name))
        yield _directive(name, options, loose, file, command.line)


def configured_directives(text: str, file: str) -> Iterator[Directive]:
    """The directives of a configuration: words and name=value in any order, the place before the variable."""
    for number, line in enumerate(text.splitlines(), start=1):
        found = _CONFIGURED.match(line)
        if found is None or found[1] in _OF_THE_PROJECT:
            continue
        options: dict[str, str] = {}
        loose: list[str] = []
        for word in found[2].split():
            key, equals, value = word.partition("=")
            if equals:
                options[key] = value
            elif _is_word(found[1], word):
                options[word] = ""
            else:
                loose.append(word)
        yield _directive(found[1], options, loose, file, number)


def _directive(name: str, options: dict[str, str], loose: list[str], file: str, line: int) -> Directive:
    place, variable = (*loose, "", "")[:2]
    variable = options.pop(_NAMED.get(name, "variable"), variable)
    if name == "interface" and not variable:
        variable = "return"
    return Directive(name=name, place=place, variable=variable, options=options, file=file, line=line)


def _switches(name: str) -> frozenset[str]:
    """The options of a pragma that have no value."""
    known = FORMS[name].options if name in FORMS else ()
    return frozenset(one.name for one in known if one.kind is Kind.PRESENT)


def _is_word(name: str, word: str) -> bool:
    form = FORMS.get(name)
    option = form.option(word) if form else None
    return option is not None and (option.kind is Kind.PRESENT or word.lower() in option.words)


def _is_known(directive: Directive, option: str) -> bool:
    lowered = option.lower()
    return lowered == "off" or FORMS[directive.name].option(lowered) is not None
