"""Words that the vendor's compiler keeps in registers, so that the next iteration need not read the memory.

Three transformations, each with what public reports show of it:

- a word whose address no iteration changes is a register while the loop runs (a sum in y[j] over k);
- a read of the word that the iteration before has written takes the value from a register, and no port
  (`store_forwarded` in reports; a[i + 1] = f(a[i])), in a loop that ends at one place: LLVM's pass of that
  name analyses no other (AngelJeriko/FPGA-speed-up-Project, 2025.2: II 2 with a `break`);
- where the address alone tells at run time whether it is that word, the value of the only write is kept with
  its address, and a choice behind the read takes it (`reuse_reg`, `reuse_addr_reg`): what is left waits over
  two iterations. A histogram is the common case.
"""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Collection, Mapping, Sequence

from hlsgen.schedule.accesses import Access, Paths, same_bank, same_word
from hlsgen.schedule.iteration import Carried, Node, Region
from hlsgen.schedule.memories import AXI_LITE, Memory
from hlsgen.schedule.operation import Operation
from hlsgen.schedule.ranges import Counter
from hlsgen.schedule.same_banks import SameBanks
from hlsgen.schedule.statics import is_static

MOST_BRANCHES = 8
"""Writes of one word in branches that exclude each other, which the tool makes one."""
REUSED = 2
"""Iterations over which a memory still carries what was written, where the value of one is kept."""


def may_forward(memory: Memory) -> bool:
    """Whether a memory is one of which single words can be kept: on the chip, no register anyway, and out of
    the host's reach."""
    return memory.storage not in ("register", "axi") and memory.kind != AXI_LITE


def read_before(
    region: Region, memory: Memory, counters: Mapping[str, Counter], inside: Collection[str], leaves: int
) -> None:
    """Take the reads of words that stay from the accesses of an array on AXI-lite that the loop only reads,
    where it ends at one place: the tool makes them in front of the loop.

    Public reports of 2022.1 and 2023.1: II 1 for 4, 10, 11, 18 and 43 such reads in seven loops; II 11 where
    a `break` ends the loop as well (four loops with 11 reads). leaves: the places at which the loop ends.
    """
    accesses = region.accesses[memory]
    if memory.kind != AXI_LITE or leaves != 1 or any(one.writes for one in accesses):
        return
    for one in list(accesses):
        fixed = is_fixed(one, counters, inside)
        if fixed and (_is_constant(one) or not _is_conditional(region, one)):
            region.nodes[one.node].operation, region.nodes[one.node].after = None, []
            accesses.remove(one)


def promote(
    region: Region,
    memory: Memory,
    counters: Mapping[str, Counter],
    inside: Collection[str],
    *,
    writes_registers: bool,
    in_front: Collection[int] = (),
) -> set[int]:
    """Make registers of the words of a memory whose addresses no iteration changes, where nothing else may
    fall on them. What becomes a register is no access of the memory any more; writes under a condition stay.
    in_front: the nodes of accesses of words that are written in front of the loop.

    Gives the nodes of the accesses of such words that stay in the memory and that every iteration waits for.
    """
    stay: set[int] = set()
    accesses = region.accesses[memory]
    groups: dict[object, list[Access]] = {}
    for access in accesses:
        if access.where is not None and is_fixed(access, counters, inside):
            groups.setdefault((access.where.banks, access.where.word), []).append(access)
    left = _Left(accesses)
    for group in groups.values():
        written = any(one.writes for one in group)
        if left.may_meet(group, written=written):
            continue
        if written and _stays_in_memory(region, memory, group, in_front):
            stay |= {one.node for one in group}
            continue
        if written:
            gone = _kept_in_register(region, group, writes_registers=writes_registers)
        else:
            gone = [one for one in group if _is_constant(one) or not _is_conditional(region, one)]
            for load in gone:
                region.nodes[load.node].operation, region.nodes[load.node].after = None, []
        for access in gone:
            accesses.remove(access)
            left.remove(access)
    return stay


def _stays_in_memory(
    region: Region, memory: Memory, group: Sequence[Access], in_front: Collection[int]
) -> bool:
    """Whether LLVM may not write a word once behind the loop, where some iteration may not write it.

    Others may see what is no variable of the function; and a word of a variable whose address is not known
    can be read in front of the loop only where every iteration comes to it. florentcournoyer16/PMC, 2023.1:
    II 4 for a sum in m[j] under a condition that only the loop around moves (four loops). Of words at
    constant addresses what is compared with them is kept all the same (2020.2), and of a variable's word that
    is written in front of the loop (caohy168/bbp_vcu128, 2020.2: II 1 for s[i] ^= x under a condition, behind
    s[i] = 0; m[j] is written in front as well, but no variable of the function).
    """
    stores, loads = ([one for one in group if one.writes == writes] for writes in (True, False))
    if not stores or not loads or _is_constant(group[0]) or not _is_conditional(region, *stores):
        return False
    if not memory.is_local or is_static(memory.base.name):
        return True
    return _is_conditional(region, *group) and not all(one.node in in_front for one in group)


class _Left:
    """The accesses of a memory that no word of its own has been made of."""

    def __init__(self, accesses: Sequence[Access]) -> None:
        self._all = list(accesses)
        self._at = {id(one): at for at, one in enumerate(accesses)}
        self._near = SameBanks(accesses)
        self._counts = Counts((_terms(one), one.writes) for one in accesses)

    def remove(self, access: Access) -> None:
        del self._at[id(access)]
        self._counts[_terms(access), access.writes] -= 1

    def may_meet(self, group: Sequence[Access], *, written: bool) -> bool:
        """Whether LLVM has to assume that another access falls on the word of a group: indices that vary may
        leave their dimension. Reads count where the group is `written`."""
        first, terms = group[0], _terms(group[0])
        if any(
            count and (written or writes) and its != terms for (its, writes), count in self._counts.items()
        ):
            return True
        mine = {id(one) for one in group}
        for at in self._near.of(self._at[id(first)]):
            other = self._all[at]
            if id(other) in self._at and id(other) not in mine and (written or other.writes):
                assert first.where is not None and other.where is not None
                if same_word(first.where, other.where) is not False:
                    return True
        return False


def _terms(access: Access) -> tuple[object, ...] | None:
    """What varies of an access's address; None: that is not known."""
    return None if access.where is None else tuple(form.terms for form in access.where.word)


def _kept_in_register(region: Region, group: Sequence[Access], *, writes_registers: bool) -> list[Access]:
    """Make a register of a word that is written; the accesses that are then none."""
    stores = [one for one in group if one.writes]
    loads = [one for one in group if not one.writes]
    for load in loads:
        node = region.nodes[load.node]
        node.operation, node.after = Operation(kind="phi", widths=(_bits(node),), result=_bits(node)), []
    for store in stores:
        value = next(iter(region.nodes[store.node].after), store.node)
        if writes_registers:
            value = _register_write(region, store).index
        for load in loads:
            late = 0 if writes_registers else 1
            region.carried.append(Carried(value, load.node, 1, "register", late=late))
    together = bool(stores) and not _is_conditional(region, *stores)
    gone = [one for one in stores if together or not _is_conditional(region, one)]
    for store in gone:
        region.nodes[store.node].operation = None
    return [*loads, *gone]


def _is_constant(access: Access) -> bool:
    return access.where is not None and not any(form.terms for form in access.where.word)


def is_fixed(access: Access, counters: Mapping[str, Counter], inside: Collection[str]) -> bool:
    """Whether no iteration changes the address of an access."""
    where = access.where
    if where is None or not where.exact or where.memory.base.name in inside:
        return False
    return not any(name in counters or name in inside for form in where.word for name, _ in form.terms)


def forwarded(
    region: Region,
    memory: Memory,
    store: Access,
    load: Access,
    *,
    others: Sequence[Access],
    assumed: bool,
    runs: bool,
    again: int,
    kept: dict[int, int],
) -> Carried | None:
    """Keep the value of a store for the next iteration's load; what the memory still carries, if any.

    `others`: the stores of the same word in branches that exclude this one's: where each way through the
    iteration has one of them, LLVM makes a single one behind the branches.
    `runs`: whether the loop's own counters move the addresses, so that the word is known to be the same.
    `again`: after how many iterations at least a word that is read from the memory has been written.
    `kept`: by the store's node that of the register's write, which grows.
    """
    if store.node not in kept:
        kept[store.node] = _register_write(region, store).index
    certain = runs and not _is_conditional(region, store, *others)
    target = region.nodes[load.node if certain else load.value]
    region.carried.append(Carried(kept[store.node], target.index, 1, memory.name, assumed, late=0))
    if certain:
        target.operation, target.after, target.behind = None, [], []
        if load.chooser >= 0:
            region.nodes[load.chooser].operation = None
        if load in region.accesses[memory]:
            region.accesses[memory].remove(load)
        return None
    width = _bits(region.nodes[load.node])
    target.operation = Operation(kind="select", widths=(width, width), result=width)
    return Carried(store.node, load.node, max(REUSED, again), memory.name, assumed, cycles=1)


def only_store(region: Region, accesses: Sequence[Access], load: Access, paths: Paths) -> bool:
    """Whether each iteration writes a single word of the bank that is read, once.

    Several writes of it count as one where each stands in its branch, and every way has one: no register
    forwards what an iteration may leave as it was.
    """
    if load.where is None:
        return False
    stores = [one for one in accesses if one.writes and one.where and same_bank(one.where, load.where)]
    words = {one.where and one.where.word for one in stores[: MOST_BRANCHES + 1]}
    if not stores or len(stores) > MOST_BRANCHES or len(words) > 1:
        return False
    follow = any(
        one is not other and paths.follows(one.block, other.block) for one in stores for other in stores
    )
    return not follow and not _is_conditional(region, *stores)


def _is_conditional(region: Region, *accesses: Access) -> bool:
    """Whether some way through the iteration passes by the blocks of all those accesses."""
    last = [name for name in region.blocks if not region.successors.get(name)]
    seen, waiting = {region.blocks[0]}, [region.blocks[0]]
    theirs = {access.block for access in accesses}
    if region.blocks[0] in theirs:
        return False
    while waiting:
        for following in region.successors.get(waiting.pop(), ()):
            if following not in theirs and following not in seen:
                seen.add(following)
                waiting.append(following)
    return any(name in seen for name in last)


def _register_write(region: Region, store: Access) -> Node:
    stored = region.nodes[store.node]
    node = Node(len(region.nodes), _write(_bits(stored)), stored.instruction, store.block, list(stored.after))
    region.nodes.append(node)
    return node


def _write(width: int) -> Operation:
    return Operation(kind="register_write", widths=(width, width), result=width)


def _bits(node: Node) -> int:
    return max(node.operation.widths, default=1) if node.operation else 1
