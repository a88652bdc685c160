"""docs/layers.md against the code: kinds, fields, the frameworks' operations, foldings, cycles, limits."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from math import ceil, gcd
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlsgen.layers
from hlsgen.base.fixed import FixedType
from hlsgen.base.type_text import parse_type
from hlsgen.frontends.torch.alternatives import REMEDIES
from hlsgen.layers import packing
from hlsgen.layers.argmax import ArgMax
from hlsgen.layers.base import Layer, Tensor
from hlsgen.layers.binary import Add
from hlsgen.layers.concat import Concat
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.conv2d_stage import MOST_PX, MOST_TERMS
from hlsgen.layers.crop import Crop
from hlsgen.layers.functions import FUNCTIONS
from hlsgen.layers.pad import Pad
from hlsgen.layers.softmax import Softmax
from hlsgen.layers.stage import Fold
from hlsgen.layers.table import Table
from tests.support.documents import assert_constants_are_as_stated, document, rows, ticked
from tests.support.layer_examples import EXAMPLES
from tests.support.recorded_operations import (
    Kinds,
    Operations,
    keras_operations,
    onnx_operations,
    torch_operations,
)

DOC = document("layers.md")
FRAMEWORKS = (
    "PyTorch modules",
    "PyTorch operations",
    "Keras and QKeras layers",
    "Keras activations",
    "QKeras activations",
    "ONNX operators",
)
NONE = "no layer"
MOVERS = {"crop", "rearrange"}
"""Kinds that may come before any layer whose input lies in another order."""

for module in pkgutil.iter_modules(hlsgen.layers.__path__):
    importlib.import_module(f"hlsgen.layers.{module.name}")


@cache
def sections() -> dict[str, str]:
    """The text of each section by its heading."""
    parts = re.split(r"^## (.*)$", DOC, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def kinds_of(heading: str) -> list[str]:
    return ticked(heading)


def section(kind: str) -> str:
    return next(text for heading, text in sections().items() if kind in kinds_of(heading))


# ---------------------------------------------------------------- kinds and fields


def test_every_kind_has_its_section_and_nothing_else_has() -> None:
    headings = [kind for heading in sections() for kind in kinds_of(heading)]
    assert sorted(headings) == sorted(Layer.kinds)


COMMON = {"name", "inputs", "place"}
SAME_AS_CONV2D = {"dense", "affine"}


@pytest.mark.parametrize("kind", sorted(set(Layer.kinds) - SAME_AS_CONV2D))
def test_fields_and_defaults(kind: str) -> None:
    wanted = {
        field.name: _said(field)
        for field in dataclasses.fields(Layer.kinds[kind])
        if field.name not in COMMON
    }
    text = section(kind)
    table = text[text.index("| field | default |") :].split("\n\n")[0]
    found = {}
    for names, defaults, *_ in list(rows(table))[1:]:
        said = re.findall(r"\([^)]*\)|[^, ]+", defaults) or [""]
        fields = names.split(", ")
        found.update(zip(fields, said * len(fields) if len(said) == 1 else said, strict=len(said) > 1))
    assert {name: said.replace("required", "") for name, said in found.items()} == wanted


def _said(field: dataclasses.Field[Any]) -> str:
    """A default as the document writes it."""
    value = field.default
    if value is dataclasses.MISSING:
        return ""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def test_two_kinds_have_the_fields_of_conv2d() -> None:
    wanted = [field.name for field in dataclasses.fields(Conv2d)]
    for kind in SAME_AS_CONV2D:
        assert [field.name for field in dataclasses.fields(Layer.kinds[kind])] == wanted
        assert "Fields: `conv2d`'s" in section(kind)


# ---------------------------------------------------------------- operations


@cache
def claims() -> dict[str, dict[str, Kinds]]:
    """By framework and operation the kinds that the document says it becomes; NONE: no layer."""
    found: dict[str, dict[str, Kinds]] = {framework: {} for framework in FRAMEWORKS}
    for heading, text in sections().items():
        kinds = kinds_of(heading) or [NONE]
        own = kinds[0]
        for first, *rest in rows(text):
            if first == "from":
                own = (ticked(rest[0]) or kinds)[0]
            elif first in found:
                for op in ticked(rest[0]):
                    found[first].setdefault(op, set()).add(own)
    return found


@cache
def recorded(package: str) -> dict[str, Operations]:
    """What the examples of a framework, by its package, showed."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    if package == "torch":
        modules, operations = torch_operations()
        return {"PyTorch modules": modules, "PyTorch operations": operations}
    return {"ONNX operators": onnx_operations()} if package == "onnx" else keras_operations()


def tables() -> dict[str, set[str]]:
    """What each framework's tables hold."""
    from hlsgen.frontends.onnx.to_graph import OPERATIONS, QUANTISERS
    from hlsgen.frontends.qkeras.activations import FUNCTIONS as KERAS
    from hlsgen.frontends.qkeras.activations import PIECEWISE, QUANTIZERS
    from hlsgen.frontends.qkeras.layers import LAYERS
    from hlsgen.frontends.torch.to_graph import CONVERTERS  # which fills them

    return {
        "PyTorch operations": set(CONVERTERS),
        "Keras and QKeras layers": set(LAYERS),
        "Keras activations": set(KERAS),
        "QKeras activations": {*PIECEWISE, *QUANTIZERS},
        "ONNX operators": {*OPERATIONS, *QUANTISERS},
    }


@pytest.mark.parametrize("framework", FRAMEWORKS[1:])
def test_every_operation_of_the_tables_is_named_and_no_other(framework: str) -> None:
    assert sorted(claims()[framework]) == sorted(tables()[framework])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_operations_become_the_kinds_under_which_they_stand(framework: str) -> None:
    """Each is read in an example. What its converter makes are just those kinds, but for those that only move
    elements; of these it is enough that its results need them.
    """
    package = {"PyTorch": "torch", "ONNX": "onnx"}.get(framework.split()[0], "qkeras")
    seen, said = recorded(package)[framework], claims()[framework]
    assert set(said) == set(seen.needed)
    for op, kinds in said.items():
        made = seen.made.get(op, seen.needed[op])
        made = {"cast" if kind == "quantiser" else kind for kind in made}
        assert kinds - MOVERS - {NONE} == made - MOVERS, f"{op} becomes {made}"
        assert kinds & MOVERS <= seen.needed[op], f"{op} needs only {seen.needed[op]}"
        assert (NONE in kinds) == (kinds == {NONE}), f"{op} is a layer, and none"


def test_refused_operations() -> None:
    from hlsgen.frontends.onnx.alternatives import INSTEAD
    from hlsgen.frontends.onnx.to_graph import OPERATIONS
    from hlsgen.frontends.torch.to_graph import CONVERTERS

    text = sections()["Operations that are refused"]
    torch, onnx = text.split("| ONNX |")
    said = {op for first, _ in list(rows(torch))[1:] for op in ticked(first)}
    assert said == set(REMEDIES) and not said & set(CONVERTERS)
    said = {op for first, _ in rows(onnx) for op in ticked(first)}
    assert said == set(INSTEAD) and not said & set(OPERATIONS)


def test_what_is_computed_while_a_model_is_read() -> None:
    from hlsgen.frontends.onnx.folding import NEVER
    from hlsgen.frontends.qkeras.quantizers import STEPS

    folded, weights = sections()["Operations that are no layer"].split("but these:")[1].split("\n\n")[:2]
    assert set(ticked(folded)) - {"If"} == NEVER
    assert set(ticked(weights)) == set(STEPS)


# ---------------------------------------------------------------- foldings and cycles


@pytest.mark.parametrize("kind", sorted(Layer.kinds))
def test_foldings_and_cycles(kind: str) -> None:
    """The `legal` lines hold for just the foldings that a layer has; `cycles` are the stage's interval."""
    lines = _lines(kind)
    for layer in EXAMPLES[kind]:
        folds = list(layer.folds())
        assert folds
        for fold in folds:
            stage = layer.stage(fold)
            values = _run(lines["cycles"], layer, fold, stage.output.px)
            assert values["cycles"] == stage.interval, (layer, fold)
            assert _holds(lines["needs"] + lines["legal"], layer, fold), (layer, fold)
        if lines["legal"]:
            legal = {fold for fold in _all_folds(layer) if _holds(lines["legal"], layer, fold)}
            assert legal == {fold for fold in folds if fold.multipliers == "dsp"}
            assert {replace(fold, multipliers="dsp") for fold in folds} == legal


def test_multipliers() -> None:
    """A layer of wide products has each folding in logic cells, and in packed DSPs where the text says so."""
    for layer in (*EXAMPLES["conv2d"], *EXAMPLES["dense"]):
        assert isinstance(layer, Conv2d)
        assert isinstance(layer.input_type, FixedType) and isinstance(layer.weight_type, FixedType)
        wide = layer.input_type.width + layer.weight_type.width > packing.FABRIC_PRODUCT_BITS
        folds = set(layer.folds())
        for fold in {replace(one, multipliers="dsp") for one in folds}:
            assert (replace(fold, multipliers="fabric") in folds) == wide
            groups = max(1, fold.simd // layer.group_channels)
            pairs = fold.pe // groups % 2 == 0 and fold.simd // groups * layer.taps >= packing.SHORTEST_CHAIN
            chain = packing.chain_of_weights(layer) >= packing.SHORTEST_CHAIN
            assert (replace(fold, multipliers="packed") in folds) == (wide and pairs and chain)


def test_multipliers_of_four_products() -> None:
    """Of 4 bits: two pixels and two channels; of 2 bits: one pixel and four channels too."""
    for bits in (2, 4):
        type_ = FixedType(bits, bits)
        for layer in EXAMPLES["conv2d"]:
            assert isinstance(layer, Conv2d)
            weights = np.full(layer.weights.shape, type_.min_code)
            narrow = replace(layer, input_type=type_, weight_type=type_, weights=weights)
            folds = set(narrow.folds())
            for fold in {replace(one, multipliers="dsp") for one in folds}:
                groups = max(1, fold.simd // layer.group_channels)
                pe, terms = fold.pe // groups, fold.simd // groups * layer.taps
                both = fold.px % 2 == 0 and pe % 2 == 0
                four = both or (pe % 4 == 0 and bits == 2)
                wanted = four and terms >= packing.SHORTEST_CHAIN
                assert (replace(fold, multipliers="quad") in folds) == wanted


def _lines(kind: str) -> dict[str, list[str]]:
    """The lines of a kind's block: conditions, and the assignments that end in cycles."""
    block = section(kind).split("```")[1]
    found: dict[str, list[str]] = {"legal": [], "needs": [], "cycles": []}
    for line in block.strip().splitlines():
        along, what, expression = re.fullmatch(  # type: ignore[union-attr]
            r"(?:along (\w+)\s+)?(legal|needs|cycles|\w+ +=)\s+(.*)", line
        ).groups()
        if along:
            axis = ("channels", "rows", "columns").index(along)
            expression = f"AXIS != {axis} or ({expression})"
        if what in ("legal", "needs"):
            found[what].append(expression)
        else:
            found["cycles"].append(f"{what.split()[0]} = {expression}")
    return found


def _run(assignments: list[str], layer: Layer, fold: Fold, px_out: int) -> dict[str, Any]:
    values = {**_names(layer), "PX": fold.px, "PE": fold.pe, "SIMD": fold.simd, "PX_OUT": px_out}
    exec("\n".join(assignments), {"ceil": ceil, "max": max}, values)
    return values


def _holds(conditions: list[str], layer: Layer, fold: Fold) -> bool:
    values = {**_names(layer), "PX": fold.px, "PE": fold.pe, "SIMD": fold.simd}
    return all(eval(condition, {"gcd": gcd}, values) for condition in conditions)


def _names(layer: Layer) -> dict[str, int]:
    """The names that the document explains."""
    (c, h, w), (oc, oh, ow) = layer.sources[0].shape, layer.output_shape
    names = {"C": c, "H": h, "W": w, "OC": oc, "OH": oh, "OW": ow, "G": getattr(layer, "groups", 1)}
    for field, pair in (("kernel", "KH KW"), ("stride", "SH SW")):
        names.update(zip(pair.split(), getattr(layer, field, (1, 1)), strict=True))
    if isinstance(layer, Concat):
        names |= {"AXIS": layer.axis, "PART": gcd(*(part.shape[layer.axis] for part in layer.parts))}
    if isinstance(layer, Pad):
        names |= {"BEFORE": layer.channels[0], "AFTER": layer.channels[1], "LEFT": layer.padding[1]}
    return names


def _all_folds(layer: Layer) -> Iterator[Fold]:
    """Every folding that could be asked for."""
    channels, _, width = (max(pair) for pair in zip(layer.sources[0].shape, layer.output_shape, strict=True))
    # a dense layer reads several pixels of an image at once
    most = channels * width if layer.kind == "dense" else channels
    for px, pe, simd in product(range(1, width + 1), range(1, channels + 1), range(1, most + 1)):
        yield Fold(px=px, pe=pe, simd=simd)


def test_limits_of_foldings_are_the_constants() -> None:
    """Examples do not come near enough to each of them to tell."""
    for kind in Layer.kinds:
        numbers = {int(text) for line in _lines(kind)["legal"] for text in re.findall(r"\d{2,}", line)}
        assert numbers <= {MOST_PX, MOST_TERMS} and (MOST_TERMS in numbers) == (kind == "conv2d")


def test_what_follows_for_crops() -> None:
    """SIMD and PX are 1, all, or such that a word begins with an element's place in the step."""
    for layer in EXAMPLES["crop"]:
        assert isinstance(layer, Crop)
        for fold in layer.folds():
            for held, axis in ((fold.simd, 0), (fold.px, 2)):
                begin, step = layer.begin[axis], layer.step[axis]
                whole = held in (1, layer.source.shape[axis])
                assert whole or (held % step == 0 and begin % held < step)


# ---------------------------------------------------------------- numbers


def test_constants() -> None:
    """Those that the document states are so; every one of the kinds' modules is there."""
    said = assert_constants_are_as_stated(DOC)
    missing = set(_constants()) - set(said) - NOT_DOCUMENTED
    assert not missing, f"docs/layers.md does not say {missing}"


WEIGHTS = ("stage", "conv2d_stream")
"""How weights reach a stage is no matter of the kinds."""
NOT_DOCUMENTED = {
    # of the DSP: docs/layers.md says what follows from them
    "packing.LANE_BITS", "packing.PACKED_BITS", "packing.DSP_SUM_BITS", "packing.QUAD",
    # of golden's arithmetic, and of how a table is found
    "convolved.BLOCK_ELEMENTS", "packing.BLOCK_ELEMENTS", "conv2d.EXACT_IN_FLOAT64",
    "conv2d.SINGLE_PRODUCT_BITS", "division.FITS_INT64",
    "piecewise.TAIL_ERROR", "piecewise.POINTS", "piecewise.NEAR_ZERO",
    "functions.SELU_ALPHA", "functions.SELU_SCALE",
    # of adders for constants: docs/cost-model.md
    "adder_graph.BLOCK_DIGITS", "constant_products.ADDERS_A_CYCLE",
    # of the algorithm, which docs/kernel.md explains
    "winograd.POINTS", "winograd.KERNEL_ROWS", "winograd.ROWS", "winograd.SUM_POINT", "winograd.LONGEST_LANE",
    # of the softmax's arithmetic, which its class explains
    "softmax.EXP_FRACTION", "softmax.REST_BITS", "softmax.RECIPROCAL_FRACTION",
}  # fmt: skip


def _constants() -> Iterator[str]:
    """The numbers that the modules of hlsgen.layers define in capitals themselves."""
    for module in pkgutil.iter_modules(hlsgen.layers.__path__):
        loaded = importlib.import_module(f"hlsgen.layers.{module.name}")
        source = Path(str(loaded.__file__)).read_text(encoding="utf-8")
        for name in re.findall(r"^([A-Z][A-Z_]+) = ", source, flags=re.MULTILINE):
            if isinstance(getattr(loaded, name), int | float) and module.name not in WEIGHTS:
                yield f"{module.name}.{name}"


def test_functions_of_the_table() -> None:
    said: dict[str, list[tuple[str, float]]] = {}
    text = section("table")
    for names, parameters in list(rows(text[text.index("| function | parameters") :].split("\n\n")[0]))[1:]:
        given = [
            (name, float(eval(value)))
            for name, value in re.findall(r"(\w+) ([\d./]+)", parameters.split("(")[0])
        ]
        said |= dict.fromkeys(ticked(names), given)
    assert said == {name: list(function.parameters) for name, function in FUNCTIONS.items()}


def test_measured_errors_of_tables() -> None:
    text = section("table")
    measured = list(rows(text[text.index("| source -> result |") :].split("\n\n")[0]))[1:]
    assert measured
    for types, function, pieces, error in measured:
        source, result = (parse_type(text) for text in types.split(" -> "))
        assert isinstance(result, FixedType)
        layer = Table(
            name="t", source=Tensor(shape=(1, 1, 1), type=source), function=function, result_type=result
        )
        assert layer.check() == []
        assert f"{layer.pieces.segments} {layer.max_error / result.resolution:.2f}" == f"{pieces} {error}"


@pytest.mark.parametrize(
    ("result", "bound"), [("fixed<16,1,rnd,sat>", 2.0**-13.8), ("ufixed<8,0,rnd,sat>", 1.5 / 256)]
)
def test_measured_error_of_softmax(result: str, bound: float) -> None:
    assert "2^-13.8" in section("softmax") and "1.5 LSB" in section("softmax")
    type_, rng = parse_type(result), np.random.default_rng(0)
    source = parse_type("fixed<16,6>")
    assert isinstance(type_, FixedType) and isinstance(source, FixedType)
    for channels in (2, 10, 100, 1000):
        layer = Softmax(name="s", source=Tensor(shape=(channels, 1, 20), type=source), result_type=type_)
        for spread in (0.02, 0.1, 0.3, 1.0):
            low, high = int(source.min_code * spread), int(source.max_code * spread)
            codes = rng.integers(low, high + 1, (10, channels, 1, 20))
            powers = np.exp((codes - codes.max(axis=1, keepdims=True)) * source.resolution)
            exact = powers / powers.sum(axis=1, keepdims=True)
            assert np.abs(layer.golden(codes) * type_.resolution - exact).max() <= bound


def test_natural_types_are_as_said() -> None:
    """Averages: exact for powers of two, else 8 bits more; argmax: what holds the last index; sums: exact."""
    (source,) = EXAMPLES["pool2d"][0].sources
    assert "8 fraction bits more" in section("pool2d")
    for layer in EXAMPLES["pool2d"]:
        if layer.function == "average":  # type: ignore[attr-defined]
            fraction = layer.retyped((source.type,), None).output_type.fraction  # type: ignore[union-attr]
            counts = layer.distinct_counts  # type: ignore[attr-defined]
            if any(count & (count - 1) for count in counts):
                assert fraction == source.type.fraction + 8  # type: ignore[union-attr]
            else:
                assert 2**fraction == 2**source.type.fraction * counts[-1]  # type: ignore[union-attr]
    for kind in (ArgMax, Add):
        (layer, *_) = EXAMPLES[kind.kind]
        assert layer.retyped(tuple(one.type for one in layer.sources), None).check() == []
