"""The chosen point as a design file: the original's keys, its mapping fixed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from hlsgen.designfile.document import Document
from hlsgen.explore.result import Explored
from hlsgen.report.cells import cells_line
from hlsgen.report.fit import fit_line


def fixed_design(
    explored: Explored[Any],
    source: Path,
    target: Path,
    *,
    board: str | None = None,
    clock_mhz: float | None = None,
    precision: object = None,
) -> str:
    """The text of a design file at `target` from the one at `source`.

    `board`, `clock_mhz`, `precision`: as of `hlsgen.load`. Paths in it are relative to the new file.
    Raises DesignError: `source` cannot be read any more.
    """
    data = moved_design(source, target, board=board, clock_mhz=clock_mhz, precision=precision)
    data["mapping"] = dict(explored.mapping)
    if data.get("style") == "auto":
        data["style"] = explored.chosen.given.cost_style
    point, estimate = explored.point, explored.chosen.estimate()
    head = (
        f"# {source.name} as hlsgen explore chose it, modelled: {point.frames_per_s:,.0f} frames/s, "
        f"{point.instances} instance{'s' if point.instances > 1 else ''}, "
        f"a frame every {point.interval_cycles:,} cycles.\n"
        f"# {cells_line(estimate.cost)}\n"
        f"# {fit_line(estimate.fit)}\n"
    )
    return head + yaml_text(data)


def yaml_text(data: Mapping[str, Any]) -> str:
    """A design as the text of its file."""
    return yaml.safe_dump(dict(data), sort_keys=False, default_flow_style=None, allow_unicode=True, width=110)


def moved_design(
    source: Path,
    target: Path,
    *,
    board: str | None = None,
    clock_mhz: float | None = None,
    precision: object = None,
) -> dict[str, Any]:
    """The keys of the design file `source` for one at `target`; arguments as of `fixed_design`."""
    data: dict[str, Any] = Document.read(source).data
    if board is not None:
        # a path from the command line is relative to the working folder, one of a file to that file
        data["board"] = _moved(board, Path(), target.parent) if board.endswith(".yaml") else board
    elif str(data["board"]).endswith(".yaml"):
        data["board"] = _moved(data["board"], source.parent, target.parent)
    if clock_mhz is not None:
        data["clock_mhz"] = clock_mhz
    if precision is not None:
        data["precision"] = _replaced(data.get("precision"), precision)
    _move_paths(data, source.parent, target.parent)
    return data


def _replaced(before: object, precision: object) -> object:
    """The key `precision` of what is given in place of the file's, with the file's calibration frames."""
    if not (isinstance(before, dict) and "calibration" in before):
        return precision
    said = dict(precision) if isinstance(precision, Mapping) else {"default": precision}
    if set(said) == {"bits"}:
        said = {"default": said["bits"]}
    return {**said, "calibration": before["calibration"]}


def _move_paths(data: dict[str, Any], before: Path, after: Path) -> None:
    """Every path of a design file, in place."""
    model = data.get("model", {})
    for key in ("qkeras", "onnx", "weights"):
        if key in model:
            model[key] = _moved(model[key], before, after)
    if "torch" in model:
        model["torch"] = _moved_function(model["torch"], before, after)
    inputs = data.get("input", [])
    for one in inputs if isinstance(inputs, list) else [inputs]:
        if str(one.get("samples", "")).endswith(".npy"):
            one["samples"] = _moved(one["samples"], before, after)
    precision = data.get("precision")
    if isinstance(precision, dict) and "calibration" in precision:
        precision["calibration"] = _moved(precision["calibration"], before, after)
    judging = data.get("accuracy", {})
    for key in ("frames", "labels"):
        if key in judging:
            judging[key] = _moved(judging[key], before, after)
    if "metric" in judging:
        judging["metric"] = _moved_function(judging["metric"], before, after)
    for layer in data.get("layers", []):
        if isinstance(layer.get("weights"), str):
            layer["weights"] = _moved(layer["weights"], before, after)


def _moved_function(text: str, before: Path, after: Path) -> str:
    """file.py:function, moved as `_moved` does."""
    file, function = text.rsplit(":", 1)
    return f"{_moved(file, before, after)}:{function}"


def _moved(path: str, before: Path, after: Path) -> str:
    """`path`, relative to the folder `before`, relative to the folder `after`."""
    if Path(path).is_absolute() or before.resolve() == after.resolve():
        return path
    return Path(os.path.relpath(before / path, after)).as_posix()
