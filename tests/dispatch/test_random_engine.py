"""RANDOM's order is std::shuffle's of GNU's library with its default engine, compiled here and asked."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from hlsgen.dispatch.random_engine import shuffle

PROGRAM = """#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
int main(int, char **argv) {
    for (int seed : {0, 1, 7, 2147483646, 2147483647}) {
        for (int count = 0; count < 70; ++count) {
            std::deque<int> order;
            for (int i = 0; i < count; ++i) order.push_back(i);
            std::shuffle(order.begin(), order.end(), std::default_random_engine(seed));
            std::printf("%d", seed);
            for (int i : order) std::printf(" %d", i);
            std::printf("\\n");
        }
    }
    std::deque<int> many;  // too many for two places from one number
    for (int i = 0; i < 50000; ++i) many.push_back(i);
    std::shuffle(many.begin(), many.end(), std::default_random_engine(3));
    std::printf("3");
    for (int i : many) std::printf(" %d", i);
    std::printf("\\n");
}
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_it_shuffles_as_gnu_does(tmp_path: Path) -> None:
    source = tmp_path / "shuffle.cpp"
    source.write_text(PROGRAM, encoding="utf-8")
    program = tmp_path / "shuffle"
    subprocess.run(["g++", "-O1", "-o", program, source], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    rows = [[int(word) for word in line.split()] for line in printed.splitlines()]
    assert len(rows) == 5 * 70 + 1
    for seed, *wanted in rows:
        order = list(range(len(wanted)))
        shuffle(order, seed)
        assert order == wanted, (seed, len(wanted))
    assert any(wanted != sorted(wanted) for _, *wanted in rows)
