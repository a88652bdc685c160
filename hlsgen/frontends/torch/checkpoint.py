"""The weights in a file of PyTorch's: a state dict, or one in a checkpoint that holds more. It is not run."""

from __future__ import annotations

import argparse
import pathlib
import pickle
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hlsgen.base.errors import DesignError, Place, Problem
from hlsgen.base.own_code import first_line
from hlsgen.designfile.validation import printable
from hlsgen.frontends.torch.archive import RE_SAVE, archive_fault
from hlsgen.frontends.torch.package import torch

Tensors = Mapping[str, torch.Tensor]
MOST_LISTED = 5
"""Names that a message lists before it says how many there are more."""
DEEPEST = 3
"""Dictionaries inside each other in which a state dict is looked for."""
BESIDE: list[Callable[..., Any] | tuple[Callable[..., Any], str]] = [
    argparse.Namespace,
    pathlib.PosixPath,
    np.float64(0).__reduce__()[0],  # type: ignore[list-item]
    np.dtype,
    *(type(np.dtype(name)) for name in ("float64", "float32", "int64", "int32", "bool")),
]
"""What checkpoints hold beside their tensors: arguments of the command line, numbers of NumPy. Harmless."""
PACKED, OBSERVED = "_packed_params", "activation_post_process"
"""Parts of the names that PyTorch's own quantisation gives."""
NAMED = re.compile(r"GLOBAL ([\w.]+)|class (\S+)")


def without_wrapper(state: Tensors, own: Tensors) -> Tensors:
    """The tensors under the model's own names: DataParallel and others put theirs before each (module.)."""
    if state.keys() <= own.keys():
        return state
    for prefix in {name[: -len(wanted)] for name in state for wanted in own if name.endswith(f".{wanted}")}:
        inner = {name.removeprefix(prefix): tensor for name, tensor in state.items()}
        if all(name.startswith(prefix) for name in state) and inner.keys() <= own.keys():
            return inner
    return state


def _inside(state: Mapping[Any, Any], own: Tensors, depth: int = 1) -> dict[str, Tensors]:
    """The state dicts in a checkpoint, by where they lie in it: those that fit the model, or all."""
    found: dict[str, Tensors] = {}
    for key, held in state.items():
        if _is_state(held):
            found[f"[{key!r}]"] = held
        elif isinstance(held, Mapping) and depth < DEEPEST:
            found |= {f"[{key!r}]{path}": one for path, one in _inside(held, own, depth + 1).items()}
    fitting = {path: one for path, one in found.items() if without_wrapper(one, own).keys() == own.keys()}
    return found if len(found) == 1 else fitting or found


def _is_state(held: object) -> bool:
    """Whether it is tensors by name, at least one."""
    if not isinstance(held, Mapping) or not held:
        return False
    names = all(isinstance(name, str) for name in held)
    return names and all(isinstance(tensor, torch.Tensor) for tensor in held.values())


def state_dict(weights: Path, own: Tensors, place: Place | None) -> dict[str, torch.Tensor]:
    """The tensors of a file by name, its own or those in a checkpoint; nothing in it is executed."""
    fix = RE_SAVE
    if not weights.is_file():
        raise _error(f"there is no weights file {weights}", fix, place)
    try:
        fault = archive_fault(weights)
        if fault is not None:
            raise _error(f"{weights.name} {fault[0]}", fault[1], place)
        with warnings.catch_warnings(), torch.serialization.safe_globals(BESIDE):
            warnings.simplefilter("ignore")
            state = torch.load(weights, map_location="cpu", weights_only=True)
    except DesignError:
        raise
    except pickle.UnpicklingError as error:
        raise _more_than_tensors(weights, error, place) from error
    except Exception as error:  # what is no such file makes the unpickler raise anything
        raise _error(f"{weights.name} cannot be read: {first_line(error)}", fix, place) from error
    _refuse_quantised(state, weights, place)
    if not _is_state(state):
        inside = _inside(state, own) if isinstance(state, Mapping) else {}
        if len(inside) == 1:
            return dict(*inside.values())
        if inside:
            message = f"{weights.name} holds {len(inside)} state dicts, {listed(list(inside))}"
            one = f"torch.load({str(weights)!r}, weights_only=True){next(iter(inside))}"
            raise _error(message, f"a file with the one that is meant: torch.save({one}, other)", place)
        message = f"{weights.name} holds a {type(state).__name__}{_held(state)}, not a state dict"
        raise _error(message, fix, place)
    return dict(state)


def _held(state: object) -> str:
    """What a message says of the content of what should be a state dict."""
    if not isinstance(state, Mapping):
        return ""
    if not state:
        return " with nothing in it"
    said = [
        f"{printable(str(key))} (a {type(value).__name__})" if isinstance(key, str) else f"the key {key!r}"
        for key, value in state.items()
        if not isinstance(key, str) or not isinstance(value, torch.Tensor)
    ]
    return f" with {listed(said)}"


def _more_than_tensors(weights: Path, error: Exception, place: Place | None) -> DesignError:
    """What PyTorch's reader refuses, by its name where it says one."""
    found = NAMED.search(str(error))
    what = f" ({printable(found[1] or found[2])})" if found else ""
    message = (
        f"{weights.name} holds more than tensors{what}, or is no file of PyTorch's: nothing of it is executed"
    )
    whole = "torch.load(path, weights_only=False).state_dict()"
    fix = f"{RE_SAVE}; of a whole model, if you trust its author: {whole}"
    return _error(message, fix, place)


def _refuse_quantised(state: object, weights: Path, place: Place | None) -> None:
    """Refuses what PyTorch's own quantisation has packed, or is about to. Raises DesignError."""
    names = list(_names(state))
    packed = sorted({name.split(f".{PACKED}")[0] for name in names if PACKED in name})
    if packed:
        message = (
            f"{weights.name} was quantised by PyTorch (quantize_dynamic or convert): the weights of "
            f"{listed(packed)} are packed integers"
        )
        fix = (
            "the state dict from before that: hlsgen quantises itself; or that model as ONNX, with from_onnx"
        )
        raise _error(message, fix, place)
    observed = sorted({name.split(f".{OBSERVED}")[0] for name in names if OBSERVED in name})
    if observed:
        message = (
            f"{weights.name} was prepared for quantisation by PyTorch: {listed(observed)} have observers"
        )
        raise _error(message, "the state dict from before prepare: hlsgen chooses types from frames", place)


def _names(state: object, depth: int = 0) -> Iterator[str]:
    """The names in a checkpoint and in the dictionaries inside it."""
    if isinstance(state, Mapping) and depth < DEEPEST:
        for key, held in state.items():
            yield str(key)
            yield from _names(held, depth + 1)


def listed(names: Sequence[str]) -> str:
    """The first of some names, and how many there are more."""
    shown = ", ".join(printable(name) for name in names[:MOST_LISTED])
    rest = len(names) - MOST_LISTED
    return f"{shown} and {rest} more" if rest > 0 else shown


def _error(message: str, fix: str, place: Place | None) -> DesignError:
    return DesignError(Problem(message=message, fix=fix, place=place))
