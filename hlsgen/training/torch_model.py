"""The PyTorch module that a design was made from: where trained weights go back to."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from hlsgen.base.errors import DesignError, Problem
from hlsgen.frontends.torch.load import load_module
from hlsgen.frontends.torch.write_back import Carrier, carriers, with_weights
from hlsgen.loading.frameworks import Original, Source
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.training.network import Weights


@dataclass(frozen=True, kw_only=True)
class TorchModel:
    """module: as its own weights make it. known: which of its parameters are which layer's."""

    module: Any
    source: Source
    known: Sequence[Carrier]

    @classmethod
    def of(cls, style: NetworkStyle[Any]) -> TorchModel:
        """The module of a design. Raises DesignError: it is of no module, or its weights cannot go back."""
        original = style.original
        if not isinstance(original, Original) or original.framework != "torch":
            message = f"{style.name} is no PyTorch module, whose weights could be trained"
            fix = "model: {torch: file.py:function}, or hlsgen.from_torch"
            raise DesignError(Problem(message=message, fix=fix))
        source, reference = original.source, style.reference
        assert reference is not None
        if source.function is None:
            module = copy.deepcopy(source.model)
        else:
            module = load_module(source.model, source.function, source.weights, source.place)
        shapes = cast("list[tuple[int, ...]]", list(source.input_shapes))
        return cls(module=module, source=source, known=carriers(module, shapes, reference))

    def state(self, weights: Weights) -> dict[str, Any]:
        """The module's state dict with these weights."""
        return with_weights(self.module, self.known, weights)

    def original(self, state: dict[str, Any]) -> Original:
        """The module with another state, as what a design was made from."""
        module = copy.deepcopy(self.module)
        module.load_state_dict(state)
        source = replace(self.source, model=module, function=None, weights=None)
        return Original(framework="torch", source=source)
