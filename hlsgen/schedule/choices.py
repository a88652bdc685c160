"""What meets where paths meet: the different values, and the conditions that choose one of them."""

from __future__ import annotations

from collections.abc import Mapping

from hlsgen.schedule.conditions import Conditions
from hlsgen.schedule.ir import Constant, Instruction, Local, Operand

Choice = tuple[list[Operand], list[int]]
"""The values, and the nodes of the conditions."""


class Choices:
    """The choices of a region, while it grows."""

    def __init__(self, control: Conditions, readers: Mapping[str, int]) -> None:
        self.control, self.readers = control, readers
        self.known: dict[str, Choice] = {}

    def of(self, one: Instruction, block: str) -> Choice:
        """What a phi chooses from.

        A choice that only another reads is part of it: nested ifs that keep or change a register are one
        multiplexer.
        """
        known: dict[Operand, None] = {}
        choosers: dict[int, None] = dict.fromkeys(self.control.choosers(one, block))
        for value in one.operands:
            if isinstance(value, Constant) and value.value is None:
                continue
            inner = self.known.get(value.name) if isinstance(value, Local) else None
            if inner is None or not isinstance(value, Local) or self.readers[value.name] > 1:
                known[value] = None
                continue
            known.update(dict.fromkeys(inner[0]))
            choosers.update(dict.fromkeys(inner[1]))
        if one.name:
            self.known[one.name] = list(known), list(choosers)
        return list(known), list(choosers)

    def of_register(self, register: str, value: Local) -> Choice | None:
        """What is written into a register whose next value is a choice that nothing else reads; None if it is
        none.

        Each way has its own write then, those that keep the value have none (nearly all 17,000 registers of
        pipelines in public reports).
        """
        known, choosers = self.known.get(value.name, ([], []))
        if len(known) < 2 or self.readers[value.name] != 1:
            return None
        return [one for one in known if one != Local(register)], choosers
