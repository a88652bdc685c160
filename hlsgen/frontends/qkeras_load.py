"""Keras models from files: read with what QKeras and Keras itself define, never running code of the file.

Keras is Keras 2 here (the package tf_keras), which QKeras 0.9 is written for. TensorFlow decides when it is
imported which Keras it shows, by the environment variable TF_USE_LEGACY_KERAS: `tensorflow_packages` sets it.
Importing this module imports nothing of TensorFlow.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hlsgen.errors import DesignError, Problem, ToolError

REMEDY = "pip install 'hlsgen[qkeras]'"
CONTAINERS = frozenset({"Functional", "Model", "Sequential"})
CODE = frozenset(
    {"Lambda", "TFOpLambda", "SlicingOpLambda", "ClassMethod", "InstanceMethod", "InstanceProperty"}
)
"""Layers whose configuration is code, or names functions to call; only Lambda holds code of its own."""
TRAINING = frozenset({"compile_config", "training_config"})
"""Keys of what only training needs (optimisers, losses), which is not loaded."""
NO_LAYERS = frozenset({"Policy"})
"""Classes of parts of a layer that have names too."""
PACKAGES = frozenset({"keras", "tf_keras", "tensorflow", "qkeras", "builtins"})
"""The packages that a file may name as the home of a class: loading it imports what the file names."""


@dataclass(frozen=True, kw_only=True)
class Packages:
    """The modules of TensorFlow's that a frontend works with."""

    tensorflow: Any
    keras: Any
    qkeras: Any
    quantizers: Any


def tensorflow_packages() -> Packages:
    """TensorFlow, Keras 2 and QKeras, imported.

    Raises ToolError: one of them is missing, or TensorFlow was imported before with Keras 3.
    """
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        with quiet(), _without_messages():
            import tensorflow
            import tf_keras

            of_keras_2 = tensorflow.keras.layers.Layer.__module__.startswith("tf_keras")
            if of_keras_2:
                import qkeras
                import qkeras.quantizers

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


def loaded_model(source: Any, packages: Packages, known: frozenset[str]) -> Any:
    """The model of a path to a .h5 file, a .keras file or a SavedModel folder; a model itself as it is.

    known: the classes of layers that are accepted. Raises DesignError: there is no such model, it cannot be
    read, or its description has other layers than those, which is found before anything is loaded.
    """
    if not isinstance(source, str | os.PathLike):
        return _live(source, packages)
    path = Path(source)
    check_description(_description(path), path, known)
    objects: dict[str, Any] = {}
    with quiet():
        packages.qkeras.utils._add_supported_quantized_objects(objects)
        objects.setdefault("quantized_hswish", packages.quantizers.quantized_hswish)
        try:
            return packages.keras.models.load_model(str(path), custom_objects=objects, compile=False)
        except Exception as error:  # of Keras or HDF5, for a file that is not as its description says
            raise _problem(
                f"{path}: Keras cannot load the model: {_said(error)}", _load_remedy(path)
            ) from None


def _said(error: Exception) -> str:
    """What an error of a package says, in a line: Keras puts the cause behind the whole configuration."""
    text = str(error).rpartition("Exception encountered: ")[2].strip() or type(error).__name__
    return text.splitlines()[0][:300]


def _load_remedy(path: Path) -> str:
    if path.suffix == ".keras":
        return (
            'save it as HDF5, with model.save("model.h5"): QKeras\' layers do not survive the .keras format'
        )
    return 'a file written by model.save("model.h5") with the installed versions of tf_keras and QKeras'


def _live(model: Any, packages: Packages) -> Any:
    if isinstance(model, packages.keras.Model):
        return model
    kind = f"{type(model).__module__}.{type(model).__name__}"
    if kind.startswith("keras."):
        message = f"the model is of Keras 3 ({kind})"
        raise _problem(
            message, "make it with tf_keras: set TF_USE_LEGACY_KERAS=1 before importing tensorflow"
        )
    message = f"a Keras model is a model of tf_keras or the path of a file, not {kind}"
    raise _problem(
        message, 'a Functional or Sequential model, or the path of a file from model.save("model.h5")'
    )


def _problem(message: str, fix: str) -> DesignError:
    return DesignError(Problem(message=message, fix=fix))


def _description(path: Path) -> list[dict[str, Any]]:
    """The configurations that a file holds: of the model, or in a SavedModel of each of its objects."""
    try:
        if path.is_dir():
            return _saved_model_objects(path)
        if not path.exists():
            raise _problem(
                f"there is no model file {path}", "the path of a .h5 or .keras file or SavedModel folder"
            )
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return [json.loads(archive.read("config.json"))]
        return [_hdf5_configuration(path)]
    except (OSError, KeyError, ValueError) as error:
        message = f"{path} is no Keras model that hlsgen can read: {_said(error)}"
        raise _problem(message, 'a file written by model.save("model.h5")') from None


def _hdf5_configuration(path: Path) -> dict[str, Any]:
    import h5py

    with h5py.File(path, "r") as file:
        text = file.attrs.get("model_config")
    if text is None:
        raise _problem(
            f"{path} holds weights, but no model",
            'save the whole model with model.save("model.h5"), not only its weights',
        )
    configuration = json.loads(text)
    if not isinstance(configuration, dict):
        raise ValueError("its model_config is no object")
    return configuration


def _saved_model_objects(path: Path) -> list[dict[str, Any]]:
    from tf_keras.protobuf import saved_metadata_pb2

    metadata = path / "keras_metadata.pb"
    if not metadata.exists():
        raise _problem(
            f"the folder {path} holds no Keras model: it has no keras_metadata.pb",
            'a SavedModel written by model.save("folder") of tf_keras, or a .h5 file',
        )
    saved = saved_metadata_pb2.SavedMetadata()
    try:
        saved.ParseFromString(metadata.read_bytes())
    except Exception as error:  # of protobuf's, for what is no message
        raise ValueError(str(error)) from None
    found = []
    for node in saved.nodes:
        described = json.loads(node.metadata)
        if node.identifier in (
            "_tf_keras_layer",
            "_tf_keras_network",
            "_tf_keras_sequential",
            "_tf_keras_model",
        ):
            found.append(described)
    return found


def check_description(configurations: Iterable[dict[str, Any]], path: Path, known: frozenset[str]) -> None:
    """Raises DesignError: every layer whose class is not known, and every class from a strange package."""
    problems: dict[str, Problem] = {}
    for configuration in configurations:
        for described in _objects(configuration):
            problem = _layer_problem(described, path, known) or _home_problem(described, path)
            if problem is not None:
                problems.setdefault(problem.message, problem)
    if problems:
        raise DesignError(problems.values())


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of a configuration that names a class, outer ones first."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            if "class_name" in item:
                yield item
            pending += [part for key, part in reversed(item.items()) if key not in TRAINING]
        elif isinstance(item, list):
            pending += reversed(item)


def _is_layer(described: dict[str, Any]) -> bool:
    """Layers have inbound nodes, or a configuration with a name; initializers and the like have neither."""
    inside = described.get("config")
    return described["class_name"] not in NO_LAYERS and (
        "inbound_nodes" in described or isinstance(inside, dict) and ("name" in inside or "layers" in inside)
    )


def _layer_problem(described: dict[str, Any], path: Path, known: frozenset[str]) -> Problem | None:
    kind = str(described["class_name"])
    inside = described.get("config")
    own = inside.get("name") if isinstance(inside, dict) else None
    name = described.get("name") or own or kind
    if kind == "Lambda":
        message = f"{path}: layer {name} is a Lambda: the file holds Python code for it, which is not run"
        return Problem(message=message, fix="use a layer of Keras or QKeras that does the same")
    if kind in CODE:
        message = (
            f"{path}: layer {name} calls a function of TensorFlow ({kind}), which no layer of ours stands for"
        )
        return Problem(message=message, fix="write it with layers, such as Add()([a, b]) for a + b")
    if not _is_layer(described) or kind.rpartition(">")[2] in known | CONTAINERS:
        return None
    message = f"{path}: layer {name} is of class {kind}, which hlsgen does not know"
    return Problem(message=message, fix=f"one of: {', '.join(sorted(known))}")


def _home_problem(described: dict[str, Any], path: Path) -> Problem | None:
    """A class that loading would import from a package of the file's choice."""
    module = described.get("module")
    if module is None or str(module).partition(".")[0] in PACKAGES:
        return None
    message = (
        f"{path}: class {described['class_name']} is to come from the package {module}, which is not imported"
    )
    return Problem(message=message, fix="only classes of Keras and QKeras")
