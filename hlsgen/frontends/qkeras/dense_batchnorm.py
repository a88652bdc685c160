"""QDenseBatchnorm: later QKeras has it, and files in the world hold it; release 0.9.0 lacks it."""

from __future__ import annotations

from typing import Any


def dense_batchnorm(packages: Any) -> type:
    """The class, made of QKeras' own QDense, for models from files: it is never trained.

    W = gamma * kernel / sqrt(variance + epsilon), b = gamma * (bias - mean) / sqrt(variance + epsilon) +
    beta; then both are quantised. As QConv2DBatchnorm, and with its weights in the same order.
    """
    keras, tensorflow = packages.keras, packages.tensorflow
    base: Any = packages.qkeras.QDense
    own = getattr(packages.qkeras, "QDenseBatchnorm", None)
    if own is not None:
        return own  # type: ignore[no-any-return]

    class QDenseBatchnorm(base):  # type: ignore[misc]
        def __init__(
            self,
            *,
            epsilon: float = 0.001,
            center: bool = True,
            scale: bool = True,
            axis: Any = -1,
            folding_mode: str = "ema_stats_folding",
            **rest: Any,
        ) -> None:
            known = {key: rest[key] for key in rest if key not in ONLY_TRAINING}
            super().__init__(**known)
            self.batchnorm = keras.layers.BatchNormalization(
                axis=axis, epsilon=epsilon, center=center, scale=scale
            )

        def build(self, input_shape: Any) -> None:
            super().build(input_shape)
            self._iteration = tensorflow.Variable(
                -1, trainable=False, name="iteration", dtype=tensorflow.int64
            )
            self.batchnorm.build([None, self.units])

        def call(self, inputs: Any, training: Any = None) -> Any:
            kernel, bias = self.get_folded_weights()
            if self.kernel_quantizer_internal is not None:
                kernel = self.kernel_quantizer_internal(kernel)
            if self.bias_quantizer_internal is not None:
                bias = self.bias_quantizer_internal(bias)
            y = tensorflow.matmul(inputs, kernel) + bias
            return y if self.activation is None else self.activation(y)

        def get_folded_weights(self) -> list[Any]:
            norm = self.batchnorm
            factor = 1 / tensorflow.sqrt(norm.moving_variance + norm.epsilon)
            factor = factor if norm.gamma is None else factor * norm.gamma
            bias = factor * ((self.bias if self.use_bias else 0.0) - norm.moving_mean)
            return [self.kernel * factor, bias if norm.beta is None else bias + norm.beta]

    return QDenseBatchnorm


ONLY_TRAINING = frozenset(
    {
        "momentum",
        "ema_freeze_delay",
        "kernel_range",
        "bias_range",
        *(
            f"{name}_{kind}"
            for name in ("beta", "gamma", "moving_mean", "moving_variance")
            for kind in ("initializer", "regularizer", "constraint")
        ),
        *("renorm", "renorm_clipping", "renorm_momentum", "fused", "virtual_batch_size", "adjustment"),
    }
)
"""Arguments of which a prediction does not depend."""
