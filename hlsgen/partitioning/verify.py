"""Every limit of an assignment checked again, from the problem's numbers and not from the program's rows."""

from __future__ import annotations

import math
from fractions import Fraction

from hlsgen.partitioning.problem import Assignment, Device, Problem

TOLERANCE = Fraction(1, 1_000_000)
"""The part of a limit by which what floats add up may exceed it."""


def broken_limits(problem: Problem, found: Assignment) -> list[str]:
    """What the assignment breaks, in words; empty: nothing. In rational arithmetic."""
    rate = Fraction(found.rate)
    broken = []
    for task, name in enumerate(problem.tasks):
        total = sum((Fraction(float(one)) for one in found.shares[task]), Fraction())
        if abs(total - rate) > TOLERANCE * max(rate, Fraction(1, 10**9)):
            broken.append(f"{name}: {float(total):g} of {float(rate):g} frames/s")
    for number, device in enumerate(problem.devices):
        shares = [Fraction(float(one)) for one in found.shares[:, number]]
        held = [bool(one) for one in found.held[:, number]]
        broken += [
            f"{problem.tasks[task]} runs on {device.name}, which does not hold it"
            for task, share in enumerate(shares)
            if share > 0 and not held[task]
        ]
        broken += _time_broken(problem, device, shares, found)
        broken += _memory_broken(device, held)
        broken += _links_broken(problem, device, shares)
    return broken + _conversions_broken(problem, found)


def _over(amount: Fraction, limit: Fraction) -> bool:
    return amount > limit * (1 + TOLERANCE)


def _time_broken(problem: Problem, device: Device, shares: list[Fraction], found: Assignment) -> list[str]:
    used = [task for task, share in enumerate(shares) if share > 0]
    if device.whole and used and len(used) < len(shares):
        return [f"{device.name} computes a part of what it computes whole"]
    if device.options is None:
        if any(math.isinf(device.seconds[task]) for task in used):
            return [f"{device.name} computes what it cannot"]
        busy = sum((shares[task] * Fraction(device.seconds[task]) for task in used), Fraction())
        into, out = found.converted.get(device.name, (0.0, 0.0))
        busy += Fraction(into) * Fraction(device.seconds_into) + Fraction(out) * Fraction(device.seconds_out)
        return [f"{device.name} is busy {float(busy):.6f} of a second"] if _over(busy, Fraction(1)) else []
    assert device.capacity is not None
    broken, total = [], [Fraction() for _ in device.capacity]
    for task in used:
        picks = found.picks[device.name][task]
        for options, pick in zip(device.options[task], picks, strict=True):
            one = options[pick]
            total = [amount + Fraction(float(cost)) for amount, cost in zip(total, one.cost, strict=True)]
            if _over(shares[task] * Fraction(one.seconds), Fraction(device.instances)):
                broken.append(f"{problem.tasks[task]} is too slow on {device.name}")
    for before, after in zip(used, used[1:], strict=False):
        if after == before + 1 and (
            _over(shares[before], shares[after]) or _over(shares[after], shares[before])
        ):
            broken.append(f"frames enter or leave {device.name} before {problem.tasks[after]}")
    if any(_over(amount, Fraction(float(most))) for amount, most in zip(total, device.capacity, strict=True)):
        broken.append(f"{device.name} has not the resources")
    return broken


def _memory_broken(device: Device, held: list[bool]) -> list[str]:
    if math.isinf(device.memory):
        return []
    total = sum(
        (Fraction(size) for size, here in zip(device.bytes_held, held, strict=True) if here), Fraction()
    )
    return [f"{device.name} holds {float(total):,.0f} bytes"] if _over(total, Fraction(device.memory)) else []


def _links_broken(problem: Problem, device: Device, shares: list[Fraction]) -> list[str]:
    """What leaves and comes at each cut, the frames themselves and the results among them."""
    around = [Fraction(), *shares, Fraction()]
    out = come = Fraction()
    for cut, size in enumerate(problem.bytes_between):
        before, after = around[cut], around[cut + 1]
        out += Fraction(size) * max(before - after, Fraction())
        come += Fraction(size) * max(after - before, Fraction())
    return [
        f"{float(moved):,.0f} bytes/s {way} {device.name}"
        for way, moved, limit in (("from", out, device.from_bytes), ("to", come, device.to_bytes))
        if math.isfinite(limit) and _over(moved, Fraction(limit))
    ]


def _conversions_broken(problem: Problem, found: Assignment) -> list[str]:
    """Whether the CPUs together change as many numbers into codes and back as pass the border."""
    cpus = [device.name for device in problem.devices if device.converts]
    if not cpus or not any(problem.values_between):
        return []
    on_fpgas = [
        sum(
            (
                Fraction(float(share))
                for share, device in zip(row, problem.devices, strict=True)
                if device.coded
            ),
            Fraction(),
        )
        for row in found.shares
    ]
    needed = [Fraction(), Fraction()]
    for cut, values in enumerate(problem.values_between[1:-1], 1):
        change = on_fpgas[cut] - on_fpgas[cut - 1]
        needed[0] += Fraction(values) * max(change, Fraction())
        needed[1] += Fraction(values) * max(-change, Fraction())
    # shares of equal tasks differ by what floats round, though nothing passes there
    least = TOLERANCE * Fraction(found.rate) * Fraction(max(problem.values_between))
    broken = []
    for way, text in enumerate(("into codes", "out of codes")):
        done = sum((Fraction(found.converted.get(name, (0.0, 0.0))[way]) for name in cpus), Fraction())
        if _over(needed[way], done + least):
            broken.append(f"{float(needed[way]):,.0f} numbers/s go {text}, CPUs convert {float(done):,.0f}")
    return broken
