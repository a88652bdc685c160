"""A PyTorch model from the user's own file: imported, built by its function, given its trained weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hlsgen.base.errors import DesignError, Place, Problem
from hlsgen.base.own_code import failure, importable, imported, own_functions
from hlsgen.frontends.torch.checkpoint import MOST_LISTED, listed, state_dict, without_wrapper
from hlsgen.frontends.torch.package import nn, torch
from hlsgen.frontends.torch.tensors import tensor_problems

UNUSED = "num_batches_tracked"
"""A count of training that old checkpoints lack."""
MEND = "mend the model's own code"


def load_module(
    path: Path, function: str, weights: Path | None = None, place: Place | None = None
) -> nn.Module:
    """What `function()` of the Python file `path` returns, with the state dict `weights`, in evaluation mode.

    This runs the user's code. Its folder comes first on sys.path meanwhile, so that the file can import its
    neighbours; afterwards the path and the folder's modules are forgotten. The weights are data, never code.

    Raises DesignError, at `place` or at the line of the user's code: no such file or function, an error in
    it, a result that is no nn.Module, weights that are no state dict of that model.
    """
    if not path.is_file():
        raise _error(f"there is no model file {path}", "the path of a Python file", place)
    with importable(path.resolve().parent):
        try:
            module = imported(path.resolve())
        except BaseException as error:
            raise failure(error, f"importing {path.name} fails", path, MEND, place) from error
        model = _made(module, function, path, place)
    if weights is not None:
        _load_weights(model, weights, place)
    return model.eval()


def _made(module: Any, function: str, path: Path, place: Place | None) -> nn.Module:
    """What the function of the imported file returns."""
    maker: Callable[[], object] | None = getattr(module, function, None)
    if not callable(maker):
        own = own_functions(module)
        fix = f"one of {', '.join(own)}" if own else "define a function that returns the model"
        raise _error(f"{path.name} has no function {function}", fix, place)
    try:
        model = maker()
    except BaseException as error:
        raise failure(error, f"{function}() of {path.name} fails", path, MEND, place) from error
    if not isinstance(model, nn.Module):
        message = f"{function}() of {path.name} returns {type(model).__name__}, not a torch.nn.Module"
        raise _error(message, f"let {function}() return the model", place)
    return model


def _load_weights(model: nn.Module, weights: Path, place: Place | None) -> None:
    """Gives the model the state dict of a file. Raises DesignError: it is none, or that of another model."""
    own = model.state_dict()
    state = without_wrapper(state_dict(weights, own, place), own)
    found = tensor_problems(sorted(state.items()), weights.name, place)
    if found:
        raise DesignError(found)
    wrong = []
    missing = sorted(own.keys() - state.keys() - {name for name in own if name.endswith(UNUSED)})
    unexpected = sorted(state.keys() - own.keys())
    if missing:
        wrong.append(f"it lacks {listed(missing)}")
    if unexpected:
        wrong.append(f"the model has no {listed(unexpected)}")
    for name in sorted(own.keys() & state.keys()):
        if own[name].shape != state[name].shape:
            there, here = (_size(each[name]) for each in (state, own))
            wrong.append(f"{name} is {there} in the file and {here} in the model")
        if state[name].is_complex() and not own[name].is_complex():
            wrong.append(f"{name} holds complex numbers in the file and real ones in the model")
    if wrong:
        message = f"{weights.name} does not fit the model: {'; '.join(wrong[:MOST_LISTED])}"
        raise _error(
            message, "the state dict of this very model: torch.save(model.state_dict(), path)", place
        )
    try:
        model.load_state_dict({**own, **state})
    except RuntimeError as error:
        message = f"{weights.name} cannot be loaded into the model: {_last_line(error)}"
        raise _error(message, "the state dict of this very model", place) from error


def _last_line(error: BaseException) -> str:
    """What an error of several lines says at last."""
    lines = str(error).strip().splitlines()
    return lines[-1].strip() if lines else type(error).__name__


def _size(tensor: torch.Tensor) -> str:
    return " x ".join(str(size) for size in tensor.shape) or "a single number"


def _error(message: str, fix: str, place: Place | None) -> DesignError:
    return DesignError(Problem(message=message, fix=fix, place=place))
