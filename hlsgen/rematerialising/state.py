"""What a segment reads and changes beside its input: random numbers, buffers, counters.

A segment that is computed again must read what it read at first, dropout's random numbers or the statistics
of a quantizer's scale, and must not leave anything changed: running statistics count every batch once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from hlsgen.base.short_repr import Brief
from hlsgen.frontends.torch.package import nn, torch
from hlsgen.rematerialising.segments import plain_attributes


@dataclass(frozen=True, kw_only=True)
class Changing(Brief):
    """What a segment was seen to change when it ran."""

    buffers: tuple[tuple[nn.Module, str], ...]
    attributes: tuple[tuple[nn.Module, str], ...]
    random: bool

    @property
    def bytes(self) -> int:
        """What a snapshot of it takes."""
        buffers = [module._buffers[name] for module, name in self.buffers]
        random = torch.get_rng_state().nbytes if self.random else 0
        return random + sum(buffer.nbytes for buffer in buffers if buffer is not None)


@dataclass(frozen=True, kw_only=True)
class Snapshot(Brief):
    """Contents of what changes, in the order of Changing; `random`: the generator's state."""

    buffers: tuple[torch.Tensor | None, ...]
    attributes: tuple[object, ...]
    random: torch.Tensor | None


def taken(changing: Changing) -> Snapshot:
    """The state as it is now."""
    return Snapshot(
        buffers=tuple(_copy(module._buffers[name]) for module, name in changing.buffers),
        attributes=tuple(getattr(module, name) for module, name in changing.attributes),
        random=torch.get_rng_state() if changing.random else None,
    )


@contextmanager
def as_it_was(changing: Changing, snapshot: Snapshot) -> Iterator[None]:
    """A while with the state of `snapshot`; afterwards everything is as before the block."""
    buffers = [module._buffers[name] for module, name in changing.buffers]
    attributes = [getattr(module, name) for module, name in changing.attributes]
    random = torch.get_rng_state() if changing.random else None
    # other tensors in the places of buffers: those of now may be saved for backward, and stay untouched
    _set(changing, [_copy(buffer) for buffer in snapshot.buffers], snapshot.attributes, snapshot.random)
    try:
        yield
    finally:
        _set(changing, buffers, attributes, random)


def _set(
    changing: Changing,
    buffers: Sequence[torch.Tensor | None],
    attributes: Sequence[object],
    random: torch.Tensor | None,
) -> None:
    for (module, name), buffer in zip(changing.buffers, buffers, strict=True):
        module._buffers[name] = buffer
    for (module, name), value in zip(changing.attributes, attributes, strict=True):
        setattr(module, name, value)
    if random is not None:
        torch.set_rng_state(random)


def _copy(buffer: torch.Tensor | None) -> torch.Tensor | None:
    return None if buffer is None else buffer.detach().clone()


class Everything:
    """All that modules could change, to find what they do change, and to undo it."""

    def __init__(self, modules: Sequence[nn.Module]) -> None:
        self._all = Changing(
            buffers=tuple((module, name) for module in modules for name in module._buffers),
            attributes=tuple((module, name) for module in modules for name in plain_attributes(module)),
            random=True,
        )
        self._objects = [module._buffers[name] for module, name in self._all.buffers]
        self._before = taken(self._all)

    def changed(self) -> Changing:
        """What is not as it was."""
        now = taken(self._all)
        assert now.random is not None and self._before.random is not None
        return Changing(
            buffers=tuple(
                place
                for place, a, b in zip(self._all.buffers, self._before.buffers, now.buffers, strict=True)
                if not same(a, b)
            ),
            attributes=tuple(
                place
                for place, a, b in zip(
                    self._all.attributes, self._before.attributes, now.attributes, strict=True
                )
                if a != b
            ),
            random=not torch.equal(self._before.random, now.random),
        )

    def undo(self) -> None:
        """Everything as it was, in the very buffers that were there."""
        _set(self._all, self._objects, self._before.attributes, self._before.random)
        for buffer, content in zip(self._objects, self._before.buffers, strict=True):
            if buffer is not None and content is not None and not same(buffer, content):
                with torch.no_grad():
                    buffer.copy_(content)


def same(a: torch.Tensor | None, b: torch.Tensor | None) -> bool:
    """Bit for bit, NaNs alike included."""
    if a is None or b is None:
        return a is b
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return bool(torch.equal(a, b)) or bool(((a == b) | (a.isnan() & b.isnan())).all())
