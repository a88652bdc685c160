"""The trained RAIDER network without its quantizers, in PyTorch: for number types of one's own choosing.

python designs/raider/plain.py (with h5py) writes plain.pt, calibration_images.npy and test_labels.npy: the
trained weights of raider.h5, events that are neither trained nor tested on, the classes of the test events.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

FILTERS, HIDDEN, CLASSES = 8, 16, 4
"""As in model.py, which needs QKeras."""
CALIBRATION_EVENTS, CALIBRATION_SEED = 256, 4


class Plain(nn.Module):
    """[N, 16, 16, 1] of 0 and 1, as Keras has them -> scores [N, 4]; the largest names the class."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, FILTERS, 3, padding=1)
        self.conv2 = nn.Conv2d(FILTERS, FILTERS, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.dense1 = nn.Linear(4 * 4 * FILTERS, HIDDEN)
        self.dense2 = nn.Linear(HIDDEN, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.permute(0, 3, 1, 2)
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        # Keras flattens [rows, columns, channels]
        x = torch.relu(self.dense1(x.permute(0, 2, 3, 1).flatten(1)))
        return self.dense2(x)


def make_net() -> nn.Module:
    """The network, untrained: load plain.pt into it."""
    return Plain()


def main() -> None:
    import h5py
    import numpy as np
    from events import events

    folder = Path(__file__).resolve().parent
    state = {}
    with h5py.File(folder / "raider.h5") as file:
        for name, module in make_net().named_children():
            if isinstance(module, nn.MaxPool2d):
                continue
            kernel = np.asarray(file[f"model_weights/{name}/{name}/kernel:0"])
            # [rows, columns, in, out] and [in, out] of Keras
            axes = (3, 2, 0, 1) if kernel.ndim == 4 else (1, 0)
            state[f"{name}.weight"] = torch.from_numpy(np.ascontiguousarray(kernel.transpose(axes)))
            state[f"{name}.bias"] = torch.from_numpy(np.asarray(file[f"model_weights/{name}/{name}/bias:0"]))
    torch.save(state, folder / "plain.pt")
    images, _ = events(CALIBRATION_EVENTS, CALIBRATION_SEED)
    np.save(folder / "calibration_images.npy", images.reshape(-1, 16, 16, 1).astype(np.uint8))
    labels = np.load(folder / "test_events.npz")["labels"]
    np.save(folder / "test_labels.npy", labels.astype(np.uint8))


if __name__ == "__main__":
    main()
