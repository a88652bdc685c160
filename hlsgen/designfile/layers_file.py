"""The design file of a network whose layers are written out: `layers` in place of `model`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from hlsgen.base.errors import Problem
from hlsgen.designfile.document import Document
from hlsgen.designfile.layer_sections import SECTIONS, AnyLayer, Layer, NetworkName
from hlsgen.designfile.model_schema import MAPPING_KEYS, ModelInput, NetworkFile, as_list
from hlsgen.designfile.schema import name_mistakes, name_mistakes_in
from hlsgen.designfile.schema_values import Shape
from hlsgen.designfile.validation import Entries, Location, Mistake, nearest, refused, shown

OF_NETWORKS = frozenset({"inputs", "groups"})
"""Keys that an entry of `layers` has in a network only."""
OF_NETWORK_STYLES = ("dataflow", "shared", "mixed", "auto")
"""Styles that make a network of any layers."""


class LayersInput(ModelInput):
    """An input of the network."""

    name: NetworkName = "x"
    """What layers call it that read it."""
    shape: Shape = Field(examples=[[3, 32, 32]])
    """[channels, height, width] of a frame."""


class LayersFile(NetworkFile):
    """A network whose layers are written out."""

    input: Annotated[
        tuple[LayersInput, ...],
        Entries(1, 16),
        BeforeValidator(as_list, json_schema_input_type=LayersInput | list[LayersInput]),
    ] = Field(examples=[{"shape": [3, 32, 32]}])
    """The input, or a list of them."""
    layers: Annotated[tuple[AnyLayer, ...], Entries(1, 1000)] = Field(
        examples=[[{"name": "conv1", "kind": "conv2d", "out_channels": 16, "kernel": 3}]]
    )
    """The layers; each stands behind those that it reads. What no layer reads is an output."""

    @model_validator(mode="after")
    def check_names(self) -> Self:
        names: list[object] = [layer.name for layer in self.layers]
        mistakes = name_mistakes(self.name, names, _mapped(self.mapping.layers, names))
        mistakes += _input_name_mistakes([one.name for one in self.input], names)
        mistakes += _source_mistakes([one.name for one in self.input], self.layers)
        if mistakes:
            raise refused(*mistakes)
        return self


def is_network(data: Mapping[str, Any]) -> bool:
    """Whether a design's `layers` are a network: any but one plain conv2d that is a kernel."""
    layers = data.get("layers")
    if not isinstance(layers, list):
        return False
    if len(layers) != 1:
        return len(layers) > 1
    (entry,) = layers
    if not isinstance(entry, dict):
        return False
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in SECTIONS:
        return False
    return kind != "conv2d" or data.get("style") in OF_NETWORK_STYLES or not OF_NETWORKS.isdisjoint(entry)


def read_layers_file(path: Path) -> tuple[LayersFile | None, Document, list[Problem]]:
    """The design in the file, the document that knows its positions, and every mistake of its form.

    None: there are mistakes. Raises DesignError: it is no YAML.
    """
    document = Document.read(path)
    try:
        return LayersFile.model_validate(document.data), document, []
    except ValidationError as error:
        problems = document.problems(error, LayersFile)
        problems += map(document.problem, name_mistakes_in(document.data, MAPPING_KEYS))
        return None, document, problems


def _mapped(mapped: Mapping[str, object], names: list[object]) -> list[str]:
    """The names under `mapping` but those of what is made for a layer: conv1_rearrange of conv1."""
    return [name for name in mapped if not any(name.startswith(f"{layer}_") for layer in names)]


def _input_name_mistakes(inputs: list[str], layers: list[object]) -> list[Mistake]:
    """Inputs that are called alike, and layers that are called as an input is."""
    mistakes = []
    for index, name in enumerate(inputs):
        if name in inputs[:index]:
            message = f"must be unique, but another input is called {shown(name)} too"
            at: Location = ("input", index, "name")
            mistakes.append(Mistake(message=message, fix="give each input its own name", at=at))
    lower = [str(layer).lower() for layer in layers]
    for index, layer in enumerate(layers):
        if lower[index] in lower[:index] and layer not in layers[:index]:
            message = f"differs from another layer's only in capitals: {shown(layer)}"
            fix = "another name: some file systems do not tell them apart"
            mistakes.append(Mistake(message=message, fix=fix, at=("layers", index, "name")))
        if layer in inputs:
            message = f"must not be {shown(layer)}, the name of an input"
            mistakes.append(Mistake(message=message, fix=f"write {layer}1", at=("layers", index, "name")))
    return mistakes


def _source_mistakes(inputs: list[str], layers: tuple[Layer, ...]) -> list[Mistake]:
    """Layers that read what does not stand before them, or too few or too many tensors."""
    mistakes = []
    for index, layer in enumerate(layers):
        before = [*inputs, *(one.name for one in layers[:index])]
        least, most = layer.sources
        for number, name in enumerate(layer.inputs or ()):
            if name not in before:
                message = f"names {shown(name)}, which is no input and no layer before this one"
                fix = f"{nearest(name, before)}before it stand {', '.join(before[-20:])}"
                mistakes.append(Mistake(message=message, fix=fix, at=("layers", index, "inputs", number)))
        given = 1 if layer.inputs is None else len(layer.inputs)
        if not least <= given <= most:
            count = str(least) if least == most else f"{least} to {most}"
            message = f"must be {count} for kind {layer.kind}, not {given}"
            fix = f"inputs: [{', '.join(before[-least:])}]"
            at: Location = ("layers", index, "inputs")
            mistakes.append(Mistake(message=message, fix=fix, at=at))
    return mistakes
