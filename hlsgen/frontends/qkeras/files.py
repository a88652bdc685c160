"""Keras' files as data: what describes the layers, and where the weights lie.

A file is read by its contents, and only as what it is alone: an HDF5 file that a zip archive is appended to
is neither. Keras never opens the user's file itself: it gets the description that was checked, and a copy of
the weights. So what was inspected is what is loaded. Of a SavedModel only the description of its layers and
the variables are read, never its graph, whose operations could write files.
"""

from __future__ import annotations

import json
import lzma
import shutil
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from hlsgen.base.errors import DesignError, Problem

MOST_DESCRIPTION = 1 << 24
"""Bytes of a description, unpacked: that of a network of 1,000 layers has less than a tenth."""
MOST_WEIGHTS = 1 << 31
"""Bytes of all weights, unpacked."""
SAVED = 'a file written by model.save("model.h5") or model.save("model.keras")'
UNREADABLE = (
    OSError,
    KeyError,
    ValueError,
    TypeError,
    EOFError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
)
"""What json, zipfile and h5py raise for what is damaged, encrypted, packed in an unknown way or nested too
deep."""
Form = Literal["archive", "hdf5", "json", "folder"]


@dataclass(frozen=True, kw_only=True)
class KerasFile:
    """A model's description, not checked yet, and the file that its weights are in.

    version: of the Keras that wrote it, "" if it does not say.
    """

    path: Path
    form: Form
    description: dict[str, Any]
    version: str
    weights: Path


def problem(message: str, fix: str) -> DesignError:
    return DesignError(Problem(message=message, fix=fix))


def said(error: BaseException) -> str:
    """What an error of a package says, in a line: Keras puts the cause behind the whole configuration."""
    text = str(error).rpartition("Exception encountered: ")[2].strip() or type(error).__name__
    return printable(text.splitlines()[0][:300])


def printable(text: object) -> str:
    """Text of a file such that any terminal can print it; what is no text is said to be none."""
    if not isinstance(text, str):
        return f"{str(text)[:40]!r} ({type(text).__name__})"
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text[:300])


def read_file(path: Path, weights: Path | None = None) -> KerasFile:
    """A .keras or .h5 file, a SavedModel folder, or a .json file and its `weights`.

    Raises DesignError: there is none, it cannot be read, it is two things at once, it is beyond a limit.
    """
    if not path.exists():
        raise problem(
            f"there is no model file {path}", "the path of a .h5, .keras or .json file or SavedModel folder"
        )
    try:
        form = _form(path)
        description, version = READERS[form](path)
    except UNREADABLE as error:
        raise problem(f"{path} is no Keras model that hlsgen can read: {said(error)}", SAVED) from None
    return KerasFile(
        path=path,
        form=form,
        description=description,
        version=version,
        weights=_weights_path(path, form, weights),
    )


def _form(path: Path) -> Form:
    import h5py

    if path.is_dir():
        return "folder"
    archive, hdf5 = zipfile.is_zipfile(path), bool(h5py.is_hdf5(path))
    if archive and hdf5:
        raise problem(
            f"{path} is an HDF5 file and a zip archive at once, so that readers differ in what they find",
            f"{SAVED}, as Keras wrote it",
        )
    if archive:
        with path.open("rb") as file:
            if file.read(2) != b"PK":
                raise ValueError("something stands before its zip archive")
        return "archive"
    return "json" if not hdf5 and path.suffix == ".json" else "hdf5"


def _weights_path(path: Path, form: Form, weights: Path | None) -> Path:
    if form != "json":
        if weights is not None:
            raise problem(f"{path} holds its weights", "leave the weights' file out")
        return path
    if weights is None:
        message = f"{path} describes a model without weights"
        raise problem(
            message, 'name their file too: weights="net.weights.h5", or --weights; or model.save("net.h5")'
        )
    if not weights.is_file():
        fix = 'a file that model.save_weights("net.weights.h5") wrote'
        raise problem(f"there is no weights file {weights}", fix)
    return weights


# descriptions


def _parsed(text: object) -> dict[str, Any]:
    """The JSON object. Raises ValueError (or RecursionError): it is none."""
    if not isinstance(text, str | bytes):
        raise ValueError("its description is no text")
    if len(text) > MOST_DESCRIPTION:
        raise ValueError(_too_long(len(text)))
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("its description is no object")
    return found


def _too_long(size: int) -> str:
    return f"its description has {size:,} bytes, more than the {MOST_DESCRIPTION:,} that are read"


def _of_archive(path: Path) -> tuple[dict[str, Any], str]:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if len(set(names)) < len(names):
            raise ValueError("it holds files of the same name")
        described = _member(archive, "config.json")
        version = _parsed(_member(archive, "metadata.json")) if "metadata.json" in names else {}
    return _parsed(described), str(version.get("keras_version", ""))


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    size = archive.getinfo(name).file_size
    if size > MOST_DESCRIPTION:
        raise ValueError(_too_long(size))
    return archive.read(name)


def _of_hdf5(path: Path) -> tuple[dict[str, Any], str]:
    import h5py

    with h5py.File(path, "r") as file:
        text = file.attrs.get("model_config")
        version = file.attrs.get("keras_version", "")
    if text is None:
        raise problem(
            f"{path} holds weights, but no model",
            'save the whole model with model.save("model.h5"), or name a .json file from model.to_json() '
            "and these weights with it",
        )
    return _parsed(text), version.decode("ascii", "replace") if isinstance(version, bytes) else str(version)


def _of_json(path: Path) -> tuple[dict[str, Any], str]:
    if path.stat().st_size > MOST_DESCRIPTION:
        raise ValueError(_too_long(path.stat().st_size))
    found = _parsed(path.read_bytes())
    return found, str(found.get("keras_version", ""))


def _of_folder(path: Path) -> tuple[dict[str, Any], str]:
    """The description of a SavedModel's root. Only legacy Keras writes one: to a file of its own since
    TensorFlow 2.5, beside the graph before.
    """
    metadata, model = path / "keras_metadata.pb", path / "saved_model.pb"
    if metadata.exists():
        found = _described_beside(metadata)
    elif model.exists():
        found = _described_in_model(model)
    else:
        found = None
    if found is None:
        raise problem(
            f"the folder {path} holds no Keras model: no keras_metadata.pb or saved_model.pb "
            "describes its layers",
            'a SavedModel written by model.save("folder") of tf_keras, or a .h5 or .keras file',
        )
    return _parsed(found), "2"


def _described_beside(metadata: Path) -> str | None:
    from tf_keras.protobuf import saved_metadata_pb2

    saved = _message(saved_metadata_pb2.SavedMetadata(), metadata)
    return next((node.metadata for node in saved.nodes if node.node_path == "root"), None)


def _described_in_model(model: Path) -> str | None:
    """What Keras before TensorFlow 2.5 says of the root object; the graph is parsed with it, but not used."""
    from tensorflow.core.protobuf import saved_model_pb2

    saved = _message(saved_model_pb2.SavedModel(), model)
    for graph in saved.meta_graphs:
        root = graph.object_graph_def.nodes[0] if graph.object_graph_def.nodes else None
        if root is not None and root.user_object.identifier.startswith("_tf_keras_"):
            return str(root.user_object.metadata) or None
    return None


def _message(empty: Any, path: Path) -> Any:
    """The message of protobuf in a file. Raises ValueError: it is none."""
    try:
        empty.ParseFromString(_limited(path))
    except Exception as error:  # of protobuf's, for what is no message
        raise ValueError(str(error)) from None
    return empty


def _limited(path: Path) -> bytes:
    if path.stat().st_size > MOST_DESCRIPTION:
        raise ValueError(_too_long(path.stat().st_size))
    return path.read_bytes()


READERS = {"archive": _of_archive, "hdf5": _of_hdf5, "json": _of_json, "folder": _of_folder}
"""What reads the description in a file and the version of Keras, by the file's form."""


# weights


@dataclass(frozen=True, kw_only=True)
class Weights:
    """The file from which Keras reads the weights, and how many bytes they have, unpacked."""

    path: Path
    size: int


@contextmanager
def weights_of(file: KerasFile) -> Iterator[Weights]:
    """A copy of the weights that Keras reads as what they are: it goes by a file's name.

    path: of a SavedModel the prefix of its checkpoint. Raises DesignError: they are beyond a limit or point
    to other files; ValueError, OSError and the like: they cannot be read.
    """
    if file.form == "folder":
        prefix = file.path / "variables" / "variables"
        yield Weights(path=prefix, size=sum(one.stat().st_size for one in prefix.parent.iterdir()))
        return
    with tempfile.TemporaryDirectory(prefix="hlsgen-keras-") as folder:
        copy = Path(folder) / "copy"
        if file.form == "archive":
            _unpack(file.path, copy)
        else:
            shutil.copyfile(file.weights, copy)
        size, is_new_form = _looked_at(copy, file)
        named = copy.with_name("model.weights.h5" if is_new_form else "model.h5")
        copy.rename(named)
        yield Weights(path=named, size=size)


def _unpack(path: Path, copy: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        held = archive.getinfo("model.weights.h5")
        if held.file_size > MOST_WEIGHTS:
            raise problem(f"{path}: its weights have {held.file_size:,} bytes", f"at most {MOST_WEIGHTS:,}")
        with archive.open(held) as packed, copy.open("wb") as unpacked:
            _copied(packed, unpacked)


def _copied(source: IO[bytes], target: IO[bytes]) -> None:
    shutil.copyfileobj(source, target, 1 << 20)


def _looked_at(copy: Path, file: KerasFile) -> tuple[int, bool]:
    """The weights' bytes, and whether they lie as in .keras files. Raises DesignError as `_size_of`."""
    import h5py

    with h5py.File(copy, "r") as weights:
        size = _size_of(weights, file)
        return size, "layer_names" not in weights.attrs and "model_weights" not in weights


def _size_of(weights: Any, file: KerasFile) -> int:
    """Bytes, unpacked. Raises DesignError: numbers in other files, or more than MOST_WEIGHTS bytes."""
    import h5py

    total, pending, seen = 0, [weights], set()
    while pending:
        group = pending.pop()
        for name in group:
            link = group.get(name, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                raise _elsewhere(file)
            if not isinstance(link, h5py.HardLink):
                continue
            item = group[name]
            address = h5py.h5o.get_info(item.id).addr
            if isinstance(item, h5py.Group) and address not in seen:
                pending.append(item)
            elif isinstance(item, h5py.Dataset):
                if item.is_virtual or item.external:
                    raise _elsewhere(file)
                total += item.size * item.dtype.itemsize
            seen.add(address)
    if total > MOST_WEIGHTS:
        raise problem(f"{file.weights}: its weights have {total:,} bytes", f"at most {MOST_WEIGHTS:,}")
    return total


def _elsewhere(file: KerasFile) -> DesignError:
    message = f"{file.weights}: its weights are to be read from another file"
    return problem(message, f"{SAVED}, which holds its weights itself")
