"""Layers as calls of the DASH API: exact for random ones, wherever calls run; and a network of them."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from hlsgen.base.fixed import Codes, FixedType, Overflow, Rounding
from hlsgen.emit.cedr import RESOURCES
from hlsgen.emit.cedr_layers import (
    CONV_LIMIT,
    FLOAT_LIMIT,
    biases_of,
    called_layer,
    numbers_of,
    parts_of,
)
from hlsgen.emit.environment import render, source_text
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.dense import Dense
from hlsgen.program.digit_planes import balanced_parts, input_parts, split_for
from tests.support.layers.random_convolutions import convolutions

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
K = {"name": "probe", "source": "a test", "resources": RESOURCES}
PROBE = """#include <cstdio>
#include <iostream>
#include "layers.h"
template <typename T> void read(std::vector<T> &all) {
    std::size_t count;
    std::cin >> count;
    all.resize(count);
    for (T &one : all) std::cin >> one;
}
void read(cedr::result_t &r) {
    int round, over;
    std::cin >> r.low >> r.high >> r.drop >> round >> over >> r.bits >> r.least >> r.most;
    r.round = cedr::rounding(round);
    r.over = cedr::overflow(over);
}
int main() {
    int dense;
    while (std::cin >> dense) {
        cedr::conv_t c;
        cedr::dense_t d;
        cedr::codes_t in, out;
        if (dense) {
            std::cin >> d.channels >> d.height >> d.width >> d.filters;
            std::cin >> d.weight_parts >> d.weight_bits >> d.input_parts >> d.input_bits >> d.finer;
            read(d.result);
            read(d.matrix);
            read(d.biases);
            read(in);
            out = cedr::dense(in, d);
        } else {
            std::cin >> c.channels >> c.height >> c.width >> c.filters >> c.groups >> c.rows >> c.columns;
            std::cin >> c.top >> c.left >> c.padded_height >> c.padded_width;
            std::cin >> c.stride_h >> c.stride_w >> c.side;
            std::cin >> c.weight_parts >> c.weight_bits >> c.input_parts >> c.input_bits >> c.zip >> c.finer;
            read(c.result);
            read(c.masks);
            read(c.biases);
            read(in);
            out = cedr::convolution(in, c);
        }
        for (std::int64_t code : out) std::printf("%lld ", (long long)code);
        std::printf("\\n");
    }
}
"""


def compiled(folder: Path, changes: dict[str, tuple[str, str]] | None = None) -> Path:
    """The probe; changes: a text in place of another, by file."""
    (folder / "cedr").mkdir()
    (folder / "tb").mkdir()
    files = {
        "cedr/layers.h": source_text("cedr/layers.h"),
        "cedr/dash.h": source_text("cedr/dash.h"),
        "cedr/implementations.cpp": render("cedr/implementations.cpp.j2", k=K, version="0"),
        "cedr/alone.cpp": render("cedr/alone.cpp.j2", k=K, version="0"),
        "cedr/probe.cpp": PROBE,
        "tb/npy.h": source_text("hls/npy.h"),
    }
    for name, (before, after) in (changes or {}).items():
        assert files[name].count(before) == 1, (before, files[name].count(before))
        files[name] = files[name].replace(before, after)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    sources = [folder / "cedr" / f"{name}.cpp" for name in ("probe", "implementations", "alone")]
    flags = ["-std=c++14", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread"]
    subprocess.run(["g++", *flags, *sources, "-o", folder / "probe"], check=True)
    return folder / "probe"


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("probe"))


def stated(layer: Conv2d, frame: Codes) -> str:
    """A layer and a frame as the probe reads them."""
    called = called_layer(layer)
    assert called is not None
    k = numbers_of(called)
    sizes = ["channels", "height", "width", "filters"]
    dense = k["function"] == "dense"
    if not dense:
        sizes += ["groups", "rows", "columns", "top", "left", "padded_height", "padded_width"]
        sizes += ["stride_h", "stride_w", "side"]
    sizes += ["weight_parts", "weight_bits", "input_parts", "input_bits"]
    sizes += ["finer"] if dense else ["zip", "finer"]
    rounding = list(Rounding).index(Rounding(k["rounding"]))
    result = [k["low"], k["high"], k["drop"], rounding, int(k["overflow"] == "SAT")]
    result += [k["bits"], k["least"], k["most"]]
    words = [int(dense), *(int(k[size]) for size in sizes), *result]
    for values in (parts_of(called), biases_of(called), frame):
        words += [values.size, *(int(one) for one in values.reshape(-1))]
    return " ".join(map(str, words))


def results(probe: Path, layer: Conv2d, frames: Codes, **elements: int) -> Codes:
    given = "\n".join(stated(layer, frame) for frame in frames)
    environment = {**os.environ, **{f"HLSGEN_{name.upper()}": str(count) for name, count in elements.items()}}
    done = subprocess.run([probe], input=given, capture_output=True, text=True, check=True, env=environment)
    rows = [line for line in done.stdout.splitlines() if not line.endswith("calls")]
    return np.array([[int(word) for word in row.split()] for row in rows])


def frames_for(layer: Conv2d, seed: int) -> Codes:
    """The extremes, and some between."""
    type_ = layer.input_type
    assert isinstance(type_, FixedType)
    low, high = type_.min_code, type_.max_code
    generator = np.random.default_rng(seed)
    made = [np.full(layer.in_shape, code) for code in (low, high)]
    made.append(generator.choice([low, high], layer.in_shape))
    made.append(generator.integers(low, high, layer.in_shape, endpoint=True))
    return np.stack(made)


@st.composite
def result_types(draw: st.DrawFn) -> FixedType:
    signed = draw(st.booleans())
    return FixedType(
        draw(st.integers(1, 20)),
        draw(st.integers(-3, 12)),
        signed,
        draw(st.sampled_from(list(Rounding))),
        draw(st.sampled_from([Overflow.WRAP, Overflow.SAT, Overflow.SAT_SYM])),
    )


quick = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ELEMENTS = [{}, {"cpu": 1, "gemm": 0, "zip": 0}, {"cpu": 0, "gemm": 2, "zip": 1}]


@quick
@given(layer=convolutions(), result=result_types(), width=st.integers(1, 16), seed=st.integers(0, 99))
def test_convolutions_equal_golden(
    probe: Path, layer: Conv2d, result: FixedType, width: int, seed: int
) -> None:
    """Kernels of any shape, stride, padding, dilation, groups and types; on CPUs, accelerators, both."""
    assert isinstance(layer.input_type, FixedType)
    source = FixedType(width, layer.input_type.integer, layer.input_type.signed)
    layer = replace(layer, result_type=result).retyped((source,), result)
    assume(called_layer(layer) is not None)
    frames = frames_for(layer, seed)
    wanted = layer.golden(frames).reshape(len(frames), -1)
    for elements in ELEMENTS:
        np.testing.assert_array_equal(results(probe, layer, frames, **elements), wanted)


@st.composite
def dense_layers(draw: st.DrawFn) -> Dense:
    shape = (draw(st.integers(1, 5)), draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    generator = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    weight, bias = FixedType(draw(st.integers(1, 18)), 2), FixedType(draw(st.integers(2, 20)), 4)
    source = FixedType(draw(st.integers(1, 18)), 3, draw(st.booleans()))
    filters, result = draw(st.integers(1, 5)), draw(result_types())
    layer = Dense(
        name="dense",
        in_shape=shape,
        out_channels=filters,
        low=draw(st.sampled_from([None, 0.0])),
        input_type=source,
        weight_type=weight,
        bias_type=bias,
        accumulator=weight,
        result_type=result,
        weights=generator.integers(
            weight.min_code, weight.max_code, (filters, int(np.prod(shape)), 1, 1), endpoint=True
        ),
        bias=generator.integers(bias.min_code, bias.max_code, (filters,), endpoint=True),
    )
    return layer.retyped((source,), result)


@quick
@given(layer=dense_layers(), seed=st.integers(0, 99))
def test_dense_layers_equal_golden(probe: Path, layer: Dense, seed: int) -> None:
    """Of odd numbers of columns too, whose last complex one has no fellow."""
    assume(called_layer(layer) is not None)
    frames = frames_for(layer, seed)
    wanted = layer.golden(frames).reshape(len(frames), -1)
    for elements in ELEMENTS:
        np.testing.assert_array_equal(results(probe, layer, frames, **elements), wanted)


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(st.lists(st.integers(-(2**15), 2**15), min_size=4, max_size=4), min_size=1, max_size=4),
    width=st.integers(1, 16),
    signed=st.booleans(),
    limit=st.sampled_from([CONV_LIMIT, FLOAT_LIMIT]),
)
def test_splits_keep_sums_within_their_limit(
    rows: list[list[int]], width: int, signed: bool, limit: int
) -> None:
    weights, type_ = np.array(rows), FixedType(width, 4, signed)
    found = split_for(weights, type_, limit)
    assert found is not None
    parts = balanced_parts(weights, found.weight_bits)
    assert (sum(part << (found.weight_bits * at) for at, part in enumerate(parts)) == weights).all()
    assert len(parts) == found.weight_parts
    for code in (type_.min_code, type_.max_code, type_.min_code // 2, type_.max_code // 3, 0):
        left, values = code, []
        for at in range(found.input_parts):
            last = at + 1 == found.input_parts
            values.append(left if last else left & ((1 << found.input_bits) - 1))
            left >>= found.input_bits
        assert sum(one << (found.input_bits * at) for at, one in enumerate(values)) == code
        most = input_parts(type_, found.input_bits)
        assert all(abs(one) <= largest for one, largest in zip(values, most, strict=True))
        for part in parts:
            assert all((np.abs(part) * abs(one)).sum(axis=1).max() <= limit for one in values)
    if np.abs(weights).sum(axis=1).max() * max(-type_.min_code, type_.max_code) <= limit:
        assert found.calls == 1, "nothing has to be split"


MUTANTS = [
    ("cedr/layers.h", "y * l.stride_h + l.side / 2", "y * l.stride_h"),
    ("cedr/layers.h", "down + (rest >= half)", "down + (rest > half)"),
    ("cedr/layers.h", "parts % l.input_parts * l.input_bits", "parts % l.input_parts * l.weight_bits"),
    ("cedr/layers.h", "total(pixels + pixels % 2, 0)", "total(pixels, 0)"),
    ("cedr/layers.h", "group * terms + c) * pixels", "(l.groups - 1 - group) * terms + c) * pixels"),
    ("cedr/implementations.cpp", "sum > MOST ? MOST : sum", "sum > MOST / 2 ? MOST / 2 : sum"),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=[after for _, _, after in MUTANTS])
def test_faults_are_seen(mutant: tuple[str, str, str], tmp_path: Path) -> None:
    name, before, after = mutant
    faulty = compiled(tmp_path, {name: (before, after)})
    layers = [small_layer(3), small_layer(1)]
    called = called_layer(layers[0])
    assert called is not None and called.split.calls > 1 and called.pixels % 2
    seen = []
    for layer in layers:
        frames = frames_for(layer, 1)
        wanted = layer.golden(frames).reshape(len(frames), -1)
        seen.append(not np.array_equal(results(faulty, layer, frames), wanted))
    assert any(seen)


def small_layer(side: int) -> Conv2d:
    """Two groups, a stride, codes in parts, an odd number of pixels; a 1 x 1 kernel uses the last of them."""
    byte, wide, result = FixedType(8, 4), FixedType(12, 4), FixedType(16, 9, True, Rounding.RND, Overflow.SAT)
    generator = np.random.default_rng(3)
    layer = Conv2d(
        name="conv",
        in_shape=(4, 5, 5),
        out_channels=2,
        kernel=(side, side),
        stride=(2, 1),
        padding=(side // 2,) * 4,  # type: ignore[arg-type]
        groups=2,
        input_type=wide,
        weight_type=byte,
        bias_type=byte,
        accumulator=byte,
        result_type=result,
        weights=generator.integers(-128, 127, (2, 2, side, side)),
        bias=np.zeros(0, np.int64),
    )
    return layer.retyped((wide,), result)


def test_what_no_exact_call_does_stays_on_the_cpu() -> None:
    def layer(**types: Any) -> Conv2d:
        byte = FixedType(8, 4)
        given = {"input_type": byte, "weight_type": byte, "bias_type": byte, "result_type": byte, **types}
        made = Conv2d(
            name="conv",
            in_shape=(1, 4, 4),
            out_channels=1,
            kernel=(1, 1),
            accumulator=byte,
            weights=np.ones((1, 1, 1, 1), np.int64),
            bias=np.zeros(0, np.int64),
            **given,
        )
        return made.retyped((made.input_type,), made.result_type)

    assert called_layer(layer()) is not None
    assert called_layer(layer(result_type=FixedType(8, 4, True, Rounding.TRN, Overflow.WRAP_SM))) is None
    assert called_layer(layer(result_type=FixedType(64, 4))) is None
    narrowed = replace(layer(), accumulator=FixedType(4, 2))
    assert called_layer(narrowed) is None


# ---------------------------------------------------------------- a network


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A network with a skip, made and run once, in a path with spaces."""
    pytest.importorskip("torch", reason="torch is not installed")
    from hlsgen.api.cedr import build_cedr
    from tests.styles.test_task_network import residual

    folder = tmp_path_factory.mktemp("cedr") / "path with spaces"
    made = build_cedr(residual("tasks"), folder, frames=3)
    assert "results equal golden" in made.said and made.frames == 3
    assert made.on_cpu and made.calls
    subprocess.run(["make", "-s", "all"], cwd=folder / "cedr", check=True)
    yield folder


def name_of(application: Path) -> str:
    (program,) = (application / "cedr").glob("*_alone")
    return program.name.removesuffix("_alone")


@pytest.mark.parametrize("elements", ELEMENTS[1:])
def test_it_equals_golden_wherever_calls_run(application: Path, elements: dict[str, int]) -> None:
    environment = {f"HLSGEN_{name.upper()}": str(count) for name, count in elements.items()}
    program = application / "cedr" / f"{name_of(application)}_alone"
    done = subprocess.run([program], env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for kind in ("cpu", "gemm", "zip"):
        called = sum(int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith(kind))
        assert (called > 0) == (elements.get(kind, 0) > 0), done.stdout


def test_without_elements_it_says_so(application: Path) -> None:
    environment = {**os.environ, "HLSGEN_CPU": "0", "HLSGEN_GEMM": "0"}
    program = application / "cedr" / f"{name_of(application)}_alone"
    done = subprocess.run([program], env=environment, capture_output=True, text=True)
    assert done.returncode == 2 and "no element can run a call" in done.stderr


def test_a_wrong_weight_is_seen(application: Path, tmp_path: Path) -> None:
    """The comparison with golden is none that cannot fail."""
    copy = tmp_path / "copy"
    shutil.copytree(application, copy)
    path = sorted((copy / "cedr/data").glob("*.masks.npy"))[0]
    masks = np.load(path)
    masks.reshape(-1)[:] += 1
    np.save(path, masks)
    subprocess.run(["make", "-s", "clean"], cwd=copy / "cedr", check=True)
    done = subprocess.run(["make", "-s", "run"], cwd=copy / "cedr", capture_output=True, text=True)
    assert done.returncode != 0 and "results equal golden" in done.stdout


def test_the_graph_follows_inputs_and_outputs(application: Path) -> None:
    dag = json.loads((application / "cedr/dag.json").read_text())
    written = {one["output"] for one in dag}

    def listed(value: str | list[str]) -> list[str]:
        return [value] if isinstance(value, str) else value

    for one in dag:
        for later in listed(one["next"]):
            assert later == "NONE" or one["output"] in listed(
                next(other for other in dag if other["name"] == later)["input"]
            )
        for earlier in listed(one["input"]):
            if earlier in written:
                source = next(other for other in dag if other["output"] == earlier)
                assert one["name"] in listed(source["next"])
    assert any(isinstance(one["input"], list) for one in dag), "a skip is read beside the last layer"
    assert [one["type"] for one in dag] == [
        *("Conv2d", "BatchNorm2d", "relu", "Conv2d", "add", "relu", "MaxPool2d", "flatten", "Linear")
    ]
    computed = [layer["name"] for one in dag for layer in one["application"]]
    assert len(set(computed)) == len(computed) and {"conv1", "fc"} <= set(computed)


def test_pytorch_makes_the_network_again(application: Path) -> None:
    """From dag.json and the parameters beside it, with the answers of the model that was given."""
    import torch

    from tests.styles.test_task_network import residual
    from tests.support.cedr_rebuild import Rebuilt

    source = residual("tasks").given.original
    assert source is not None
    x = np.random.default_rng(8).normal(0, 1, (4, 3, 8, 8))
    wanted = source.layer_values([]).of([x]).outputs[0]
    with torch.no_grad():
        found = Rebuilt.of(application / "cedr")(x=torch.from_numpy(x).float())
    np.testing.assert_array_equal(found["out0"].numpy(), wanted)


def test_the_source_is_generated_from_the_dag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What dag.json says is what is in the C++, whatever the design has."""
    pytest.importorskip("torch", reason="torch is not installed")
    from hlsgen.api.cedr import build_cedr
    from hlsgen.emit import cedr
    from tests.styles.test_task_network import residual

    given = cedr.application_dag

    def changed(*arguments: Any) -> list[dict[str, Any]]:
        dag = given(*arguments)
        layer = next(one for entry in dag for one in entry["application"] if one["name"] == "fc")
        layer["call"] |= {"least": -77, "most": 78}
        return dag

    monkeypatch.setattr(cedr, "application_dag", changed)
    build_cedr(residual("tasks"), tmp_path / "made", frames=1, run=False)
    text = (tmp_path / "made/cedr" / "net_application.cpp").read_text()
    assert "-77ll, 78ll" in text


def test_the_shared_objects_hold_what_cedr_looks_for(application: Path) -> None:
    """The application has main and leaves its calls to CEDR; the library has an implementation of each."""
    name = name_of(application)

    def symbols(file: str, kind: str) -> set[str]:
        listed = subprocess.run(
            ["nm", "-D", application / "cedr" / file], capture_output=True, text=True, check=True
        ).stdout
        rows = [line.split() for line in listed.splitlines()]
        return {row[-1] for row in rows if row[-2] == kind}

    assert "main" in symbols(f"{name}.so", "T")
    assert {"DASH_CONV_2D_int_nb", "DASH_ZIP_flt"} <= symbols(f"{name}.so", "U")
    assert symbols(f"{name}_calls.so", "T") >= {
        "DASH_CONV_2D_int_cpu",
        "DASH_CONV_2D_int_gemm",
        "DASH_GEMM_flt_cpu",
        "DASH_GEMM_flt_gemm",
        "DASH_ZIP_flt_cpu",
        "DASH_ZIP_flt_zip",
    }
    resources = json.loads((application / "cedr/resources.json").read_text())
    assert resources["DASH Binary Paths"][-1] == f"./{name}_calls.so"
    assert resources["Worker Threads"] == RESOURCES
    assert all(
        isinstance(cost, int) and cost > 0
        for key, cost in resources["DASH API Costs"].items()
        if "GEMM" not in key
    )


@pytest.mark.parametrize("where", ["cpu", "gemm"])
def test_a_convolution_is_as_cedr_defines_it(application: Path, where: str) -> None:
    """Zeros around the image, the mask's middle on the pixel, sums saturated: against the definition."""
    library = ctypes.CDLL(str(application / "cedr" / f"{name_of(application)}_calls.so"))
    generator = np.random.default_rng(5)
    for side in (1, 2, 3, 5):
        image = generator.integers(-3000, 3000, (6, 7)).astype(np.int16)
        mask = generator.integers(-9, 9, (side, side)).astype(np.float32)
        out = np.zeros((6, 7), np.int16)
        pointers = [ctypes.pointer(ctypes.c_void_p(one.ctypes.data)) for one in (image, mask, out)]
        sizes = [ctypes.pointer(ctypes.c_int(one)) for one in (6, 7, side)]
        arguments = [pointers[0], sizes[0], sizes[1], pointers[1], sizes[2], pointers[2]]
        if where == "gemm":
            arguments.append(ctypes.c_size_t(0))
        getattr(library, f"DASH_CONV_2D_int_{where}")(*arguments)
        before = side // 2
        padded = np.pad(image.astype(np.int64), ((before, side), (before, side)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (side, side))[:6, :7]
        wanted = np.clip((windows * mask.astype(np.int64)).sum((2, 3)), -32768, 32767)
        np.testing.assert_array_equal(out, wanted)
    assert (np.abs(wanted) >= 32767).any(), "some sums are saturated"
