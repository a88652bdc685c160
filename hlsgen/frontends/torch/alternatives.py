"""What could stand in for the aten operations that have no hardware here."""

from __future__ import annotations

NORM = "nn.BatchNorm1d or nn.BatchNorm2d with running statistics: they are constants in evaluation mode"
NEAREST = "mode='nearest', 'bilinear' or 'bicubic' of images, or nn.ConvTranspose2d"
TWO_TENSORS = "convolutions and linear layers: a product of two computed matrices has no layer"
SEQUENCE = "convolutions over the sequence (nn.Conv1d): a layer keeps no state between steps"
CHOICE = "comparisons, torch.where, masked_fill, and & | ~ of comparisons"
HOST = "leave it out of the model, and compute it from the model's outputs"
BEFORE = "leave it out of the model, compute it before, and give the model its result as an input"
SHAPE = "torch.cat and slices: each tensor is written once"
DROPOUT = "nn.Dropout, or F.dropout(x, training=self.training): it is off in evaluation mode"
ONE_VALUE = "an activation that hlsgen has, such as F.relu, torch.sigmoid, torch.tanh, F.gelu or F.softplus"

REMEDIES = (
    {"conv3d": "nn.Conv1d or nn.Conv2d", "conv_transpose3d": "nn.ConvTranspose2d"}
    | {
        "max_pool3d": "nn.MaxPool2d",
        "avg_pool3d": "nn.AvgPool2d",
        "adaptive_avg_pool3d": "nn.AdaptiveAvgPool2d",
    }
    | dict.fromkeys(("layer_norm", "native_layer_norm", "group_norm", "native_group_norm"), NORM)
    | dict.fromkeys(("instance_norm", "rms_norm", "local_response_norm", "linalg_vector_norm", "norm"), NORM)
    | dict.fromkeys(
        (
            "_native_batch_norm_legit",
            "_native_batch_norm_legit_functional",
            "native_batch_norm",
            "batch_norm",
        ),
        "track_running_stats=True and training=False: statistics of the batch are not known beforehand",
    )
    | dict.fromkeys(("upsample_trilinear3d", "upsample_nearest3d", "_upsample_nearest_exact3d"), NEAREST)
    | dict.fromkeys(("grid_sampler", "grid_sampler_2d", "affine_grid_generator"), NEAREST)
    | dict.fromkeys(
        ("bmm", "baddbmm", "einsum", "scaled_dot_product_attention", "dot", "bilinear"), TWO_TENSORS
    )
    | dict.fromkeys(("lstm", "gru", "rnn_tanh", "rnn_relu", "cumsum", "cumprod"), SEQUENCE)
    | dict.fromkeys(("logical_xor", "bitwise_xor", "__xor__", "any", "all"), CHOICE)
    | dict.fromkeys(("topk", "sort", "argsort", "nonzero", "unique", "nms"), HOST)
    | dict.fromkeys(("embedding", "embedding_bag", "one_hot", "bucketize", "searchsorted"), BEFORE)
    | dict.fromkeys(("gather", "scatter", "index_put", "take_along_dim"), HOST)
    | dict.fromkeys(("select_scatter", "slice_scatter", "copy", "fill", "masked_scatter"), SHAPE)
    | dict.fromkeys(("im2col", "col2im", "unfold"), "nn.Conv2d, which takes the patches itself")
    | dict.fromkeys(("sqrt", "rsqrt", "reciprocal", "log", "log2", "log1p", "sin", "cos", "floor"), ONE_VALUE)
    | dict.fromkeys(("round", "ceil", "exp2", "expm1", "remainder", "fmod"), ONE_VALUE)
    | {"prod": "products of slices"}
    | dict.fromkeys(("std", "var", "std_mean", "var_mean"), NORM)
    | dict.fromkeys(("bernoulli", "native_dropout", "rand_like", "empty_like", "new_empty"), DROPOUT)
    | dict.fromkeys(
        ("cond", "while_loop", "scan", "map_impl"), "a forward() that does the same for every input"
    )
    | {"max_unpool2d": "nn.ConvTranspose2d, or nn.Upsample", "diff": "x[:, 1:] - x[:, :-1]"}
)
"""What could stand in for an operation, by its name without the overload."""
OTHERWISE = f"convolutions, pools, activations, sums, products and reshapes; or {HOST}"


def remedy(op: str) -> str:
    """What could stand in for an operation."""
    return REMEDIES.get(op, OTHERWISE)
