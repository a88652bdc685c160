"""A small XML reader for reports: elements, texts, and nothing that XML could do to its reader.

A document type is refused, and with it entities of one's own, so that a few lines can neither become
gigabytes nor name files; sizes and depths are limited.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any
from xml.parsers import expat

from hlsgen.designfile.text_files import read_text, refuse

MOST_ELEMENTS = 2_000_000
MOST_DEPTH = 60


class _Refused(Exception):
    """What the file does that a report does not."""


def read_tree(path: Path) -> ET.Element:
    """The root element. Raises DesignError: not readable, no XML, cut off, or XML beyond plain elements."""
    text = read_text(path)
    builder = ET.TreeBuilder()
    reader = expat.ParserCreate()
    reader.buffer_text = True
    counts = [0, 0]

    def start(name: str, attributes: dict[str, str]) -> None:
        counts[0] += 1
        counts[1] += 1
        if counts[0] > MOST_ELEMENTS:
            raise _Refused(f"holds more than {MOST_ELEMENTS:,} elements")
        if counts[1] > MOST_DEPTH:
            raise _Refused(f"nests elements deeper than {MOST_DEPTH}")
        builder.start(name, attributes)

    def end(name: str) -> None:
        counts[1] -= 1
        builder.end(name)

    def doctype(*_: Any) -> None:
        raise _Refused("declares a document type, which no report does")

    reader.StartElementHandler = start
    reader.EndElementHandler = end
    reader.CharacterDataHandler = builder.data
    reader.StartDoctypeDeclHandler = doctype
    try:
        reader.Parse(text.encode(), True)
    except _Refused as problem:
        line, column = reader.CurrentLineNumber, reader.CurrentColumnNumber + 1
        refuse(path, str(problem), "take the report that the vendor tool wrote", line, column)
    except expat.ExpatError as error:
        what = expat.errors.messages.get(error.code, expat.ErrorString(error.code))
        cut = error.code in _CUT
        message = "ends before its elements do" if cut else f"is no XML: {what}"
        fix = (
            "copy the whole file; a killed run leaves half of one"
            if cut
            else "take the report as it was written"
        )
        refuse(path, message, fix, error.lineno, error.offset + 1)
    return builder.close()


_CUT = tuple(
    expat.errors.codes[text]
    for text in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
    )
)
