"""How near a network in fixed point is to its floating-point original, on calibration frames."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hlsgen.brief import Brief
from hlsgen.fixed import FixedType
from hlsgen.ir import Golden, Graph, counted_golden
from hlsgen.layers.argmax import ArgMax
from hlsgen.layers.base import Codes
from hlsgen.passes.float_run import FloatRun
from hlsgen.port_arrays import tensor_codes
from hlsgen.precision import Floats


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """How near a tensor is to the floating-point network.

    snr_db: signal to noise, inf if equal; of an output its mean is no signal. agreement: of an output of
    scores, the share of frames whose largest score is the same one; None for other tensors.
    """

    name: str
    type: str
    snr_db: float
    agreement: float | None = None


@dataclass(frozen=True, kw_only=True)
class Measured(Brief):
    """A network beside its floating-point original: what was found, and the codes that it was found with.

    inputs: frames of each input of `graph`. golden: what every layer of it gives for them.
    """

    graph: Graph
    accuracy: tuple[Accuracy, ...]
    inputs: Mapping[str, Codes]
    golden: Golden

    def golden_for(self, graph: Graph, inputs: Mapping[str, Codes]) -> Golden | None:
        """Golden of these frames, if it is known already."""
        same = graph is self.graph and all(
            np.array_equal(codes, self.inputs[name]) for name, codes in inputs.items()
        )
        return self.golden if same else None


def _encoded(fixed: Graph, calibration: Mapping[str, Floats]) -> dict[str, Codes]:
    """Frames of the inputs as codes of their types."""
    return {
        port.name: tensor_codes(port, calibration[port.name], f"the calibration of {port.name}")
        for port in fixed.inputs
        if isinstance(port.tensor.type, FixedType)
    }


def _decoded(fixed: Graph, got: Mapping[str, Codes]) -> dict[str, Floats]:
    """What each layer gives, as numbers."""
    return {layer.name: layer.output_type.decode(got[layer.name]) for layer in fixed.layers}


def noisy_outputs(graph: Graph) -> set[str]:
    """The outputs' names, without those that choose: an index is right or wrong."""
    choosing = {layer.name for layer in graph.layers if isinstance(layer, ArgMax)}
    return {port.name for port in graph.outputs if port.source not in choosing}


def measured(fixed: Graph, calibration: FloatRun, frames: int | None = None) -> Measured:
    """Each layer of `fixed` that floating point has too against it, then each output.

    frames: the first ones; None: all that are kept.
    """
    count = calibration.kept if frames is None else frames
    reference, wanted = calibration.graph, calibration.first(count)
    inputs = _encoded(fixed, calibration.inputs(count))
    golden = counted_golden(fixed, inputs)
    values = _decoded(fixed, golden.tensors)
    found = [
        Accuracy(
            name=layer.name, type=str(layer.output_type), snr_db=_snr(values[layer.name], wanted[layer.name])
        )
        for layer in fixed.layers
        if layer.name in wanted
    ]
    for port, shown in zip(fixed.outputs, reference.outputs, strict=True):
        if port.source in values and shown.source in wanted:
            pair = (values[port.source], wanted[shown.source])
            found.append(
                Accuracy(
                    name=port.name,
                    type=str(port.tensor.type),
                    snr_db=_output_snr(*pair),
                    agreement=_agreement(*pair),
                )
            )
    return Measured(graph=fixed, accuracy=tuple(found), inputs=inputs, golden=golden)


def _snr(values: Floats, wanted: Floats) -> float:
    return _ratio_db(float(np.mean(wanted**2)), values, wanted)


def _output_snr(values: Floats, wanted: Floats) -> float:
    """What varies is the signal: small changes on a large offset are what an output is read for."""
    return _ratio_db(float(np.var(wanted)) or float(np.mean(wanted**2)), values, wanted)


def _ratio_db(signal: float, values: Floats, wanted: Floats) -> float:
    noise = float(np.mean((values - wanted) ** 2))
    return math.inf if noise == 0.0 else 10 * math.log10(signal / noise) if signal else -math.inf


def _agreement(values: Floats, wanted: Floats) -> float | None:
    if wanted.shape[1] < 2 or wanted.shape[2:] != (1, 1):
        return None
    return float(np.mean(values.argmax(axis=1) == wanted.argmax(axis=1)))
