"""The folder of a sweep: an outcome's file for each job, written when it ends, and one table of them all.

DIR/jobs/STEM.json     how a job ended; STEM ends in a hash of all that the result depends on
DIR/builds/STEM/       its build folder
DIR/sweep.json         the jobs of the last sweep, in order
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hlsgen.base.errors import NotOursError, OutputError
from hlsgen.base.output import MARK
from hlsgen.sweep.jobs import Job, Outcome

TABLE = "sweep.json"
"""A folder with this file is a sweep's, and more sweeps may go there."""
TABLE_KEYS = {"run", "jobs", "exit_code"}


@dataclass(frozen=True)
class Store:
    """The folder of a sweep, absolute."""

    folder: Path

    @classmethod
    def opened(cls, folder: Path) -> Store:
        """The folder, which is made when something is written.

        Raises NotOursError: it holds other things than a sweep. OutputError: it cannot be written.
        """
        store = cls(Path(os.path.abspath(folder)))
        try:
            if store.folder.exists() and not store._is_ours():
                message = f"error: {folder} holds files that are no sweep of hlsgen; nothing was changed"
                raise NotOursError(f"{message}\nfix: -o names a new folder or that of an earlier sweep")
        except OSError as error:
            raise _output_error(folder, error) from None
        return store

    def _is_ours(self) -> bool:
        """Whether the folder is a sweep's, or empty but for a first table whose writing was killed."""
        if not self.folder.is_dir() or (self.folder / TABLE).is_file():
            return self.folder.is_dir() and _is_table(self.folder / TABLE)
        return all(one.name.startswith(f".{TABLE}.") for one in self.folder.iterdir())

    @property
    def builds(self) -> Path:
        return self.folder / "builds"

    def finished(self, job: Job) -> Outcome | None:
        """The end of a job, if it is done; a failed one has to run again, and so has a damaged file."""
        try:
            outcome = Outcome.model_validate_json((self.folder / file_of(job)).read_bytes())
        except (FileNotFoundError, ValidationError):
            return None
        except OSError as error:
            raise _output_error(self.folder, error) from None
        if not outcome.done or outcome.key != job.key:
            return None
        return None if job.run in ("build", "synth") and not (job.folder / MARK).is_file() else outcome

    def keep(self, job: Job, outcome: Outcome) -> None:
        """Writes the outcome's file, whole or not at all. Raises OutputError: it cannot be written."""
        self._write(file_of(job), outcome.as_text())

    def write_table(self, table: dict[str, Any]) -> None:
        """Writes the table of all jobs. Raises OutputError: it cannot be written."""
        self._write(TABLE, json.dumps(table, indent=2, allow_nan=False) + "\n")

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, fresh = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    file.write(text)
                os.chmod(fresh, 0o644)
                os.replace(fresh, path)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(fresh)
        except OSError as error:
            raise _output_error(self.folder, error) from None


def _is_table(path: Path) -> bool:
    """Whether a sweep wrote this file."""
    try:
        table = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    return isinstance(table, dict) and table.keys() == TABLE_KEYS


def file_of(job: Job) -> str:
    """The outcome's file, relative to the sweep's folder."""
    return f"jobs/{job.stem}.json"


def _output_error(folder: Path, error: OSError) -> OutputError:
    fix = "choose another folder with -o, or free some space; what is done is kept"
    return OutputError(f"error: cannot write {folder}: {error.strerror or error}\nfix: {fix}")
