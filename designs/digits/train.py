"""Trains digits.py and writes digits.pt, test_images.npy, test_labels.npy and accuracy.json beside itself.

python designs/digits/train.py

Needs scikit-learn, which nothing else of the project does. Takes some seconds. The split, the seed and the
number of epochs are fixed, and nothing is chosen by the test frames.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import torch
from digits import make_net
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

FOLDER = Path(__file__).resolve().parent
SEED = 0
TEST_SHARE = 0.25
SCALE = 32.0
"""Divides the grey levels 0 to 16: k/32 stays below 1 and is exact in ufixed<8,0> and in fixed<8,1>."""
EPOCHS = 60
BATCH = 32
RATE = 1e-2
DECAY = 1e-3
SHIFT = 1
"""Pixels by which a training frame is moved at most, each way."""


def split() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """(train frames [N, 1, 8, 8], test frames, train labels [N], test labels), each class in equal shares."""
    data = load_digits()
    frames = (data.images[:, None] / SCALE).astype(np.float32)
    labels = data.target.astype(np.int64)
    train_x, test_x, train_y, test_y = map(
        torch.from_numpy,
        train_test_split(frames, labels, test_size=TEST_SHARE, stratify=labels, random_state=SEED),
    )
    return train_x, test_x, train_y, test_y


def shifted(frames: torch.Tensor) -> torch.Tensor:
    """Each of the frames [N, 1, H, W] moved by a random whole number of pixels; what comes in is paper, 0."""
    _, _, height, width = frames.shape
    padded = nn.functional.pad(frames, (SHIFT,) * 4)
    moves = torch.randint(0, 2 * SHIFT + 1, (len(frames), 2)).tolist()
    return torch.stack(
        [
            frame[:, top : top + height, left : left + width]
            for frame, (top, left) in zip(padded, moves, strict=True)
        ]
    )


def train(frames: torch.Tensor, labels: torch.Tensor) -> nn.Module:
    """The network after EPOCHS over the frames [N, 1, 8, 8], ready for inference."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # the order of sums, and with it the weights, stay the same
    net = make_net().train()
    optimiser = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    batches = len(frames) // BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=EPOCHS * batches)
    for _ in range(EPOCHS):
        order = torch.randperm(len(frames))
        for batch in order[: batches * BATCH].split(BATCH):
            loss = nn.functional.cross_entropy(net(shifted(frames[batch])), labels[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    return net.eval()


def accuracy(net: nn.Module, frames: torch.Tensor, labels: torch.Tensor) -> float:
    """Share of the frames [N, 1, 8, 8] whose largest score is the label's."""
    with torch.inference_mode():
        return float((net(frames).argmax(dim=1) == labels).double().mean())


def main() -> None:
    train_frames, test_frames, train_labels, test_labels = split()
    net = train(train_frames, train_labels)
    torch.save(net.state_dict(), FOLDER / "digits.pt")
    np.save(FOLDER / "test_images.npy", test_frames.numpy())
    np.save(FOLDER / "test_labels.npy", test_labels.numpy())
    report = {
        "test_accuracy": accuracy(net, test_frames, test_labels),
        "test_frames": len(test_frames),
        "train_accuracy": accuracy(net, train_frames, train_labels),
        "train_frames": len(train_frames),
        "parameters": sum(parameter.numel() for parameter in net.parameters()),
        "epochs": EPOCHS,
        "seed": SEED,
    }
    text = json.dumps(report, indent=2) + "\n"
    (FOLDER / "accuracy.json").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
