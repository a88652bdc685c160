"""Tables that a function of their own fills from constants alone: the tool computes them, and has ROMs.

hls4ml's softmax fills a local array with exponentials and then reads it. In the reports of five repositories
(2023.1 and 2023.2) that array is a rom_np, whose ports are as many as the reads of a cycle, and the loop that
fills it is in none of them. Code that fills a table in the function that reads it is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property

from hlsgen.schedule.control_flow import Loop, innermost_loops, loops_of
from hlsgen.schedule.intrinsics import MATHS
from hlsgen.schedule.ir import ArrayType, Constant, Function, Global, Instruction, Local, Module, Operand
from hlsgen.schedule.names import calls_around
from hlsgen.schedule.pointers import base_of
from hlsgen.schedule.sites import VARIABLE

ROM = ".rom"
"""Ends of the names of the ROMs."""
_IMPURE = frozenset(["load", "store", "alloca", "call", "getelementptr", "br", "switch", "ret"])
_DEFINE = re.compile(r'^define .*?@("[^"]+"|[-\w$.]+)\(')
_LIFETIME = "@llvm.lifetime."


def with_filled_tables(text: str, module: Module) -> str:
    """The text of a module, of which `module` is what it says, with such tables as constants that are defined
    elsewhere, without the stores that fill them and what only these need."""
    tables = {name: found for name, one in module.functions.items() if (found := _Tables(one, module).found)}
    if not tables:
        return text
    from hlsgen.schedule.optimise import run_passes

    lines: list[str] = []
    declared: dict[str, str] = {}
    function, stores = "", 0
    for line in text.splitlines():
        if begun := _DEFINE.match(line):
            function, stores = begun[1].strip('"'), 0
        stores += line.startswith("  store ")
        found = tables.get(function)
        lines += [line] if found is None or begun else found.changed(line, stores - 1, declared)
    return run_passes("\n".join([*lines, *declared.values(), ""]), ("loop_deletion",))


@dataclass(frozen=True, kw_only=True)
class _Filled:
    """The tables of a function. stores: which of its stores fill them, in the order of the text."""

    names: frozenset[str]
    stores: frozenset[int]

    def changed(self, line: str, store: int, declared: dict[str, str]) -> list[str]:
        """What is left of a line without the tables as variables. What has to be declared for it goes into
        `declared`."""
        if line.startswith("  store ") and store in self.stores:
            return []
        for name in self.names:
            if name not in line:
                continue
            local = re.compile(rf'%(?:"{re.escape(name)}"|{re.escape(name)}(?![-\w$.]))')
            if not local.search(line):
                continue
            if _LIFETIME in line:
                return []
            if found := re.search(r" = alloca (.+?)(?:, align \d+)?(?:, !dbg .*)?$", line):
                declared[name] = f'@"{name}{ROM}" = external constant {found[1]}'
                return []
            line = local.sub(f'@"{name}{ROM}"', line)
        return [line]


@dataclass(frozen=True)
class _Tables:
    """What is filled from constants alone in a function."""

    function: Function
    module: Module

    @cached_property
    def definitions(self) -> Mapping[str, Instruction]:
        return {one.name: one for _, one in self.function.instructions() if one.name}

    @cached_property
    def impure(self) -> Set[str]:
        """The values that do not depend on constants and counters alone, and the variables that ever hold
        such: all that follows of what is none, for what goes round in a loop is pure if all the rest is."""
        found: set[str] = set()
        vars(self)["impure"] = found  # as far as it is known
        known = -1
        while known < len(found):
            known = len(found)
            for block, one in self.function.instructions():
                if one.name and one.name not in found and not self._computes(one, block.name):
                    found.add(one.name)
        return found

    @cached_property
    def loops(self) -> Mapping[str, Loop]:
        return innermost_loops(loops_of(self.function))

    @cached_property
    def users(self) -> Mapping[str, list[tuple[str, int, Instruction]]]:
        """What reads, writes or takes each alloca, with its block and how many stores stand before it."""
        found: dict[str, list[tuple[str, int, Instruction]]] = {}
        stores = 0
        for block, one in self.function.instructions():
            if one.opcode in ("load", "store", "call", "select", "phi", "ret", "insertvalue"):
                for operand in one.operands:
                    base, _ = base_of(operand, self.definitions)
                    if isinstance(base, Local):
                        found.setdefault(base.name, []).append((block.name, stores, one))
            stores += one.opcode == "store"
        return found

    @property
    def found(self) -> _Filled | None:
        names: set[str] = set()
        stores: set[int] = set()
        for name, one in self.definitions.items():
            if one.opcode == "alloca" and isinstance(one.source, ArrayType):
                filling = list(self._filling(name))
                names |= {name} if filling else set()
                stores |= set(filling)
        return _Filled(names=frozenset(names), stores=frozenset(stores)) if names else None

    def _filling(self, name: str) -> Iterator[int]:
        """The stores that fill a table; none if the variable is no such table."""
        users = self.users.get(name, [])
        writes = [(block, number, one) for block, number, one in users if one.opcode == "store"]
        reads = [block for block, _, one in users if one.opcode == "load" or self._is_copied(one, name)]
        if not writes or not reads:
            return
        filled = {block for block, _, _ in writes}
        if all(self._fills(name, block, reads) for block in filled) and self._is_pure(Local(name)):
            yield from (number for _, number, _ in writes)

    def _fills(self, name: str, block: str, reads: list[str]) -> bool:
        """Whether a loop of a function that is given the table writes it in that block, before it is read."""
        loop = self.loops.get(block)
        while loop is not None and loop.parent is not None:
            loop = loop.parent
        place = self.module.loop_places.get(loop.node) if loop is not None else None
        if loop is None or place is None or len(place.calls) <= calls_around(name):
            return False
        if any(read in loop.blocks for read in reads):
            return False
        return not set(reads) & self._reached_without(loop.header)

    def _reached_without(self, header: str) -> set[str]:
        """The blocks that some way leads to from the function's entry without one block."""
        entry = next(iter(self.function.blocks))
        waiting, seen = [entry], {entry, header}
        while waiting:
            new = [one for one in self.function.blocks[waiting.pop()].successors if one not in seen]
            seen.update(new)
            waiting += new
        return seen - {header}

    def _is_pure(self, operand: Operand) -> bool:
        """Whether a value depends on constants and counters alone, or all that a variable ever holds."""
        if not isinstance(operand, Local):
            return isinstance(operand, Constant)
        return operand.name in self.definitions and operand.name not in self.impure

    def _is_decided(self, block: str) -> bool:
        """Whether constants and counters alone decide how often a block is come to, and from where: all that
        the loops around it branch by; outside of loops what the function begins with."""
        loop = self.loops.get(block)
        if loop is None:
            return block in self.begun
        while loop.parent is not None:
            loop = loop.parent
        if loop.header in self.undecided:
            return False
        ends = (self.function.blocks[one].instructions[-1] for one in loop.blocks)
        if all(self._is_pure(one.operands[0]) for one in ends if len(one.labels) > 1):
            return True
        self.undecided.add(loop.header)
        return False

    @cached_property
    def undecided(self) -> set[str]:
        """The outermost loops, by their headers, that are known to branch by something else: what is impure
        once stays so."""
        return set()

    @cached_property
    def begun(self) -> Set[str]:
        """The blocks that the function goes through first, whatever it is given."""
        name, seen = next(iter(self.function.blocks)), set[str]()
        while name not in seen:
            seen.add(name)
            following = self.function.blocks[name].successors
            if len(following) == 1:
                (name,) = following
        return seen

    def _computes(self, one: Instruction, block: str) -> bool:
        if one.opcode == "alloca":
            users = self.users.get(one.name, [])
            return all(self._is_harmless(user, one.name, where) for where, _, user in users)
        if one.opcode == "phi" and not self._is_decided(block):
            return False
        if one.opcode == "load":
            base, _ = base_of(one.operands[0], self.definitions)
            if isinstance(base, Global):
                return base.name in self.module.variables and self.module.variables[base.name].constant
            return base is not None and self._is_pure(base) and self._indices_are_pure(one.operands[0])
        if one.opcode == "call":
            name = one.callee
            computes = name in MATHS or name.startswith(("llvm.", "_ZSt", "_ZN3hls"))
            return computes and all(self._is_pure(operand) for operand in one.operands)
        return one.opcode not in _IMPURE and all(self._is_pure(operand) for operand in one.operands)

    def _is_harmless(self, user: Instruction, name: str, block: str) -> bool:
        """Whether a use of a variable reads it, or writes what is pure at an address that is, as often."""
        if user.opcode == "load" or self._is_copied(user, name):
            return True
        if user.opcode == "store":
            value, address = user.operands[:2]
            base, _ = base_of(value, self.definitions)
            is_address = base == Local(name)
            pure = self._is_pure(value) and self._indices_are_pure(address) and self._is_decided(block)
            return pure and not is_address
        return user.opcode == "call" and (user.callee == VARIABLE or _LIFETIME[1:] in user.callee)

    def _is_copied(self, user: Instruction, name: str) -> bool:
        """Whether a call copies from a variable, elsewhere."""
        if not user.callee.startswith("llvm.memcpy"):
            return False
        bases = [base_of(operand, self.definitions)[0] for operand in user.operands[:2]]
        return bases[1] == Local(name) != bases[0]

    def _indices_are_pure(self, address: Operand) -> bool:
        while isinstance(address, Local):
            one = self.definitions.get(address.name)
            if one is None or one.opcode != "getelementptr":
                return one is not None and one.opcode == "alloca"
            if not all(self._is_pure(index) for index in one.operands[1:]):
                return False
            address = one.operands[0]
        return False
