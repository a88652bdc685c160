"""The bank of each tensor of a network of tasks: ports within the limit, one bank for all who reach it."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from hlsgen.search.tensor_banks import TensorBanks, Traffic, tensor_banks
from hlsgen.targets.board import Board, MemoryBank, load_board

U200 = load_board("u200")


def board(banks: int, masters: int | None) -> Board:
    found = [MemoryBank(name=f"DDR[{number}]", gb_per_s=19.2, slr="SLR0") for number in range(banks)]
    memory = U200.memory.model_copy(update={"banks": tuple(found), "masters": masters})
    return U200.model_copy(update={"memory": memory})


def chain(layers: int, *, skips: int = 0, weights: bool = True) -> list[Traffic]:
    """Each layer reads the one before, some also an earlier one."""
    names = ["x", *(f"l{number}" for number in range(layers))]
    made = []
    for number in range(layers):
        earlier = (names[number - 2],) if skips and number > 2 and not number % skips else ()
        reads = (names[number], *earlier)
        made.append(Traffic(layer=names[number + 1], reads=reads, writes=names[number + 1], weights=weights))
    return made


def sizes_of(kernels: list[Traffic]) -> dict[str, int]:
    random.seed(len(kernels))
    return {tensor: random.randint(64, 1 << 16) for kernel in kernels for tensor in kernel.tensors}


def masters(found: TensorBanks, kernels: list[Traffic]) -> Counter[str]:
    """Counted port by port, as link.cfg has them."""
    ports: Counter[str] = Counter()
    for tensors, weights in zip(found.tensors, found.weights, strict=True):
        for kernel in kernels:
            shares = kernel.layer in found.sharing
            assert not shares or tensors[kernel.reads[0]] == tensors[kernel.writes]
            ports.update(tensors[tensor] for tensor in kernel.reads)
            ports.update([] if shares else [tensors[kernel.writes]])
            ports.update([weights[kernel.layer]] if kernel.weights else [])
    return ports


@pytest.mark.parametrize("layers", [1, 5, 18, 25, 28])
@pytest.mark.parametrize("skips", [0, 3])
@pytest.mark.parametrize("instances", [1, 2, 5])
@pytest.mark.parametrize(("banks", "most"), [(4, 15), (2, 15), (32, 15), (1, None)])
def test_no_bank_has_more_ports_than_it_takes(
    layers: int, skips: int, instances: int, banks: int, most: int | None
) -> None:
    kernels = chain(layers, skips=skips)
    found = tensor_banks(kernels, sizes_of(kernels), instances, board(banks, most), 300)
    least = instances * sum(len(kernel.reads) + kernel.weights for kernel in kernels)
    if found is None:
        assert most is not None and least + banks > banks * most * 0.8
        return
    ports = masters(found, kernels)
    assert most is None or max(ports.values()) <= most
    for index, kernel in enumerate(kernels):
        loads: Counter[str] = Counter()
        for tensors in found.tensors:
            for tensor in kernel.tensors:
                loads[tensors[tensor]] += sizes_of(kernels)[tensor]
        slowest = max(loads.values()) / (19.2e9 * 0.8 / 300e6)
        assert found.cycles[kernel.layer] == pytest.approx(slowest, abs=1), index


def test_reads_and_writes_lie_in_two_banks() -> None:
    kernels = chain(10)
    found = tensor_banks(kernels, dict.fromkeys(sizes_of(kernels), 1 << 16), 1, U200, 300)
    assert found is not None and not found.sharing
    for kernel in kernels:
        assert found.tensors[0][kernel.reads[0]] != found.tensors[0][kernel.writes]


def test_ports_are_shared_only_where_the_limit_needs_it() -> None:
    kernels = chain(25, weights=False)
    sizes = sizes_of(kernels)
    assert tensor_banks(kernels, sizes, 1, U200, 300).sharing == frozenset()  # type: ignore[union-attr]
    tight = tensor_banks(kernels, sizes, 2, U200, 300)
    assert tight is not None and tight.sharing, "100 ports where the banks take 60"
    assert max(masters(tight, kernels).values()) <= 15
    assert tensor_banks(kernels, sizes, 3, U200, 300) is None
