"""A Keras model's description, checked and written anew: Keras builds only what this module has passed.

Descriptions name classes, functions and the packages to import them from. What is passed on names layers,
quantizers and activations that hlsgen knows, in Keras' and QKeras' own packages; what only training needs
(initialisers, regularisers, constraints, losses, optimisers) is left out, so that it need not be known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.frontends.qkeras.alternatives import is_of_hgq_1, refused_layer
from hlsgen.frontends.qkeras.files import KerasFile, printable, problem

MOST_NESTED = 100
"""Lists and objects inside each other."""
CONTAINERS = frozenset({"Functional", "Model", "Sequential"})
TRAINING = frozenset({"compile_config", "training_config", "kernel_range", "bias_range", "gamma_range"})
"""Keys of what only training needs, or of what QKeras ignores."""
UNUSED = (("_initializer", "zeros"), ("_regularizer", None), ("_constraint", None))
"""Ends of keys of what only training needs, and what is written in its place."""
POLICIES = frozenset({"Policy", "DTypePolicy"})
TUPLES = frozenset({"__tuple__", "TensorShape"})
PLAIN = frozenset({"__keras_tensor__", "__numpy__", "__tensor__", "__slice__", "__ellipsis__"})
"""Keras 3's forms of tensors, constants and slices among a layer's arguments."""
KEPT = ("name", "inbound_nodes", "build_config", "shared_object_id")
"""What an object has besides its class and configuration."""
PACKAGES = frozenset({"keras", "tf_keras", "tensorflow", "qkeras", "builtins"})
"""The packages that the home of a class may be in."""
CALL = re.compile(r"(\w+)(\(.*\))?", re.DOTALL)
"""The text of an activation or quantizer: a name, perhaps with arguments."""
HGQ = "hgq"
HGQ_PARTS = frozenset({"QuantizerConfig", "DefaultBitwidthMapper"})
"""Objects of HGQ2 that describe a layer's quantizers."""
HGQ_TRAINING = {"bc": None, "ic": None, "br": None, "ir": None, "fc": None, "fr": None, "beta0": None}
"""Keys of HGQ2's constraints and regularisers, and what is written in their place."""
HGQ_INITIAL = frozenset({"k0", "b0", "i0", "f0", "i_decay_speed"})
"""Keys of what a quantizer of HGQ2 begins with: the file's variables replace it."""


@dataclass(frozen=True, kw_only=True)
class Names:
    """What a description may name.

    operations: functions on tensors, by the class (Keras 3) or symbol (Keras 2), and Keras 3's module. hgq:
    layers of the package hgq (HGQ2).
    """

    layers: frozenset[str]
    functions: frozenset[str]
    quantizers: frozenset[str]
    operations: Mapping[str, str]
    hgq: frozenset[str] = frozenset()


def is_of_keras_3(file: KerasFile) -> bool:
    """Whether Keras 3 wrote the file: by its version, or by where its classes are from."""
    if file.version:
        return not file.version.startswith(("0", "1", "2"))
    return "module" in file.description and not str(file.description["module"]).startswith("tf_keras")


def is_of_hgq(described: Mapping[str, Any]) -> bool:
    """Whether an object is said to be of HGQ2."""
    return str(described.get("module")).partition(".")[0] == HGQ


def checked_description(file: KerasFile, names: Names, keras_3: bool) -> dict[str, Any]:
    """The description with nothing in it but what is known, as Keras builds it.

    Raises DesignError: every layer, class, function and package in it that is not known.
    """
    checker = _Checker(path=file.path, names=names, keras_3=keras_3)
    kind = file.description.get("class_name")
    if not isinstance(kind, str) or kind not in CONTAINERS:
        message = f"{file.path}: the model is of class {printable(kind)}, whose graph of layers no file holds"
        raise problem(message, "a Functional or Sequential model, or the model itself, called once")
    found = checker.cleaned(file.description, "", 0)
    if checker.problems:
        raise DesignError(checker.problems.values())
    assert isinstance(found, dict)
    return found


@dataclass(kw_only=True)
class _Checker:
    path: Path
    names: Names
    keras_3: bool
    problems: dict[str, Problem] = field(default_factory=dict)

    def wrong(self, message: str, fix: str) -> None:
        text = f"{self.path}: {message}"
        self.problems.setdefault(text, Problem(message=text, fix=fix))

    def cleaned(self, value: Any, key: str, depth: int) -> Any:
        """`value`, which stands under `key`, with nothing in it that is not known."""
        if depth > MOST_NESTED:
            raise problem(
                f"{self.path}: its description is nested more than {MOST_NESTED} deep",
                "fewer models inside each other",
            )
        for ending, instead in UNUSED:
            if key.endswith(ending):
                return instead
        if isinstance(value, list):
            return [self.cleaned(item, "", depth + 1) for item in value]
        if isinstance(value, dict):
            if "class_name" in value:
                return self._object(value, key, depth)
            return self._entries(value.items(), depth)
        if isinstance(value, str) and (key == "activation" or key.endswith("quantizer")):
            self._check_function(value, key)
        return value

    def _entries(self, entries: Iterable[tuple[str, Any]], depth: int) -> dict[str, Any]:
        return {name: self.cleaned(item, name, depth + 1) for name, item in entries if name not in TRAINING}

    def _check_function(self, text: str, key: str) -> None:
        match = CALL.fullmatch(text.strip())
        allowed = self.names.functions | self.names.quantizers
        if match is None or match.group(1) not in allowed:
            kind = "activation" if key == "activation" else "quantizer"
            self.wrong(
                f"the {kind} {printable(text)} is not known", f"one of {', '.join(sorted(allowed - {''}))}"
            )

    def _object(self, described: dict[str, Any], key: str, depth: int) -> Any:
        kind, config = described["class_name"], described.get("config")
        if not isinstance(kind, str):
            self.wrong(f"the class {printable(kind)} of {self._name(described)} is no name", "a class's name")
            return None
        if kind in TUPLES:
            return tuple(self.cleaned(list(described.get("items") or []), "", depth + 1))
        if kind in POLICIES:
            return self._policy(config)
        if kind == "function" and isinstance(config, str):
            self._check_function(config, "activation")
            return config
        if kind in PLAIN:
            return {"class_name": kind, "config": self.cleaned(config, "", depth + 1)}
        if self.keras_3 and is_of_hgq(described):
            return self._of_hgq(described, kind, depth)
        if not self._is_known(described, kind):
            return None
        known = {name: described[name] for name in KEPT if name in described}
        if not isinstance(known.get("shared_object_id", 0), int):
            del known["shared_object_id"]
        return self._written(kind, config, known, depth)

    def _of_hgq(self, described: dict[str, Any], kind: str, depth: int) -> Any:
        """A layer of HGQ2, or a part of one, as the package has registered it with Keras."""
        if kind not in self.names.hgq | HGQ_PARTS:
            self.wrong(*refused_layer(self._name(described), printable(kind), self.names.hgq, HGQ))
            return None
        config = described.get("config")
        if not isinstance(config, dict):
            self.wrong(f"the {kind} {self._name(described)} has no configuration", "as Keras wrote it")
            return None
        first = {key: 0 for key in HGQ_INITIAL & set(config) if not isinstance(config[key], int | float)}
        changed = {key: value for key, value in HGQ_TRAINING.items() if key in config}
        fresh = self.cleaned({**config, **changed, **first}, "", depth + 1)
        kept = {name: described[name] for name in KEPT if name in described and name != "shared_object_id"}
        return {
            "class_name": kind,
            "config": fresh,
            "module": HGQ,
            "registered_name": f"{HGQ}>{kind}",
            **self._entries(kept.items(), depth),
        }

    def _policy(self, config: Any) -> Any:
        name = config.get("name") if isinstance(config, dict) else None
        return name if isinstance(name, str) else "float32"

    def _written(self, kind: str, config: Any, known: dict[str, Any], depth: int) -> dict[str, Any]:
        """A layer or quantizer as the generation of Keras wants it."""
        found = {"class_name": kind, "config": self.cleaned(config, "", depth + 1)}
        found |= self._entries(known.items(), depth)
        if not self.keras_3:
            found.pop("build_config", None)
            # so that legacy Keras makes the object, also for layers of QKeras that would take the description
            return found | ({"__passive_serialization__": True} if kind in self.names.quantizers else {})
        if kind in CONTAINERS:
            found["module"] = "keras.src.models.functional" if kind == "Functional" else "keras"
        else:
            operation = self._is_operation(kind, config)
            found["module"] = self.names.operations[kind] if operation else "keras.layers"
        return found | {"registered_name": None}

    def _is_known(self, described: dict[str, Any], kind: str) -> bool:
        """Whether the class is one that may be built; else the problem is noted."""
        names, config = self.names, described.get("config")
        home = described.get("module")
        unnamed = home is None and kind in names.layers and kind.startswith("Q")
        package = "qkeras" if unnamed else str(home).partition(".")[0]
        if (self.keras_3 and package == "qkeras") or is_of_hgq_1(kind, home):
            self.wrong(*refused_layer(self._name(described), printable(kind), names.layers, package))
            return False
        if home is not None and str(home).partition(".")[0] not in PACKAGES:
            self.wrong(
                f"class {printable(kind)} is to come from the package {printable(home)}, which is not "
                "imported",
                "only classes of Keras and QKeras",
            )
            return False
        operation = self._operation_of(kind, config, home)
        if operation is not None:
            if operation in names.operations:
                return True
            self.wrong(
                f"layer {self._name(described)} calls the function {printable(operation)} "
                f"({printable(kind)}), which no layer of hlsgen stands for",
                f"write it with layers, or one of: {', '.join(sorted(names.operations))}",
            )
            return False
        if kind in names.layers | CONTAINERS or kind in names.quantizers:
            return True
        self.wrong(*refused_layer(self._name(described), printable(kind), names.layers))
        return False

    def _operation_of(self, kind: str, config: Any, home: Any) -> str | None:
        """The function that a layer of no class of layers calls; None: it is a layer."""
        if kind in ("TFOpLambda", "SlicingOpLambda"):
            return str(config.get("function")) if isinstance(config, dict) else kind
        if kind in ("ClassMethod", "InstanceMethod", "InstanceProperty", "TensorFlowOpLayer"):
            return kind
        known = self._is_operation(kind, config)
        return kind if self.keras_3 and (known or str(home).startswith("keras.src.ops.")) else None

    def _is_operation(self, kind: str, config: Any) -> bool:
        """Whether it is a known function on tensors of Keras 3: layers of the same name can be trained."""
        if kind not in self.names.operations or not isinstance(config, dict) or "name" not in config:
            return False
        return kind not in self.names.layers or not {"trainable", "dtype", "layers"} & set(config)

    def _name(self, described: dict[str, Any]) -> str:
        config = described.get("config")
        own = config.get("name") if isinstance(config, dict) else None
        return printable(described.get("name") or own or described["class_name"])
