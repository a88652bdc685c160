"""The notebooks of docs/notebooks: run, and made into pages with their outputs.

`python docs/site/notebooks.py FOLDER` runs those that have changed since their run in FOLDER, each
beside a link to `designs`, and exits with 1 if one fails.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "docs/notebooks"
TIMEOUT = 300
"""Seconds that a cell may take."""


def executed(path: Path, folder: Path) -> Any:
    """The notebook with its outputs, run in `folder`, which gets a link to the repository's designs.

    nbclient's CellExecutionError says which cell failed, and how.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    (folder / "designs").symlink_to(ROOT / "designs")
    client = NotebookClient(
        notebook, timeout=TIMEOUT, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    return notebook


def run_all(into: Path) -> int:
    """Runs every notebook that is new or changed; their runs, by name and digest, stay in `into`."""
    import nbformat

    into.mkdir(parents=True, exist_ok=True)
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        kept = into / _name(path)
        if kept.exists():
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as place:
            notebook = executed(path, Path(place))
        for earlier in into.glob(f"{path.stem}-*.ipynb"):
            earlier.unlink()
        nbformat.write(notebook, kept)
        sys.stdout.write(f"{path.name}: {time.monotonic() - began:.0f} s\n")
    return 0


def pages_of(notebooks: Path, runs: Path) -> Iterator[tuple[str, str | bytes]]:
    """Path below docs/ and content of each page, and of each picture in its outputs."""
    import nbformat
    from nbconvert import MarkdownExporter

    for path in sorted(notebooks.glob("*.ipynb")):
        kept = runs / _name(path)
        notebook = nbformat.read(kept if kept.exists() else path, as_version=4)
        text, resources = MarkdownExporter().from_notebook_node(
            notebook, resources={"output_files_dir": f"{path.stem}_files"}
        )
        says = "with the outputs of one run" if kept.exists() else "without outputs: `make site` runs it"
        head, _, rest = text.lstrip().partition("\n")
        yield f"notebooks/{path.stem}.md", f"{head}\n\n*docs/notebooks/{path.name}, {says}.*\n{rest}"
        for name, content in resources.get("outputs", {}).items():
            yield f"notebooks/{name}", content


def _name(path: Path) -> str:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return f"{path.stem}-{digest}.ipynb"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/site/notebooks.py FOLDER")
    if shutil.which("g++") is None:
        sys.exit("the notebooks compile C++: g++ is missing")
    sys.exit(run_all(Path(sys.argv[1])))
