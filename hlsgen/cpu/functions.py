"""The functions of layers of kind `table` as ONNX nodes: exactly those of layers/functions.py, in float32."""

from __future__ import annotations

from collections.abc import Callable

from hlsgen.cpu.onnx_nodes import Nodes
from hlsgen.layers.functions import FUNCTIONS, SELU_ALPHA, SELU_SCALE
from hlsgen.layers.table import Table


def function_nodes(layer: Table, nodes: Nodes, x: str) -> str:
    """The layer's function of x."""
    return WRITERS[layer.function](nodes, x, *FUNCTIONS[layer.function].filled(layer.parameters))


def _one(op: str) -> Callable[..., str]:
    return lambda nodes, x: nodes(op, x)


def _bipolar(nodes: Nodes, x: str) -> str:
    positive = nodes("GreaterOrEqual", x, nodes.constant(0.0))
    return nodes("Where", positive, nodes.constant(1.0), nodes.constant(-1.0))


def _silu(nodes: Nodes, x: str, beta: float) -> str:
    return nodes("Mul", x, nodes("Sigmoid", nodes("Mul", x, nodes.constant(beta))))


def _softplus(nodes: Nodes, x: str, beta: float, threshold: float) -> str:
    scaled = nodes("Mul", x, nodes.constant(beta))
    soft = nodes("Mul", nodes("Softplus", scaled), nodes.constant(1 / beta))
    return nodes("Where", nodes("Greater", scaled, nodes.constant(threshold)), x, soft)


def _log_sigmoid(nodes: Nodes, x: str) -> str:
    return nodes("Neg", nodes("Softplus", nodes("Neg", x)))


def _hard_sigmoid(nodes: Nodes, x: str, slope: float, offset: float) -> str:
    return nodes("HardSigmoid", x, alpha=slope, beta=offset)


def _hard_swish(nodes: Nodes, x: str, slope: float, offset: float) -> str:
    return nodes("Mul", x, _hard_sigmoid(nodes, x, slope, offset))


def _threshold(nodes: Nodes, x: str, threshold: float, value: float) -> str:
    return nodes("Where", nodes("Greater", x, nodes.constant(threshold)), x, nodes.constant(value))


WRITERS: dict[str, Callable[..., str]] = {
    "abs": _one("Abs"),
    "bipolar": _bipolar,
    "celu": lambda nodes, x, alpha: nodes("Celu", x, alpha=alpha),
    "elu": lambda nodes, x, alpha: nodes("Elu", x, alpha=alpha),
    "erf": _one("Erf"),
    "exp": _one("Exp"),
    "gelu": _one("Gelu"),
    "gelu_tanh": lambda nodes, x: nodes("Gelu", x, approximate="tanh"),
    "hard_sigmoid": _hard_sigmoid,
    "hard_swish": _hard_swish,
    "hardshrink": lambda nodes, x, limit: nodes("Shrink", x, lambd=limit, bias=0.0),
    "log_sigmoid": _log_sigmoid,
    "mish": _one("Mish"),
    "selu": lambda nodes, x: nodes("Selu", x, alpha=SELU_ALPHA, gamma=SELU_SCALE),
    "sigmoid": _one("Sigmoid"),
    "sign": _one("Sign"),
    "silu": _silu,
    "softplus": _softplus,
    "softshrink": lambda nodes, x, limit: nodes("Shrink", x, lambd=limit, bias=limit),
    "softsign": _one("Softsign"),
    "tanh": _one("Tanh"),
    "tanhshrink": lambda nodes, x: nodes("Sub", x, nodes("Tanh", x)),
    "threshold": _threshold,
}
"""What writes a function's nodes, by its name in FUNCTIONS."""
