"""A small network of PyTorch, frames that it answers, and recipes to train it with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

NET = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(6)
        self.pool = nn.MaxPool2d(2)
        self.conv2 = nn.Conv2d(6, 4, 2, bias=False)
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        x = self.pool(torch.relu(self.bn1(self.conv1(x))))
        return self.fc(torch.relu(self.conv2(x)).flatten(1))


def make_net():
    torch.manual_seed(10)
    net = Net()
    nn.init.uniform_(net.bn1.weight, 0.5, 2)
    nn.init.uniform_(net.bn1.bias, -0.5, 0.5)
    nn.init.uniform_(net.bn1.running_mean, -0.5, 0.5)
    nn.init.uniform_(net.bn1.running_var, 0.5, 2)
    net.eval()
    with torch.no_grad():  # every class as often as the others, about
        scores = net(torch.randn(256, 1, 6, 6))
        net.fc.weight.div_(scores.std(0)[:, None])
        net.fc.bias.sub_(scores.mean(0)).div_(scores.std(0))
    return net
"""
FILE = """name: small
board: zcu102
model: {torch: "net.py:make_net"}
input: {shape: [1, 6, 6], type: "fixed<8,3,rnd,sat>", samples: calibration.npy}
precision: 8
accuracy: {frames: x.npy, labels: y.npy}
"""
RECIPE = """import numpy as np

epochs = 25
batch = 32
learning_rate = 0.004


def frames():
    return np.load("train_x.npy"), np.load("train_y.npy")
"""


def small_folder(place: Path) -> Path:
    """The folder with net.py, small.yaml, recipe.py and their arrays: labels are the net's own answers."""
    import torch

    (place / "tmp").mkdir()
    (place / "net.py").write_text(NET)
    (place / "small.yaml").write_text(FILE)
    (place / "recipe.py").write_text(RECIPE.replace('"train', f'"{place}/train'))
    names: dict[str, Any] = {}
    exec(NET, names)
    net, generator = names["make_net"](), np.random.default_rng(0)
    for name, count in (("calibration", 32), ("x", 160), ("train_x", 256)):
        x = generator.normal(0, 1, (count, 1, 6, 6)).astype(np.float32)
        np.save(place / f"{name}.npy", x)
        with torch.no_grad():
            labels = net(torch.from_numpy(x)).argmax(1).numpy()
        np.save(place / f"{name.replace('x', 'y').replace('calibration', 'unused')}.npy", labels)
    return place
