"""hls_math.h has the vendor's functions by all of their names: of C++, `namef` and `half_name`.

The names are those that the vendor's simulation headers declare (Xilinx/hls-utilities, 2025).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.schedule_ir import body, front_end_of, needs_llvm, optimised

BY_ARGUMENTS = {
    "x": "sqrt cbrt rsqrt recip exp exp2 exp10 expm1 log log2 log10 log1p logb ilogb sin cos tan asin acos "
    "atan sinpi cospi tanpi asinpi acospi atanpi sinh cosh tanh asinh acosh atanh erf erfc tgamma lgamma "
    "floor ceil round rint nearbyint trunc fabs abs isnan isinf isfinite isnormal signbit fpclassify",
    "x, x": "pow powr atan2 fmod remainder hypot fmax fmin fdim copysign nextafter maxmag minmag divide "
    "isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater isordered isunordered",
    "x, x, x": "fma mad bitselect",
    "x, 2": "pown rootn ldexp scalbn scalbln",
    "x, &y": "modf fract",
    "x, &k": "frexp lgamma_r",
    "x, x, &k": "remquo",
    "x, &y, &y": "sincos",
}


def functions(kind: str, name: str) -> str:
    """A function for each, which calls it by a name of that form."""
    texts = ["#include <hls_math.h>\n"]
    for arguments, names in BY_ARGUMENTS.items():
        for one in names.split():
            call = f"hls::{name.format(one)}({arguments})"
            value = f"({call}, y)" if one == "sincos" else call
            texts.append(f"{kind} call_{one}({kind} x, {kind} &y, int &k) {{ return {value}; }}\n")
    return "".join(texts)


@needs_llvm
@pytest.mark.parametrize(
    ("kind", "name"),
    [("float", "{}"), ("double", "{}"), ("half", "{}"), ("float", "{}f"), ("half", "half_{}")],
)
def test_every_name_is_there(tmp_path: Path, kind: str, name: str) -> None:
    ir = front_end_of(tmp_path, functions(kind, name)).ir
    called = [one for names in BY_ARGUMENTS.values() for one in names.split() if f"call_{one}" in ir]
    assert len(called) == sum(len(names.split()) for names in BY_ARGUMENTS.values())


@needs_llvm
@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("hls::bitselect(1.0f, -2.0f, -0.0f)", "-1.0"),  # the sign of the second alone
        ("hls::fmaf(2.0f, 3.0f, 4.0f)", "10.0"),
        ("hls::isorderedf(1.0f, 2.0f) ? 5.0f : 6.0f", "5.0"),
        ("hls::isnotequalf(1.0f, 1.0f) ? 5.0f : 6.0f", "6.0"),
        ("hls::fpclassifyf(1.0f) == FP_NORMAL ? 5.0f : 6.0f", "5.0"),
        ("hls::ldexpf(3.0f, 2)", "12.0"),
    ],
)
def test_what_they_give(tmp_path: Path, value: str, result: str) -> None:
    text = f'#include <hls_math.h>\nextern "C" float given() {{ return {value}; }}\n'
    (line,) = [
        line
        for line in body(optimised(front_end_of(tmp_path, text).ir), "given").splitlines()
        if "ret " in line
    ]
    assert float(line.partition(", !")[0].split()[-1]) == float(result)
