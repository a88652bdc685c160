"""Input frames and weights of a design: a photograph, random numbers, or files.

Files are taken as hostile: nothing is unpickled, and a header is believed only so far as the bytes behind it
go. Every mistake in a file is a `DesignError`; what comes back is float64 and finite.
"""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from hlsgen.base.errors import DesignError, Place, Problem

Floats = NDArray[np.float64]
Shape = tuple[int, int, int]
WeightShape = tuple[int, ...]
"""[M, C, KH, KW] of a convolution, [M, F] of a matrix, [C] of one number a channel."""

PHOTOGRAPH = "grace_hopper.jpg"
TAPS = 9
"""Rows and columns of a filter of the photograph."""
ORIENTATIONS = 8
WAVELENGTHS = (6.0, 9.0, 4.0)
"""The waves' lengths in pixels; the next one is used when all orientations have been."""
FILTER_SUM = 1000
"""Positive taps of a filter sum to about this (and the negative ones to minus that)."""
SCALE = 256.0 * 1024.0
"""Divides grey levels (0 to 255) times taps; 255 * 1024 < SCALE keeps every value inside (-1, 1)."""
LAP_STEP = (37, 53)
"""Pixels by which the grid of patches moves once every patch has been used; primes, to meet new patches."""
BLOCK_PIXELS = 1 << 16
"""Pixels that are filtered at a time: bounds the memory for large frames."""

HEADER_BYTES = 1 << 14
"""The part of a .npy file that is looked at for its header; NumPy writes a few hundred bytes."""
MOST_BYTES = 1 << 32
"""A larger array is refused."""


# ---------------------------------------------------------------- photograph


def photograph(shape: Shape, frames: int) -> Floats:
    """[frames, C, H, W]: patches of a photograph under C oriented filters, each value inside (-1, 1).

    The photograph is the portrait of Grace Hopper that comes with matplotlib, in grey, enlarged if a frame is
    larger. Frame 0 is the face; the following frames go over a grid of H x W patches, right and then down,
    which wraps around at the borders; after the last patch the grid moves by LAP_STEP. Channel c is a Gabor
    filter of 9 x 9 taps; orientation, phase and wavelength follow from c (48 filters, then the first again).
    Scale: grey is 0 to 255/256 and the taps of one sign sum to at most 1, in every channel and frame, so that
    |x| < 1 whatever the picture; over this one the largest is about 0.75.
    Frame i is the same for every `frames`. Filters and grey levels are integers: the sums are exact.
    """
    channels, height, width = shape
    picture = _picture(height, width)
    bank = _filters(channels).reshape(channels, TAPS * TAPS)
    out = np.empty((frames, channels, height, width))
    step = max(1, BLOCK_PIXELS // width)
    for frame in range(frames):
        patch = _patch(picture, frame, height, width)
        windows = np.lib.stride_tricks.sliding_window_view(patch, (TAPS, TAPS))
        for top in range(0, height, step):
            rows = windows[top : top + step]
            sums = bank @ rows.reshape(-1, TAPS * TAPS).T
            out[frame, :, top : top + step] = sums.reshape(channels, -1, width) / SCALE
    return out


@lru_cache(maxsize=2)
def _picture(height: int, width: int) -> Floats:
    """Grey levels 0 to 255 of the photograph, at least `height` x `width`."""
    from matplotlib import cbook
    from PIL import Image

    path = cbook.get_sample_data(PHOTOGRAPH, asfileobj=False)
    with Image.open(path) as image:
        grey = image.convert("L")
        factor = max(height / grey.height, width / grey.width, 1.0)
        if factor > 1.0:
            size = (math.ceil(grey.width * factor), math.ceil(grey.height * factor))
            grey = grey.resize(size, Image.Resampling.BICUBIC)
        return np.asarray(grey, dtype=np.float64)


def _patch(picture: Floats, frame: int, height: int, width: int) -> Floats:
    """[height + TAPS - 1, width + TAPS - 1]: the patch of `frame` and what its filters reach around it."""
    rows, columns = picture.shape
    across, down = columns // width, rows // height
    lap, place = divmod(frame, across * down)
    # The face is a third from the top and in the middle.
    top = rows // 3 - height // 2 + place // across * height + lap * LAP_STEP[0]
    left = columns // 2 - width // 2 + place % across * width + lap * LAP_STEP[1]
    margin = TAPS // 2
    return picture[
        np.ix_(
            np.arange(top - margin, top + height + margin) % rows,
            np.arange(left - margin, left + width + margin) % columns,
        )
    ]


def _filters(channels: int) -> Floats:
    """[channels, TAPS, TAPS]: whole numbers that sum to zero in each filter."""
    return np.stack([_gabor(channel) for channel in range(channels)])


def _gabor(channel: int) -> Floats:
    """Channel 2n and 2n + 1 are the even and the odd filter of one orientation."""
    turn, phase = divmod(channel, 2)
    angle = math.pi * (turn % ORIENTATIONS) / ORIENTATIONS
    wavelength = WAVELENGTHS[turn // ORIENTATIONS % len(WAVELENGTHS)]
    y, x = np.mgrid[:TAPS, :TAPS] - TAPS // 2
    along = x * math.cos(angle) + y * math.sin(angle)
    envelope = np.exp(-(x * x + y * y) / (2 * (TAPS / 4) ** 2))
    wave = envelope * np.cos(2 * math.pi * along / wavelength - phase * math.pi / 2)
    wave -= envelope * (wave.sum() / envelope.sum())
    taps = np.rint(wave * (2 * FILTER_SUM / np.abs(wave).sum()))
    taps[TAPS // 2, TAPS // 2] -= taps.sum()  # what rounding left over: a flat picture gives zero
    return np.asarray(taps, dtype=np.float64)


# ---------------------------------------------------------------- random


def random_frames(shape: Shape, frames: int, seed: int) -> Floats:
    """[frames, C, H, W] uniform in [-1, 1). Frame i is the same for every `frames`."""
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (frames, *shape))


def random_weights(shape: WeightShape, seed: int) -> tuple[Floats, Floats]:
    """(weights [M, C, KH, KW], bias [M]): He-scaled normal clipped to (-1, 1), and uniform in [-0.5, 0.5).

    He scale: standard deviation sqrt(2 / (C * KH * KW)), which keeps the size of values through ReLU layers.
    """
    generator = np.random.default_rng(seed)
    largest = np.nextafter(1.0, 0.0)
    weights = generator.normal(0.0, math.sqrt(2.0 / math.prod(shape[1:])), shape)
    return np.clip(weights, -largest, largest), generator.uniform(-0.5, 0.5, shape[0])


# ---------------------------------------------------------------- choosing


def spread(total: int, count: int) -> list[int]:
    """`count` of `total` frames, or all: one from each of as many equal parts, ascending.

    A place in each part is drawn by a fixed seed, so that neither a sorted file nor one whose classes take
    turns gives frames of one kind only.
    """
    if count >= total:
        return list(range(total))
    edges = [index * total // count for index in range(count + 1)]
    draws = np.random.default_rng(0).random(count)
    return [low + int(draw * (high - low)) for low, high, draw in zip(edges, edges[1:], draws, strict=False)]


# ---------------------------------------------------------------- files


class _Refused(Exception):
    """What is wrong with a file, and what would be accepted; the callers add the file's name."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


def from_file(path: Path, shape: tuple[int, ...], place: Place | None = None) -> Floats:
    """[N, *shape]: the frames of a .npy file that holds [N, *shape], or one frame as `shape`.

    Raises DesignError (at `place`, if given): the file is missing, unreadable, no .npy file or cut off; it
    holds Python objects or anything but real numbers; the shape is another; no frames; NaN or infinity; more
    than 4 GiB.
    """

    def check(header: _Header) -> None:
        if header.shape[-len(shape) :] != shape or len(header.shape) > len(shape) + 1:
            raise _Refused(
                f"holds {_shown(header.shape)}, but the input is {_shown(shape)}",
                f"save an array of shape {_shown(shape)}, or [frames, {', '.join(map(str, shape))}]"
                + (_rearranged(header.shape, ("C", "H", "W"), shape) if len(shape) == 3 else ""),
            )
        if 0 in header.shape:
            raise _Refused("holds no frames", "save at least one frame")

    with _reported(path, "samples", place), _opened(path) as stream:
        array = _read(stream, check, size=path.stat().st_size)
    return array.reshape(-1, *shape)


def load_weights(
    path: Path,
    name: str,
    shape_weights: WeightShape,
    shape_bias: tuple[int] | None,
    place: Place | None = None,
) -> tuple[Floats, Floats]:
    """(weights [M, C, KH, KW], bias [M]) of layer `name` from a .npz file, or a .npy of the weights alone.

    In a .npz the weights are "<name>.weight" or "weight" ("weights" too), the bias likewise ("biases"); the
    layer's own entries go first. shape_bias None: the layer has no bias, and zeros come back.
    Raises DesignError (at `place`, if given), with weights and bias reported together: the file is missing,
    unreadable or of another kind; an entry is missing, there twice, encrypted or cut off; a bias that the
    layer does not have; and as `from_file` for the arrays themselves.
    """
    with _reported(path, f"weights of {name}", place), _opened(path) as stream:
        if path.suffix.lower() == ".npz":
            with _archive(stream) as archive:
                return _from_archive(archive, path, name, shape_weights, shape_bias, place)
        if shape_bias is not None:
            raise _Refused(
                "is a .npy file and holds no bias",
                'save a .npz file with "weight" and "bias", or set bias: false',
            )
        weights = _read(stream, _shape_check("weights", shape_weights), size=path.stat().st_size)
        return weights, np.zeros(shape_weights[0])


def _from_archive(
    archive: zipfile.ZipFile,
    path: Path,
    name: str,
    shape_weights: WeightShape,
    shape_bias: tuple[int] | None,
    place: Place | None,
) -> tuple[Floats, Floats]:
    problems: list[Problem] = []
    found: list[Floats] = []
    for what, shape in (("weight", shape_weights), ("bias", shape_bias)):
        try:
            found.append(_entry(archive, name, what, shape, shape_weights[0]))
        except _Refused as refused:
            problems.append(_problem(path, f"weights of {name}", refused, place))
    if problems:
        raise DesignError(problems)
    weights, bias = found
    return weights, bias


def _entry(
    archive: zipfile.ZipFile, name: str, what: str, shape: tuple[int, ...] | None, filters: int
) -> Floats:
    """The array of layer `name` called `what`; zeros [filters] where `shape` is None and it is absent."""
    plural = {"weight": "weights", "bias": "biases"}[what]
    member = _member(archive, name, what, plural)
    if shape is None:
        if member is not None:
            raise _Refused(
                f'holds "{member}", but the layer has no bias', "set bias: true, or remove it from the file"
            )
        return np.zeros(filters)
    if member is None:
        present = ", ".join(f'"{_key(entry)[:60]}"' for entry in archive.namelist()[:8]) or "nothing"
        raise _Refused(
            f'has neither "{name}.{what}" nor "{what}"; it holds {present}',
            f"numpy.savez({what}=array of shape {_shown(shape)})",
        )
    try:
        with archive.open(f"{member}.npy") as stream:
            return _read(stream, _shape_check(f'"{member}"', shape), what=f'"{member}" ')
    # zipfile tells a damaged, an encrypted and a strangely compressed entry in these ways
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError) as error:
        raise _Refused(
            f'"{member}" cannot be unpacked: {error}', "write the file again with numpy.savez"
        ) from None


def _member(archive: zipfile.ZipFile, name: str, what: str, plural: str) -> str | None:
    entries = archive.namelist()
    for prefix in (f"{name}.", ""):
        keys = [key for key in (prefix + what, prefix + plural) for _ in range(entries.count(f"{key}.npy"))]
        if len(keys) > 1:
            raise _Refused(f'holds "{keys[0]}" and "{keys[1]}"', "keep one of them")
        if keys:
            return keys[0]
    return None


def _key(entry: str) -> str:
    return entry.removesuffix(".npy")


def _shape_check(what: str, shape: tuple[int, ...]) -> Callable[[_Header], None]:
    letters = ("M", "C", "KH", "KW")[: len(shape)]

    def check(header: _Header) -> None:
        if header.shape != shape:
            raise _Refused(
                f"{what} are {_shown(header.shape)}, but the layer needs {_shown(shape)}",
                f"save [{', '.join(letters)}] = {_shown(shape)}{_rearranged(header.shape, letters, shape)}",
            )

    return check


def _rearranged(have: tuple[int, ...], letters: tuple[str, ...], want: tuple[int, ...]) -> str:
    """A hint for the axis order of Keras, the mistake that is made most."""
    order = tuple(range(1, len(want))) + (0,) if len(want) == 3 else (2, 3, 1, 0)[: len(want)]
    if len(want) < 3 or tuple(want[axis] for axis in order) != have[-len(want) :]:
        return ""
    return f"; it looks like [{', '.join(letters[axis] for axis in order)}]: transpose it"


# ---------------------------------------------------------------- one array


@dataclass(frozen=True, kw_only=True)
class _Header:
    """What a .npy header claims; the data begin `offset` bytes from the start."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    offset: int

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """The size as a Python integer, so that an absurd shape does not overflow."""
        return self.count * self.dtype.itemsize


def _read(
    stream: IO[bytes], check: Callable[[_Header], None], *, size: int | None = None, what: str = ""
) -> Floats:
    """The array in `stream`; no memory is taken for data that `check` refuses or that is not there.

    `size`: of the file in bytes, where it is known; `what` opens the messages. Raises _Refused.
    """
    header = _header(stream.read(HEADER_BYTES), what)
    _check_dtype(header.dtype, what)
    check(header)
    again = "write the file again with numpy.save"
    if size is not None and size < header.offset + header.bytes:
        claim = (
            f"{what}claims {_bytes(header.bytes)} of data, but only {_bytes(size - header.offset)} are there"
        )
        raise _Refused(claim, again)
    if header.bytes > MOST_BYTES:
        raise _Refused(
            f"{what}holds {_bytes(header.bytes)}, more than {_bytes(MOST_BYTES)}", "use fewer frames"
        )
    stream.seek(header.offset)
    data = stream.read(header.bytes)
    if len(data) < header.bytes:
        raise _Refused(f"{what}is cut off: {_bytes(len(data))} of {_bytes(header.bytes)}", again)
    flat = np.frombuffer(data, header.dtype, header.count)
    with np.errstate(over="ignore"):  # a long double may exceed float64; it is infinite then
        values = flat.reshape(header.shape, order="F" if header.fortran else "C").astype(
            np.float64, order="C"
        )
    _check_finite(values, what)
    return values


def _header(start: bytes, what: str) -> _Header:
    """Raises _Refused unless `start` opens a .npy file."""
    if not start.startswith(b"\x93NUMPY"):
        raise _Refused(f"{what}is no .npy file", "write it with numpy.save (or numpy.savez)")
    stream = BytesIO(start)
    try:
        version = np.lib.format.read_magic(stream)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if read is None:
            raise ValueError(f"version {version[0]}.{version[1]}")
        shape, fortran, dtype = read(stream)
    # The header is a Python literal: what NumPy's parser raises on a damaged one has no end.
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0][:100]
        raise _Refused(
            f"{what}has a header that cannot be read: {reason}", "write it with numpy.save"
        ) from None
    if any(type(side) is not int or side < 0 for side in shape):
        raise _Refused(f"{what}has the impossible shape {_shown(shape)}", "write it with numpy.save")
    return _Header(shape=shape, fortran=fortran, dtype=dtype, offset=stream.tell())


def _check_dtype(dtype: np.dtype[Any], what: str) -> None:
    if dtype.hasobject:
        raise _Refused(
            f"{what}holds Python objects, which are never unpickled",
            "save an array of numbers, array.astype(float)",
        )
    if dtype.kind not in "fiu":
        raise _Refused(f"{what}holds {str(dtype)[:60]}, not real numbers", "save floats or integers")


def _check_finite(values: Floats, what: str) -> None:
    finite = np.isfinite(values)
    if not finite.all():
        first = tuple(int(i) for i in np.argwhere(~finite)[0])
        count = int((~finite).sum())
        raise _Refused(
            f"{what}holds {count} values that are NaN or infinite (in float64), the first at {_shown(first)}",
            "save finite numbers",
        )


# ---------------------------------------------------------------- opening and reporting


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """The file, open. Raises _Refused; a folder or a pipe is refused before it can block."""
    try:
        if path.exists() and not path.is_file():
            raise _Refused("is not a file", "name a .npy or .npz file")
        stream = path.open("rb")
    except FileNotFoundError:
        raise _Refused("does not exist", "correct the path; it is relative to the design file") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise _Refused(f"cannot be opened: {reason}", "name a readable file") from None
    with stream:
        try:
            yield stream
        except OSError as error:
            raise _Refused(f"cannot be read: {error.strerror or error}", "name a readable file") from None


@contextmanager
def _archive(stream: IO[bytes]) -> Iterator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(stream)
    # zipfile tells a split archive, and one of a later format, by NotImplementedError
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise _Refused(f"is no .npz file: {error}", "write it with numpy.savez") from None
    with archive:
        yield archive


@contextmanager
def _reported(path: Path, what: str, place: Place | None) -> Iterator[None]:
    """Turns what the block refuses into a DesignError."""
    try:
        yield
    except _Refused as refused:
        raise DesignError(_problem(path, what, refused, place)) from None


def _problem(path: Path, what: str, refused: _Refused, place: Place | None) -> Problem:
    return Problem(message=f"{what}: {path} {refused.message}", fix=refused.fix, place=place)


def _shown(shape: tuple[int, ...]) -> str:
    """[1, 2, 3]; a header may claim many axes of many digits, so no more than fits a line."""
    text = f"[{', '.join(map(str, shape))}]"
    return text if len(text) <= 80 else f"{text[:76]} ..."


def _bytes(count: int) -> str:
    return f"{count} bytes" if count < 1 << 20 else f"{count / (1 << 20):.4g} MiB"
