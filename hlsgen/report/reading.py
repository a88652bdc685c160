"""Reads report.json of a build folder, which anybody may have written or damaged."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.output import MARK
from hlsgen.designfile.text_files import read_text, refuse
from hlsgen.designfile.validation import mistakes_in, printable
from hlsgen.report.content import AGAIN, Report


def read_report(folder: Path) -> Report:
    """report.json of a build folder. Raises DesignError: no build, damaged, or of an older hlsgen."""
    return checked_report(build_json(folder), str(folder / MARK))


def build_json(folder: Path) -> object:
    """What report.json of a build folder holds. Raises DesignError: there is none, or it is no JSON."""
    if not folder.is_dir():
        refuse(folder, "is no folder", "name a folder that `hlsgen build` has written")
    path = folder / MARK
    if not path.is_file():
        refuse(folder, f"holds no {MARK}", "name a folder that `hlsgen build` has written")
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        refuse(path, f"is no JSON: {printable(str(error))}", AGAIN)


def checked_report(content: object, name: str = MARK) -> Report:
    """The content of report.json. Raises DesignError: it lacks something, or is not hlsgen's."""
    try:
        return Report.model_validate(content)
    except ValidationError as error:
        mistake = next(mistakes_in(error.errors()[0], Report))
        steps = [str(step) for step in mistake.at if "[" not in str(step)]
        where = f"`{printable('.'.join(steps))}` " if steps else "the whole "
        message = f"{printable(name)} is damaged: {where}{mistake.message}"
        raise DesignError(Problem(message=message, fix=AGAIN)) from None
