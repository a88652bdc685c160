"""half of C-simulation: bit for bit NumPy's half, but for subnormal numbers, which are zeros."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from hlsgen.csim.compiler import reference_headers
from tests.support.halves import EXTREMES
from tests.support.header_programs import INCLUDE, STRICT, compile_program, run

OPERATIONS = r"""
#include <hls_half.h>
#include <cstdio>
int main() {
    unsigned short pair[2];
    while (std::fread(pair, 2, 2, stdin) == 2) {
        half a, b;
        a.set_bits(pair[0]);
        b.set_bits(pair[1]);
        const half found[] = {a + b, a - b, a * b, a / b, -a, half(float(a) * float(b) + float(b))};
        unsigned short out[7];
        for (int i = 0; i < 6; ++i) out[i] = found[i].get_bits();
        out[6] = (a < b) + 2 * (a == b) + 4 * (a > 0);
        std::fwrite(out, 2, 7, stdout);
    }
}
"""


def pairs() -> NDArray[np.uint16]:
    """Bits of two operands: random ones, extremes, neighbours of ties, and products and sums about 2**-14."""
    rng = np.random.default_rng(5)
    random = rng.integers(0, 1 << 16, (200_000, 2))
    extremes = np.array(list(itertools.product(EXTREMES, EXTREMES)))
    near = rng.integers(0x0400, 0x0C00, (50_000, 2)) | rng.integers(0, 2, (50_000, 2)) << 15
    products = np.stack([rng.integers(0x1800, 0x2000, 50_000), rng.integers(0x2000, 0x2400, 50_000)], axis=1)
    return np.concatenate([random, extremes, near, products]).astype(np.uint16)


def halves(exact: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Exact results as bits: rounded by NumPy, too small ones zeros of their sign, one NaN."""
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = exact.astype(np.float16)
    zeros = np.copysign(np.float16(0), exact).astype(np.float16)
    found = np.where(np.abs(exact) < 2.0**-14 - 2.0**-26, zeros, rounded).view(np.uint16)
    return np.where(np.isnan(exact), np.uint16(0x7E00), found)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_operations_equal_numpy(compiler: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    flags = ("-std=c++11", "-O2", "-ffp-contract=off", *STRICT, f"-I{INCLUDE / 'common'}")
    program = compile_program(tmp_path, "half", OPERATIONS, *flags, compiler=compiler)
    bits = pairs()
    done = subprocess.run([str(program)], input=bits.tobytes(), capture_output=True, check=True)
    got = np.frombuffer(done.stdout, np.uint16).reshape(-1, 7)
    values = bits.view(np.float16).astype(np.float64)
    a, b = np.where(np.abs(values) < 2.0**-14, np.copysign(0, values), values).T
    with np.errstate(all="ignore"):
        # sums and products of two halves are exact in float64; a quotient is rounded to 53 >= 2 * 11 + 2 bits
        results = [a + b, a - b, a * b, a / b]
        singles = a.astype(np.float32) * b.astype(np.float32) + b.astype(np.float32)
    for index, exact in enumerate(results):
        np.testing.assert_array_equal(got[:, index], halves(exact), err_msg="+-*/"[index])
    np.testing.assert_array_equal(got[:, 4], bits[:, 0] ^ 0x8000)
    np.testing.assert_array_equal(got[:, 5], halves(singles.astype(np.float64)))
    np.testing.assert_array_equal(got[:, 6], (a < b) + 2 * (a == b) + 4 * (a > 0))


def test_works_beside_the_reference_headers(tmp_path: Path) -> None:
    folder = reference_headers()
    if folder is None:
        pytest.skip("the reference ap headers (hls4ml wheel) are not installed")
    source = r"""
#include <ap_fixed.h>
#include <hls_half.h>
int main() {
    const half a = 1.5f, b = 0.25f;
    const ap_fixed<16, 6> fixed = float(a * b);
    return fixed == ap_fixed<16, 6>(0.375) && sizeof(half) == 2 && a + 1.0f == 2.5f && 2 * b == 0.5f ? 0 : 1;
}
"""
    flags = ("-std=c++14", "-DNDEBUG", f"-I{INCLUDE / 'common'}", "-isystem", str(folder))
    assert run(compile_program(tmp_path, "beside", source, *flags)).returncode == 0
