"""templates/hls/hlsgen/memory.h and counter.h, apart from a kernel: every run of every small set of banks."""

from __future__ import annotations

from pathlib import Path

import pytest

import hlsgen
from tests.support.header_programs import INCLUDE, STRICT, compile_program, run

TEMPLATES = Path(hlsgen.__file__).parents[1] / "templates" / "hls"

PROGRAM = """
#include <cstdio>
#include <hlsgen/memory.h>

static int wrong = 0, tried = 0;

// What a run says, element by element, against the banks after write_run.
template <int N, int BANKS, int DEPTH>
void try_run(int first, int count, int carry, int address, bool takes) {
    int value[N], memory[BANKS][DEPTH], expected[BANKS][DEPTH], of_bank[BANKS];
    for (int b = 0; b < BANKS; ++b)
        for (int d = 0; d < DEPTH; ++d) memory[b][d] = expected[b][d] = -1 - b * DEPTH - d;
    for (int n = 0; n < N; ++n) value[n] = 100 + n;
    for (int n = 0; takes && n < count; ++n)
        expected[(first + n) % BANKS][n < carry ? address : address + 1] = value[n];
    hlsgen::run<BANKS, DEPTH> place;
    place.first = first;
    place.count = count;
    place.carry = carry;
    place.address = address;
    hlsgen::turn(place, value, of_bank);
    hlsgen::write_run(takes, memory, place, of_bank);
    ++tried;
    for (int b = 0; b < BANKS; ++b)
        for (int d = 0; d < DEPTH; ++d) wrong += memory[b][d] != expected[b][d];
}

template <int N, int BANKS, int DEPTH>
void try_all() {
    for (int first = 0; first < BANKS; ++first)
        for (int count = 0; count <= N; ++count)
            for (int carry = 1; carry <= BANKS; ++carry)
                for (int address = 0; address + 1 < DEPTH; ++address) {
                    try_run<N, BANKS, DEPTH>(first, count, carry, address, true);
                    try_run<N, BANKS, DEPTH>(first, count, carry, address, false);
                }
}

// Elements that lie so many banks after each other, some of them not enabled, against each read by itself.
template <int N, int BANKS, int DEPTH>
void try_reads(const int (&after)[N]) {
    int memory[BANKS][DEPTH], value[N];
    for (int b = 0; b < BANKS; ++b)
        for (int d = 0; d < DEPTH; ++d) memory[b][d] = b * DEPTH + d;
    for (int first = 0; first < BANKS; ++first)
        for (int turn = 0; turn < 4 * DEPTH; ++turn, ++tried) {
            hlsgen::access<BANKS, DEPTH> wanted[N];
            for (int n = 0; n < N; ++n) {
                wanted[n].enable = (turn + n) % 4 != 0;
                wanted[n].bank = (first + after[n]) % BANKS;
                wanted[n].address = (turn + 3 * n) % DEPTH;
            }
            for (int way = 0; way < 2; ++way) {
                if (way == 0) hlsgen::read_turned(memory, first, after, wanted, value);
                else hlsgen::read_banks(memory, wanted, value);
                for (int n = 0; n < N; ++n) {
                    const int expected = memory[(first + after[n]) % BANKS][(turn + 3 * n) % DEPTH];
                    wrong += wanted[n].enable && value[n] != expected;
                }
            }
        }
}

template <int LIMIT>
void try_sums() {
    for (int value = 0; value < LIMIT; ++value)
        for (int step = 0; step < LIMIT; ++step, ++tried)
            wrong += hlsgen::wrapped<LIMIT>(value, step) != (value + step) % LIMIT;
}

int main() {
    try_all<1, 1, 3>();
    try_all<1, 2, 3>();
    try_all<2, 3, 3>();
    try_all<4, 4, 3>();
    try_all<4, 7, 3>();
    try_all<5, 7, 2>();
    try_all<8, 8, 4>();
    try_all<8, 10, 4>();
    try_all<16, 17, 2>();
    constexpr int lone[1] = {0}, row[3] = {0, 1, 2}, strided[4] = {0, 2, 4, 6}, round[5] = {0, 3, 6, 2, 5};
    try_reads<1, 1, 5>(lone);
    try_reads<3, 3, 5>(row);
    try_reads<3, 8, 5>(row);
    try_reads<4, 8, 7>(strided);
    try_reads<5, 7, 5>(round);
    try_sums<1>();
    try_sums<2>();
    try_sums<3>();
    try_sums<8>();
    try_sums<10>();
    try_sums<16>();
    try_sums<17>();
    std::printf("%d %d", tried, wrong);
    return 0;
}
"""

FAULTS = [
    ("the other way round", "return from - place.first;", "return place.first - from;"),
    ("a turn the other way", "turns ? turned[k][b]", "!turns ? turned[k][b]"),
    ("no way back", "turn_back<BANKS>(first, port, turned)", "turn_on<BANKS>(first, port, turned)"),
    ("banks before the first", "place.first <= bank ? bank", "place.first < bank ? bank"),
    ("one lane too many", "element < place.count", "element <= place.count"),
    ("no carry", "element >= place.carry ? carried", "element > place.carry ? carried"),
]


def outcome(folder: Path, header: str) -> tuple[int, int]:
    """How many runs and sums were tried, and how many words came out wrong."""
    (folder / "hlsgen").mkdir()
    (folder / "hlsgen" / "counter.h").write_text((TEMPLATES / "hlsgen" / "counter.h").read_text())
    (folder / "hlsgen" / "memory.h").write_text(header)
    flags = (
        "-std=c++14",
        "-O1",
        *STRICT,
        "-Wno-unknown-pragmas",
        "-I.",
        f"-I{INCLUDE / 'fast'}",
        f"-I{INCLUDE / 'common'}",
    )
    tried, wrong = run(compile_program(folder, "runs", PROGRAM, *flags)).stdout.split()
    return int(tried), int(wrong)


def test_each_bank_takes_its_own_element_of_a_run(tmp_path: Path) -> None:
    tried, wrong = outcome(tmp_path, (TEMPLATES / "hlsgen" / "memory.h").read_text())
    assert tried > 5_000 and wrong == 0


@pytest.mark.parametrize(("old", "new"), [pytest.param(*fault[1:], id=fault[0]) for fault in FAULTS])
def test_faults_show(old: str, new: str, tmp_path: Path) -> None:
    header = (TEMPLATES / "hlsgen" / "memory.h").read_text()
    assert header.count(old) == 1
    assert outcome(tmp_path, header.replace(old, new))[1] > 0
