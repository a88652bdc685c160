"""A pipeline in one file: its parts, how they are connected, and what computes each."""

from __future__ import annotations

import threading
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hlsgen.base.errors import DesignError, OutputError, Problem
from hlsgen.base.progress import Say, silent
from hlsgen.base.scratch import Scratch
from hlsgen.base.type_text import parse_type
from hlsgen.layers.base import Tensor
from hlsgen.model.ir import Port
from hlsgen.pipelining.computing import OnFpga, on_cpu, on_fpga_text
from hlsgen.pipelining.part import Compute, Input, Output, Part
from hlsgen.pipelining.pipeline import OUTSIDE, Pipeline

FORMAT = "hlsgen pipeline 1"
CONTENTS = "pipeline.json"
MOST_BYTES = 4 << 30
"""Of all files of an archive, unpacked."""
MOST_FILES = 20_000
MOST_CONTENTS = 1 << 24
"""Bytes of pipeline.json, unpacked."""
MOST_NAME, MOST_PATH = 200, 1000
"""Characters of a file's or folder's name, and of a member's path: what file systems take."""
UNPACKING = threading.Lock()
DATE = (2020, 1, 1, 0, 0, 0)
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,199}$")]
Size = Annotated[int, Field(ge=1, le=1 << 30)]
Text = Annotated[str, Field(max_length=300)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class SavedPort(_Section):
    """A port of the pipeline itself."""

    name: Text
    channels: Size
    height: Size
    width: Size
    type: Text
    shape: Annotated[list[Size], Field(max_length=8)]
    axes: Annotated[list[Annotated[int, Field(ge=0, le=2)]], Field(min_length=3, max_length=3)]
    scale: float
    in_float32: bool
    zero: int
    ceil: bool
    odd: bool

    @classmethod
    def of(cls, port: Port) -> SavedPort:
        channels, height, width = port.tensor.shape
        return cls(
            name=port.name,
            channels=channels,
            height=height,
            width=width,
            type=str(port.tensor.type),
            shape=list(port.shape),
            axes=list(port.axes),
            scale=port.scale,
            in_float32=port.in_float32,
            zero=port.zero,
            ceil=port.ceil,
            odd=port.odd,
        )

    def port(self) -> Port:
        if sorted(self.axes) != [0, 1, 2]:
            raise ValueError(f"the axes of {self.name} are {self.axes}, not 0, 1 and 2 in some order")
        tensor = Tensor(shape=(self.channels, self.height, self.width), type=parse_type(self.type))
        first, second, third = self.axes
        return Port(
            name=self.name,
            source=self.name,
            tensor=tensor,
            shape=tuple(self.shape),
            axes=(first, second, third),
            scale=self.scale,
            in_float32=self.in_float32,
            zero=self.zero,
            ceil=self.ceil,
            odd=self.odd,
        )


class SavedTensor(_Section):
    """What a part reads or gives. source: owner and name of what an input is connected to."""

    name: Text
    shape: Annotated[list[Size], Field(min_length=3, max_length=3)]
    type: Text
    source: Annotated[list[Text], Field(min_length=2, max_length=2)] | None = None


class SavedPart(_Section):
    name: Name
    target: Literal["cpu", "fpga"]
    threads: Annotated[int, Field(ge=1, le=1024)]
    workers: Annotated[int, Field(ge=1, le=64)]
    cpus: list[Annotated[int, Field(ge=0, le=65535)]]
    about: Text
    """Of a CPU part its framework and threads, of an FPGA part the board's title."""
    inputs: list[SavedTensor]
    outputs: list[SavedTensor]
    gives: list[Text] = []
    """Of an FPGA part: the tensor that each output of its build shows."""


class SavedPipeline(_Section):
    format: Literal["hlsgen pipeline 1"]
    name: Text
    inputs: list[SavedPort]
    outputs: list[SavedPort]
    parts: Annotated[list[SavedPart], Field(max_length=64)]
    results: list[list[Text]]


def save(pipeline: Pipeline, path: Path) -> None:
    """One file that has all. Raises DesignError: a part in PyTorch, whose form in a file would be code; what
    `in_order` refuses. OutputError: it cannot be written.
    """
    ordered = pipeline.in_order()
    for part in ordered:
        if part.saved is None:
            message = (
                f"part {part.name} runs in {part.about}, and has no form in an archive that is data alone"
            )
            raise DesignError(Problem(message=message, fix="framework: onnxruntime for what is saved"))
    contents = SavedPipeline(
        format="hlsgen pipeline 1",
        name=pipeline.name,
        inputs=[SavedPort.of(port) for port in pipeline.input_ports],
        outputs=[SavedPort.of(port) for port in pipeline.output_ports],
        parts=[_saved(part) for part in ordered],
        results=[_source(port) for port in pipeline.results],
    )
    try:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            _write(archive, CONTENTS, (contents.model_dump_json(indent=1) + "\n").encode())
            for part in ordered:
                assert part.saved is not None
                for name, content in part.saved().items():
                    _write(archive, f"parts/{part.name}/{name}", content)
    except OSError as error:
        message = f"error: cannot write {path}: {error.strerror or error}\nfix: another -o"
        raise OutputError(message) from None


def _write(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Of the same pipeline the same bytes."""
    archive.writestr(zipfile.ZipInfo(name, DATE), content, zipfile.ZIP_DEFLATED)


def _saved(part: Part) -> SavedPart:
    return SavedPart(
        name=part.name,
        target=part.target,
        threads=part.threads,
        workers=part.workers,
        cpus=list(part.cpus),
        # on what else it ran is not of the file: a card is named by who opens it
        about=part.about if part.target == "cpu" else part.about.rpartition(", ")[0],
        inputs=[
            SavedTensor(name=one.name, shape=list(one.shape), type=one.type, source=_source(one))
            for one in part.inputs
        ],
        outputs=[SavedTensor(name=one.name, shape=list(one.shape), type=one.type) for one in part.outputs],
        gives=list(part.gives),
    )


def _source(port: Input) -> list[str]:
    assert port.source is not None
    return [port.source.owner, port.source.name]


def load(path: Path, say: Say = silent, xclbin: Path | None = None) -> Pipeline:
    """The pipeline of a file. Models are data; the C++ of FPGA parts is compiled and run when it is opened,
    and `say` is told so: unless `xclbin` has their kernels, which a card then runs.

    Raises DesignError: it is no such file, or has no FPGA part for the card.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            _check_members(archive, path)
            contents = SavedPipeline.model_validate_json(archive.read(CONTENTS))
            found = _Loading(archive, path, xclbin, say).pipeline(contents)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise _no_archive(path, f"{where}: {first['msg']}") from None
    except (OSError, KeyError, ValueError, AssertionError, zipfile.BadZipFile, RuntimeError) as error:
        raise _no_archive(path, str(getattr(error, "strerror", None) or error)) from None
    if xclbin is not None and all(part.target == "cpu" for part in found.parts.values()):
        message = f"{path} has no part on an FPGA, which {xclbin} could be for"
        raise DesignError(Problem(message=message, fix="leave the xclbin out"))
    return found


def _no_archive(path: Path, why: str) -> DesignError:
    message = f"{path} is no pipeline that hlsgen saved: {why:.200}"
    return DesignError(Problem(message=message, fix="hlsgen pipeline DESIGN -o net.zip writes one"))


def _check_members(archive: zipfile.ZipFile, path: Path) -> None:
    """Refuses what is too large, and paths that no folder can hold, before anything is unpacked."""
    members = archive.infolist()
    if len(members) > MOST_FILES or sum(one.file_size for one in members) > MOST_BYTES:
        raise _no_archive(path, f"more than {MOST_FILES:,} files or {MOST_BYTES:,} bytes")
    if archive.getinfo(CONTENTS).file_size > MOST_CONTENTS:
        raise _no_archive(path, f"{CONTENTS} has more than {MOST_CONTENTS:,} bytes")
    files = [one.filename for one in members if not one.is_dir()]
    twice = {name for name, count in Counter(files).items() if count > 1}
    # a member's folders, at most MOST_PATH / 2 of each
    folders = {file[:at] for file in files if len(file) <= MOST_PATH for at in _slashes(file)}
    for file in files:
        names = file.split("/")
        unusual = any(name in ("", ".", "..") or not name.isprintable() for name in names) or "\\" in file
        if unusual or len(file) > MOST_PATH or max(map(len, names)) > MOST_NAME:
            raise _no_archive(path, f"a member has the path {file!r:.80}")
        if file in folders or file in twice:
            raise _no_archive(path, f"{file!r:.80} is there twice, or is a file and a folder")


def _slashes(path: str) -> list[int]:
    return [at for at, sign in enumerate(path) if sign == "/"]


@dataclass(frozen=True)
class _Loading:
    """An archive that is read. xclbin: what the card of its FPGA parts gets; None: C-simulation."""

    archive: zipfile.ZipFile
    path: Path
    xclbin: Path | None
    say: Say
    scratch: Scratch = field(default_factory=Scratch)

    def pipeline(self, contents: SavedPipeline) -> Pipeline:
        found = Pipeline(
            contents.name, [one.port() for one in contents.inputs], [one.port() for one in contents.outputs]
        )
        found.kept = self.scratch
        for saved in contents.parts:
            found.add(self._part(saved))
        for saved in contents.parts:
            for tensor, port in zip(saved.inputs, found[saved.name].inputs, strict=True):
                if tensor.source is None:
                    raise ValueError(f"input {tensor.name} has no source")
                port.connect(_output(found, tensor.source))
        for source, result in zip(contents.results, found.results, strict=True):
            result.connect(_output(found, source))
        found.in_order()
        return found

    def _part(self, saved: SavedPart) -> Part:
        inputs = tuple(Input(saved.name, one.name, _shape(one), one.type) for one in saved.inputs)
        outputs = tuple(Output(saved.name, one.name, _shape(one), one.type) for one in saved.outputs)
        on_fpga = saved.target == "fpga"
        kept = self._files(saved)
        if on_fpga:
            if self.xclbin is None:
                self.say(f"compiling and running the C++ of part {saved.name}, from {self.path}")
            make: Any = partial(_unpacked, self.scratch, saved, kept, inputs, self.xclbin)
        else:
            _check_model(kept["model.onnx"], self.path)
            read, given = [one.name for one in inputs], [one.name for one in outputs]
            make = partial(on_cpu, kept["model.onnx"], read, given, saved.threads)
        return Part(
            name=saved.name,
            inputs=inputs,
            outputs=outputs,
            make=make,
            target=saved.target,
            threads=saved.threads,
            workers=saved.workers,
            cpus=tuple(saved.cpus),
            gives=tuple(saved.gives),
            about=on_fpga_text(saved.about, self.xclbin) if on_fpga else saved.about,
            saved=lambda: kept,
        )

    def _files(self, saved: SavedPart) -> dict[str, bytes]:
        """What the archive holds of a part, by path in its folder. Raises KeyError: no model."""
        folder = f"parts/{saved.name}/"
        if saved.target == "cpu":
            return {"model.onnx": self.archive.read(f"{folder}model.onnx")}
        return {
            one.filename.removeprefix(folder): self.archive.read(one)
            for one in self.archive.infolist()
            if one.filename.startswith(folder) and not one.is_dir()
        }


def _output(found: Pipeline, source: list[str]) -> Output:
    owner, name = source
    return found.input(name) if owner == OUTSIDE else found[owner].output(name)


def _shape(saved: SavedTensor) -> tuple[int, int, int]:
    channels, height, width = saved.shape
    return channels, height, width


def _check_model(model: bytes, path: Path) -> None:
    """Weights lie in the model: a name of a file elsewhere would be read by who runs it."""
    from hlsgen.cpu.packages import package
    from hlsgen.frontends.onnx.model import external_tensors

    onnx = package("onnx")
    try:
        found = onnx.load_model_from_string(model)
    except Exception as error:  # of protobuf's own classes
        raise _no_archive(path, f"a model that ONNX cannot read ({error})") from None
    if any(external_tensors(onnx, found)):
        raise _no_archive(path, "a model whose weights lie in other files")


def _unpacked(
    scratch: Scratch,
    saved: SavedPart,
    files: dict[str, bytes],
    inputs: tuple[Input, ...],
    xclbin: Path | None,
) -> Compute:
    """The build folder, written once. Raises DesignError: a path that leads out of it."""
    folder = scratch.folder / saved.name
    with UNPACKING:  # workers of a part open at once
        if not folder.exists():
            _unpack(folder, saved.name, files)
    return OnFpga(folder / "build", inputs, saved.gives, xclbin)


def _unpack(folder: Path, name: str, files: dict[str, bytes]) -> None:
    """Raises DesignError: a path that leads out of the build folder."""
    for file in files:
        inside = PurePosixPath(file)
        if inside.is_absolute() or ".." in inside.parts or "\\" in file or inside.parts[0] != "build":
            message = f"part {name} has a file {file!r:.80}, outside of its build folder"
            raise DesignError(Problem(message=message, fix="an archive that hlsgen wrote"))
    for file, content in files.items():
        target = folder / Path(*PurePosixPath(file).parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
