"""The PyTorch module that a design was made from: where trained weights go back to."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from hlsgen.frontends.torch.load import load_module
from hlsgen.frontends.torch.write_back import Carrier, carriers, with_weights
from hlsgen.loading.frameworks import Original, Source
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.training.backend import State, Weights
from hlsgen.training.packages import torch


@dataclass(frozen=True, kw_only=True)
class TorchModel:
    """module: as its own weights make it. known: which of its parameters are which layer's."""

    module: Any
    source: Source
    known: Sequence[Carrier]

    ending = ".pt"

    @classmethod
    def of(cls, style: NetworkStyle[Any]) -> TorchModel:
        """The module of a design. Raises DesignError: its weights cannot go back."""
        original, reference = style.original, style.reference
        assert isinstance(original, Original) and reference is not None
        source = original.source
        if source.function is None:
            module = copy.deepcopy(source.model)
        else:
            module = load_module(source.model, source.function, source.weights, source.place)
        shapes = cast("list[tuple[int, ...]]", list(source.input_shapes))
        return cls(module=module, source=source, known=carriers(module, shapes, reference))

    def state(self, weights: Weights) -> dict[str, Any]:
        """The module's state dict with these weights."""
        return with_weights(self.module, self.known, weights)

    def original(self, state: State) -> Original:
        """The module with another state, as what a design was made from."""
        module = copy.deepcopy(self.module)
        module.load_state_dict(state)
        source = replace(self.source, model=module, function=None, weights=None)
        return Original(framework="torch", source=source)

    def save(self, state: State, path: Path) -> None:
        torch.save(dict(state), path)

    def key(self, before: Mapping[str, Any], path: str) -> dict[str, Any]:
        """The user's function stays, and loads these weights."""
        return {**before, "weights": path}
