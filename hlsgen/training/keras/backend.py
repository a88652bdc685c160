"""Training of Keras models: by QKeras' layers and quantizers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.progress import Progress, Say
from hlsgen.model.ir import Graph
from hlsgen.model.ports import Floats
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.training.backend import Backend, Weights
from hlsgen.training.fit import Fitted
from hlsgen.training.frames import TrainingFrames
from hlsgen.training.keras.fit import fit
from hlsgen.training.keras.model import KerasModel
from hlsgen.training.keras.network import Network
from hlsgen.training.recipe import Recipe


class KerasBackend:
    """Models of tf_keras and of Keras 3; what trains is of tf_keras, as QKeras is."""

    def own_model(self, style: NetworkStyle[Any]) -> KerasModel:
        return KerasModel.of(style)

    def network(self, graph: Graph, weights: Weights) -> Network:
        return Network(graph, weights)

    def fit(
        self,
        network: Network,
        frames: TrainingFrames,
        recipe: Recipe,
        wanted: Sequence[Floats],
        name: str,
        progress: Progress,
    ) -> Fitted:
        return fit(network, frames, recipe, wanted, name, progress)

    def within(self, memory: str | int, say: Say, progress: Progress) -> Backend:
        """Refused: activations are computed again in PyTorch alone. Raises DesignError."""
        message = "a memory budget is kept for PyTorch's modules, not for Keras models"
        raise DesignError(Problem(message=message, fix="leave --memory out, or a smaller batch"))

    @contextmanager
    def random_numbers(self) -> Iterator[None]:
        """What draws is seeded where it does."""
        yield


BACKEND = KerasBackend()
