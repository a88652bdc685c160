"""The least memory that a chain can be trained in at all, exactly, and the operations that do so.

With P(s, t) for the least bytes of stages s to t beside a[s], the alternatives are those of optimal.py:

    P(s, t) = min( max(kept_need, saved(s) + P(s + 1, t)),
                   min over r of max(dropped_need, a[r] + P(r, t), P(s, r - 1)) ),

since more memory never makes a part impossible.
"""

from __future__ import annotations

from hlsgen.rematerialising.chain import Chain, Kind, Operation, dropped_need, kept_need

Parts = dict[tuple[int, int], tuple[int, int]]
"""By part (s, t): its least bytes, and r; r = s: stage s keeps everything."""


def least_bytes(chain: Chain) -> int:
    """The least budget that some persistent schedule fits in, chain.fixed_bytes included."""
    return chain.fixed_bytes + _least(chain)[0, len(chain.stages) - 1][0]


def least_operations(chain: Chain) -> tuple[Operation, ...]:
    """Operations whose peak is `least_bytes`; others with that peak may be faster."""
    done: list[Operation] = []
    _append(done, _least(chain), 0, len(chain.stages) - 1)
    return tuple(done)


def _least(chain: Chain) -> Parts:
    parts: Parts = {}
    count = len(chain.stages)
    for length in range(count):
        for s in range(count - length):
            parts[s, s + length] = _least_of(chain, parts, s, s + length)
    return parts


def _least_of(chain: Chain, parts: Parts, s: int, t: int) -> tuple[int, int]:
    stages = chain.stages
    behind = stages[s].saved_bytes + parts[s + 1, t][0] if s < t else 0
    best = (max(kept_need(chain, s, t), behind), s)
    on_the_way = 0
    for r in range(s + 1, t + 1):
        if not stages[r - 1].again:
            break
        on_the_way = max(on_the_way, dropped_need(chain, s, r - 1, t))
        need = max(on_the_way, stages[r - 1].output_bytes + parts[r, t][0], parts[s, r - 1][0])
        best = min(best, (need, r), key=lambda one: one[0])
    return best


def _append(done: list[Operation], parts: Parts, s: int, t: int) -> None:
    r = parts[s, t][1]
    if r == s:
        done.append(Operation(Kind.KEEP, s))
        if s < t:
            _append(done, parts, s + 1, t)
        done.append(Operation(Kind.BACKWARD, s))
        return
    done.append(Operation(Kind.CHECKPOINT, s))
    done += [Operation(Kind.DROP, stage) for stage in range(s + 1, r)]
    _append(done, parts, r, t)
    _append(done, parts, s, r - 1)
