"""The JSON Schema of a design file, for editors: each of its three forms, and which one a file is."""

from __future__ import annotations

import json
from typing import Any

from pydantic.json_schema import models_json_schema

from hlsgen.designfile.layer_sections import SECTIONS
from hlsgen.designfile.layers_file import OF_NETWORK_STYLES, OF_NETWORKS, LayersFile
from hlsgen.designfile.model_schema import ModelFile
from hlsgen.designfile.schema import DesignFile

DRAFT = "https://json-schema.org/draft/2020-12/schema"
FILE_NAME = "hlsgen-design.schema.json"
"""What `hlsgen import` writes beside a design file."""
EDITOR_LINE = f"# yaml-language-server: $schema={FILE_NAME}\n"
"""The first line of a design file, by which editors find the schema beside it."""


def design_json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a design file.

    It refuses what is wrong in form: keys, kinds, words, types and limits of numbers. What values mean
    together (names that repeat, sizes that do not fit) only hlsgen knows.
    """
    forms = (ModelFile, LayersFile, DesignFile)
    references, shared = models_json_schema([(form, "validation") for form in forms], title="hlsgen design")
    model, layers, layer = (references[form, "validation"] for form in forms)
    choice = {"if": _NETWORK, "then": layers, "else": layer}
    whole = {"$schema": DRAFT, "title": "hlsgen design", "type": "object"}
    return {**whole, "if": {"required": ["model"]}, "then": model, "else": choice, "$defs": shared["$defs"]}


def schema_text() -> str:
    """`design_json_schema` as the text of a file."""
    return json.dumps(design_json_schema(), indent=2) + "\n"


def _one_entry(kinds: list[str], **more: object) -> dict[str, Any]:
    """`layers` with one entry, of one of these kinds."""
    entry = {"type": "object", "properties": {"kind": {"enum": kinds}}, "required": ["kind"], **more}
    return {"type": "array", "minItems": 1, "maxItems": 1, "items": entry}


_OTHERS = [kind for kind in SECTIONS if kind != "conv2d"]
_NETWORK_KEY = [{"required": [key]} for key in sorted(OF_NETWORKS)]
_NETWORK: dict[str, Any] = {
    "required": ["layers"],
    "anyOf": [
        {"properties": {"layers": {"type": "array", "minItems": 2}}},
        {"properties": {"layers": _one_entry(_OTHERS)}},
        {"properties": {"layers": _one_entry(["conv2d"], anyOf=_NETWORK_KEY)}},
        {
            "properties": {"layers": _one_entry(["conv2d"]), "style": {"enum": list(OF_NETWORK_STYLES)}},
            "required": ["style"],
        },
    ],
}
"""What makes a file a network's: as `layers_file.is_network`, which tests compare it with."""
