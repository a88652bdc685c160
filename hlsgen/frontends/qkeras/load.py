"""Keras models from files: read with what Keras and QKeras define themselves, never running the file's code.

A file of Keras 3 is read with Keras 3 (the package keras) on whatever backend the process uses, any other
with legacy Keras (tf_keras), which QKeras 0.9 is written for. Both live in one process. TensorFlow decides
when it is imported which Keras it shows under its own name, by the environment variable TF_USE_LEGACY_KERAS:
QKeras goes by that, so it is set here before TensorFlow's first import. Importing this module imports nothing
of TensorFlow.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hlsgen.base.errors import DesignError, ToolError
from hlsgen.base.scratch import scratch_errors
from hlsgen.frontends.qkeras.budget import limited_weights
from hlsgen.frontends.qkeras.calls import is_model
from hlsgen.frontends.qkeras.dense_batchnorm import dense_batchnorm
from hlsgen.frontends.qkeras.description import Names, checked_description, is_of_hgq, is_of_keras_3
from hlsgen.frontends.qkeras.files import KerasFile, problem, read_file, said, weights_of

REMEDY = "pip install 'hlsgen[qkeras]'"


@dataclass(frozen=True, kw_only=True)
class Packages:
    """The modules of TensorFlow's that a frontend works with."""

    tensorflow: Any
    keras: Any
    qkeras: Any
    quantizers: Any


def tensorflow_packages() -> Packages:
    """TensorFlow, Keras 2 and QKeras, imported.

    Raises ToolError: one of them is missing, TensorFlow was imported before with Keras 3, or `qkeras` is the
    package of that name in HGQ2.
    """
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        with quiet(), _without_messages():
            import tensorflow
            import tf_keras

            of_keras_2 = tensorflow.keras.layers.Layer.__module__.startswith("tf_keras")
            if of_keras_2:
                with _legacy_names():
                    import qkeras
                    import qkeras.quantizers

                _check_qkeras(qkeras)
                # the names tensorflow.keras and `from tensorflow.keras` may differ
                of_keras_2 = issubclass(qkeras.QDense, tf_keras.layers.Layer)
    except ImportError as error:
        raise ToolError(
            "reading a QKeras model needs the packages tensorflow, tf_keras and qkeras, but "
            f"{error.name or error} cannot be imported\nfix: {REMEDY}"
        ) from None
    if not of_keras_2:
        raise ToolError(
            "TensorFlow was imported with Keras 3 before hlsgen could ask for Keras 2, which QKeras needs\n"
            "fix: set the environment variable TF_USE_LEGACY_KERAS=1 before Python starts, or do not import "
            "tensorflow before the model is read"
        )
    return Packages(tensorflow=tensorflow, keras=tf_keras, qkeras=qkeras, quantizers=qkeras.quantizers)


def _check_qkeras(qkeras: Any) -> None:
    """Refuses the package of this name that HGQ2 0.2 puts over QKeras'. Raises ToolError."""
    if not hasattr(qkeras, "QDense"):
        raise ToolError(
            "the package qkeras is not QKeras: HGQ2 brings one of the same name, which replaces it\n"
            "fix: two environments; in that of QKeras, pip uninstall hgq2, and then "
            "pip install --force-reinstall --no-deps QKeras==0.9.0"
        )


@contextlib.contextmanager
def _legacy_names() -> Iterator[None]:
    """Inside, `from tensorflow.keras import` means legacy Keras, also after Keras 3 has imported TensorFlow.

    TensorFlow's attribute goes by the environment when it is first used, but its path was set at the import.
    """
    if "qkeras" in sys.modules:
        yield
        return
    home = "tf_keras.api._v2.keras"
    importlib.import_module(home)
    aliases = {
        f"tensorflow.keras{name.removeprefix(home)}": module
        for name, module in list(sys.modules.items())
        if name == home or name.startswith(f"{home}.")
    }
    if any(name in sys.modules for name in aliases):
        yield
        return
    sys.modules.update(aliases)
    try:
        yield
    finally:
        for name in aliases:
            sys.modules.pop(name, None)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No warnings of TensorFlow's and QKeras' own age: they use what Python and their packages deprecate."""
    with warnings.catch_warnings():
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, SyntaxWarning):
            warnings.simplefilter("ignore", category)
        warnings.filterwarnings("ignore", message=".*keras.constraints.serialize.*")
        yield


@contextlib.contextmanager
def _without_messages() -> Iterator[None]:
    """Nothing on standard error, for as long as TensorFlow is imported for the first time.

    It writes there, past Python and whatever its log level, which processor and graphics cards it found.
    """
    if "tensorflow" in sys.modules:
        yield
        return
    try:
        kept = os.dup(2)
    except OSError:  # no standard error
        yield
        return
    sink = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(sink, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(sink)


def loaded_model(source: Any, names: Names, weights: Path | None = None) -> Any:
    """The model of a path to a .h5, .keras or .json file or a SavedModel folder; a model itself as it is.

    names: what a file may name. weights: of a .json file. Raises DesignError: there is no such model, it
    cannot be read, or its description names something else, which is found before Keras sees it. ToolError: a
    package that it needs is missing.
    """
    if not isinstance(source, str | os.PathLike):
        return _live(source)
    path = Path(source)
    if path.is_dir():
        tensorflow_packages()  # whose message format a SavedModel's description has
    file = read_file(path, weights)
    keras_3 = is_of_keras_3(file)
    description = checked_description(file, names, keras_3)
    with quiet(), _without_messages():
        build = _build_with_keras_3 if keras_3 else _build_with_legacy_keras
        return build(file, description)


def _build_with_keras_3(file: KerasFile, description: dict[str, Any]) -> Any:
    keras = _imported("keras")
    if _names_hgq(description):
        _imported("hgq", "pip install 'hlsgen[hgq]'")  # which registers its layers with Keras
    with _loading(file), weights_of(file) as weights:
        with limited_weights(keras.layers.Layer, file, weights.size):
            model = keras.saving.deserialize_keras_object(description, safe_mode=True)
        _load_weights(model, file, weights.path)
        return model


def _build_with_legacy_keras(file: KerasFile, description: dict[str, Any]) -> Any:
    objects: dict[str, Any] = {}
    if _needs_qkeras(description):
        packages = tensorflow_packages()
        objects = _qkeras_objects(packages)
    keras = _imported("tf_keras")
    # makes legacy Keras read descriptions in the form of HDF5 files: QKeras is written for that one alone
    options = _imported("tf_keras.src.saving.legacy.saved_model.utils")
    with (
        _loading(file),
        weights_of(file) as weights,
        _with_stack(),
        options.keras_option_scope(save_traces=False, in_tf_saved_model_scope=True),
    ):
        with limited_weights(keras.layers.Layer, file, weights.size):
            model = keras.models.model_from_config(description, custom_objects=objects)
        _load_weights(model, file, weights.path)
        return model


def _imported(package: str, remedy: str = REMEDY) -> Any:
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise ToolError(
            f"reading this model needs the package {package}, but {error.name or error} cannot be imported\n"
            f"fix: {remedy}"
        ) from None


@contextlib.contextmanager
def _loading(file: KerasFile) -> Iterator[None]:
    """What Keras and HDF5 raise inside, for a file that is not as its description says, as a DesignError."""
    try:
        yield
    except DesignError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            with scratch_errors("Keras"):
                raise
        fix = 'a file written by model.save("model.h5") with the installed versions of Keras and QKeras'
        raise problem(f"{file.path}: Keras cannot load the model: {said(error)}", fix) from None


def _load_weights(model: Any, file: KerasFile, path: Path) -> None:
    """Loads weights from `path`. Raises DesignError: it lacks some, or they are no numbers; and as Keras."""
    # so that what the file lacks is seen
    for variable in _arrays_of(model):
        variable.assign(np.full(tuple(variable.shape), np.nan, np.float32))
    status = model.load_weights(str(path))
    if file.form == "folder":
        status.assert_existing_objects_matched()
        status.expect_partial()  # what an optimiser left there is not wanted, and no warning
    missing = [str(variable.name) for variable in _arrays_of(model) if np.isnan(variable.numpy()).all()]
    if missing:
        message = f"{file.weights} holds no numbers for the weights {', '.join(missing[:5])}"
        raise problem(message, "the weights of this very model")


def _arrays_of(model: Any) -> list[Any]:
    """The weights of a model that are arrays of real numbers."""
    return [variable for variable in model.weights if len(variable.shape) and "float" in str(variable.dtype)]


def _names_hgq(description: dict[str, Any]) -> bool:
    """Whether an object in the description is of HGQ2."""
    return any(is_of_hgq(item) for item in _objects(description))


def _objects(description: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every object in a description, and itself."""
    pending: list[Any] = [description]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            yield item
            pending += item.values()
        elif isinstance(item, list | tuple):
            pending += item


def _needs_qkeras(description: dict[str, Any]) -> bool:
    """Whether a class or a function in the description can only be QKeras'."""
    kinds = (str(item.get("class_name", "")) for item in _objects(description))
    return any(kind.startswith("Q") or kind[:1].islower() for kind in kinds)


def _qkeras_objects(packages: Packages) -> dict[str, Any]:
    objects: dict[str, Any] = {}
    packages.qkeras.utils._add_supported_quantized_objects(objects)
    objects.setdefault("quantized_hswish", packages.quantizers.quantized_hswish)
    objects["QDenseBatchnorm"] = dense_batchnorm(packages)
    return objects


@contextlib.contextmanager
def _with_stack() -> Iterator[None]:
    """QKeras 0.9 builds a QConv2DTranspose with a function that later TensorFlows have elsewhere."""
    import tensorflow
    from tensorflow.python.ops import array_ops

    if hasattr(array_ops, "stack"):
        yield
        return
    array_ops.stack = tensorflow.stack
    try:
        yield
    finally:
        del array_ops.stack


def _live(model: Any) -> Any:
    if is_model(model):
        return model
    kind = f"{type(model).__module__}.{type(model).__name__}"
    message = f"a Keras model is a model of tf_keras or Keras 3, or the path of a file, not {kind}"
    raise problem(
        message, 'a Functional or Sequential model, or the path of a file from model.save("model.h5")'
    )
