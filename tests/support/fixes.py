"""What a `fix:` text says to write, as edits of the design file at the place of its error."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hlsgen.base.errors import Problem

WORD = r"[\w.\-<>,]*[\w>]"
VALUE = r"""\{[^{}]*\}|\[[^\[\]]*\]|"[^"]*"|'[^']*'|[^\s,;{}\[\]#]+"""


def edits(text: str, problem: Problem) -> Iterator[tuple[str, str]]:
    """(what is done, the file after it) for each value, key or removal that the fix names."""
    fix = problem.fix or ""
    at = _offset(text, problem)
    for value in _values(fix):
        if at is not None:
            yield f"{value} in its place", _replaced(text, at, value)
    for key, value in _keys(fix):
        added = "add it" in fix and at is not None
        yield f"{key}: {value}", _added(text, at, key, value) if added else _set(text, at, key, value)
    if re.search(r"(^|, or )leave (it|\w+) out$|^leave it out,", fix) and at is not None:
        named = re.search(r"leave (\w+) out", fix)
        key = None if named is None or named[1] == "it" else named[1]
        found = _removed(text, at, key)
        if found is not None:
            yield "left out", found


def _offset(text: str, problem: Problem) -> int | None:
    """Where the problem is in the text; None: its place is no line of it."""
    place = problem.place
    lines = text.splitlines(keepends=True)
    if place is None or not 1 <= place.line <= len(lines) or not place.file.endswith(".yaml"):
        return None
    return sum(map(len, lines[: place.line - 1])) + place.column - 1


def _values(fix: str) -> Iterator[str]:
    """Values that stand for the one at the place."""
    meant = re.match(r"did you mean '([^']+)'\?", fix)
    if meant:
        yield meant[1]
        return
    low = re.match(r"(?:write )?a number from ([\d.]+) to ([\d.]+)", fix)
    if low:
        yield from low.groups()
        return
    choice = re.match(rf"(?:write )?one of ({WORD}(?:, {WORD})*)$", fix)
    if choice:
        yield from choice[1].split(", ")
        return
    either = re.match(rf"write ({WORD}(?: or {WORD})+)(?: \(YAML.*)?$", fix)
    if either and " or another name" not in fix:
        yield from (one for one in either[1].split(" or ") if one not in ("path", "type"))
        return
    plain = re.match(rf"write (?:for example )?({WORD})(?: or another name| without .*)?$", fix)
    if plain:
        yield plain[1]
        return
    yield from re.findall(
        r'(?:for example|such as|as in|hold them all \() ?("[^"]+"|\[[^\]]+\]|\{.*\}|u?fixed<[^>]+>)', fix
    )
    divisor = re.match(r"a divisor of (\d+)$", fix)
    if divisor:
        yield from ("1", divisor[1])


def _keys(fix: str) -> Iterator[tuple[str, str]]:
    """Keys with a value: `inputs: [two]`, or in an example to add."""
    added = re.search(r"add (?:it, for example )?`(\w+): (.*?)`", fix) or re.match(
        r"for example `(\w+): (.*?)`", fix
    )
    if added:
        yield added[1], added[2]
        return
    if re.match(r"\w+: one of|precision: \{layers: \{name: type", fix):
        return
    for found in re.finditer(rf"(?:^|(?<=, or )|(?<=; or )|(?<= and ))(\w+): ((?:{VALUE}))", fix):
        value = found[2]
        if re.match(r"\d+(\.\d+)?$|true$|false$|[\[{\"]|auto$|[a-z_0-9]+$", value):
            yield found[1], value


def _token(text: str, at: int) -> int:
    """The end of the value, or key, that begins here."""
    found = re.compile(rf"{VALUE}|-").match(text, at)
    if text[at] in "[{":
        depth = 0
        for end in range(at, len(text)):
            depth += (text[end] in "[{") - (text[end] in "]}")
            if not depth:
                return end + 1
    return found.end() if found else at


def _replaced(text: str, at: int, value: str) -> str:
    """Another value at the place, or behind the key that is there."""
    end = _token(text, at)
    key = text[at:end]
    if re.fullmatch(r"[\w.]+:", key) and not re.fullmatch(r"'?[a-z_0-9]+'?", value):
        start = end + len(re.match(r"\s*", text[end:])[0])  # type: ignore[index]
        return text[:start] + value + text[_token(text, start) :]
    if key.endswith(":"):
        end -= 1
        if re.fullmatch(r"[\d.]+", value):
            start = end + 1 + len(re.match(r"\s*", text[end + 1 :])[0])  # type: ignore[index]
            return text[:start] + value + text[_token(text, start) :]
    return text[:at] + value + text[end:]


def _added(text: str, at: int | None, key: str, value: str) -> str:
    """The key as the first of the mapping that begins at the place."""
    assert at is not None
    if text[at] == "{":
        return f"{text[: at + 1]}{key}: {value}, {text[at + 1 :]}"
    indent = " " * (at - text.rfind("\n", 0, at) - 1)
    return f"{text[:at]}{key}: {value}\n{indent}{text[at:]}"


def _set(text: str, at: int | None, key: str, value: str) -> str:
    """The key with this value: on the line of the place, as a key of the file, or new in the braces there."""
    first = 0 if at is None else text.rfind("\n", 0, at) + 1
    last = len(text) if at is None else text.find("\n", first) % (len(text) + 1)
    line = text[first:last]
    here = re.search(rf"\b{key}:[ ]*(?=\S)", line)
    of_file = re.search(rf"^{key}:[ ]*(?=\S)", text, flags=re.MULTILINE)
    found = first + here.end() if here else of_file.end() if of_file else None
    if found is not None:
        return text[:found] + value + text[_token(text, found) :]
    brace = re.match(r"[^{]*\{", line)
    if brace and at is not None:
        where = first + brace.end()
        return f"{text[:where]}{key}: {value}, {text[where:]}"
    return f"{text.rstrip()}\n{key}: {value}\n"


def _removed(text: str, at: int, key: str | None) -> str | None:
    """Without the key at the place, or another one on its line."""
    first = text.rfind("\n", 0, at) + 1
    start = at
    if key is not None:
        found = re.search(rf"\b{key}:", text[first : text.find("\n", at)])
        start = at if found is None else first + found.start()
    elif not re.match(r"\w+:", text[at:]):
        start = max((one.start() for one in re.finditer(r"\w+:", text[:at])), default=at)
    here = re.match(r"\w+:\s*", text[start:])
    if here is None:
        return None
    end = _token(text, start + here.end())
    rest = re.match(r",? ?", text[end:])
    return text[:start] + text[end + (rest.end() if rest else 0) :]
