"""benchmarks/schedule_trips.py: what a loop's text tells of its iterations, held against C++ that runs."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import ROOT

HEADS = [
    "int i = 0; i < 16; i++",
    "int i = 0; i < N; ++i",
    "int i = 1; i <= N - 1; i += 2",
    "ap_uint<8> i = 0; i < N * HALF; i += STEP",
    "int i = N - 1; i >= 0; i--",
    "unsigned i = 7u; i != 1; i -= 2",
    "int i = 3; i < 3; i++",
    "int i = (2 + 1) << 2; i < 0x40; i = i + 5",
    "int i = N; i > -HALF; i -= 4",
]
CONSTANTS = """#define N 40 // words
#define STEP (2 + 1)
static const int HALF = N / 2;
"""


@pytest.fixture
def trips_of(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The iterations of the loop at a line of a text."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from schedule_trips import WrittenTrips

    def trips(text: str, line: int, **defines: str) -> int | None:
        found: int | None = WrittenTrips({Path("a.cpp"): text.split("\n")}, defines).of_loop(
            Path("a.cpp"), line
        )
        return found

    return trips


def test_constant_bounds_are_counted_as_they_run(trips_of: Any, tmp_path: Path) -> None:
    loops = "".join(f"for ({head}) {{ count++; }}\nprint(count); count = 0;\n" for head in HEADS)
    source = (
        "#include <cstdio>\ntemplate <int W> using ap_uint = int;\n"
        'static void print(int count) { std::printf("%d\\n", count); }\n'
        f"{CONSTANTS}int main() {{ int count = 0;\n{loops}}}\n"
    )
    path, program = tmp_path / "run.cpp", tmp_path / "run"
    path.write_text(source, encoding="utf-8")
    subprocess.run(["g++", "-std=c++17", "-o", program, path], check=True, capture_output=True)
    ran = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
    first = source.split("\n").index(f"for ({HEADS[0]}) {{ count++; }}") + 1
    assert [trips_of(source, first + 2 * at) for at in range(len(HEADS))] == [int(one) for one in ran]


@pytest.mark.parametrize(
    "text",
    [
        "for (int i = 0; i < n; i++) {}",
        "for (int i = 0; i < 8; i++) { if (f(i)) break; }",
        "for (int i = 0; i < 8; i++) {\n#pragma HLS UNROLL factor=2\n}",
        "for (int i = 0; i < 8; i++) { i += 1; }",
        "for (int i = 0; i < 8 && f(i); i++) {}",
        "for (int i = 0, j = 0; i < 8; i++) {}",
        "for (int i = 0; i < M; i++) {}\ntemplate <int M> void g();",
        "while (n--) {}",
    ],
)
def test_what_is_not_plain_is_not_said(trips_of: Any, text: str) -> None:
    assert trips_of(text, 1, M="8") is None


def test_pragmas_of_inner_loops_are_theirs(trips_of: Any) -> None:
    text = "for (int i = 0; i < 8; i++) {\nfor (int j = 0; j < 4; j++) {\n#pragma HLS UNROLL\n}\n}"
    assert trips_of(text, 1) == 8


def test_a_macro_of_two_values_is_unknown_and_one_of_the_command_line_counts(trips_of: Any) -> None:
    text = "for (int i = 0; i < N; i++) {}"
    assert trips_of(text, 1, N="12") == 12
    assert trips_of(f"{text}\n#define N 4\n#define N 8", 1) is None
