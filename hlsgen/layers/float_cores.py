"""The vendor's cores that floating-point products and sums are built of: of float32, of half, and of half
products that are summed in float32.

Sources of the DSPs: Vitis HLS reports at 300 MHz on UltraScale+: fmul_32 (max DSP) 3, fadd_32 (full DSP) 2;
hmul_16 (max DSP) 2 and hadd_16 (full DSP) 2 (hlsgen/cost/published).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hlsgen.base.fixed import NumberType
from hlsgen.base.floating import FLOAT32, FloatType

FloatArithmetic = Literal["float", "half", "widened"]


@dataclass(frozen=True, kw_only=True)
class FloatCores:
    """How products of one floating-point type are made, and added up.

    arithmetic: what templates and reports call it. widened: half products are made and summed in float32.
    sums: the type of both. terms: those of a multiplier, of an adder in DSPs and of one in logic cells, in
    the cost model. add_cycles: of an adder, with the register behind it. dot, in_dsp, in_fabric: C++ names of
    the sum of products and of where its additions are built.
    """

    arithmetic: FloatArithmetic
    title: str
    sums: FloatType
    multiplier_dsp: int
    adder_dsp: int
    terms: tuple[str, str, str]
    add_cycles: int
    dot: str
    in_dsp: str
    in_fabric: str

    def constants(self, fabric_pe: int, pe: int) -> dict[str, str]:
        """What templates name of a layer's sums, of which `fabric_pe` of `pe` are built of logic cells."""
        return {
            "dot_name": self.sums.cpp,
            "dot_call": self.dot,
            "dot_types": "",
            "in_dsp": self.in_dsp,
            "in_fabric": self.in_fabric,
            "running_add": self.running_add(fabric_pe, pe),
        }

    def running_add(self, fabric_pe: int, pe: int) -> str:
        """The addition of a pass to the running sum, built where the pass' own adders are, as C++."""
        in_dsp, in_fabric = (f"{where}::add(before, dot[p])" for where in (self.in_dsp, self.in_fabric))
        if fabric_pe == 0:
            return in_dsp
        return in_fabric if fabric_pe == pe else f"p < PE - FABRIC_PE ? {in_dsp} : {in_fabric}"


FLOAT_CORES = FloatCores(
    arithmetic="float",
    title="fp32",
    sums=FLOAT32,
    multiplier_dsp=3,
    adder_dsp=2,
    terms=("float_multiplier", "float_adder_dsp", "float_adder_fabric"),
    add_cycles=7,
    dot="hlsgen::dot_tree",
    in_dsp="hlsgen::in_dsp",
    in_fabric="hlsgen::in_fabric",
)
HALF_CORES = FloatCores(
    arithmetic="half",
    title="half",
    sums=FloatType(16),
    multiplier_dsp=2,
    adder_dsp=2,
    terms=("half_multiplier", "half_adder_dsp", "half_adder_fabric"),
    add_cycles=5,
    dot="hlsgen::half_dot_tree",
    in_dsp="hlsgen::half_in_dsp",
    in_fabric="hlsgen::half_in_fabric",
)
WIDENED_CORES = FloatCores(
    arithmetic="widened",
    title="half, multiplied and summed in fp32",
    sums=FLOAT32,
    multiplier_dsp=FLOAT_CORES.multiplier_dsp,
    adder_dsp=FLOAT_CORES.adder_dsp,
    terms=FLOAT_CORES.terms,
    add_cycles=FLOAT_CORES.add_cycles,
    dot="hlsgen::widened_dot_tree",
    in_dsp=FLOAT_CORES.in_dsp,
    in_fabric=FLOAT_CORES.in_fabric,
)


def float_cores(values: NumberType, sums: NumberType) -> FloatCores:
    """The cores for products of `values` that are added up in `sums`, both floating point."""
    assert isinstance(values, FloatType) and isinstance(sums, FloatType)
    if not values.is_half:
        return FLOAT_CORES
    return HALF_CORES if sums.is_half else WIDENED_CORES
