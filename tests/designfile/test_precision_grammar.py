"""Number types as users write them: a design file and `precision=` take the same keys and mean the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import hlsgen
from hlsgen.base.errors import DesignError
from hlsgen.base.type_text import parse_type
from hlsgen.designfile.document import Document
from hlsgen.designfile.model_schema import ModelFile, NetworkPrecision
from hlsgen.designfile.precision_grammar import PrecisionSection, precision_of
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.precision import LayerPrecision, Precision

MINIMAL = {"name": "small", "board": "u200", "model": {"onnx": "net.onnx"}}
TYPES = st.sampled_from(["fixed<8,1>", "ufixed<12,4>", "fixed<16,6,rnd_conv,sat_sym>", "fixed<6,9>"])
OF_LAYER = dict.fromkeys(("weights", "bias", "output"), TYPES)
LAYERS = st.one_of(TYPES, st.fixed_dictionaries({}, optional=OF_LAYER))
KEYS: dict[str, st.SearchStrategy[Any]] = {
    "default": st.one_of(st.just("auto"), TYPES),
    "weights": TYPES,
    "input": TYPES,
    "accumulator": st.one_of(st.sampled_from(["exact", "tight"]), TYPES),
    "target_db": st.floats(6, 120),
    "output_db": st.integers(0, 120),
    "agreement": st.floats(0, 1),
    "headroom": st.floats(1, 16),
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


@given(st.one_of(st.just("auto"), TYPES, st.fixed_dictionaries({}, optional=KEYS)))
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


WRONG: list[Any] = [
    7,
    "fixed<0,1>",
    {"default": "best"},
    {"accumulator": "float32"},
    {"accumulator": "tigth"},
    {"acumulator": "tight"},
    {"target_db": 3},
    {"output_db": "30"},
    {"agreement": 1.5},
    {"headroom": 0.5},
    {"conv1": {"wieghts": "fixed<8,1>"}},
    {"layers": {"conv1": 3}},
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
