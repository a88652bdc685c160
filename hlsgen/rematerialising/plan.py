"""The plan for a budget: operations, their predicted time and peak, and what plain training would take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.short_repr import Brief
from hlsgen.rematerialising.chain import Chain, Kind, Operation
from hlsgen.rematerialising.least import least_bytes, least_operations
from hlsgen.rematerialising.optimal import Search
from hlsgen.rematerialising.simulate import peak_bytes
from hlsgen.rematerialising.sizes import size_text

SLOTS = 500
"""Units of memory that a budget is counted in."""
RELAXED = (0.0, 0.1, 0.25, 0.5, 1.0)
"""Searches are made for the budget and for as much more, in shares of what rounding can cost."""


@dataclass(frozen=True, kw_only=True)
class Plan(Brief):
    """How a chain is trained within a budget. Its figures are predicted from those measured by stage."""

    chain: Chain
    budget: int
    operations: tuple[Operation, ...]

    @cached_property
    def peak(self) -> int:
        """Bytes: the most held at a time, parameters, gradients and input included."""
        return peak_bytes(self.chain, self.operations)

    @property
    def seconds(self) -> float:
        """Of forward and backward operations of one batch."""
        return self.chain.seconds(self.operations)

    @cached_property
    def plain_peak(self) -> int:
        """Bytes: where everything is kept."""
        return peak_bytes(self.chain, self.chain.keeps_everything())

    @property
    def plain_seconds(self) -> float:
        """Where everything is kept."""
        return self.chain.seconds(self.chain.keeps_everything())

    @cached_property
    def least_memory(self) -> int:
        """Bytes: the least budget that can be kept to."""
        return least_bytes(self.chain)

    @property
    def again(self) -> dict[str, int]:
        """By stage: how many times it is computed beyond the first; those that are not are left out."""
        counts = [0] * len(self.chain.stages)
        for kind, stage in self.operations:
            counts[stage] += kind is not Kind.BACKWARD
        return {stage.name: n - 1 for stage, n in zip(self.chain.stages, counts, strict=True) if n > 1}

    @property
    def rounding(self) -> int:
        """Bytes by which a budget may be smaller for which no faster plan exists: optimal.py's bound."""
        if self.operations == self.chain.keeps_everything():
            return 0
        return round((len(self.chain.stages) + 1) * (self.budget - self.chain.fixed_bytes) / SLOTS)

    def __str__(self) -> str:
        paid = self.seconds / self.plain_seconds - 1 if self.plain_seconds else 0.0
        again = ", ".join(f"{name} {n}x" for name, n in self.again.items()) or "none"
        return "\n".join(
            [
                f"budget {size_text(self.budget)}: predicted peak {size_text(self.peak)}, "
                f"{1e3 * self.seconds:.0f} ms a batch, {paid:+.1%} of time",
                f"plain training: predicted peak {size_text(self.plain_peak)}, "
                f"{1e3 * self.plain_seconds:.0f} ms",
                f"least possible budget: {size_text(self.least_memory)}",
                f"computed again: {again}",
            ]
        )


def plan_for(chain: Chain, budget: int) -> Plan:
    """The fastest plan whose predicted peak is within the budget.

    Raises DesignError: none is; the message names the least budget that has one.
    """
    everything = Plan(chain=chain, budget=budget, operations=chain.keeps_everything())
    if everything.peak <= budget:
        return everything
    least = everything.least_memory
    if budget < least:
        raise DesignError(
            Problem(
                message=f"training cannot be done in {size_text(budget)}: the least possible is "
                f"{_up(least)}, of which {size_text(chain.fixed_bytes)} are held all the time",
                fix=f"memory of {_up(least)} or more, or a smaller batch",
            )
        )
    return min(_plans(chain, budget), key=lambda plan: (plan.seconds, plan.peak))


def _plans(chain: Chain, budget: int) -> Iterator[Plan]:
    """Plans within the budget, one at least.

    Amounts are rounded up, so that what a search for somewhat more finds may well fit too: that is looked at.
    """
    for more in RELAXED:
        # a plan of so many amounts may round up to a unit each
        wider = budget + round(more * (len(chain.stages) + 1) * (budget - chain.fixed_bytes) / SLOTS)
        operations = Search(chain=chain, budget=wider, slots=SLOTS).operations()
        if operations is not None and peak_bytes(chain, operations) <= budget:
            yield Plan(chain=chain, budget=budget, operations=operations)
    yield Plan(chain=chain, budget=budget, operations=least_operations(chain))


def _up(count: int) -> str:
    """Bytes rounded up to a tenth of a megabyte, so that what is named is enough."""
    return f"{-(-count // 100_000) / 10:.1f}MB"
