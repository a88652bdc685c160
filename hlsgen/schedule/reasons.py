"""What keeps an II up, in words and as data."""

from __future__ import annotations

from hlsgen.schedule.accesses import PortUse
from hlsgen.schedule.results import BankUse, Recurrence


def bank_use(use: PortUse) -> BankUse:
    """How a bank is used, for reports."""
    return BankUse(
        array=use.memory.name,
        banks=use.memory.banks,
        bank=use.banks,
        reads=use.reads,
        writes=use.writes,
        together=use.together,
        interval=use.interval,
        runtime=use.runtime,
        storage=use.memory.storage,
        neighbours=use.neighbours,
    )


def says_port(use: PortUse) -> str:
    """Why a bank's ports keep the II up."""
    if use.memory.storage == "axi":
        return (
            f"the AXI port {use.memory.name} carries a word each way in a cycle, and an iteration reads "
            f"{use.reads} and writes {use.writes}"
        )
    indices = " at indices that stay run-time" if use.runtime else ""
    both = use.ports[2]
    return (
        f"{use.reads} reads and {use.writes} writes of a bank of {use.memory.name} in an iteration{indices}, "
        f"which has {both} ports"
        if both < 1 << 29
        else f"{use.writes} writes of a bank of {use.memory.name}"
    )


def says_recurrence(recurrence: Recurrence) -> str:
    """Which iteration waits for which, and what lies between."""
    chain = " > ".join(step.kind for step in recurrence.steps) or "no operation"
    assumed = ", which cannot be ruled out" if recurrence.assumed else ""
    return (
        f"an iteration waits for what the one {recurrence.distance} before leaves in "
        f"{recurrence.through}{assumed}: {chain}"
    )
