"""Where hlsgen finds the files that it ships beside its code: boards and templates."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def data_folder(name: str) -> Path:
    """The folder `name` ("boards", "templates"): hlsgen/data/<name> of a wheel, else <name> beside hlsgen/.

    The wheel's copy goes first, because beside an installed hlsgen/ lie the folders of other packages.
    Raises FileNotFoundError when neither exists: the installation is broken, no design is at fault.
    """
    candidates = (_PACKAGE / "data" / name, _PACKAGE.parent / name)
    for folder in candidates:
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"hlsgen has no {name} folder; looked for {' and '.join(map(str, candidates))}")
