"""What a core of several cycles gives the next iteration in releases before 2021.2, where a choice stands in
front of an iteration's first cycle: it costs a cycle, but not between two cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hlsgen.schedule.delays import FLOATS, Delays
from hlsgen.schedule.iteration import Carried, Region, readers_of
from hlsgen.schedule.operation import Operation, Timing
from hlsgen.schedule.releases import release_of

SEEN_BEHIND = frozenset({"zynq", "artix7"})
"""Families of which a write behind the core was seen to cost a cycle; the second has the first's fabric."""
LAST_SEEN_BEHIND = (2024, 1)
"""The last release of which it was."""


class Feedback:
    """The registers of one iteration, with the cycles after which the next one may take them."""

    def __init__(self, region: Region, timings: Sequence[Timing | None], delays: Delays) -> None:
        self.region, self.timings, self.delays = region, timings, delays

    def begun_anew(self, edge: Carried) -> Carried:
        """A register of a sum that begins anew: it is written in the cycle of the choice, to which the one in
        front of an iteration's first cycle comes (ransaraw98/DNN_HLS, 2020.2: II 6 of 4 cycles).

        Where a cycle writes and reads registers the choice costs none if it fits in front of the core
        (ssfortynine/GraduationDesign, 2023.1, 10 ns: 4 of 4; MachSuite on a U55C at 5 ns, 2022.2: 5 of 4),
        with the multiplexer of a core that sums behind the inner loop too (CG4002-Team-9/Gesture-AI: 4 of 3).
        Where neither it nor the write fits, each costs one on zynq up to 2024.1 (reopeo/xilinx, 2022.2, and
        bird-wizard/WES_237C, 2024.1: 6 of 4); not elsewhere (7 of 6 at 300 MHz on virtexuplus), nor in 2025.2
        (abyanzaim6000-source: 5 of 4).
        """
        cores = [one for one in (edge.source, *self.region.nodes[edge.source].after) if self._is_core(one)]
        if edge.through != "register":
            return self.of(edge)
        takers = [one for one in readers_of(self.region.nodes, edge.target) if self._is_core(one)]
        if not cores or not takers:
            return edge
        late = edge.late
        if edge.late or not self._is_chosen_in_front(takers):
            late += 2 if self._is_written_behind(edge, cores[0]) else 1
        return replace(edge, source=cores[0], late=late)

    def _is_written_behind(self, edge: Carried, core: int) -> bool:
        """Whether a register is written in a cycle of its own behind the core's last one."""
        write, timing = self.region.nodes[edge.source].operation, self.timings[core]
        slow = self.delays.library.speed.family in SEEN_BEHIND
        if write is None or write.kind != "register_write" or not slow:
            return False
        if release_of(self.delays.version) > LAST_SEEN_BEHIND:
            return False
        assert timing is not None
        return timing.last_ns + self.delays.timing(write).first_ns > self.delays.budget_ns

    def _is_chosen_in_front(self, takers: Sequence[int]) -> bool:
        """Whether a choice of two words, another of operands and the first stage of the cores that take them
        fit into a cycle."""
        whole = 0.0
        for one in takers:
            operation, timing = self.region.nodes[one].operation, self.timings[one]
            assert operation is not None and timing is not None
            bits = operation.result
            choice = Operation(kind="select", widths=(bits, bits), result=bits)
            whole = max(whole, 2 * self.delays.timing(choice).first_ns + timing.first_ns)
        return whole <= self.delays.budget_ns

    def of(self, edge: Carried) -> Carried:
        """A register: what a core gives, or chooses, costs no cycle where cores alone take it."""
        if edge.through != "register" or edge.late != 1:
            return edge
        readers = [
            one
            for one in readers_of(self.region.nodes, edge.target)
            if one != edge.source or self._is_core(one)
        ]
        if not readers or not all(map(self._is_core, readers)):
            return edge
        joined = self._is_core(edge.source) or self._is_chosen_by_core(edge, readers)
        return replace(edge, late=0) if joined else edge

    def _is_chosen_by_core(self, edge: Carried, readers: Sequence[int]) -> bool:
        """Whether a core's result chooses what that core takes in the next iteration, and its last and first
        stage fit into a cycle: the choice between them may go beyond it.

        So the greatest of floats: Lpopvil/MiniProject_ES, 2020.2, whose RTL has II 1 and takes the choice
        from `ap_phi_mux`, in the cycle in which it is made; and where a branch keeps its index
        (Crinstaniev/ParticleCoverHLS, 2020.2: II 1).
        """
        source = self.region.nodes[edge.source].operation
        if (
            source is None
            or source.kind not in ("select", "mux")
            or not self._passes_core(edge.target, edge.source)
        ):
            return False
        takers = (timing for one in readers if (timing := self.timings[one]) is not None)
        return all(one.last_ns + one.first_ns <= self.delays.budget_ns for one in takers)

    def _passes_core(self, start: int, end: int) -> bool:
        """Whether a core stands on a way from one node to another."""
        behind = {start: False}
        for node in self.region.nodes[start + 1 : end + 1]:
            before = [behind[one] for one in node.after if one in behind]
            if before:
                behind[node.index] = any(before) or self._is_core(node.index)
        return behind.get(end, False)

    def _is_core(self, index: int) -> bool:
        operation, timing = self.region.nodes[index].operation, self.timings[index]
        return operation is not None and operation.kind in FLOATS and bool(timing and timing.cycles)
