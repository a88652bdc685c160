"""The devices that a network may run on, as a file says it: CPUs of this machine, FPGAs, tables of times."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from hlsgen.cpu.running import Framework
from hlsgen.designfile.document import Document
from hlsgen.designfile.validation import Mistake, Real, Whole, refused, shown
from hlsgen.targets.board import Link

Kind = Literal["cpu", "fpga", "table"]
FpgaStyle = Literal["auto", "dataflow", "shared"]
ALLOWED: dict[str, frozenset[str]] = {
    "cpu": frozenset({"count", "threads", "framework", "times", "memory_gb"}),
    "fpga": frozenset({"board", "style", "link", "memory_gb"}),
    "table": frozenset({"times", "count", "link", "memory_gb"}),
}
"""Which keys a kind has besides `kind`."""


class DeviceEntry(BaseModel):
    """One device of the file, or `count` alike."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: Kind
    count: Annotated[int, Whole(1, 64)] | None = None
    """How many there are; None: one, of CPUs as many as this process may use."""
    threads: Annotated[int, Whole(1, 1024)] = 1
    """Of a CPU: cores that work on one frame; each of `count` has so many."""
    framework: Literal["auto", "onnxruntime", "torch"] = "auto"
    """Of a CPU: what runs the layers; auto: of each task the faster."""
    times: str | None = None
    """A file of times, as `--write-times` leaves it; of a CPU in place of measuring."""
    board: str | None = None
    """Of an FPGA; None: the design's."""
    style: FpgaStyle = "auto"
    """Of an FPGA: every task with hardware of its own, processors that all share, or the better of both."""
    link: Link | None = None
    """To the host's memory; None: the board's, and of others none, for they work in it."""
    memory_gb: Annotated[float, Real(0.000001, 1_000_000)] | None = None
    """In 10^9 bytes; None: the board's, and of others no limit."""

    @model_validator(mode="after")
    def check_keys(self) -> Self:
        strange = sorted(self.model_fields_set - ALLOWED[self.kind] - {"kind"})
        mistakes = [
            Mistake(
                at=(key,),
                key=True,
                message=f"is no key of a device of kind {self.kind}",
                fix=f"remove it; there are {', '.join(sorted(ALLOWED[self.kind]))}",
            )
            for key in strange
        ]
        if self.kind == "table" and self.times is None:
            mistakes.append(
                Mistake(message="has no `times`", fix="times: file.json, as --write-times leaves one")
            )
        if mistakes:
            raise refused(*mistakes)
        return self

    @property
    def frameworks(self) -> tuple[Framework, ...] | None:
        """The one asked for; None: it is left open."""
        return None if self.framework == "auto" else (self.framework,)


class DeviceFile(BaseModel):
    """devices: by name."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    devices: dict[str, DeviceEntry]

    @model_validator(mode="after")
    def check_devices(self) -> Self:
        mistakes = [
            Mistake(
                at=("devices", name),
                key=True,
                message=f"is called {shown(name)}",
                fix="a name of 1 to 40 letters, digits and underscores, such as cpu or card0",
            )
            for name in self.devices
            if not (name.isidentifier() and name.isascii() and len(name) <= 40)
        ]
        if not self.devices:
            mistakes.append(Mistake(at=("devices",), message="has no device", fix="cpu: {kind: cpu}"))
        if mistakes:
            raise refused(*mistakes)
        return self


DEFAULT = DeviceFile(devices={"cpu": DeviceEntry(kind="cpu"), "fpga": DeviceEntry(kind="fpga")})
"""Without a file: this machine's CPUs, one thread each, and the design's board."""


def read_devices(path: Path | None) -> tuple[DeviceFile, Document | None]:
    """The devices, and the file for places. Raises DesignError: it is wrong."""
    if path is None:
        return DEFAULT, None
    document = Document.read(path)
    return document.validate(DeviceFile), document
