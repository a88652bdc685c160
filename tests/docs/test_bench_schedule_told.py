"""benchmarks/schedule_told.py: loops that a README tells of, beside the sources that it is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hlsgen.base.errors import DesignError
from tests.support.places import ROOT
from tests.support.schedule_ir import needs_llvm

SOURCE = """#include "fir.h"
void fir(const int in[64], int out[64]) {
    static int line[TAPS];
    samples: for (int i = 0; i < 64; ++i) {
        int sum = 0;
        for (int t = TAPS - 1; t > 0; --t) {
            line[t] = line[t - 1];
        }
        line[0] = in[i];
        for (int t = 0; t < TAPS; ++t) sum += line[t] * t;
        out[i] = sum;
    }
}
"""
TOLD: dict[str, Any] = {
    "repo": "someone/fir",
    "text": "README.md",
    "version": "2022.2",
    "part": "xc7z020-clg400-1",
    "clock_ns": 10.0,
    "top": "fir",
    "sources": ["hls/fir.cpp"],
    "include": ["hls/include"],
    "defines": ["TAPS=8"],
    "directives": "hls/directives.tcl",
    "settings": ["config_compile -unsafe_math_optimizations", "open_project prj"],
    "loops": [{"loop": "samples", "ii": 1, "depth": 5}, {"loop": "VITIS_LOOP_99_1", "ii": 3}],
}


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Any:
    """benchmarks/schedule_told.py as a module, found as when it is run."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import schedule_told

    return schedule_told


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import schedule

    return schedule


def checkout(root: Path, **changes: Any) -> Path:
    (root / "hls/include").mkdir(parents=True)
    (root / "hls/fir.cpp").write_text(SOURCE)
    (root / "hls/include/fir.h").write_text("#pragma once\n")
    (root / "hls/directives.tcl").write_text("set_directive_pipeline -II 1 fir/samples\n")
    path = root / "told_fir.json"
    path.write_text(json.dumps({**TOLD, **changes}))
    return path


def test_what_it_tells(told: Any, tmp_path: Path) -> None:
    path = checkout(tmp_path)
    assert told.find_told(tmp_path) == [path]
    found = told.read_told(path, tmp_path)
    assert [str(one.relative_to(tmp_path)) for one in found.sources] == ["hls/fir.cpp"]
    assert found.include_folders == (tmp_path / "hls/include",) and not found.missing
    assert (found.report.top, found.report.version, found.report.clock_ns) == ("fir", "2022.2", 10.0)
    assert [(one.name, one.ii, one.depth) for one in found.loops] == [
        ("samples", 1, 5),
        ("VITIS_LOOP_99_1", 3, None),
    ]
    assert [one.text for one in found.directives] == ["pipeline II=1"]
    assert found.options == {"syn.compile.unsafe_math_optimizations": "1"}


@pytest.mark.parametrize("version", ["", "2031.1", "2019.2"])
def test_without_a_release_that_is_known_it_is_the_newest(told: Any, tmp_path: Path, version: str) -> None:
    assert told.read_told(checkout(tmp_path, version=version), tmp_path).report.version == told.NEWEST


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sources": ["../other.cpp"]}, "'../other.cpp', which is outside of the checkout"),
        ({"directives": "/etc/passwd"}, "'/etc/passwd', which is outside of the checkout"),
        ({"include": ["hls/../../x"]}, "outside of the checkout"),
        ({"part": 3}, "part: Input should be a valid string"),
        ({"loops": [{"loop": "a", "ii": "1"}]}, "loops.0.ii: Input should be a valid integer"),
        ({"flow": "hls"}, "flow: Input should be 'vivado' or 'vitis'"),
    ],
)
def test_what_is_refused(told: Any, tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(DesignError, match=".") as raised:
        told.read_told(checkout(tmp_path, **changes), tmp_path)
    assert words in str(raised.value)


def test_sources_that_are_not_there_are_missing(told: Any, tmp_path: Path) -> None:
    found = told.read_told(checkout(tmp_path, sources=["hls/fir.cpp", "hls/none.cpp"]), tmp_path)
    assert found.missing == ("hls/none.cpp",)


@needs_llvm
def test_the_benchmark_compares_with_it(bench: Any, tmp_path: Path) -> None:
    """Of another line's loop it has none: a text whose lines are not those of the sources is left out."""
    path = checkout(tmp_path)
    assert bench.compare(path, tmp_path, bench.schedule_of)["left_out"]
    path.write_text(json.dumps({**TOLD, "loops": TOLD["loops"][:1]}))
    assert bench._designs(tmp_path) == [path]
    (loop,) = bench.compare(path, tmp_path, bench.schedule_of)["loops"]
    assert (loop["outcome"], loop["ii"], loop["vendor_depth"]) == ("right", 1, 5)


NEST = """void nest(const int in[8][64], int out[8][64]) {
    rows: for (int r = 0; r < 8; ++r) {
        for (int i = 0; i < 64; ++i) {
#pragma HLS pipeline II=3
            out[r][i] = in[r][i] + r;
        }
        SECOND
    }
}
"""
SECOND = "for (int i = 0; i < 64; ++i) out[r][i] *= 3;"


@needs_llvm
@pytest.mark.parametrize(
    ("second", "loop", "outcome"),
    [
        ("", {"loop": "rows", "ii": 3}, "right"),
        ("", {"loop": "rows", "ii": 1}, "wrong"),
        (SECOND, {"loop": "rows", "ii": 3}, "not found"),  # of which loop does it tell?
        ("", {"loop": "rows", "ii": 3, "depth": 4}, "not found"),  # a line of the log names each loop
    ],
)
def test_a_sentence_names_a_nest_by_its_outer_loop(
    bench: Any, tmp_path: Path, second: str, loop: dict[str, Any], outcome: str
) -> None:
    path = checkout(tmp_path, top="nest", loops=[loop], directives="", defines=[])
    (tmp_path / "hls/fir.cpp").write_text(NEST.replace("SECOND", second))
    (found,) = bench.compare(path, tmp_path, bench.schedule_of)["loops"]
    assert found["outcome"] == outcome
