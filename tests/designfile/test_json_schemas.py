"""The published JSON Schemas, asked through the library `jsonschema`, take and refuse what hlsgen does."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from pydantic import BaseModel, ValidationError

import hlsgen.layers.row_blocks  # noqa: F401  # a kind that shared processors alone have
from hlsgen.base.errors import DesignError
from hlsgen.designfile.document import Document
from hlsgen.designfile.json_schemas import design_json_schema
from hlsgen.designfile.layer_sections import NOT_WRITTEN, SECTIONS
from hlsgen.designfile.layers_file import LayersFile, is_network
from hlsgen.designfile.model_schema import ModelFile
from hlsgen.designfile.schema import DesignFile
from hlsgen.frontends.builder.builder import GraphBuilder
from hlsgen.layers.base import Layer
from hlsgen.targets.board import Board, board_json_schema
from tests.support.documents import blocks, document
from tests.support.places import ROOT

DESIGN: Any = jsonschema.Draft202012Validator(design_json_schema())
BOARD: Any = jsonschema.Draft202012Validator(board_json_schema())
ERRORS = Path(__file__).parent / "errors"
NO_DESIGNS = {f"simulate/{name}.yaml" for name in ("slides", "camera", "detector", "resnet18_cpu")}
"""Scenarios of `hlsgen simulate` and a table of one, which tests/docs/test_simulate_doc.py checks."""
DESIGNS = sorted(
    path
    for path in (ROOT / "designs").rglob("*.yaml")
    if path.relative_to(ROOT / "designs").as_posix() not in NO_DESIGNS
)
BOARDS = sorted((ROOT / "boards").glob("*.yaml"))
MEANING = {
    "layer-names-repeat",
    "layer-named-as-design",
    "layer-named-instances",
    "mapping-unknown-layer",
    "name-alternative-token",
    "name-keyword",
    "name-newline",
    "name-of-c-header",
    "name-of-c-library",
    "name-of-emitted-code",
    "name-reserved",
    "network-names",
    "weights-control-character",
}
"""Wrong designs whose form is right: only hlsgen knows the names that C++ and others take."""


def form_of(data: dict[str, Any]) -> type[BaseModel]:
    if "model" in data:
        return ModelFile
    return LayersFile if is_network(data) else DesignFile


def taken(data: dict[str, Any]) -> bool:
    """Whether hlsgen finds nothing wrong with the form of a design."""
    try:
        form_of(data).model_validate(data)
    except ValidationError:
        return False
    return True


def loaded(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_they_are_schemas() -> None:
    for schema in (design_json_schema(), board_json_schema()):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert json.loads(json.dumps(schema)) == schema


@pytest.mark.parametrize("path", DESIGNS, ids=lambda path: path.stem)
def test_every_design_is_taken(path: Path) -> None:
    DESIGN.validate(loaded(path))


@pytest.mark.parametrize("path", BOARDS, ids=lambda path: path.stem)
def test_every_board_is_taken(path: Path) -> None:
    BOARD.validate(loaded(path))


def test_designs_of_the_documentation_are_taken() -> None:
    for block in blocks(document("design-file.md"), "yaml"):
        DESIGN.validate(yaml.safe_load(block))


def test_wrong_designs_are_refused_as_hlsgen_refuses_them() -> None:
    judged = 0
    for path in sorted(ERRORS.glob("*.yaml")):
        try:
            data = Document.read(path).data
        except DesignError:
            continue  # it is no YAML, or none of ours
        judged += 1
        if path.stem not in MEANING:
            assert DESIGN.is_valid(data) == taken(data), path.stem
    assert judged > 90


LAYER: dict[str, Any] = {"name": "a", "kind": "conv2d", "out_channels": 4, "kernel": 3}
BASE: dict[str, Any] = {"name": "net", "board": "u200", "input": {"shape": [4, 8, 8], "type": "fixed<8,1>"}}
KINDS: list[dict[str, Any]] = [
    LAYER,
    LAYER | {"groups": 4, "padding": "same", "weights": {"seed": 3}, "bias": False},
    {"name": "a", "kind": "dense", "out_channels": 4, "weights": "a.npz"},
    {"name": "a", "kind": "affine", "scale": [1, 2.5], "shift": 1},
    {"name": "a", "kind": "pool2d", "function": "max", "kernel": [2, 3], "overhang": 1},
    {"name": "a", "kind": "adaptive_pool", "function": "max", "size": 3},
    {"name": "a", "kind": "global_pool", "function": "sum"},
    {"name": "a", "kind": "clamp", "low": 0},
    {"name": "a", "kind": "leaky", "slopes": 0.1},
    {"name": "a", "kind": "table", "function": "elu", "parameters": [0.5]},
    {"name": "a", "kind": "steps", "thresholds": [0], "values": [0, 1]},
    {"name": "a", "kind": "softmax"},
    {"name": "a", "kind": "log_softmax"},
    {"name": "a", "kind": "argmax", "inputs": ["x"]},
    {"name": "a", "kind": "add", "inputs": ["x", "x"]},
    {"name": "a", "kind": "sub", "inputs": ["x", "x"]},
    {"name": "a", "kind": "mul", "inputs": ["x", "x"]},
    {"name": "a", "kind": "concat", "inputs": ["x", "x"], "axis": 2},
    {"name": "a", "kind": "crop", "begin": [0, 0, 0], "size": [1, 1, 1]},
    {"name": "a", "kind": "pad", "padding": [1, 2, 3, 4], "channels": [1, 0], "value": 0.5},
    {"name": "a", "kind": "rearrange", "upsample": 2},
    {"name": "a", "kind": "rearrange", "axes": [[[4, 64]], [], [[2, -1], [3, 0]]], "offset": 8},
]


def test_every_kind_of_layer_is_written_or_named() -> None:
    assert {entry["kind"] for entry in KINDS} == set(SECTIONS)
    assert GraphBuilder.__doc__, "it knows every kind that there is"
    assert set(SECTIONS) | set(NOT_WRITTEN) == set(Layer.kinds)


@pytest.mark.parametrize("entry", KINDS, ids=lambda entry: entry["kind"])
def test_an_entry_of_each_kind_and_wrong_ones(entry: dict[str, Any]) -> None:
    def both(layer: object, **more: object) -> tuple[bool, bool]:
        data = copy.deepcopy(BASE) | {"layers": [layer], **more}
        return DESIGN.is_valid(data), taken(data)

    for style in ({}, {"style": "dataflow"}, {"style": "tasks"}):
        assert both(entry, **style) == (True, True)
    wrong = [{**entry, key: {"no": "value"}} for key in entry]
    wrong += [{**entry, "other": 1}, {**entry, "name": "a b"}, {**entry, "kind": "conv"}, [entry]]
    wrong += [{**entry, "inputs": []}, {**entry, "inputs": "x"}, {key: entry[key] for key in ("name",)}]
    for layer in wrong:
        assert both(layer, style="dataflow") == (False, False), layer


VALUES = [None, True, 0, 1, 3, -1, 2.5, "", "x", "auto", "fixed<8,3>", "fixed<8>", [], [1, 2], {}, {"a": 1}]


@pytest.mark.parametrize("form", ["conv", "conv_int8", "three_layers", "digits", "raider", "resnet18"])
def test_any_value_anywhere_is_judged_alike(form: str) -> None:
    """Of each key of a design each of VALUES in its place: both take it, or both refuse it."""
    data = loaded(ROOT / "designs" / f"{form}.yaml")
    data.setdefault("precision", {})
    data.setdefault("mapping", {"instances": 1})
    cases = [(at, value) for at in places(data) for value in VALUES]
    judged = [(at, value, changed(data, at, value)) for at, value in cases if not is_name(at, value)]
    differ = [(at, value) for at, value, other in judged if DESIGN.is_valid(other) != taken(other)]
    assert not differ


def is_name(at: tuple[Any, ...], value: object) -> bool:
    """A name that is taken, by C++ or by the network's input: its form is right."""
    return at[-1] == "name" and value in ("auto", "x")


def changed(data: dict[str, Any], at: tuple[Any, ...], value: object) -> dict[str, Any]:
    other = copy.deepcopy(data)
    parent: Any = other
    for step in at[:-1]:
        parent = parent[step]
    parent[at[-1]] = value
    return other


def places(data: Any) -> list[tuple[Any, ...]]:
    """Of every value in nested mappings and lists."""
    found: list[tuple[Any, ...]] = []
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in entries:
        found += [(key,), *((key, *rest) for rest in places(value))]
    return found


def test_boards_are_judged_alike() -> None:
    data = loaded(BOARDS[0])
    for at in places(data):
        for value in (None, True, -1, "", [], {}, {"a": 1}):
            other = changed(data, at, value)
            try:
                Board.model_validate(other)
            except ValidationError as error:
                form = any(details["type"] != "hlsgen" for details in error.errors())
                assert not (form and BOARD.is_valid(other)), (at, value)
            else:
                assert BOARD.is_valid(other), (at, value)
