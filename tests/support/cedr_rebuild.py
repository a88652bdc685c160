"""A network made again from layers.json, dag.json and the parameters beside them, by PyTorch alone."""

from __future__ import annotations

import inspect
import json
import operator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn


class Rebuilt(nn.Module):
    """What dag.json of a PyTorch model says, entry by entry."""

    def __init__(self, dag: list[dict[str, Any]], parameters: dict[str, np.ndarray]) -> None:
        super().__init__()
        self.dag = dag
        self.held = {name: torch.from_numpy(np.asarray(array)) for name, array in parameters.items()}
        self.made = {one["name"]: self._module(one) for one in dag if "function" not in one}

    @classmethod
    def of(cls, folder: Path) -> Rebuilt:
        with np.load(folder / "parameters.npz") as parameters:
            return cls(json.loads((folder / "dag.json").read_text()), dict(parameters))

    def forward(self, **inputs: torch.Tensor) -> dict[str, torch.Tensor]:
        """Outputs by name. inputs: by the argument's name of the model's forward()."""
        values: dict[str, Any] = dict(inputs)
        outputs: dict[str, torch.Tensor] = {}
        for one in self.dag:
            if "function" in one:
                value = self._function(one, values)
            else:
                value = self.made[one["name"]](values[one["input"]])
            values[one["output"]] = value
            outputs |= dict.fromkeys(one.get("outputs", []), value)
        return outputs

    def _module(self, entry: dict[str, Any]) -> nn.Module:
        if entry.get("sequential") == "yes":
            return nn.Sequential(*(self._module(entry[str(n)]) for n in range(entry["length"])))
        kind = getattr(nn, entry["type"])
        names = inspect.signature(kind.__init__).parameters
        module: nn.Module = kind(**{name: _plain(entry[name]) for name in names if name in entry})
        prefix = f"{entry['path']}." if entry["path"] else ""
        module.load_state_dict({key: self.held[prefix + key] for key in module.state_dict()})
        return module.eval()

    def _function(self, entry: dict[str, Any], values: dict[str, torch.Tensor]) -> Any:
        def argument(one: Any) -> Any:
            if isinstance(one, list):
                return [argument(each) for each in one]
            if isinstance(one, dict):
                ((key, name),) = one.items()
                if key == "tensor":
                    return values[name]
                if key == "parameter":
                    return self.held[name]
                if key == "device":
                    return torch.device(name)
                return getattr(torch, name) if key == "torch" else float(name)
            return one

        if entry["function"] == "getitem":
            return operator.getitem(*argument(entry["args"]))
        library, name, overload = entry["function"].split(".")
        call = getattr(getattr(getattr(torch.ops, library), name), overload)
        return call(*argument(entry["args"]), **{key: argument(one) for key, one in entry["kwargs"].items()})


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return float(value["float"])
    return tuple(_plain(one) for one in value) if isinstance(value, list) else value
