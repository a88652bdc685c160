"""An operation of the schedule, and the time that it takes."""

from __future__ import annotations

from dataclasses import dataclass

DIVISIONS = frozenset(["sdiv", "udiv", "srem", "urem"])
SHIFTS = frozenset(["shl", "lshr", "ashr"])
"""Kinds of operations."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What the delay and the area of an operation depend on."""

    kind: str
    """LLVM's word (add sub mul sdiv udiv srem urem icmp select and or xor shl lshr ashr fadd fsub fmul fdiv
    fcmp sitofp uitofp fptosi fptoui fpext fptrunc fneg), or: mux (an n-input choice), phi, register_read,
    register_write, load, store (with `storage`), fifo_read, fifo_write, axi_read, axi_write,
    axi_read_request, axi_write_request, axi_write_response, sqrt exp log sin cos ... (math functions),
    control.
    """
    widths: tuple[int, ...]
    """Bits of the operands; of a mux: of each input."""
    result: int
    """Bits."""
    constants: int = 0
    """How many operands are constants."""
    storage: str = ""
    """Of load and store: bram, lutram, uram, register."""
    latency: int | None = None
    """Of requests and answers of AXI ports: the cycles that a pragma says the memory takes."""


def moves_bits(operation: Operation) -> bool:
    """Whether an operation is wires: a shift by a constant."""
    return operation.kind in SHIFTS and operation.constants > 0


@dataclass(frozen=True, kw_only=True)
class Timing:
    """When the result of an operation is there."""

    cycles: int
    """0: combinational; n: the result is there n cycles after the start."""
    first_ns: float
    """Delay in the cycle that it starts in (the whole delay when cycles == 0)."""
    last_ns: float
    """Delay in its last cycle, before the result may be chained on (0 when cycles == 0)."""
