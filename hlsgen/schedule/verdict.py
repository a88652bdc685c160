"""The II of one loop, from its ports and recurrences; its depth and longest chain."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from math import prod

from hlsgen.schedule.accesses import Access, Paths, PortUse, port_uses
from hlsgen.schedule.accumulators import accumulated
from hlsgen.schedule.allocations import limited_uses
from hlsgen.schedule.begun_anew import is_begun_anew
from hlsgen.schedule.bursts import wait_for_answers
from hlsgen.schedule.control_flow import Loop
from hlsgen.schedule.delays import Delays
from hlsgen.schedule.dependences import Broken, Promise, carry_memories, loops_apart, promises_of
from hlsgen.schedule.feedback import Feedback
from hlsgen.schedule.ir import Function, Module, Place
from hlsgen.schedule.iteration import Carried
from hlsgen.schedule.kept_calls import kept_calls
from hlsgen.schedule.labels import label_of
from hlsgen.schedule.memories import Memory, Residues
from hlsgen.schedule.modulo import MOST, Schedule, Scheduler, bits_alive, without_chains
from hlsgen.schedule.node_timings import node_timings
from hlsgen.schedule.open_questions import (
    is_guessed,
    is_open_between,
    says_between,
    says_broken,
    says_guessed,
    says_lost,
    says_lowered,
    says_reordered,
    says_shared,
    says_shifted,
    says_stay,
    says_too_fast,
    says_unknown,
    says_without,
)
from hlsgen.schedule.operation import moves_bits
from hlsgen.schedule.port_order import in_turn
from hlsgen.schedule.quick_sums import with_quick_sums
from hlsgen.schedule.reasons import bank_use, says_port, says_recurrence
from hlsgen.schedule.recurrences import waiting_for_themselves
from hlsgen.schedule.region import RegionBuilder
from hlsgen.schedule.results import LoopSchedule, Recurrence, Step, Tier
from hlsgen.schedule.scheduled_regions import ScheduledRegion
from hlsgen.schedule.sites import Sites
from hlsgen.schedule.statics import is_static
from hlsgen.schedule.written_in_front import written_in_front

COPIES = 3
"""Words that a line writes from which on it counts as copies of one write."""


class Verdict:
    """What is found out about a loop, or about the whole function if `loop` is None."""

    def __init__(
        self,
        builder: RegionBuilder,
        loop: Loop | None,
        module: Module,
        sites: Sites,
        target: int,
        delays: Delays,
        *,
        automatic: bool = False,
        timed: bool = False,
    ) -> None:
        """`automatic`: no pragma asks for the pipeline. `timed`: one names its II."""
        self.loop, self.module, self.target = loop, module, target
        self.automatic, self.timed = automatic, timed
        self.delays, self.builder, self.sites = delays, builder, sites
        self.open_edge: Carried | None = None
        """What the last `result` rests on, where two different indices may or may not be the same."""
        self.schedule: Schedule | None = None
        """That of the last `result`."""
        self.needed = 1
        """The II that ports and streams need, found with it."""
        self.around = builder.nests.around(loop)
        self.region = builder.of_loop(loop) if loop is not None else builder.of_function()
        counters = self.counters = {
            one.instruction.name: builder.ranges.counters[one.instruction.name]
            for one in self.region.nodes
            if one.instruction is not None
            and one.block == self.region.blocks[0]
            and one.instruction.name in builder.ranges.counters
        }
        around = set(_counters(builder.function, self.around))
        for part, whole in builder.addresses.parts.items():  # what is a part of a counter moves with it
            if whole in counters:
                counters[part] = builder.ranges.counters[part]
            if whole in self.region.names:
                self.region.names.add(part)
            if whole in around:
                around.add(part)
        accesses = self.region.accesses
        apart = loops_apart(loop, builder.loops, module.loop_names)
        promises = promises_of(sites, self.region.function, accesses, apart)
        self.outer_counters = frozenset(around)
        """Those of the loops that are flattened with it."""
        self.broken = self._carry(promises) if loop is not None else self._carry_statics(promises)
        self.uses = port_uses(accesses, self.region)
        timed_nodes = node_timings(self.region, delays, sites, module)
        self.timings, self.graph, self.merges = timed_nodes.each, timed_nodes.graph, timed_nodes.merges
        self.begins_anew = (
            loop is not None
            and (automatic and builder.flattens_imperfect)
            and is_begun_anew(
                builder.function,
                loop,
                builder.addresses,
                builder.ranges.trips,
                builder.memories,
                writes=builder.flattens_writes,
            )
        )
        own: Collection[Carried] = ()
        if delays.accumulates and loop is not None and not self.begins_anew:
            own = accumulated(self.region, builder.function, loop, self.around)
        feedback = Feedback(self.region, self.timings, delays)
        self.region.carried = [
            feedback.begun_anew(edge) if self.begins_anew else feedback.of(edge)
            for edge in self.region.carried
            if edge not in own
        ]

    def _carry(self, promises: Sequence[Promise]) -> list[Broken]:
        """Add what memories carry from iteration to iteration of the loop; the promises that do not hold."""
        assert self.loop is not None
        accesses = self.region.accesses
        broken = carry_memories(
            self.region,
            accesses,
            self.counters,
            promises,
            writes_registers=self.builder.writes_registers,
            around=self.outer_counters,
            trips=self.builder.ranges.trips.get(self.loop.header) or 1,
            kept={memory for memory in accesses if self.automatic and self._is_written_by_copies(memory)},
            in_front=written_in_front(self.builder, self.region, self.loop),
            leaves=len(self.loop.leaving(self.builder.function)),
            tells_chosen=self.builder.tells_chosen,
        )
        wait_for_answers(self.region, {promise.memory for promise in promises})
        return broken

    def _carry_statics(self, promises: Sequence[Promise]) -> list[Broken]:
        """The same of a function that is pipelined as a whole: its statics go from one call to the next."""
        accesses = {
            memory: found for memory, found in self.region.accesses.items() if is_static(memory.base.name)
        }
        registers = self.builder.writes_registers
        return carry_memories(
            self.region, accesses, {}, promises, writes_registers=registers, kept=accesses.keys(), leaves=0
        )

    def _is_written_by_copies(self, memory: Memory) -> bool:
        """Whether copies of one write have several words of a bank: the tool unrolls a loop that no pragma
        names after it has made registers of words whose addresses stay (nerearmartin/HLS-CNN-PYNQ-RealTime
        dense.cc:49: ten words stay in a memory, II 10)."""
        words: dict[object, set[object]] = {}
        for access in self.region.accesses[memory]:
            place = self.module.places.get(access.instruction.place)
            if access.writes and access.where is not None and place is not None:
                words.setdefault((place, access.where.banks), set()).add(access.where.word)
        return any(len(found) >= COPIES for found in words.values())

    @property
    def residue(self) -> Residues:
        """What indices leave when they are divided."""
        return self.builder.addresses.residue

    @property
    def leaves_words(self) -> bool:
        """Whether iterations leave each other words of memories."""
        names = {memory.name for memory in self.region.accesses if memory.storage not in ("register", "axi")}
        return any(edge.through in names for edge in self.region.carried)

    def again(self) -> Verdict:
        """The same of the builder's memories as they are now."""
        return Verdict(
            self.builder,
            self.loop,
            self.module,
            self.sites,
            self.target,
            self.delays,
            automatic=self.automatic,
            timed=self.timed,
        )

    def part(self, *, pipelined: bool) -> ScheduledRegion:
        """The operations with their schedule: as a pipeline, after `result`, or one state after the other."""
        schedule = self.schedule if pipelined else None
        once = Scheduler(self.region, self.timings, self.delays.budget_ns).once
        return ScheduledRegion(
            region=self.region,
            graph=self.graph,
            merges=self.merges,
            schedule=schedule or once(),
            pipelined=pipelined,
            place=self.place,
        )

    def result(self) -> LoopSchedule:
        """The loop's II, and what it follows from."""
        least, reasons = self._ports()
        bare, found = self._with_quick_sums(least, *self._least(least))
        ends = self._depth(found) if found is not None and found.interval == self.target else self.target
        shared = list(says_shared(self.region.nodes, ends, self.target))
        lowered = ends < self.target and not shared
        if lowered:  # there is no more to do
            least = max(ends, self.needed)
            bare, found = self._least(least)
        low = bare.interval if bare is not None else MOST
        within = found.interval if found is not None else MOST
        stretched = self._stretched(low, within)
        found = stretched or found
        high = found.interval if found is not None else MOST
        recurrence = self._recurrence(high, least, self._recurring() if stretched else ())
        unknown = [
            *says_unknown(self.region, self.builder, self._loop_place),
            *says_broken(self.broken),
            *says_lost(self.region, self.builder.lost),
            *says_reordered(recurrence, self.delays),
            *says_too_fast(self.delays.budget_ns),
            *(self._says_stay() if self.automatic else ()),
            *says_guessed(self.open_edge, least, (low, high)),
            *shared,
            *(says_lowered(high, self.target) if lowered else ()),
            *(says_shifted(self.region.nodes, self._recurring(), low) if stretched else ()),
        ]
        shown = self.schedule = found or bare
        assert shown is not None or low == MOST
        chain_ns, end = shown.longest if shown is not None else (0.0, -1)
        if recurrence is not None:
            reasons = [*reasons, says_recurrence(recurrence)]
        if found is None:
            unknown = [*unknown, f"a chain of a recurrence is longer than a cycle: the II is {low} or more"]
        elif low != within and is_open_between(
            recurrence, self.delays, stretched=low == high, automatic=self.automatic
        ):
            unknown = [*unknown, says_between(low, within)]
        decided = not unknown
        return LoopSchedule(
            place=self.place,
            label=label_of(self.place) if self.loop is not None else "",
            function=self.region.function,
            automatic=self.automatic,
            target=self.target,
            tier=Tier.UNDECIDED if not decided else Tier.LIKELY if low != within else self._tier(recurrence),
            interval=high if decided else None,
            between=(low, within),
            reasons=tuple(
                dict.fromkeys(
                    [*unknown, *(reasons if high > self.target else ()), *says_without(self.region)]
                )
            ),
            trips=self.trips,
            banks=tuple(bank_use(use) for use in self._busiest()),
            recurrence=recurrence,
            depth=self._depth(shown) if shown else 0,
            chain_ns=chain_ns,
            chain=tuple(self._step(node) for node in shown.chain(end)) if shown and end >= 0 else (),
            budget_ns=self.delays.budget_ns,
            registers=bits_alive(self.region, shown) if shown else 0,
            operations=self._operations(),
            rolled=tuple(dict.fromkeys(self._loop_place(one) for one in self.region.rolled)),
            unknown_calls=tuple(sorted(self.region.calls)),
            kept_calls=kept_calls(
                self.region, self.counters, self.place, self.sites, self.module, self.delays.version
            ),
        )

    def _says_stay(self) -> Iterator[str]:
        return says_stay(self.region, self.uses, self.counters, self.outer_counters, self.needed)

    def _least(self, least: int) -> tuple[Schedule | None, Schedule | None]:
        """The shortest schedules of `least` cycles and more, without chains and with them."""
        bare = Scheduler(self.region, without_chains(self.timings), self.delays.budget_ns).least(least)
        if bare is None:
            return None, None
        # chains only add to it
        return bare, Scheduler(self.region, self.timings, self.delays.budget_ns).least(bare.interval)

    def _stretched(self, least: int, within: int) -> Schedule | None:
        """A shorter schedule than `within`, from `least` on, with chains of registers' recurrences as long as
        they are; None if there is none.

        Where a pragma asks for the pipeline the tool breaks its budget before it gives up an interval that
        the cycles of cores allow. In pipelines that nobody asked for it keeps within the budget, as it does
        between writes and reads of a memory.
        """
        if self.automatic or least >= within:
            return None
        budget = self.delays.budget_ns
        found = Scheduler(self.region, self.timings, budget, stretched=self._recurring()).least(least)
        return found if found is not None and found.interval < within else None

    def _recurring(self) -> set[int]:
        """The nodes that wait for themselves by way of registers; those of a nest's counters keep within the
        budget (meicale/Acc_DeCNN_on_FPGA, 2020.2: II 2 where 1 is asked for)."""
        registers = [
            edge
            for edge in self.region.carried
            if edge.cycles is None and not edge.is_port and not (self.around and self._is_counted(edge))
        ]
        return waiting_for_themselves(self.region, registers)

    def _is_counted(self, edge: Carried) -> bool:
        register = self.region.nodes[edge.target].instruction
        return register is None or register.name in self.counters

    def _with_quick_sums(
        self, least: int, bare: Schedule | None, found: Schedule | None
    ) -> tuple[Schedule | None, Schedule | None]:
        """The same with quick adders in recurrences, where the tool would take them."""
        quick = with_quick_sums(self.region, self.timings, self.delays)
        if quick is None or found is None or not self.timed or found.interval <= max(self.target, least):
            return bare, found
        usual, self.timings = self.timings, quick
        bare_quick, found_quick = self._least(least)
        if found_quick is not None and found_quick.interval < found.interval:
            return bare_quick, found_quick
        self.timings = usual
        return bare, found

    def _depth(self, shown: Schedule) -> int:
        """The depth, with accesses in the order of their ports."""
        return in_turn(self.region, self.uses, self.timings, self.delays.budget_ns, shown).depth

    @property
    def trips(self) -> int | None:
        """The iterations of the loop, with those that it is flattened with."""
        if self.loop is None:
            return None
        each = [self.builder.ranges.trips.get(loop.header) for loop in (self.loop, *self.around)]
        known = [trips for trips in each if trips is not None]
        return prod(known) if len(known) == len(each) else None

    # ports

    def _ports(self) -> tuple[int, list[str]]:
        """The II that ports and streams allow, no less than the target, and what keeps it above."""
        least, reasons = 1, []
        for use in self._busiest():
            if use.interval > self.target:
                reasons.append(says_port(use))
            least = max(least, use.interval)
        paths = Paths(self.region)
        for name, accesses in self.region.streams.items():
            if name.endswith("fifo_state"):
                continue
            count = paths.most(_by_block(accesses))
            if count > self.target:
                reasons.append(f"{count} accesses of stream {name.rsplit('.', 1)[0]} in an iteration")
            least = max(least, count)
        for limited in limited_uses(self.region, self.sites, self.module):
            if limited.interval > self.target:
                reasons.append(
                    f"{limited.count} {limited.what} in an iteration, where a pragma allows {limited.limit}"
                )
            least = max(least, limited.interval)
        self.needed = least
        return max(self.target, least), reasons

    def _busiest(self) -> list[PortUse]:
        """The busiest bank of each memory."""
        seen: dict[Memory, PortUse] = {}
        for use in self.uses:
            seen.setdefault(use.memory, use)
        return sorted(seen.values(), key=lambda use: -use.interval)

    # recurrences

    def _recurrence(self, interval: int, least: int, stretched: Collection[int]) -> Recurrence | None:
        """What keeps the II from being one less, if it is a recurrence."""
        if interval <= least:
            return None
        scheduler = Scheduler(self.region, self.timings, self.delays.budget_ns, stretched=stretched)
        if scheduler.at(interval - 1) is not None or not scheduler.blocking:
            return None
        best: tuple[int, list[int]] | None = None
        for number in scheduler.blocking_alone(interval - 1):
            edge = self.region.carried[number]
            path = self._path(edge.target, edge.source)
            if path and (best is None or len(path) > len(best[1])):
                best = number, path
        if best is None:  # a circle of several edges: one of them, from where it arrives to where it starts
            number = min(scheduler.blocking)
            edge = self.region.carried[number]
            best = number, list(dict.fromkeys([edge.target, edge.source]))
        edge = self.region.carried[best[0]]
        self.open_edge = edge if self._is_guessed(edge) and self._hangs_on_guesses(interval, least) else None
        return Recurrence(
            through=edge.through,
            distance=edge.distance,
            assumed=edge.assumed,
            steps=tuple(
                self._step(node) for node in best[1] if self.region.nodes[node].operation is not None
            ),
            interval=interval,
        )

    def _is_guessed(self, edge: Carried) -> bool:
        return is_guessed(self.region.nodes, edge, self.builder.definitions)

    def _hangs_on_guesses(self, interval: int, least: int) -> bool:
        """Whether the II is another without what may or may not be waited for."""
        certain = [edge for edge in self.region.carried if not self._is_guessed(edge)]
        region = replace(self.region, carried=certain)
        found = Scheduler(region, self.timings, self.delays.budget_ns).least(least)
        return found is None or found.interval != interval

    def _path(self, start: int, end: int) -> list[int]:
        """The slowest way from one node to another of an iteration; empty if there is none."""
        best: dict[int, tuple[float, int]] = {start: (0.0, -1)}
        for node in self.region.nodes[start + 1 : end + 1]:
            timing = self.timings[node.index]
            own = (timing.cycles * self.delays.budget_ns + timing.first_ns) if timing else 0.0
            for before in (*node.after, *(first for first, _ in node.behind)):
                if before in best and best[before][0] + own >= best.get(node.index, (-1.0, 0))[0]:
                    best[node.index] = best[before][0] + own, before
        if end not in best:
            return []
        path, node_at = [], end
        while node_at >= 0:
            path.append(node_at)
            node_at = best[node_at][1]
        return path[::-1]

    def _tier(self, recurrence: Recurrence | None) -> Tier:
        if recurrence is not None or any(use.runtime and use.interval > 1 for use in self.uses):
            return Tier.LIKELY
        if self.region.library or any(edge.assumed for edge in self.region.carried):
            return Tier.LIKELY
        ports = {name.rpartition(".")[0] for name in self.region.streams if name.endswith("_read_request")}
        if any(f"{port}.axi_read" in self.region.streams for port in ports):
            return Tier.LIKELY  # whether the next burst is asked for while the words of one still come
        return Tier.SHOWN

    # words

    @property
    def place(self) -> Place | None:
        """Where the loop stands, or the first of the function that has a place, in the function itself."""
        if self.loop is not None:
            return self.module.loop_places.get(self.loop.node)
        told = (node.instruction.place for node in self.region.nodes if node.instruction is not None)
        found = next((place for place in map(self.module.places.get, told) if place is not None), None)
        while found is not None and found.inlined_at is not None:
            found = found.inlined_at
        return found

    def _loop_place(self, loop: Loop) -> str:
        return str(self.module.loop_places.get(loop.node, "?"))

    def _step(self, index: int) -> Step:
        node = self.region.nodes[index]
        timing = self.timings[index]
        place = self.module.places.get(node.instruction.place) if node.instruction is not None else None
        return Step(
            kind=node.operation.kind if node.operation else "",
            bits=max((*node.operation.widths, node.operation.result), default=0) if node.operation else 0,
            ns=(timing.last_ns if timing.cycles else timing.first_ns) if timing else 0.0,
            place=place,
        )

    def _operations(self) -> dict[str, int]:
        tally: Tally[str] = Tally()
        for node in self.region.nodes:
            if node.operation is not None and not moves_bits(node.operation):
                tally[f"{node.operation.kind} {'x'.join(map(str, node.operation.widths[:2]))}"] += 1
        return dict(tally.most_common())


def _counters(function: Function, loops: Sequence[Loop]) -> Iterator[str]:
    for loop in loops:
        yield from (one.name for one in function.blocks[loop.header].instructions if one.opcode == "phi")


def _by_block(accesses: Sequence[Access]) -> dict[str, int]:
    weights: dict[str, int] = {}
    for one in accesses:
        weights[one.block] = weights.get(one.block, 0) + 1
    return weights
