"""Profiles and traces as files: a page for a person, the figures for programs, a trace's values as arrays."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from hlsgen.base.errors import OutputError
from hlsgen.base.output import overwrite_files
from hlsgen.report.profile_page import profile_page, trace_page
from hlsgen.tracing.figures import profile_figures, trace_figures
from hlsgen.tracing.profile import Profile
from hlsgen.tracing.trace import Trace


def write_profile(profile: Profile, folder: Path) -> list[str]:
    """Writes profile.html and profile.json. Raises OutputError: the folder cannot be written."""
    page = profile_page(profile.design, profile_figures(profile))
    return _written(folder, {"profile.html": page, "profile.json": _json(profile.as_json())})


def write_trace(trace: Trace, folder: Path, *, values: bool = False) -> list[str]:
    """Writes trace.html and trace.json; with values trace.npz, the kept arrays by the framework's names.

    Raises OutputError: the folder cannot be written.
    """
    page = trace_page(trace.design, trace_figures(trace))
    files: dict[str, str | bytes] = {"trace.html": page, "trace.json": _json(trace.as_json())}
    if values:
        held = io.BytesIO()
        np.savez_compressed(held, **{name: trace[name] for name in trace})  # type: ignore[arg-type]
        files["trace.npz"] = held.getvalue()
    return _written(folder, files)


def _json(figures: Mapping[str, object]) -> str:
    return json.dumps(figures, indent=2, allow_nan=False) + "\n"


def _written(folder: Path, files: Mapping[str, str | bytes]) -> list[str]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"error: {folder} cannot be made: {error.strerror or error}"
        raise OutputError(f"{message}\nfix: another -o, that is a folder") from None
    overwrite_files(folder, files)
    return [str(folder / name) for name in files]
