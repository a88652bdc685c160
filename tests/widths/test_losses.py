"""What a metric loses and how sure that is: against formulae of means, and by drawing frames again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hlsgen.widths.losses import GROUPS, Allowed, Loss, Losses
from hlsgen.widths.metric import Metric, top1


def test_the_error_of_a_mean_is_that_of_its_groups() -> None:
    """Of equal groups the jackknife of a mean is the deviation of the groups' means over their root."""
    generator = np.random.default_rng(0)
    floating, outputs = generator.normal(1, 1, (2, 200, 1))
    mean = Metric(name="mean", function=lambda outputs, _: float(np.mean(outputs)))
    found = Losses(mean, [floating]).of([outputs])
    means = [np.mean((floating - outputs)[one::GROUPS]) for one in range(GROUPS)]
    assert found.lost == pytest.approx(np.mean(floating - outputs))
    assert found.error == pytest.approx(np.std(means, ddof=1) / np.sqrt(GROUPS))


def test_the_error_says_how_losses_of_other_frames_spread() -> None:
    """Over many draws of 500 frames the loss of shares spreads as far as a draw's own error says."""
    generator = np.random.default_rng(1)
    lost, errors = [], []
    for _ in range(200):
        labels = generator.integers(0, 10, 500)
        floating, outputs = (np.eye(10)[_missed(generator, labels, share)] for share in (0.05, 0.08))
        found = Losses(top1(labels), [floating]).of([outputs])
        lost.append(found.lost)
        errors.append(found.error)
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(lost), rel=0.15)


def _missed(generator: Any, labels: Any, share: float) -> Any:
    """Answers that differ from the labels with this likelihood."""
    return np.where(generator.random(len(labels)) < share, (labels + 1) % 10, labels)


def test_equal_answers_lose_nothing_surely() -> None:
    labels = np.arange(40) % 4
    answers = np.eye(4)[np.roll(labels, 1)]
    assert Losses(top1(labels), [answers]).of([answers]) == Loss(lost=0.0, error=0.0)


def test_what_is_within_what_is_allowed() -> None:
    loss = Loss(lost=0.01, error=0.004)
    assert loss.within(Allowed(loss=0.014, sigma=1)) and not loss.within(Allowed(loss=0.013, sigma=1))
    assert loss.within(Allowed(loss=0.01, sigma=0)) and not loss.within(Allowed(loss=0.02, sigma=3))


def test_labels_of_any_kind_go_with_their_frames() -> None:
    """A metric of one's own sees the labels of the very frames whose outputs it sees."""
    outputs = np.arange(30.0).reshape(30, 1)
    seen: list[tuple[int, bool]] = []

    def own(outputs: Any, labels: Any) -> float:
        seen.append((len(outputs), bool((outputs[:, 0] == labels[:, 1]).all())))
        return 1.0

    labels = np.stack([np.zeros(30), np.arange(30.0)], axis=1)
    assert Losses(Metric(name="own", function=own, labels=labels), [outputs]).of([outputs]).lost == 0
    assert {one for _, one in seen} == {True} and {count for count, _ in seen} == {30, 27}
