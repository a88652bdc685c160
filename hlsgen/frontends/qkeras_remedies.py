"""What could stand in for the layers of Keras that have no hardware here."""

from __future__ import annotations

NORM = "BatchNormalization, whose statistics are constants when the model predicts"
LAYERS_OF_IT = "layers in its place: Add, Subtract, Multiply, Rescaling, Concatenate, Cropping2D, Activation"
SEQUENCE = "convolutions over the sequence (Conv1D): a layer keeps no state between steps"
CONSTANT = "convolutions and dense layers, whose weights are constant"
FLAT = "the same in one or two dimensions"
OUTSIDE = "leave it out of the model, and compute it before"

REMEDIES = (
    dict.fromkeys(("TFOpLambda", "SlicingOpLambda", "Lambda", "TensorFlowOpLayer"), LAYERS_OF_IT)
    | dict.fromkeys(("LayerNormalization", "GroupNormalization", "UnitNormalization"), NORM)
    | dict.fromkeys(("LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional", "ConvLSTM2D"), SEQUENCE)
    | dict.fromkeys(("MultiHeadAttention", "Attention", "AdditiveAttention", "Dot"), CONSTANT)
    | dict.fromkeys(("Conv3D", "Conv3DTranspose", "MaxPooling3D", "AveragePooling3D"), FLAT)
    | dict.fromkeys(("Embedding", "Masking", "StringLookup", "TextVectorization"), OUTSIDE)
    | {"TimeDistributed": "the layer inside it: Dense, Conv1D and the like treat every step alike"}
    | {"LocallyConnected1D": "Conv1D", "LocallyConnected2D": "Conv2D", "ThresholdedReLU": "ReLU"}
)
"""By class."""


def remedy(kind: str, known: frozenset[str]) -> str:
    """What could stand in for a layer of a class that is none of `known`."""
    return REMEDIES.get(kind) or f"one of: {', '.join(sorted(known))}"
