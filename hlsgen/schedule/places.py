"""Places in the source, from the nodes of LLVM's debug information."""

from __future__ import annotations

import re
from posixpath import normpath

from hlsgen.schedule.ir import Place

_FIELD = re.compile(r'(\w+): (?:!(\d+)|"((?:[^"\\]|\\.)*)"|(\d+))')
_REFERENCES = re.compile(r"!(\d+)")
_ESCAPED = re.compile(rb"\\([0-9A-Fa-f]{2})")
"""A byte of a text that LLVM does not write as it is: quotes, backslashes, all that is not ASCII."""


LOOP_NAME = "hlsgen.loop"
"""Metadata that keeps a loop's number while passes make nodes of their own."""
_NAMED = re.compile(rf'^(?:distinct )?!\{{!"{LOOP_NAME}", i64 (\d+)\}}')


def loop_names_of(nodes: dict[int, str]) -> dict[int, int]:
    """The number that each loop's node carries as its name."""
    numbers = {node: int(found[1]) for node, body in nodes.items() if (found := _NAMED.match(body))}
    names = {}
    for node, body in nodes.items():
        if body.startswith("distinct !{"):
            for reference in _REFERENCES.findall(body):
                if int(reference) in numbers:
                    names[node] = numbers[int(reference)]
    return names


def places_of(nodes: dict[int, str]) -> tuple[dict[int, Place], dict[int, Place]]:
    """The places of DILocation nodes, and those of loops, by node number.

    A loop's place is the first location of its node. A location's file is that of its innermost scope, its
    function the name of the subprogram around it.
    """
    reader = _Nodes(nodes)
    places, loops = {}, {}
    for number, body in nodes.items():
        if body.startswith(("!DILocation(", "distinct !DILocation(")):
            places[number] = reader.place(number)
    for number, body in nodes.items():
        if body.startswith("distinct !{"):
            references = [int(one) for one in _REFERENCES.findall(body)]
            first = next((one for one in references[1:] if one in places), None)
            if first is not None:
                loops[number] = places[first]
    return places, loops


class _Nodes:
    """Nodes read when they are asked for."""

    def __init__(self, nodes: dict[int, str]) -> None:
        self.nodes = nodes
        self.places: dict[int, Place] = {}
        self.scopes: dict[int, tuple[str, str]] = {}

    def fields(self, number: int) -> dict[str, str]:
        return {
            name: reference or _unescaped(text) or plain
            for name, reference, text, plain in _FIELD.findall(self.nodes.get(number, ""))
        }

    def place(self, number: int) -> Place:
        if number not in self.places:
            fields = self.fields(number)
            file, function = self.scope(int(fields.get("scope", -1)))
            inlined = self.place(int(fields["inlinedAt"])) if "inlinedAt" in fields else None
            self.places[number] = Place(file, int(fields.get("line", 0)), function, inlined)
        return self.places[number]

    def scope(self, number: int) -> tuple[str, str]:
        """The file and the function of a scope."""
        if number not in self.scopes:
            fields = self.fields(number)
            body = self.nodes.get(number, "")
            function = fields.get("name", "")
            if "DISubprogram" not in body:
                above = int(fields["scope"]) if fields.get("scope", "").isdigit() else -1
                function = self.scope(above)[1] if above in self.nodes else ""
            file = self.fields(int(fields["file"])).get("filename", "") if "file" in fields else ""
            self.scopes[number] = (_plain(file), function)
        return self.scopes[number]


def _unescaped(text: str) -> str:
    """A text of LLVM's as it was: names of files may have letters of any language."""
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda byte: bytes([int(byte[1], 16)]), text.encode()).decode(errors="replace")


def _plain(file: str) -> str:
    """A file's path without what leads nowhere: src/../include/./x.h is include/x.h."""
    return normpath(file) if "/." in file or "//" in file else file
