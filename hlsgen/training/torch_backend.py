"""Training of PyTorch's modules: by Brevitas' quantisers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hlsgen.base.progress import Progress, Say
from hlsgen.model.ir import Graph
from hlsgen.model.ports import Floats
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.training.backend import Weights
from hlsgen.training.budget import within
from hlsgen.training.fit import Fitted
from hlsgen.training.frames import TrainingFrames
from hlsgen.training.network import Network
from hlsgen.training.packages import torch
from hlsgen.training.recipe import Recipe
from hlsgen.training.torch_fit import Prepare, as_it_is, fit
from hlsgen.training.torch_model import TorchModel


@dataclass(frozen=True, kw_only=True)
class TorchBackend:
    """prepare: what runs in a network's place, within a budget of memory."""

    prepare: Prepare = as_it_is

    def own_model(self, style: NetworkStyle[Any]) -> TorchModel:
        return TorchModel.of(style)

    def network(self, graph: Graph, weights: Weights) -> Network:
        return Network(graph, weights).double()

    def fit(
        self,
        network: Network,
        frames: TrainingFrames,
        recipe: Recipe,
        wanted: Sequence[Floats],
        name: str,
        progress: Progress,
    ) -> Fitted:
        return fit(network, frames, recipe, wanted, name, progress, self.prepare)

    def within(self, memory: str | int, say: Say, progress: Progress) -> TorchBackend:
        return TorchBackend(prepare=within(memory, say, progress))

    @contextmanager
    def random_numbers(self) -> Iterator[None]:
        with torch.random.fork_rng(devices=[]):
            yield


BACKEND = TorchBackend()
