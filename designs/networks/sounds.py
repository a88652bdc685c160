"""Frames for the networks that hear: spectra of sounds that are made here, as no recordings are at hand.

A sound is a hum: harmonics of a pitch that drifts, in an envelope with formants, over noise. The features are
made as the benchmarks of MLPerf Tiny make theirs of recordings (16 kHz); the sounds are not theirs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RATE = 16_000
"""Samples a second."""
SEED = 0
BANDS, STEPS = 128, 5
"""Of the autoencoder: mel bands, and spectra beside each other."""
WINDOW, HOP = 1024, 512
"""Of the autoencoder: samples of a spectrum, and from one to the next."""
KEYWORD_WINDOW, KEYWORD_HOP, KEYWORD_BANDS, COEFFICIENTS = 480, 320, 40, 10
"""Of keyword spotting: 30 ms every 20 ms, 40 mel bands, 10 cepstral coefficients."""
FLOOR = 1e-6
"""What is added before logarithms."""


def mel_decibels(frames: int) -> NDArray[np.float32]:
    """[frames, 640]: STEPS x BANDS powers in decibels. Frame i is the same for every `frames`."""
    samples = WINDOW + (STEPS - 1) * HOP
    bank = _mel_bank(BANDS, WINDOW, 0.0, RATE / 2)
    rows = [_spectra(sound, WINDOW, HOP) ** 2 @ bank for sound in _sounds(frames, samples)]
    return np.asarray([10 * np.log10(row + FLOOR) for row in rows], np.float32).reshape(frames, -1)


def cepstra(frames: int) -> NDArray[np.float32]:
    """[frames, 49, 10]: of a second each. Frame i is the same for every `frames`."""
    bank = _mel_bank(KEYWORD_BANDS, KEYWORD_WINDOW, 20.0, 4000.0)
    places = np.arange(KEYWORD_BANDS) + 0.5
    cosines = np.cos(np.pi / KEYWORD_BANDS * np.outer(places, np.arange(COEFFICIENTS)))
    rows = [
        np.log(_spectra(sound, KEYWORD_WINDOW, KEYWORD_HOP) @ bank + FLOOR) @ cosines
        for sound in _sounds(frames, RATE)
    ]
    return np.asarray(rows, np.float32) * np.float32(np.sqrt(2 / KEYWORD_BANDS))


def _sounds(frames: int, samples: int) -> list[NDArray[np.float64]]:
    """Sounds of so many samples, within -1 to 1."""
    generator = np.random.default_rng(SEED)
    return [_sound(generator, samples) for _ in range(frames)]


def _sound(generator: np.random.Generator, samples: int) -> NDArray[np.float64]:
    time = np.arange(samples) / RATE
    pitch, drift = generator.uniform(60, 300), generator.uniform(-0.3, 0.3)
    formants, loud = generator.uniform(200, 3500, 3), generator.uniform(0.02, 0.5)
    phase = 2 * np.pi * pitch * (time + drift * time**2 / 2)
    number = np.arange(1, 40)
    weight = np.exp(-(((number * pitch)[:, None] - formants) ** 2) / (2 * 200.0**2)).sum(axis=1) + 0.02
    envelope = np.sin(np.pi * np.clip((time / time[-1] - generator.uniform(0, 0.3)) * 1.4, 0, 1)) ** 2
    hum = (weight[:, None] * np.sin(number[:, None] * phase)).sum(axis=0) * envelope
    noise = generator.normal(0, generator.uniform(0.003, 0.05), samples)
    return loud * hum / np.abs(hum).max() + noise


def _spectra(sound: NDArray[np.float64], window: int, hop: int) -> NDArray[np.float64]:
    """Magnitudes [steps, window / 2 + 1]."""
    starts = np.arange(0, len(sound) - window + 1, hop)
    pieces = sound[starts[:, None] + np.arange(window)] * np.hanning(window)
    return np.abs(np.fft.rfft(pieces))


def _mel_bank(bands: int, window: int, lowest: float, highest: float) -> NDArray[np.float64]:
    """Triangles of equal width in mel (2595 log10(1 + f / 700)) [window / 2 + 1, bands]."""

    def mel(hertz: float) -> float:
        return float(2595 * np.log10(1 + hertz / 700))

    edges = 700 * (10 ** (np.linspace(mel(lowest), mel(highest), bands + 2) / 2595) - 1)
    bins = np.fft.rfftfreq(window, 1 / RATE)[:, None]
    rising = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    return np.maximum(0, np.minimum(rising, falling))
