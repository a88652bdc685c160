"""Samples and weights that hlsgen makes itself: the same on every run."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.testing import assert_array_equal

from hlsgen.model import samples
from hlsgen.model.samples import photograph, random_frames, random_weights

SHAPE = (3, 5, 4)


# ---------------------------------------------------------------- photograph


def test_photograph_scale_and_shape() -> None:
    x = photograph((16, 64, 64), 8)
    assert x.shape == (8, 16, 64, 64) and x.dtype == np.float64
    assert 0.3 < np.abs(x).max() < 1
    assert (x.std(axis=(0, 2, 3)) > 0.02).all()


def test_photograph_is_exact() -> None:
    """Every value is a multiple of 2**-18, so no order of summation can change it."""
    scaled = photograph((16, 9, 9), 4) * samples.SCALE
    assert_array_equal(scaled, np.rint(scaled))


def test_no_picture_can_reach_one() -> None:
    bank = samples._filters(48)
    assert not bank.sum(axis=(1, 2)).any()
    assert np.abs(bank).sum(axis=(1, 2)).max() / 2 * 255 < samples.SCALE
    assert len({one.tobytes() for one in bank}) == 48


def exact_taps(channel: int) -> list[list[mpf]]:
    """A filter before it is rounded, to 40 digits."""
    places = range(-(samples.TAPS // 2), samples.TAPS // 2 + 1)
    turn, phase = divmod(channel, 2)
    angle = mp.pi * (turn % samples.ORIENTATIONS) / samples.ORIENTATIONS
    length = mpf(samples.WAVELENGTHS[turn // samples.ORIENTATIONS])
    bell = [[mp.exp(-mpf(x * x + y * y) * 8 / samples.TAPS**2) for x in places] for y in places]
    turned = [[x * mp.cos(angle) + y * mp.sin(angle) for x in places] for y in places]
    wave = [
        [b * mp.cos(2 * mp.pi * t / length - phase * mp.pi / 2) for b, t in zip(*rows, strict=True)]
        for rows in zip(bell, turned, strict=True)
    ]
    mean = mp.fsum(sum(wave, [])) / mp.fsum(sum(bell, []))
    wave = [[w - b * mean for w, b in zip(*rows, strict=True)] for rows in zip(wave, bell, strict=True)]
    size = mp.fsum(abs(w) for row in wave for w in row)
    return [[2 * samples.FILTER_SUM * w / size for w in row] for row in wave]


def test_no_machine_rounds_a_tap_to_another_number() -> None:
    """exp and cos differ by machine in their last bits: by far less than any tap is from a tie."""
    with mp.workdps(40):
        for channel in range(2 * samples.ORIENTATIONS * len(samples.WAVELENGTHS)):
            exact = exact_taps(channel)
            from_ties = [abs(tap - mp.floor(tap) - 0.5) for row in exact for tap in row]
            assert min(from_ties) > 1e-9
            rounded = np.array([[int(mp.floor(tap + 0.5)) for tap in row] for row in exact])
            rounded[samples.TAPS // 2, samples.TAPS // 2] -= rounded.sum()
            assert_array_equal(samples._gabor(channel), rounded)


@pytest.mark.parametrize("shape", [(2, 64, 64), (3, 200, 250), (2, 700, 5), (1, 601, 600), (40, 1, 1)])
def test_photograph_frame_does_not_depend_on_frames(shape: tuple[int, int, int]) -> None:
    assert_array_equal(photograph(shape, 5)[:2], photograph(shape, 2))


def test_photograph_channel_does_not_depend_on_channels() -> None:
    assert_array_equal(photograph((5, 16, 16), 2), photograph((12, 16, 16), 2)[:, :5])


def test_photograph_frames_differ_after_the_last_patch() -> None:
    frames = photograph((1, 200, 250), 20)  # 3 x 2 patches
    assert len({frame.tobytes() for frame in frames}) == 20


def test_photograph_in_blocks_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = photograph((3, 33, 20), 2)
    monkeypatch.setattr(samples, "BLOCK_PIXELS", 7 * 20)
    assert_array_equal(photograph((3, 33, 20), 2), whole)


def test_photograph_convolves() -> None:
    """One value against the sum written out."""
    picture = samples._picture(8, 8)
    rows, columns = picture.shape
    top, left = rows // 3 - 4, columns // 2 - 4
    window = picture[top + 2 - 4 : top + 2 + 5, left + 3 - 4 : left + 3 + 5]
    expected = float((window * samples._filters(2)[1]).sum()) / samples.SCALE
    assert photograph((2, 8, 8), 1)[0, 1, 2, 3] == expected


def test_photograph_without_frames() -> None:
    assert photograph(SHAPE, 0).shape == (0, *SHAPE)


# ---------------------------------------------------------------- random


def test_random_frames() -> None:
    x = random_frames(SHAPE, 50, 7)
    assert x.shape == (50, *SHAPE) and x.min() >= -1 and x.max() < 1 and x.min() < -0.9 and x.max() > 0.9
    assert_array_equal(random_frames(SHAPE, 3, 7), x[:3])
    assert (random_frames(SHAPE, 3, 8) != x[:3]).all()


def test_random_weights() -> None:
    weights, bias = random_weights((64, 16, 3, 3), 3)
    assert weights.shape == (64, 16, 3, 3) and bias.shape == (64,)
    assert weights.std() == pytest.approx(np.sqrt(2 / 144), rel=0.02)
    assert bias.min() >= -0.5 and bias.max() < 0.5
    assert_array_equal(random_weights((64, 16, 3, 3), 3)[0], weights)


def test_random_weights_stay_inside_one() -> None:
    weights, _ = random_weights((500, 1, 1, 1), 0)
    assert np.abs(weights).max() == np.nextafter(1.0, 0.0)
