"""The part of the graph builder that makes layers, and tensors arranged as layers need them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from hlsgen.base.errors import DesignError, Place, Problem
from hlsgen.designfile.names import Names
from hlsgen.frontends.builder.limits import layer_problems
from hlsgen.frontends.builder.views import Arrangement, Box, Value
from hlsgen.layers.base import Layer
from hlsgen.layers.crop import Crop
from hlsgen.layers.rearrange import Rearrange
from hlsgen.model.ir import Port
from hlsgen.model.origins import Origin


class Core:
    """Names, places, layers and arrangements; `GraphBuilder` is the whole."""

    def __init__(self, name: str, channels_last: bool, taken: Sequence[str] = ()) -> None:
        self.name = name
        self.channels_last = channels_last
        self._names = Names((name, *taken))
        self._wish = "layer"
        self._said = ""
        self._place: Place | None = None
        self._inputs: list[Port] = []
        self._outputs: list[Port] = []
        self._layers: list[Layer] = []
        self._origins: dict[str, Origin] = {}
        self._made: dict[tuple[object, ...], Layer] = {}
        self._views: dict[str, Value] = {}
        """What each Rearrange and Crop makes a tensor of, as [C, H, W], by its name."""

    @contextmanager
    def at(self, name: str, place: Place | None = None, said: str = "") -> Iterator[None]:
        """Layers made inside are called after `name`; messages say `said` (default: the name) and `place`."""
        before = self._wish, self._place, self._said
        self._wish, self._place, self._said = name, place, said or name
        try:
            yield
        finally:
            self._wish, self._place, self._said = before

    def refusal(self, message: str, fix: str) -> DesignError:
        """An error about the operation that is being built."""
        said = self._said or self._wish
        return DesignError(Problem(message=f"{said}: {message}", fix=fix, place=self._place))

    def unique(self, wish: str) -> str:
        """A valid name close to `wish` that nothing else has."""
        return self._names.unique(wish)

    def layer(self, kind: Callable[..., Layer], *values: Value, suffix: str = "", **fields: Any) -> Layer:
        """Adds a layer that reads the tensors of `values` as they are.

        fields: the layer's, but for name, inputs and place. suffix: of its name.
        Raises DesignError: its `check` finds problems, or it is too large.
        """
        layer = kind(
            name=self.unique(f"{self._wish}{suffix}"),
            inputs=tuple(value.source for value in values),
            place=self._place,
            **fields,
        )
        problems = layer.check() or layer_problems(layer)
        if problems:
            raise DesignError(problems)
        self._layers.append(layer)
        return layer

    def known_as(
        self,
        name: str,
        x: Value,
        kind: str,
        key: str,
        scale: tuple[float, ...] = (1.0,),
        shift: tuple[float, ...] = (0.0,),
        joined: bool = False,
    ) -> None:
        """Writes down that the framework's tensor `name` is `x`, or scale * x + shift; see `Origin`."""
        self._origins[name] = Origin(
            name=name,
            kind=kind,
            key=key,
            source=x.source,
            axes=x.axes,
            offset=x.offset,
            scale=scale,
            shift=shift,
            joined=joined,
        )

    # arrangements

    def default(self, rank: int) -> Arrangement:
        """How a value of this rank is arranged where nothing else is asked for."""
        axes = tuple(range(rank))
        if self.channels_last and rank > 1:
            return axes[-1:], axes[:-2], axes[-2:-1]
        return axes[:1], axes[1:-1], axes[1:][-1:]

    @staticmethod
    def in_order(rank: int) -> Arrangement:
        """The arrangement in which the tensor's flat order is the value's row-major order."""
        axes = tuple(range(rank))
        return axes[:1], axes[1:-1], axes[1:][-1:]

    @staticmethod
    def around(x: Value, channel: tuple[int, ...]) -> Arrangement:
        """An arrangement with these axes as channels: that of `x` if it is one, else the others in order."""
        lies = x.arrangement
        others = tuple(axis for axis in range(x.rank) if axis not in channel)
        if lies is not None:
            channels, rows, columns = (tuple(axis for axis in group if x.axes[axis]) for group in lies)
            if channels == tuple(axis for axis in channel if x.axes[axis]):
                single = tuple(axis for axis in others if not x.axes[axis])
                return channel, (*single, *rows), columns
        return channel, others[:-1], others[-1:]

    @staticmethod
    def shared(values: Sequence[Value], candidates: Sequence[Arrangement | None]) -> Arrangement:
        """The candidate in which most of the values are already, of several the first; None is none."""
        given = [chw for chw in candidates if chw is not None]
        return max(given, key=lambda chw: sum(value.is_arranged(chw) for value in values))

    def materialise(self, x: Value, chw: Arrangement | None = None) -> Value:
        """`x` with its logical axes as channel, row and column of its tensor, as `chw` (else `default`) says.

        Adds a Crop or a Rearrange if it is not so already, but never the same one twice.
        """
        chw = chw or self.default(x.rank)
        if x.is_arranged(chw):
            return x
        part = x.box()
        if part is not None and part[1].is_arranged(chw):
            return self._cropped(x, *part)
        axes = x.gathered(chw)
        key = ("rearrange", x.source, axes, x.offset)
        if key not in self._made:
            fields = {"source": x.tensor, "axes": axes, "offset": x.offset}
            made = self.layer(Rearrange, x, suffix="_rearrange", **fields)
            self._made[key] = made
            self._views[made.name] = replace(x, axes=axes)
        made = self._made[key]
        return Value.of(made.name, made.output, x.shape, chw)

    def compact(self, x: Value) -> Value:
        """`x` on a tensor of which it shows more than half: as it is, cropped, or rearranged."""
        if x.shows_most:
            return x
        part = x.box()
        return self.materialise(x) if part is None else self._cropped(x, *part)

    def _cropped(self, x: Value, box: Box, inside: Value) -> Value:
        """`x` on the box of its tensor that it shows, which is cut out; `inside`: `x` as a view on that."""
        key = ("crop", x.source, box)
        if key not in self._made:
            fields = {"source": x.tensor, "begin": box.begin, "size": box.size, "step": box.step}
            made = self.layer(Crop, x, suffix="_crop", **fields)
            self._made[key] = made
            self._views[made.name] = _inside(Value.whole(x.source, x.tensor), box)
        return replace(inside, source=self._made[key].name)

    def before_selection(self, x: Value) -> list[Value]:
        """What a Rearrange or Crop made the tensor of `x` of, what that was made of, and so on.

        Each as [C, H, W]; as far back as `x` shows most of what there was.
        """
        views: list[Value] = []
        share = x.seen / math.prod(x.tensor.shape)
        source = x.source
        while (view := self._views.get(source)) is not None:
            share *= view.seen / math.prod(view.tensor.shape)
            if share <= 0.5:
                break
            views.append(view)
            source = view.source
        return views

    def select_again(self, views: Sequence[Value], layer: Layer) -> Value:
        """What `views`, from the last to the first, make of the output of `layer`: [C, H, W]."""
        whole = Value.whole(layer.name, layer.output)
        for view in reversed(views):
            whole = self.materialise(view.on(whole.source, whole.tensor), ((0,), (1,), (2,)))
        return whole


def _inside(image: Value, box: Box) -> Value:
    """The part of an image that a box is."""
    for axis in range(3):
        part = image.sliced(axis, box.begin[axis], box.size[axis], box.step[axis])
        assert part is not None, "an axis of one atom takes every slice"
        image = part
    return image
