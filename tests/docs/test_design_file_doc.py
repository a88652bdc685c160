"""docs/design-file.md: its design files are accepted, and have every key that there is."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from pydantic import BaseModel, ValidationError

from hlsgen.designfile.constraints import PROCESSOR_VALUES
from hlsgen.designfile.layer_sections import NOT_WRITTEN, SECTIONS
from hlsgen.designfile.layers_file import LayersFile, LayersInput, is_network
from hlsgen.designfile.model_schema import (
    ModelFile,
    ModelMapping,
    ModelSection,
    ProcessorMapping,
    StageMapping,
)
from hlsgen.designfile.precision_grammar import LayerTypes
from hlsgen.designfile.schema import DesignFile, LayerMapping, MappingSection
from hlsgen.designfile.validation import OneOf, Whole
from hlsgen.hardware.descriptor import MOST_ROWS
from tests.support.documents import blocks, document

DOC = document("design-file.md")
LAYER, WRITTEN, NETWORK = blocks(DOC, "yaml")
ABOUT_WEIGHTS = {"weights", "storage", "batch_reuse"}
"""Keys of a network's `mapping` that say where weights lie."""
OF_FRONT_WAVES = {"rows", "fabric_pe"}
"""Of networks as tasks, which the example is not."""


def fields(section: type[BaseModel]) -> set[str]:
    return set(section.model_fields)


def commented(block: str) -> dict[str, str]:
    """The comment of each key that has one, where it stands first."""
    found = re.findall(r"^[ #]*(\w+):[^#\n]*?(?:\s# (.*))?$", block, flags=re.MULTILINE)
    return dict(reversed(found))


def test_a_design_of_a_layer() -> None:
    data = yaml.safe_load(LAYER)
    design = DesignFile.model_validate(data)
    assert set(data) == fields(DesignFile)
    for section in ("input", "precision"):
        assert set(data[section]) == fields(type(getattr(design, section)))
    assert set(data["layers"][0]) == fields(type(design.layers[0]))
    said = yaml.safe_load(commented(LAYER)["mapping"].removeprefix("or any of "))
    assert set(said) == {*fields(MappingSection), "conv1"} and set(said["conv1"]) == fields(LayerMapping)
    DesignFile.model_validate(data | {"mapping": said})


def test_a_design_of_a_network() -> None:
    data = yaml.safe_load(NETWORK)
    design = ModelFile.model_validate(data)
    assert set(data) == fields(ModelFile)
    (source,) = design.input
    assert set(data["input"]) == fields(type(source))
    assert set(data["precision"]) == fields(type(design.precision))
    assert set(data["precision"]["layers"]["conv1"]) == fields(LayerTypes)
    mapping = set(data["mapping"]) - {"conv1"}
    assert mapping | ABOUT_WEIGHTS | {"processor"} >= fields(ModelMapping) >= mapping
    folding = set(data["mapping"]["conv1"])
    assert folding | ABOUT_WEIGHTS | OF_FRONT_WAVES | {"slr"} >= fields(StageMapping) >= folding
    assert "`slr` where it lies of a streaming kernel" in DOC
    assert "with `style: tasks` rows and fabric_pe of a front wave" in DOC


def test_a_processor_that_layers_share() -> None:
    (line,) = re.findall(r"^# (mapping: {processor: .*})  #", NETWORK, flags=re.MULTILINE)
    said = yaml.safe_load(line)
    design = ModelFile.model_validate(yaml.safe_load(NETWORK) | said | {"style": "shared"})
    keys = said["mapping"]["processor"]
    assert set(keys) == fields(ProcessorMapping) == set(PROCESSOR_VALUES)
    assert design.mapping.processor.constraints.given == keys
    for key, low, high in (("together", 1, 64), ("pixel_words", 64, 65536), ("weight_words", 16, 8192)):
        limits = PROCESSOR_VALUES[key]
        assert isinstance(limits, Whole) and (limits.low, limits.high) == (low, high)
        assert re.search(rf"`{key}`[^`]*\({low:,} to\s{high:,}\)", DOC) or f"frames ({low} to {high})" in DOC
    assert PROCESSOR_VALUES["lanes"] == OneOf((4, 8, 16, 32)) and "`lanes` (4, 8, 16 or 32)" in DOC
    assert PROCESSOR_VALUES["fabric_lanes"] == OneOf(tuple(range(0, 17, 2))) and "(even, to 16)" in DOC
    assert PROCESSOR_VALUES["extra_lanes"] == OneOf(tuple(range(0, 33, 2))) and "(even, to as many as" in DOC
    assert PROCESSOR_VALUES["rows"] == OneOf(tuple(range(1, MOST_ROWS + 1, 2))) and "(odd, to 13)" in DOC


def test_a_network_that_is_written_out() -> None:
    data = yaml.safe_load(WRITTEN)
    assert is_network(data) and not is_network(yaml.safe_load(LAYER))
    design = LayersFile.model_validate(data)
    (source,) = design.input
    assert set(data["input"]) == fields(LayersInput) and source.samples == data["input"]["samples"]
    assert design.style == LayersFile.model_validate(data | {"style": "dataflow"}).style


def test_keys_of_every_kind_of_layer() -> None:
    rows = re.findall(r"^\| ((?:`\w+` ?)+) \| (.*) \|$", DOC, flags=re.MULTILINE)
    told = {kind: keys for kinds, keys in rows for kind in re.findall(r"`(\w+)`", kinds)}
    assert set(told) == set(SECTIONS)
    for kind, section in SECTIONS.items():
        own = fields(section) - {"name", "kind", "inputs"}
        assert own <= set(re.findall(r"\w+", told[kind])), kind
    assert all(f"`{kind}` is not written" in DOC for kind in NOT_WRITTEN)


def test_every_source_of_a_network() -> None:
    data = yaml.safe_load(NETWORK)
    others = [
        yaml.safe_load(line.lstrip("# ")) for line in NETWORK.splitlines() if line.startswith("# model")
    ]
    for other in others:
        ModelFile.model_validate(data | other)
    said = set(data["model"]) | {key for other in others for key in other["model"]}
    assert said == fields(ModelSection)


DEFAULTS = [
    ("style",),
    ("batch",),
    ("input", "samples"),
    ("precision", "default"),
    ("precision", "output_db"),
    ("precision", "agreement"),
]


@pytest.mark.parametrize("path", DEFAULTS, ids=".".join)
def test_values_that_are_shown_are_the_defaults(path: tuple[str, ...]) -> None:
    data = yaml.safe_load(NETWORK)
    value: Any = data
    for key in path:
        value = value[key]
    found: Any = ModelFile.model_validate({key: data[key] for key in ("name", "board", "model")})
    for key in path:
        found = getattr(found, key)
        found = found[0] if key == "input" else found
    assert found == value


LIMITS = [
    ("target_db", r"(6) to (120)", lambda value: {"precision": {"target_db": value}}),
    ("output_db", r"(0) to (120)", lambda value: {"precision": {"output_db": value}}),
    ("headroom", r"(1) to (16)", lambda value: {"precision": {"headroom": value}}),
    ("agreement", r"(0) to (1)", lambda value: {"precision": {"agreement": value}}),
    ("instances", r"()up to (1024)", lambda value: {"mapping": {"instances": value}}),
    ("input", r"()up to (16),", lambda value: {"input": [{}] * value}),
    ("shape", r"(one) to (three)", lambda value: {"input": {"shape": [8] * value}}),
]
WORDS = {"": 1, "one": 1, "three": 3}


@pytest.mark.parametrize(("key", "pattern", "design"), LIMITS, ids=[key for key, *_ in LIMITS])
def test_limits(key: str, pattern: str, design: Any) -> None:
    found = re.search(pattern, commented(NETWORK)[key])
    assert found is not None
    low, high = (WORDS[text] if text in WORDS else int(text) for text in found.groups())
    minimal = {"name": "small", "board": "u200", "model": {"torch": "net.py:make_net"}}
    for value, good in ((low - 1, False), (low, True), (high, True), (high + 1, False)):
        try:
            ModelFile.model_validate(minimal | design(value))
        except ValidationError:
            assert not good, value
        else:
            assert good, value
