"""Number types as users write them: a design file and `precision=` take the same keys and mean the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.base.type_text import parse_type
from hlsgen.designfile.document import Document
from hlsgen.designfile.json_schemas import design_json_schema
from hlsgen.designfile.model_schema import ModelFile, NetworkPrecision
from hlsgen.designfile.precision_grammar import PrecisionSection, precision_of
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.precision import Bits, LayerPrecision, Precision

SCHEMA: Any = jsonschema.Draft202012Validator(design_json_schema())
MINIMAL = {"name": "small", "board": "u200", "model": {"onnx": "net.onnx"}}
TYPES = st.sampled_from(["fixed<8,1>", "ufixed<12,4>", "fixed<16,6,rnd_conv,sat_sym>", "fixed<6,9>"])
WIDTHS = st.integers(1, 64).flatmap(lambda bits: st.sampled_from([bits, f"int{bits}", {"bits": bits}]))
SIZED = st.one_of(TYPES, WIDTHS)
OF_LAYER = {"weights": SIZED, "bias": TYPES, "output": SIZED}
LAYERS = st.one_of(SIZED, st.fixed_dictionaries({}, optional=OF_LAYER))
KEYS: dict[str, st.SearchStrategy[Any]] = {
    "default": st.one_of(st.just("auto"), SIZED),
    "weights": SIZED,
    "input": SIZED,
    "output": SIZED,
    "accumulator": st.one_of(st.sampled_from(["exact", "tight"]), TYPES),
    "target_db": st.floats(6, 120),
    "output_db": st.integers(0, 120),
    "agreement": st.floats(0, 1),
    "headroom": st.floats(1, 16),
    "balance": st.booleans(),
    "layers": st.dictionaries(st.sampled_from(["conv1", "weights", "fc"]), LAYERS, max_size=3),
    "conv2": LAYERS,
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("grammar") / "small.yaml"


def in_a_design(precision: object, path: Path) -> Precision:
    """What a design file with it says."""
    path.write_text(yaml.safe_dump(MINIMAL | {"precision": precision}))
    return Document.read(path).validate(ModelFile).precision.precision


def test_every_key_is_tried() -> None:
    assert set(KEYS) - {"conv2"} == set(PrecisionSection.model_fields)
    assert set(NetworkPrecision.model_fields) - set(PrecisionSection.model_fields) == {"calibration"}


@given(st.one_of(st.just("auto"), SIZED, st.fixed_dictionaries({}, optional=KEYS)))
def test_both_say_the_same(path: Path, precision: Any) -> None:
    assert precision_of(precision) == in_a_design(precision, path)


def test_what_it_says() -> None:
    wide, narrow = parse_type("fixed<16,6>"), parse_type("fixed<8,1>")
    given_ = {
        "default": "fixed<16,6>",
        "accumulator": "tight",
        "target_db": 30,
        "conv1": {"weights": "fixed<8,1>"},
        "layers": {"weights": narrow},
    }
    assert precision_of(given_) == Precision(
        default=wide,  # type: ignore[arg-type]
        accumulator="tight",
        target_db=30,
        layers={"conv1": LayerPrecision(weights=narrow), "weights": LayerPrecision(output=narrow)},  # type: ignore[arg-type]
    )
    assert precision_of(None) == precision_of("auto") == precision_of({"default": None}) == Precision()
    assert precision_of({"default": narrow}) == precision_of(narrow) == precision_of("fixed<8,1>")  # type: ignore[arg-type]


@given(st.integers(1, 64))
def test_every_form_of_a_width_is_the_same(bits: int) -> None:
    forms: list[Any] = [bits, f"int{bits}", {"bits": bits}, np.int64(bits), Bits(bits)]
    for form in forms:
        assert precision_of(form) == precision_of({"default": form}) == Precision(default=Bits(bits))
        asked = precision_of({"weights": form, "input": form, "conv1": form, "fc": {"output": form}})
        assert (asked.weights, asked.input) == (Bits(bits), Bits(bits))
        assert asked.of("conv1") == LayerPrecision(weights=Bits(bits), output=Bits(bits))
        assert asked.of("fc") == LayerPrecision(output=Bits(bits))


def test_what_widths_say_is_not_said_by_types() -> None:
    """A width is that of a layer's weights too; a type has a binary point, which cannot be both's."""
    eight = parse_type("fixed<8,3>")
    assert precision_of({"conv1": "fixed<8,3>"}).of("conv1") == LayerPrecision(output=eight)  # type: ignore[arg-type]
    assert precision_of({"bits": {"output": 8}}).of("bits") == LayerPrecision(output=Bits(8))
    assert [precision_of(one).by_frames for one in (8, "auto", {"default": eight, "fc": {"output": 8}})] == [  # type: ignore[dict-item]
        True,
        True,
        True,
    ]
    assert not precision_of({"default": "fixed<8,3>", "weights": 4, "fc": {"weights": 2}}).by_frames


WRONG: list[Any] = [
    0,
    65,
    -8,
    True,
    8.0,
    "8",
    "int0",
    "int65",
    "uint8",
    {"bits": 0},
    {"bits": 65},
    {"bits": "8"},
    {"bits": 8, "weights": 4},
    {"weights": "uint4"},
    {"accumulator": 32},
    {"accumulator": "int32"},
    {"conv1": {"bias": 16}},
    {"conv1": 0},
    {"conv1": {"bits": 8, "output": 4}},
    {"input": 100},
    "fixed<0,1>",
    {"default": "best"},
    {"accumulator": "float64"},
    {"accumulator": "tigth"},
    {"acumulator": "tight"},
    {"target_db": 3},
    {"output_db": "30"},
    {"agreement": 1.5},
    {"headroom": 0.5},
    {"conv1": {"wieghts": "fixed<8,1>"}},
    {"layers": {"conv1": 3.5}},
    {"layers": ["conv1"]},
]


@pytest.mark.parametrize("precision", WRONG, ids=str)
def test_both_refuse_the_same_with_the_same_remedy(precision: Any, path: Path) -> None:
    with pytest.raises(DesignError) as python:
        precision_of(precision)
    with pytest.raises(DesignError) as design:
        in_a_design(precision, path)
    assert [one.fix for one in python.value.problems] == [one.fix for one in design.value.problems]
    assert all(one.place is not None and one.place.line > 0 for one in design.value.problems)


def test_every_mistake_is_said_at_once() -> None:
    with pytest.raises(DesignError) as failure:
        precision_of({"headroom": 0, "weights": "fixed<x>", "conv1": {"bias": "float32"}})
    assert len(failure.value.problems) == 3


def test_accumulators_from_python() -> None:
    """The issue's example, which was refused."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    found = {}
    for constraints in ("tight", "exact", "fixed<40,16>"):
        torch.manual_seed(0)
        precision = {"default": "fixed<16,6>", "accumulator": constraints}
        design = hlsgen.from_torch(torch.nn.Conv2d(3, 4, 3).eval(), (3, 6, 6), precision=precision)
        (layer,) = design.graph.layers
        assert isinstance(layer, Conv2d)
        found[constraints] = layer
    assert str(found["fixed<40,16>"].accumulator) == "fixed<40,16>"
    largest = np.abs(found["tight"].weights.astype(np.int64)).reshape(4, -1).sum(axis=1).max() * 2**15
    assert 2 ** (found["tight"].accumulator.width - 1) > largest  # type: ignore[union-attr]
    # 27 products of 16 x 16 bits, whatever the weights
    assert found["exact"].accumulator.width >= 16 + 16 + 4 > found["tight"].accumulator.width  # type: ignore[union-attr]


REMEDIES = {
    "uint8": "int8, which is unsigned where nothing is negative; or a type, ufixed<8,0>",
    "int65": "write a whole number from 1 to 64 such as 8, or a type such as fixed<16,6>",
}


def test_what_is_said_of_widths_that_cannot_be() -> None:
    for given_, fix in REMEDIES.items():
        with pytest.raises(DesignError) as failure:
            precision_of(given_)
        assert [one.fix for one in failure.value.problems] == [fix]
    for given_, words in (
        ({"conv1": {"bias": 16}}, "conv1: `bias` cannot be a width: a bias lies on the grid of the products"),
        ({"bits": 8, "weights": 4}, "`bits` is a width by itself, and not one of several keys"),
        ({"conv1": 65}, "`conv1` must be a width of 1 to 64 bits, not 65"),
    ):
        with pytest.raises(DesignError, match=words):
            precision_of(given_)  # type: ignore[arg-type]


@given(st.one_of(st.just("auto"), SIZED, st.fixed_dictionaries({}, optional=KEYS)))
def test_editors_take_what_hlsgen_takes(precision: Any) -> None:
    SCHEMA.validate(MINIMAL | {"precision": precision})


@pytest.mark.parametrize(
    "precision", [one for one in WRONG if one not in (8.0, {"bits": 8, "weights": 4})], ids=str
)
def test_editors_refuse_what_hlsgen_refuses(precision: Any) -> None:
    assert not SCHEMA.is_valid(MINIMAL | {"precision": precision})
