"""What could stand in for the layers of Keras that have no hardware here, and why they have none."""

from __future__ import annotations

NORM = "BatchNormalization, whose statistics are constants when the model predicts"
LAYERS_OF_IT = "layers in its place: Add, Subtract, Multiply, Rescaling, Concatenate, Cropping2D, Activation"
SEQUENCE = "convolutions over the sequence (Conv1D): a layer keeps no state between steps"
CONSTANT = "convolutions and dense layers, whose weights are constant"
FLAT = "the same in one or two dimensions"
OUTSIDE = "leave it out of the model, compute it before, and give the model its result as an input"

BY_FRAME = (
    "LayerNormalization",
    "RMSNormalization",
    "GroupNormalization",
    "UnitNormalization",
    "SpectralNormalization",
)
RECURRENT = (
    "LSTM", "GRU", "SimpleRNN", "RNN", "StackedRNNCells", "LSTMCell", "GRUCell", "SimpleRNNCell",
    "Bidirectional", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D",
    "QLSTM", "QGRU", "QSimpleRNN", "QBidirectional",
)  # fmt: skip
ATTENTION = ("MultiHeadAttention", "GroupQueryAttention", "Attention", "AdditiveAttention")
REMEDIES = (
    dict.fromkeys(("TFOpLambda", "SlicingOpLambda", "Lambda", "TensorFlowOpLayer"), LAYERS_OF_IT)
    | dict.fromkeys(BY_FRAME, NORM)
    | dict.fromkeys(RECURRENT, SEQUENCE)
    | dict.fromkeys((*ATTENTION, "Dot", "EinsumDense"), CONSTANT)
    | dict.fromkeys(("Conv3D", "Conv3DTranspose", "MaxPooling3D", "AveragePooling3D"), FLAT)
    | dict.fromkeys(("Embedding", "Masking", "StringLookup", "TextVectorization"), OUTSIDE)
    | {"LocallyConnected1D": "Conv1D", "LocallyConnected2D": "Conv2D"}
)
"""What could stand in for a layer, by its class."""
REASONS = (
    dict.fromkeys(BY_FRAME, "normalises each frame by statistics of that frame")
    | dict.fromkeys(RECURRENT, "is recurrent")
    | dict.fromkeys(ATTENTION, "is attention, a product of two tensors of the same frame")
)
"""Why hardware for a layer is not there yet, by its class."""


HGQ_1 = "HGQ>"
"""What the classes of HGQ 1, the package HGQ on legacy Keras, begin with in files."""
IN_HGQ_2 = (
    "the same network in HGQ2 (QDense for HDense, QConv2D for HConv2D), or in QKeras with the bits that "
    "HGQ's to_proxy_model finds"
)
ON_KERAS_2 = (
    'the model made again on legacy Keras: numpy.savez("weights.npz", *model.get_weights()) here; then, with '
    "the environment variable TF_USE_LEGACY_KERAS=1 set before Python starts, the same code with "
    'tensorflow.keras for keras, and model.set_weights([*numpy.load("weights.npz").values()])'
)


def is_of_hgq_1(kind: object, home: object) -> bool:
    """Whether a class, by its name and the module that it is from, is of HGQ 1."""
    return str(kind).startswith(HGQ_1) or str(home).partition(".")[0] == "HGQ"


def refused_layer(name: str, kind: str, known: frozenset[str], home: str = "") -> tuple[str, str]:
    """The message and the remedy for a layer of a class that is none of `known`.

    home: the module that its class is from, if it is to be named.
    """
    if kind == "Lambda" and not home:
        message = f"layer {name} is a Lambda: the file holds Python code for it, which is not run"
        return message, "use a layer of Keras or QKeras that does the same"
    if is_of_hgq_1(kind, home):
        return f"layer {name} is a {kind.removeprefix(HGQ_1)} of HGQ 1, which hlsgen does not read", IN_HGQ_2
    if home.partition(".")[0] == "qkeras":
        return f"layer {name} is a {kind} of QKeras on Keras 3, which QKeras 0.9 cannot compute", ON_KERAS_2
    if home.partition(".")[0] == "hgq":
        message = f"layer {name} is a {kind} of HGQ, which hlsgen does not read"
        return message, f"HGQ2 with one of: {', '.join(sorted(known))}; or its QONNX and hlsgen.from_onnx"
    if kind in REASONS:
        return f"layer {name} is a {kind}, which {REASONS[kind]}: hlsgen has no such layer yet", REMEDIES[
            kind
        ]
    full = f"{home}.{kind}" if home else kind
    fix = REMEDIES.get(kind) or f"one of: {', '.join(sorted(known))}"
    return f"layer {name} is of class {full}, which hlsgen does not know", fix
