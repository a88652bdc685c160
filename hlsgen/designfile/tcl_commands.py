"""Commands of the Tcl scripts that the vendor's tools write and read: words, and nothing evaluated.

Enough of Tcl for script.tcl and directives.tcl: comments, braces, quotes, and lines continued with a
backslash. Commands in brackets stay as they are written, but for names of the script's own folder; so do
variables, but for those that a plain `set` of the same script gave a value, or its reader (`$::env(HOME)`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from hlsgen.designfile.text_files import refuse

MOST_COMMANDS = 5_000
MOST_CHARACTERS = 1 << 20
MOST_VALUE = 1 << 12
"""Characters of a word with the values of its variables; a longer one is not evaluated."""
_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s;"{][^\s;]*)')
_OWN_FOLDER = re.compile(
    r"\[\s*pwd\s*\]|\[\s*file\s+dirname\s+(?:\[\s*info\s+script\s*\]|\[\s*file\s+normalize\s+\[\s*info\s+script"
    r"\s*\]\s*\])\s*\]"
)
_NORMALISED = re.compile(r"\[\s*file\s+normalize\s+\"?([^\s\[\]\"]+)\"?\s*\]")
_JOINED = re.compile(r"\[\s*file\s+join\s([^\[\]\n;]*)\]")
_VARIABLE = re.compile(
    r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*)(?![\w(:])|(?:::)?(env\(\w+\))|\{(?:::)?(env\(\w+\))\})"
)


Variables = dict[str, str | None]
"""Values by name, of the environment by `env(HOME)`; None: there may be one, and only a run could tell."""
ANY_OF_ENVIRONMENT = "env()"
"""Is among variables where any of the environment may have been set."""


@dataclass(frozen=True, kw_only=True)
class TclCommand:
    """A command and its words; line: from 1."""

    words: tuple[str, ...]
    line: int

    @property
    def name(self) -> str:
        return self.words[0]

    def values(self, switches: Collection[str] = ()) -> tuple[dict[str, str], list[str]]:
        """Options (`-name value`; of a switch it is empty), and the words that stand for themselves.

        switches: options without a value besides those that every command has.
        """
        options: dict[str, str] = {}
        loose: list[str] = []
        words = self.words[1:]
        at = 0
        while at < len(words):
            word = words[at]
            if not re.fullmatch(r"-[A-Za-z_]\w*", word):
                loose.append(word)
            elif (
                word[1:] in _SWITCHES
                or word[1:] in switches
                or at + 1 == len(words)
                or (word[1:] not in _FLAGS and re.fullmatch(r"-[A-Za-z_]\w*", words[at + 1]))
            ):
                options[word[1:]] = ""
            else:
                options[word[1:]] = words[at + 1]
                at += 1
            at += 1
        return options, loose


_FLAGS = {"cflags", "csimflags"}
"""Options whose value may be a single flag, as `-cflags "-DFAST"`."""
_SWITCHES = {
    "tb",
    "reset",
    "off",
    "recursive",
    "region",
    "rewind",
    "enable_flush",
    "skip_exit_check",
    "complete",
    "disable",
}
"""Options without a value, which may stand before a place."""


def commands(path: Path, text: str, variables: Variables | None = None) -> Iterator[TclCommand]:
    """Every command. variables: values by name, which take the place of `$name`; `set` adds to them, `unset`
    takes from them.

    Raises DesignError: a brace or quote stays open, or the script is too long.
    """
    if len(text) > MOST_CHARACTERS:
        refuse(path, "is longer than 1 MB", "name the script of one project")
    text = re.sub(r"\\\r?\n", lambda found: " " * len(found[0]), text)
    if variables is not None:
        text = _with_plain_folders(text)
    lines = _Lines(text)
    words: list[str] = []
    start = at = count = 0
    while at <= len(text):
        sign = text[at : at + 1]
        if sign in ("", "\n", ";"):
            if words:
                count += 1
                if count > MOST_COMMANDS:
                    refuse(
                        path, f"has more than {MOST_COMMANDS:,} commands", "name the script of one project"
                    )
                if variables is not None and words[0] in _SETS:
                    _set(words, variables)
                yield TclCommand(words=tuple(words), line=lines.of(start))
            words = []
            at += 1
        elif sign.isspace():
            at += 1
        elif sign == "#" and not words:
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        else:
            if not words:
                start = at
            braced = sign == "{"
            word, at = _word(path, text, at, lines)
            words.append(word if braced or variables is None else _substituted(word, variables))


def _with_plain_folders(text: str) -> str:
    """The text with the script's own folder as `.`, and names that are joined of parts as one word."""
    text = _NORMALISED.sub(r"\1", _OWN_FOLDER.sub(".", text))
    return _JOINED.sub(lambda found: "/".join(found[1].replace('"', "").split()), text)


_SETS = ("set", "append", "lappend", "incr", "unset", "array")


def _set(words: list[str], variables: Variables) -> None:
    """What a variable is from here on; of one whose value only a run could tell, that there may be one."""
    if words[0] == "set" and len(words) == 3 and not re.search(r"[$\[]", words[2]):
        variables[plain_name(words[1])] = words[2]
    elif words[0] == "unset":
        for name in words[1:]:
            variables.pop(plain_name(name), None)
    elif words[0] == "array" and words[2:3] in (["env"], ["::env"]):
        variables[ANY_OF_ENVIRONMENT] = None
        variables.update(dict.fromkeys(environment_of(variables)))
    elif len(words) > 1:
        variables[plain_name(words[1])] = None


def environment_of(variables: Variables) -> Variables:
    """Those of the environment."""
    return {name: value for name, value in variables.items() if name.startswith("env(")}


def plain_name(name: str) -> str:
    """A variable of the environment by one name: `::env(HOME)` and `env(HOME)` are the same."""
    return name.removeprefix("::") if name.startswith("::env(") else name


def _substituted(word: str, variables: Variables) -> str:
    def value(found: re.Match[str]) -> str:
        known = variables.get(next(filter(None, found.groups())))
        return found[0] if known is None else known

    evaluated = _VARIABLE.sub(value, word)
    return evaluated if len(evaluated) <= MOST_VALUE else word


class _Lines:
    """The lines of a text, found by place."""

    def __init__(self, text: str) -> None:
        self._ends = [found.start() for found in re.finditer("\n", text)]

    def of(self, at: int) -> int:
        """The line of a place, from 1."""
        return bisect_left(self._ends, at) + 1


def _word(path: Path, text: str, at: int, lines: _Lines) -> tuple[str, int]:
    """The word that begins at a place, and the place after it."""
    if text[at] != "{":
        found = _WORD.match(text, at)
        if found is None:
            refuse(path, "opens a quote that nothing closes", "copy the whole script", lines.of(at))
        return (found[1] if found[1] is not None else found[2]), found.end()
    depth = 0
    end = -1
    for found in re.compile(r"[{}]").finditer(text, at):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            end = found.end()
            break
    if end < 0:
        refuse(path, "opens a brace that nothing closes", "copy the whole script", lines.of(at))
    return text[at + 1 : end - 1], end
