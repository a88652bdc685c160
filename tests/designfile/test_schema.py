"""The design file: defaults, normalised values, limits, and that every mistake is told in plain words."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hlsgen.base.cpp_names import CPP_KEYWORDS
from hlsgen.base.errors import DesignError
from hlsgen.base.type_text import parse_type
from hlsgen.designfile.json_schemas import design_json_schema
from hlsgen.designfile.schema import KINDS, DesignFile, LayerMapping
from hlsgen.designfile.schema_values import SampleFile, WeightFile, WeightSeed
from hlsgen.loading.layer_file import load_design_file
from tests.support.places import ROOT

MINIMAL: dict[str, Any] = {
    "name": "conv",
    "board": "u200",
    "input": {"shape": [16, 64, 64], "type": "fixed<16,6>"},
    "layers": [{"name": "conv1", "kind": "conv2d", "out_channels": 16, "kernel": 3}],
}


def written(folder: Path, data: object) -> Path:
    path = folder / "design.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return path


def with_layer(**keys: object) -> dict[str, Any]:
    data = copy.deepcopy(MINIMAL)
    data["layers"][0].update(keys)
    return data


def layer_value(key: str, value: object) -> Any:
    return getattr(DesignFile.model_validate(with_layer(**{key: value})).layers[0], key)


def accepted(data: object) -> bool:
    try:
        DesignFile.model_validate(data)
    except ValidationError:
        return False
    return True


def test_defaults(tmp_path: Path) -> None:
    design, document = load_design_file(written(tmp_path, MINIMAL))
    assert document.data == MINIMAL
    assert (design.name, design.board, design.clock_mhz, design.style, design.batch) == (
        "conv",
        "u200",
        None,
        "tasks",
        64,
    )
    assert (design.input.shape, design.input.samples) == ((16, 64, 64), "photograph")
    assert design.input.type == parse_type("fixed<16,6>")
    (layer,) = design.layers
    assert (layer.kernel, layer.stride, layer.dilation) == ((3, 3), (1, 1), (1, 1))
    assert (layer.padding, layer.bias, layer.weights) == ((0, 0, 0, 0), True, WeightSeed(0))
    assert (design.precision.weights, design.precision.bias, design.precision.output) == (None, None, None)
    assert design.precision.accumulator == "exact"
    assert (design.mapping.instances, design.mapping.layers) == (None, {})


def test_full_design(tmp_path: Path) -> None:
    data = with_layer(stride=2, padding="same", dilation=[1, 2], bias=False, weights="conv1.npz") | {
        "clock_mhz": 187.5,
        "style": "dataflow",
        "batch": 1,
        "precision": {
            "weights": "fixed<16,2>",
            "output": "fixed<16,6,rnd,sat>",
            "accumulator": "fixed<40,16>",
        },
        "mapping": {"instances": 4, "conv1": {"rows": 2, "pe": 8, "fabric_pe": 0, "order": "channels"}},
    }
    design, _ = load_design_file(written(tmp_path, data))
    assert (design.clock_mhz, design.style) == (187.5, "dataflow")
    assert design.precision.weights == parse_type("fixed<16,2>")
    assert design.precision.accumulator == parse_type("fixed<40,16>")
    assert design.mapping.instances == 4
    mapping = LayerMapping(rows=2, pe=8, fabric_pe=0, order="channels")
    assert design.mapping.layers == {"conv1": mapping}
    assert mapping.simd is None


def test_designs_are_frozen() -> None:
    design = DesignFile.model_validate(MINIMAL)
    with pytest.raises(ValidationError):
        design.batch = 3  # type: ignore[misc]


@pytest.mark.parametrize("value", ["auto", {}])
def test_automatic_mapping(value: object) -> None:
    assert DesignFile.model_validate(MINIMAL | {"mapping": value}).mapping.layers == {}


@pytest.mark.parametrize("name", ["layers", "model_dump", "model_fields", "copy", "schema"])
def test_layers_may_have_the_names_of_our_methods(name: str) -> None:
    data = with_layer(name=name) | {"mapping": {name: {"pe": 2}}}
    assert DesignFile.model_validate(data).mapping.layers == {name: LayerMapping(pe=2)}


@pytest.mark.parametrize(
    ("written_as", "value"),
    [
        (2, (2, 2, 2, 2)),
        (0, (0, 0, 0, 0)),
        ([1, 2], (1, 2, 1, 2)),
        ([1, 2, 3, 4], (1, 2, 3, 4)),
        ("same", "same"),
        ("valid", "valid"),
    ],
)
def test_padding(written_as: object, value: object) -> None:
    assert layer_value("padding", written_as) == value


@pytest.mark.parametrize("key", ["kernel", "stride", "dilation"])
def test_pairs(key: str) -> None:
    assert layer_value(key, 5) == (5, 5)
    assert layer_value(key, [1, 64]) == (1, 64)


def test_weights_and_samples() -> None:
    assert layer_value("weights", "../w/conv1.npy") == WeightFile(Path("../w/conv1.npy"))
    assert layer_value("weights", {"seed": 7}) == WeightSeed(7)
    data = copy.deepcopy(MINIMAL)
    data["input"]["samples"] = "frames.npy"
    assert DesignFile.model_validate(data).input.samples == SampleFile(Path("frames.npy"))


LIMITS = [
    ("out_channels", 1, 16384),
    ("kernel", 1, 64),
    ("stride", 1, 64),
    ("dilation", 1, 64),
    ("padding", 0, 64),
]


@pytest.mark.parametrize(("key", "low", "high"), LIMITS)
def test_limits_of_a_layer(key: str, low: int, high: int) -> None:
    for value, good in [(low - 1, False), (low, True), (high, True), (high + 1, False), (10**9, False)]:
        assert accepted(with_layer(**{key: value})) is good, value


@pytest.mark.parametrize("key", [key for key, _, _ in LIMITS])
@pytest.mark.parametrize(
    "value", ["3", True, 3.0, 2.5, float("nan"), float("inf"), None, {}, [], [3], [3, "3"]]
)
def test_only_whole_numbers_are_sizes(key: str, value: object) -> None:
    assert not accepted(with_layer(**{key: value}))


@pytest.mark.parametrize(("index", "high"), [(0, 16384), (1, 65536), (2, 65536)])
def test_limits_of_the_shape(index: int, high: int) -> None:
    for value, good in [(0, False), (1, True), (high, True), (high + 1, False), (True, False), (1.0, False)]:
        data = copy.deepcopy(MINIMAL)
        data["input"]["shape"][index] = value
        assert accepted(data) is good, value


@pytest.mark.parametrize(
    ("key", "value", "good"),
    [
        ("clock_mhz", 50, True),
        ("clock_mhz", 800, True),
        ("clock_mhz", 49.9, False),
        ("clock_mhz", 801, False),
        ("clock_mhz", True, False),
        ("clock_mhz", float("nan"), False),
        ("margin", 0, True),
        ("margin", 0.9, True),
        ("margin", "auto", True),
        ("margin", 0.91, False),
        ("margin", -0.1, False),
        ("margin", "20%", False),
        ("margin", True, False),
        ("uncertainty", 0, True),
        ("uncertainty", 0.5, True),
        ("uncertainty", 0.51, False),
        ("uncertainty", -0.01, False),
        ("uncertainty", "27%", False),
        ("batch", 1_000_000, True),
        ("batch", 1_000_001, False),
        ("batch", 0, False),
        ("style", "Tasks", False),
        ("bias", True, False),
    ],
)
def test_limits_of_the_design(key: str, value: object, good: bool) -> None:
    assert accepted(MINIMAL | {key: value}) is good


@pytest.mark.parametrize("name", ["c", "Conv_1", "c" * 63, "conv_", "classes"])
def test_names(name: str) -> None:
    assert accepted(MINIMAL | {"name": name})
    assert accepted(with_layer(name=name))


BAD_NAMES = [
    "",
    "1a",
    "_a",
    "a-b",
    "a b",
    "a\n",
    "a__b",
    "a.b",
    "../x",
    "é",
    "c" * 64,
    "main",
    "std",
    "hls",
    "hlsgen",
]


@pytest.mark.parametrize("name", [*BAD_NAMES, *sorted(CPP_KEYWORDS)])
def test_refused_names(name: str) -> None:
    assert not accepted(MINIMAL | {"name": name})
    assert not accepted(with_layer(name=name))


def test_keywords_of_each_standard() -> None:
    samples = {"alignas", "nullptr", "xor_eq", "char8_t", "consteval", "requires", "co_yield", "int", "compl"}
    assert samples <= CPP_KEYWORDS


def test_number_of_layers() -> None:
    layer = MINIMAL["layers"][0]
    layers = [layer | {"name": f"conv{n}"} for n in range(1001)]
    assert accepted(MINIMAL | {"layers": layers[:1000]})
    assert not accepted(MINIMAL | {"layers": layers})
    assert not accepted(MINIMAL | {"layers": []})


def test_names_are_checked_without_a_file_too() -> None:
    layers = MINIMAL["layers"] * 2
    with pytest.raises(ValidationError, match="must be unique"):
        DesignFile.model_validate(MINIMAL | {"layers": layers})
    with pytest.raises(ValidationError, match="no layer of this design"):
        DesignFile.model_validate(MINIMAL | {"mapping": {"conv2": {}}})


def test_board_by_path_is_relative_to_the_design(tmp_path: Path) -> None:
    source = ROOT / "boards" / "u200.yaml"
    (tmp_path / "mine.yaml").write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    design, _ = load_design_file(written(tmp_path, MINIMAL | {"board": "mine.yaml"}))
    assert design.board == "mine.yaml"


def test_mistakes_of_a_board_file_follow_those_of_the_design(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("nam: x\n", encoding="utf-8")
    with pytest.raises(DesignError) as caught:
        load_design_file(written(tmp_path, MINIMAL | {"board": "mine.yaml", "batch": 0}))
    files = [Path(problem.place.file).name for problem in caught.value.problems if problem.place]
    assert files[0] == "design.yaml" and set(files[1:]) == {"mine.yaml"}


def test_json_schema_names_every_key() -> None:
    known = design_json_schema()["$defs"]
    schema = known["DesignFile"]
    assert set(schema["properties"]) == set(DesignFile.model_fields)
    assert schema["required"] == ["name", "board", "input", "layers"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["layers"]["maxItems"] == 1000
    layer = known["LayerSection"]["properties"]
    assert layer["kind"]["enum"] == list(KINDS)
    assert layer["out_channels"]["maximum"] == 16384
    assert {"const": "auto", "type": "string"} in schema["properties"]["mapping"]["anyOf"]
    mapping = known["MappingSection"]
    assert mapping["additionalProperties"] == {"$ref": "#/$defs/LayerMapping"}
    for keys in (schema["properties"], layer, mapping["properties"]):
        assert all("description" in value or "$ref" in value for value in keys.values())


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS | st.sampled_from(["auto", "same", "fixed<8,4>", "u200"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["pe", "seed", "x", "1"]), inner)
    ),
    max_leaves=6,
)
PLACES = [
    *[(key,) for key in DesignFile.model_fields],
    *[("input", key) for key in ("shape", "type", "samples")],
    *[
        ("layers", 0, key)
        for key in ("name", "kind", "kernel", "stride", "padding", "bias", "weights", "other")
    ],
    *[("precision", key) for key in ("weights", "accumulator")],
    *[("mapping", key) for key in ("instances", "conv1", "conv2")],
]


@given(place=st.sampled_from(PLACES), value=VALUES)
def test_any_value_anywhere_is_accepted_or_told_in_plain_words(
    tmp_path_factory: pytest.TempPathFactory, place: tuple[Any, ...], value: object
) -> None:
    data = copy.deepcopy(MINIMAL) | {"precision": {}, "mapping": {}}
    target: Any = data
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = value
    try:
        load_design_file(written(tmp_path_factory.getbasetemp(), data))
    except DesignError as error:
        for problem in error.problems:
            assert problem.place is not None and problem.fix
            # The words of pydantic and of Python's types must not reach a user, nor our last resort.
            for jargon in ("Input should", "valid", "dict", "NoneType", "cannot be", "Error"):
                assert jargon not in problem.message.replace("same or valid", "")
