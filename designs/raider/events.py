"""Simulated events of a ring-imaging Cherenkov (RICH) detector, as 16 x 16 black-and-white images.

A charged particle faster than light in the radiator gas emits photons on a cone; a spherical mirror focuses
them onto a ring of radius f tan(theta_c) in its focal plane, around the point f (slope x, slope y) that the
particle's direction gives. There a hexagonal lattice of photomultipliers (PMTs) sees some of them. The
geometry is that of NA62 at CERN; which constants are its, and which are assumed here, is said beside them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# The detector (NA62's published design values; its two flanges see one angular plane and are overlaid here,
# so one lattice stands for both)
REFRACTIVITY = 62.8e-6  # n - 1 of the radiator: neon at atmospheric pressure, wavelength 300 nm
FOCAL_LENGTH = 17_000.0  # mm, of the mirrors
PMTS = 976  # of one flange
PITCH = 18.0  # mm, between the centres of neighbouring PMTs, which are packed hexagonally
ACCEPTANCE = 9.0  # mm, radius of the light-collecting cone in front of each PMT

# Light
PHOTOELECTRONS = (
    16.0  # mean of a full ring at beta = 1 if PMTs had no gaps (assumed; 13 to 14 PMTs are then hit)
)
SPREAD = 2.0  # mm, Gaussian, of a photon about its ring: dispersion in the gas, mirror alignment (assumed)
NOISE = 1.5  # mean PMTs hit by dark counts and by stray and late light in the time window (assumed)

# Particles (assumed: roughly what charged-kaon decays at 75 GeV/c send through such a detector)
MASSES = np.array([0.13957, 0.10566, 0.000511])  # GeV/c^2: pion, muon, electron
SHARES = np.array([0.60, 0.25, 0.15])  # how many of the tracks are which
MOMENTUM = (12.0, 45.0)  # GeV/c, uniform
TRANSVERSE = 0.090  # GeV/c, Gaussian width of each transverse component
TRACKS = np.array([0.23, 0.26, 0.24, 0.19, 0.06, 0.02])  # how often an event has 0, 1, ... 5 tracks

# Classes and image
MIN_HITS = 5  # PMTs a ring must hit to count: a circle has three parameters, two more hits test it
CLASSES = 4  # 0, 1, 2, and 3 or more rings
SIDE = 16  # pixels of the image, each way
SPILL = 20_000  # events simulated at once; bounds the memory
_RANGE = 30  # lattice steps from the origin within which all PMTs lie


def cherenkov_angle(momentum: NDArray[np.float64], mass: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half-opening angles in rad of the cones, acos(1 / (n beta)); 0 below threshold.

    momentum [..] in GeV/c and mass [..] in GeV/c^2 broadcast.
    """
    beta = momentum / np.hypot(momentum, mass)
    return np.asarray(np.arccos(np.minimum(1.0, 1.0 / ((1.0 + REFRACTIVITY) * beta))))


def lattice() -> NDArray[np.float64]:
    """Centres (x, y) of the PMTs in mm, [PMTS, 2]: a hexagonal lattice's points nearest to the origin."""
    reach = np.arange(-_RANGE, _RANGE + 1)
    q, r = (axis.ravel() for axis in np.meshgrid(reach, reach, indexing="ij"))
    centres = PITCH * np.stack([q + r / 2, r * np.sqrt(3) / 2], axis=1)
    # squared distances are whole numbers in units of PITCH^2, so equal ones are equal and the order is stable
    return centres[np.argsort(q * q + q * r + r * r, kind="stable")[:PMTS]]


CENTRES = lattice()
HALF_WIDTH = float(np.abs(CENTRES).max()) + PITCH / 2  # mm: the image reaches from -HALF_WIDTH to +HALF_WIDTH


def _pmt_table() -> NDArray[np.int64]:
    """PMT number at every pair of lattice coordinates (q, r), -1 where there is none: [61, 61]."""
    r = np.rint(CENTRES[:, 1] / (PITCH * np.sqrt(3) / 2)).astype(np.int64)
    q = np.rint(CENTRES[:, 0] / PITCH - r / 2).astype(np.int64)
    table = np.full((2 * _RANGE + 1, 2 * _RANGE + 1), -1, dtype=np.int64)
    table[q + _RANGE, r + _RANGE] = np.arange(PMTS)
    return table


def _pixels() -> NDArray[np.int64]:
    """Pixel number (row * SIDE + column; row 0 at the top, y upwards) that shows each PMT: [PMTS]."""
    step = np.floor((CENTRES + HALF_WIDTH) * (SIDE / (2 * HALF_WIDTH))).astype(np.int64)
    return np.asarray((SIDE - 1 - step[:, 1]) * SIDE + step[:, 0])


_TABLE = _pmt_table()
_PIXELS = _pixels()


def pmt_at(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Numbers [n] of the PMTs that collect light at points [n, 2] in mm; -1 between and outside them."""
    r = points[:, 1] / (PITCH * np.sqrt(3) / 2)
    q = points[:, 0] / PITCH - r / 2
    s = -q - r
    # rounding the three hexagonal coordinates may break q + r + s = 0; the one rounded furthest gives way
    whole_q, whole_r, whole_s = np.rint(q), np.rint(r), np.rint(s)
    off_q, off_r, off_s = np.abs(whole_q - q), np.abs(whole_r - r), np.abs(whole_s - s)
    q_gives = (off_q > off_r) & (off_q > off_s)
    r_gives = ~q_gives & (off_r > off_s)
    near_q = np.where(q_gives, -whole_r - whole_s, whole_q).astype(np.int64)
    near_r = np.where(r_gives, -whole_q - whole_s, whole_r).astype(np.int64)
    inside = (np.abs(near_q) <= _RANGE) & (np.abs(near_r) <= _RANGE)
    pmt = np.where(
        inside, _TABLE[near_q.clip(-_RANGE, _RANGE) + _RANGE, near_r.clip(-_RANGE, _RANGE) + _RANGE], -1
    )
    distance = np.hypot(*(points - CENTRES[pmt]).T)
    return np.where((pmt >= 0) & (distance <= ACCEPTANCE), pmt, -1)


def _photons(rng: np.random.Generator, tracks: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The photons of so many tracks that free an electron if they meet a PMT.

    Returns each photon's track number [n] and its place in the focal plane [n, 2] in mm.
    """
    momentum = rng.uniform(*MOMENTUM, tracks)
    angle = cherenkov_angle(momentum, MASSES[rng.choice(len(MASSES), tracks, p=SHARES)])
    centre = FOCAL_LENGTH * rng.normal(0.0, TRANSVERSE, (tracks, 2)) / momentum[:, None]
    # the yield goes with sin^2 theta_c (Frank and Tamm), whose largest value is 1 - 1/n^2
    full = 1.0 - 1.0 / (1.0 + REFRACTIVITY) ** 2
    track = np.repeat(np.arange(tracks), rng.poisson(PHOTOELECTRONS * np.sin(angle) ** 2 / full))
    radius = FOCAL_LENGTH * np.tan(angle)[track] + rng.normal(0.0, SPREAD, track.size)
    azimuth = rng.uniform(0.0, 2 * np.pi, track.size)
    return track, centre[track] + radius[:, None] * np.stack([np.cos(azimuth), np.sin(azimuth)], axis=1)


def _spill(rng: np.random.Generator, count: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """So many events as they come, classes not balanced: images [count, SIDE, SIDE], labels [count]."""
    event_of = np.repeat(np.arange(count), rng.choice(len(TRACKS), count, p=TRACKS))
    track, place = _photons(rng, event_of.size)
    pmt = pmt_at(place)
    track, pmt = track[pmt >= 0], pmt[pmt >= 0]
    # a PMT hit twice by one ring is one hit
    hits = np.bincount(np.unique(track * PMTS + pmt) // PMTS, minlength=event_of.size)
    rings = np.bincount(event_of[hits >= MIN_HITS], minlength=count)
    images = np.zeros((count, SIDE * SIDE), dtype=np.uint8)
    images[event_of[track], _PIXELS[pmt]] = 1
    noisy = np.repeat(np.arange(count), rng.poisson(NOISE, count))
    images[noisy, _PIXELS[rng.integers(PMTS, size=noisy.size)]] = 1
    return images.reshape(count, SIDE, SIDE), np.minimum(rings, CLASSES - 1)


def events(count: int, seed: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Simulated events with as many of each class as of any other (to one).

    Returns images [count, 16, 16] of 0 and 1 and labels [count] 0..3: the rings of MIN_HITS PMTs or more,
    3 for three and more. The same count and seed give the same events.
    """
    rng = np.random.default_rng(seed)
    wanted = [count // CLASSES + (label < count % CLASSES) for label in range(CLASSES)]
    images = [np.zeros((0, SIDE, SIDE), dtype=np.uint8)]
    labels = [np.zeros(0, dtype=np.int64)]
    while any(wanted):
        seen, rings = _spill(rng, SPILL)
        for label in range(CLASSES):
            take = np.flatnonzero(rings == label)[: wanted[label]]
            wanted[label] -= take.size
            images.append(seen[take])
            labels.append(rings[take])
    order = rng.permutation(count)
    return np.concatenate(images)[order], np.concatenate(labels)[order]
