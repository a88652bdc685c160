"""What is known of the steps in a build folder: synth/state.json, written anew after every step.

A step that is complete need not run again while its inputs are what they were: their digest is kept.
"""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from hlsgen.base.output import write_whole

STATE = "synth/state.json"


class Status(StrEnum):
    """The way a step ended."""

    RUNNING = "running"
    """Nobody has said how it ended: hlsgen was killed, or the machine went down."""
    COMPLETE = "complete"
    FAILED = "failed"
    TIMED_OUT = "timed out"
    INTERRUPTED = "interrupted"


class StepState(BaseModel):
    """How a step stands. inputs: digest of all that the result depends on. log: from the build folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    status: Status
    inputs: str
    seconds: float
    log: str


class State(BaseModel):
    """The steps by their keys; `Step.key`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    steps: dict[str, StepState] = {}

    def with_step(self, key: str, step: StepState) -> State:
        return State(steps={**self.steps, key: step})


def read_state(folder: Path) -> State:
    """The state of a build folder; a new one if there is none, or it is damaged: the steps run again then."""
    try:
        return State.model_validate_json((folder / STATE).read_bytes())
    except (FileNotFoundError, ValidationError):
        return State()


def write_state(folder: Path, state: State) -> None:
    """Writes the state of a build folder's steps. Raises OutputError: it cannot be written."""
    write_whole(folder / STATE, json.dumps(state.model_dump(mode="json"), indent=2) + "\n")
