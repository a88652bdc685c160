"""What a framework has to bring so that its networks are trained; which one has made a design.

PyTorch trains with Brevitas (torch_backend.py), Keras with QKeras (keras/). Each is imported when a design of
its own is to be trained.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.progress import Progress, Say
from hlsgen.layers.conv2d import Conv2d
from hlsgen.loading.frameworks import Original
from hlsgen.model.ir import Graph
from hlsgen.model.ports import Floats
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.training.fit import Fitted
from hlsgen.training.frames import TrainingFrames
from hlsgen.training.recipe import Recipe

Weights: TypeAlias = Mapping[str, tuple[Floats, Floats]]
"""Weights and bias of each convolution and dense layer by name, as values; a bias of no elements: none."""
State: TypeAlias = Mapping[str, Any]
"""A model's weights under the framework's own names, in its own layout."""
FRAMES_TOGETHER = 256
"""Frames that are evaluated together."""


class Trainable(Protocol):
    """A network in fixed point as a module of the framework, with what is trained."""

    def evaluated(self, values: Mapping[str, Floats]) -> list[Floats]:
        """Its own outputs in the framework's layout for frames [N, C, H, W] of each input, in doubles."""

    def weights(self) -> dict[str, tuple[Floats, Floats]]:
        """What it computes with now, on the grids of its types."""


class OwnModel(Protocol):
    """The user's own model, which trained weights go back into."""

    @property
    def ending(self) -> str:
        """Of the file of its weights."""

    def state(self, weights: Weights) -> State:
        """Its state with these weights."""

    def original(self, state: State) -> Original:
        """The model with another state, as what a design was made from."""

    def save(self, state: State, path: Path) -> None:
        """Writes the state as data that a design names. Raises OSError, RuntimeError: it cannot be."""

    def key(self, before: Mapping[str, Any], path: str) -> dict[str, Any]:
        """`model` of a design file with the saved state at `path`, in place of what it was `before`."""


class Backend(Protocol):
    """Training in one framework."""

    def own_model(self, style: NetworkStyle[Any]) -> OwnModel:
        """Raises DesignError: its weights cannot go back."""

    def network(self, graph: Graph, weights: Weights) -> Trainable:
        """weights: in floating point. Raises DesignError: a layer or a type that training cannot follow."""

    def fit(
        self,
        network: Any,
        frames: TrainingFrames,
        recipe: Recipe,
        wanted: Sequence[Floats],
        name: str,
        progress: Progress,
    ) -> Fitted:
        """Trains a network of `network`, in place. Raises DesignError: the user's code fails."""

    def within(self, memory: str | int, say: Say, progress: Progress) -> Backend:
        """The same, whose steps take no more memory. Raises DesignError: it cannot."""

    def random_numbers(self) -> AbstractContextManager[None]:
        """Inside, the framework's random numbers are drawn; afterwards the next are those of before."""


HOMES = {"torch": "hlsgen.training.torch_backend", "qkeras": "hlsgen.training.keras.backend"}
"""The module whose `BACKEND` trains models of a framework, by its key of `model:` in a design file."""


def backend_of(style: NetworkStyle[Any]) -> Backend:
    """What trains a design. Raises DesignError: it is of no such model. ToolError: a package is missing."""
    original = style.original
    home = HOMES.get(original.framework) if isinstance(original, Original) else None
    if home is None:
        message = f"{style.name} is no PyTorch module and no Keras model, whose weights could be trained"
        fix = "model: {torch: file.py:function} or {qkeras: net.keras}, hlsgen.from_torch or from_qkeras"
        raise DesignError(Problem(message=message, fix=fix))
    return cast(Backend, importlib.import_module(home).BACKEND)


def weights_of(reference: Graph) -> dict[str, tuple[Floats, Floats]]:
    """The weights of a network in floating point."""
    return {
        layer.name: (layer.weights, layer.bias) for layer in reference.layers if isinstance(layer, Conv2d)
    }
