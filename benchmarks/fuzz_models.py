"""Random models of every way that hlsgen reads: each from its own seed.

torch: graphs of modules and functions. keras, qkeras: sequential models of Keras 3 and of QKeras. qonnx: what
Brevitas exports, Quant and BipolarQuant. qdq: what onnxruntime's quantize_static writes, by its own hand.
layers: design files without a framework.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # QKeras asks for it, before TensorFlow is imported
QONNX = "qonnx.custom_op.general"
Rng = np.random.Generator
Shape = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Model:
    """source: as the function of hlsgen's that reads it takes it. shape: of a frame, where it is needed."""

    source: Any
    shape: Shape = ()


def torch_model(rng: Rng) -> Model:
    """A chain with branches that are added or concatenated, and a head now and then."""
    import torch
    from torch import nn

    torch.manual_seed(int(rng.integers(1 << 30)))
    channels, size = int(rng.integers(1, 5)), int(rng.integers(6, 13))

    class Block(nn.Module):
        def __init__(self, inputs: int) -> None:
            super().__init__()
            outputs = int(rng.integers(2, 7))
            groups = int(rng.choice([1, 1, 1, np.gcd(inputs, outputs)]))
            kernel, dilation = int(rng.integers(1, 4)), int(rng.integers(1, 3))
            padding = int(rng.choice([0, kernel // 2]))
            stride = int(rng.choice([1, 1, 2]))
            self.conv = nn.Conv2d(inputs, outputs, kernel, stride, padding, dilation, groups)
            self.norm = nn.BatchNorm2d(outputs) if rng.random() < 0.5 else nn.Identity()
            with torch.no_grad():
                if isinstance(self.norm, nn.BatchNorm2d):
                    self.norm.running_mean.normal_(0, 0.3)
                    self.norm.running_var.uniform_(0.2, 2)
                    self.norm.weight.normal_(1, 0.4)
                    self.norm.bias.normal_(0, 0.3)
            smooth = (nn.Hardswish, nn.Sigmoid, nn.Tanh, nn.SiLU, nn.ELU)
            self.activation = _one(rng, (nn.ReLU, nn.ReLU6, nn.LeakyReLU, *smooth))()
            self.skip = bool(rng.random() < 0.4)
            self.joined = bool(rng.random() < 0.2)
            self.channels = 2 * outputs if self.joined else outputs

        def forward(self, x: Any) -> Any:
            y = self.activation(self.norm(self.conv(x)))
            if self.joined:
                return torch.cat([y, -y], 1)
            return y + 0.5 * y.abs() if self.skip else y

    blocks, count = [], channels
    for _ in range(int(rng.integers(1, 4))):
        block = Block(count)
        blocks.append(block)
        count = block.channels
    tails = (nn.AvgPool2d(2), nn.MaxPool2d(2, ceil_mode=True), nn.Upsample(scale_factor=2), nn.Identity())
    layers = [*blocks, _one(rng, tails)]
    if rng.random() < 0.5:
        layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(count, int(rng.integers(2, 6)))]
    return Model(source=nn.Sequential(*layers).eval(), shape=(channels, size, size))


def keras_model(rng: Rng) -> Model:
    import keras

    return Model(source=_sequential(rng, keras, keras.layers))


def _sequential(rng: Rng, keras: Any, layers: Any) -> Any:
    keras.utils.set_random_seed(int(rng.integers(1 << 30)))
    size = int(rng.integers(6, 12))
    found = [keras.Input((size, size, int(rng.integers(1, 4))))]
    for _ in range(int(rng.integers(1, 4))):
        padding = str(rng.choice(["same", "valid"]))
        activation = str(rng.choice(["relu", "tanh", "sigmoid", "linear", "elu"]))
        stride = int(rng.choice([1, 2]))
        kernel, filters = (3 if padding == "same" else 2), int(rng.integers(2, 6))
        made: tuple[Callable[[], Any], ...] = (
            partial(layers.Conv2D, filters, kernel, stride, padding, activation=activation),
            partial(layers.DepthwiseConv2D, 2, padding=padding),
            partial(layers.MaxPooling2D, 2, padding=padding),
            partial(layers.AveragePooling2D, 2, padding=padding),
            layers.BatchNormalization,
            partial(layers.ZeroPadding2D, 1),
            partial(layers.UpSampling2D, 2, interpolation=str(rng.choice(["nearest", "bilinear"]))),
            layers.LeakyReLU,
        )
        found.append(_one(rng, made)())
    if rng.random() < 0.5:
        found += [layers.Flatten(), layers.Dense(4, activation=str(rng.choice(["softmax", "linear"])))]
    model = keras.Sequential(found)
    _randomise(rng, model)
    return model


def _randomise(rng: Rng, model: Any) -> None:
    for variable in model.weights:
        values = rng.normal(0, 0.5, variable.shape)
        positive = "variance" in variable.name or "gamma" in variable.name
        variable.assign(np.abs(values) + 0.3 if positive else values)


def _one(rng: Rng, some: Sequence[Any]) -> Any:
    return some[int(rng.integers(len(some)))]


def qkeras_model(rng: Rng) -> Model:
    import qkeras
    import tf_keras as keras

    keras.utils.set_random_seed(int(rng.integers(1 << 30)))

    def bits(least: int = 2) -> Any:
        width = int(rng.integers(least, 9))
        return qkeras.quantized_bits(width, int(rng.integers(0, min(width, 3))), alpha=1)

    def weights() -> Any:
        return _one(rng, (bits(), bits(), "binary(alpha=1)", "ternary(alpha=1)", "quantized_po2(4)"))

    def activation() -> Any:
        relu = qkeras.quantized_relu(int(rng.integers(2, 9)), int(rng.integers(0, 3)))
        return qkeras.QActivation(_one(rng, (bits(3), relu, "quantized_tanh(6)", "quantized_relu_po2(4)")))

    x = inputs = keras.Input((int(rng.integers(5, 9)), int(rng.integers(5, 9)), int(rng.integers(1, 4))))
    x = qkeras.QActivation(bits(4))(x)
    for _ in range(int(rng.integers(1, 3))):
        x = qkeras.QConv2D(int(rng.integers(2, 5)), 2, kernel_quantizer=weights(), bias_quantizer=bits(4))(x)
        if rng.random() < 0.3:
            x = keras.layers.BatchNormalization()(x)
        x = activation()(x)
        if rng.random() < 0.3:
            x = keras.layers.MaxPooling2D(2, padding="same")(x)
    if rng.random() < 0.5:
        x = qkeras.QDense(4, kernel_quantizer=weights(), bias_quantizer=bits(4))(keras.layers.Flatten()(x))
    model = keras.Model(inputs, x)
    _randomise(rng, model)
    return Model(source=model)


class _Net:
    """Nodes and constants of an ONNX model."""

    def __init__(self, rng: Rng, shape: Shape) -> None:
        self.rng, self.shape, self.nodes, self.constants = rng, shape, [], {}  # type: ignore[var-annotated]

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value, dtype)
        return name

    def add(self, op: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        import onnx

        name = f"t{len(self.nodes)}"
        self.nodes.append(onnx.helper.make_node(op, list(inputs), [name], domain=domain, **attributes))
        return name

    def scale(self) -> np.float32:
        """A power of two, or any number near one."""
        power = 2.0 ** self.rng.integers(-6, -1)
        return np.float32(power if self.rng.random() < 0.5 else power * self.rng.uniform(1, 2))

    def quant(self, x: str, *, signed: int, bits: int | None = None) -> str:
        width = int(self.rng.integers(2, 9)) if bits is None else bits
        names = [self.constant(self.scale()), self.constant(0.0), self.constant(float(width))]
        return self.add("Quant", x, *names, domain=QONNX, signed=signed, narrow=0, rounding_mode="ROUND")

    def qdq(self, x: str, *, per_channel: int = 0) -> str:
        kind = np.int8 if per_channel else np.uint8
        scale = np.float32([self.scale() for _ in range(per_channel)]) if per_channel else self.scale()
        zero = np.zeros(per_channel, kind) if per_channel else np.asarray(self.rng.integers(0, 200), kind)
        names = [self.constant(scale), self.constant(zero, kind)]
        more = {"axis": 0} if per_channel else {}
        return self.add("DequantizeLinear", self.add("QuantizeLinear", x, *names, **more), *names, **more)

    def model(self, y: str) -> Any:
        import onnx

        self.nodes.append(onnx.helper.make_node("Identity", [y], ["y"]))
        graph = onnx.helper.make_graph(
            self.nodes,
            "fuzz",
            [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, *self.shape])],
            [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
            [onnx.numpy_helper.from_array(array, name) for name, array in self.constants.items()],
        )
        opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid(QONNX, 1)]
        return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)


def qonnx_model(rng: Rng) -> Model:
    shape = (int(rng.integers(1, 4)), 6, 7)
    net = _Net(rng, shape)
    x, channels = net.quant("x", signed=1), shape[0]
    for _ in range(int(rng.integers(1, 4))):
        outputs = int(rng.integers(2, 6))
        weights = net.constant(rng.normal(0, 0.5, (outputs, channels, 2, 2)))
        if rng.random() < 0.2:
            weights = net.add("BipolarQuant", weights, net.constant(net.scale()), domain=QONNX)
        else:
            weights = net.quant(weights, signed=1)
        x = net.add("Conv", x, weights, kernel_shape=[2, 2], pads=[0, 0, 1, 1])
        if rng.random() < 0.4:
            means = [rng.uniform(0.3, 2, outputs), rng.normal(0, 1, outputs), rng.normal(0, 1, outputs)]
            parts = [net.constant(one) for one in (*means, rng.uniform(0.2, 2, outputs))]
            x = net.add("BatchNormalization", x, *parts)
        way = rng.random()
        if way < 0.5:
            x = net.quant(net.add("Relu", x), signed=0)
        elif way < 0.7:
            x = net.add("BipolarQuant", x, net.constant(net.scale()), domain=QONNX)
        else:
            x = net.quant(x, signed=1)
        if rng.random() < 0.3:
            x = net.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
        channels = outputs
    if rng.random() < 0.3:
        x = net.add("GlobalAveragePool", x)
    return Model(source=net.model(x))


def qdq_model(rng: Rng) -> Model:
    shape = (int(rng.integers(1, 4)), 6, 7)
    net = _Net(rng, shape)
    x, channels = net.qdq("x"), shape[0]
    for _ in range(int(rng.integers(1, 4))):
        outputs = int(rng.integers(2, 6))
        weights = net.qdq(net.constant(rng.normal(0, 0.3, (outputs, channels, 2, 2))), per_channel=outputs)
        x = net.add("Conv", x, weights, kernel_shape=[2, 2], pads=[0, 0, 1, 1])
        functions = ("Relu", "Sigmoid", "LeakyRelu", "Identity")
        x = net.qdq(net.add(str(rng.choice(functions)), x))
        if rng.random() < 0.3:
            x = net.qdq(net.add("AveragePool", x, kernel_shape=[2, 2]))
        channels = outputs
    return Model(source=net.model(x))


def layers_model(rng: Rng) -> Model:
    """The text of a design file whose layers are written out."""
    layers: list[dict[str, Any]] = []
    for index in range(int(rng.integers(2, 5))):
        kind = str(rng.choice(["conv2d", "pool2d", "clamp", "leaky"]))
        one: dict[str, Any] = {"name": f"n{index}", "kind": kind}
        if kind == "conv2d":
            one |= {"out_channels": int(rng.integers(1, 6)), "kernel": int(rng.integers(1, 4)), "padding": 1}
            one |= {"stride": int(rng.integers(1, 3)), "weights": {"seed": index}}
        elif kind == "pool2d":
            one |= {"function": str(rng.choice(["max", "average"])), "kernel": 2}
        elif kind == "clamp":
            one |= {"low": 0, "high": 6}
        else:
            one |= {"slopes": 0.25}
        layers.append(one)
    width, channels = int(rng.integers(4, 13)), int(rng.integers(1, 4))
    return Model(
        source={
            "name": "fuzz",
            "board": str(rng.choice(["u200", "zcu102"])),
            "batch": 2,
            "style": str(rng.choice(["dataflow", "tasks", "shared"])),
            "input": {"shape": [channels, 9, 8], "type": f"fixed<{width},2>", "samples": "random"},
            "precision": f"fixed<{width},3,rnd,sat>",
            "layers": layers,
        }
    )


MODELS: dict[str, Callable[[Rng], Model]] = {
    "torch": torch_model,
    "keras": keras_model,
    "qkeras": qkeras_model,
    "qonnx": qonnx_model,
    "qdq": qdq_model,
    "layers": layers_model,
}
