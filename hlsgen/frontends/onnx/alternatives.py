"""What could stand in for the ONNX operations that have no hardware here."""

from __future__ import annotations

from hlsgen.frontends.onnx.model import Node
from hlsgen.frontends.onnx.patterns import NORM, RECURRENT, SEQUENCE, TWO_TENSORS

NORMS = {
    "LayerNormalization": "LayerNorm",
    "GroupNormalization": "GroupNorm",
    "InstanceNormalization": "InstanceNorm",
    "RMSNormalization": "RMSNorm",
    "MeanVarianceNormalization": "a normalisation by its own statistics",
    "LpNormalization": "a normalisation by its own length",
    "LRN": "a normalisation by the neighbouring channels",
}
"""Operations that compute what they normalise by, by what they are."""
ATTENTION = frozenset({"Attention", "LinearAttention", "RotaryEmbedding"})
FUSED = frozenset({
    "DecoderMaskedMultiHeadAttention", "EmbedLayerNormalization", "GroupQueryAttention", "MultiHeadAttention",
    "PackedAttention", "PackedMultiHeadAttention", "QAttention", "SimplifiedLayerNormalization",
    "SkipLayerNormalization", "SkipSimplifiedLayerNormalization",
})  # fmt: skip
"""onnxruntime's own operations for transformers."""
INSTEAD = (
    {
        "DynamicQuantizeLinear": "static quantisation, whose scales are constant",
        "If": "a model without control flow: fold constant conditions before the export",
        "TopK": "ArgMax for the largest element, or sort outside the model",
        "NonMaxSuppression": "leave it out, and select outside the model",
        "FloatQuant": "a Quant in its place",
        "QuantAvgPool2d": "an average pool and a Quant in its place",
    }
    | dict.fromkeys(NORMS, NORM)
    | dict.fromkeys(RECURRENT, SEQUENCE)
    | dict.fromkeys(ATTENTION, TWO_TENSORS)
)
"""What could stand in the place of operations that are missing."""
FUNCTION = "an activation that hlsgen has, such as Relu, Sigmoid, Tanh, Gelu or Softplus; or constant inputs"
OF_CONSTANTS = dict.fromkeys(
    ("Sqrt", "Log", "Reciprocal", "Floor", "Ceil", "Round", "Mod"), FUNCTION
) | dict.fromkeys(("ReduceL1", "ReduceL2", "ReduceSumSquare"), f"{NORM}, or constant inputs")
"""What could do with tensors what operations do that may be computed of constants alone."""
OTHERWISE = "other operations in its place, or that part of the model outside of it"
UNFUSED = "export without onnxruntime's fusions; quantise with quant_format QDQ"


def remedy(node: Node) -> str:
    """What could stand in for an operation that is not supported, or not where it depends on an input."""
    if node.op in INSTEAD:
        return INSTEAD[node.op]
    if node.domain == "com.microsoft":
        return TWO_TENSORS if node.op in FUSED else UNFUSED
    return OF_CONSTANTS.get(node.op, OTHERWISE)


def name_of(node: Node) -> str:
    """What an operation that is not supported is, where its name alone does not say it."""
    if node.op in RECURRENT:
        return f"operation {node.op}, {RECURRENT[node.op]}, by which recurrent layers are computed,"
    if node.op in ATTENTION or (node.op in FUSED and "Attention" in node.op):
        return f"operation {node.op}, a part of attention,"
    own = f", {NORMS[node.op]}," if node.op in NORMS else ""
    return f"operation {node.op}{own}"
