"""The Keras model that a design was made from: where trained weights go back to."""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.frontends.qkeras.calls import generation, with_graph
from hlsgen.frontends.qkeras.load import loaded_model, quiet
from hlsgen.frontends.qkeras.to_graph import NAMES
from hlsgen.frontends.qkeras.write_back import Carrier, carriers, load_state, state_of, with_weights
from hlsgen.loading.frameworks import Original, Source
from hlsgen.styles.network_style import NetworkStyle
from hlsgen.training.backend import State, Weights


@dataclass(frozen=True, kw_only=True)
class KerasModel:
    """model: a copy of the user's own, of tf_keras or Keras 3. known: which variables are which layer's.

    ending: .keras of Keras 3, .h5 of tf_keras; both are data, which is read without running code.
    """

    model: Any
    source: Source
    known: Sequence[Carrier]
    ending: str

    @classmethod
    def of(cls, style: NetworkStyle[Any]) -> KerasModel:
        """The model of a design. Raises DesignError: it cannot be copied, or its weights cannot go back."""
        original, reference = style.original, style.reference
        assert isinstance(original, Original) and reference is not None
        model = _fresh(original.source)
        return cls(
            model=model,
            source=original.source,
            known=carriers(model, reference),
            ending=".keras" if generation(model) == 3 else ".h5",
        )

    def state(self, weights: Weights) -> State:
        """The model's variables with these weights, as layer/variable."""
        return with_weights(self.model, self.known, weights)

    def original(self, state: State) -> Original:
        """A copy of the model with another state, as what a design was made from."""
        model = _fresh(self.source)
        load_state(model, state)
        return Original(framework="qkeras", source=replace(self.source, model=model, weights=None))

    def save(self, state: State, path: Path) -> None:
        """The whole model, its description and its weights."""
        before = state_of(self.model)
        load_state(self.model, state)
        try:
            with quiet(), warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # that HDF5 is an older form
                self.model.save(os.fspath(path), include_optimizer=False)
        finally:
            load_state(self.model, before)

    def key(self, before: Mapping[str, Any], path: str) -> dict[str, Any]:
        """The saved file holds the layers too."""
        return {"qkeras": path}


def _fresh(source: Source) -> Any:
    """A model of its own: read again, or a copy. Raises DesignError: Keras cannot copy it."""
    if isinstance(source.model, str | os.PathLike):
        return with_graph(loaded_model(source.model, NAMES, source.weights))
    own = with_graph(source.model)
    package = importlib.import_module("keras" if generation(own) == 3 else "tf_keras")
    try:
        with quiet():
            copy = package.models.clone_model(own)
            copy.set_weights(own.get_weights())
    except Exception as error:  # of a layer's own get_config, and Keras' many
        first = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
        message = f"Keras cannot copy the model {own.name}, into which trained weights would go: {first}"
        raise DesignError(Problem(message=message, fix="a Functional or Sequential model")) from None
    return copy
