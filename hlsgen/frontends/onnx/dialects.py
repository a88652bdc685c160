"""What ONNX files in the world say otherwise than the standard does: operator sets and homes of quantisers.

Operator sets are read up to `NEWEST_OPSET`, whose changes hlsgen knows; of a newer one what has not changed
since. Quantisers belong to QONNX's domain, with an entry among the model's operator sets. Brevitas wrote them
into the default domain once, others leave the entry out; QONNX's own tools take both, and so does this.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.progress import Say
from hlsgen.frontends.onnx.functions import every_node

OLDEST_OPSET = 6
NEWEST_OPSET = 28
QUANT_DOMAINS = ("qonnx.custom_op.general", "onnx.brevitas", "finn.custom_op.general")
CHANNELS_LAST = "qonnx.custom_op.channels_last"
"""QONNX's domain of operations whose tensors have their channels last."""
HOMELESS = frozenset({"BipolarQuant", "FloatQuant", "IntQuant", "MultiThreshold", "Quant", "Trunc"})
"""Operations of QONNX that older exporters put into the default domain."""


def with_quantisers_at_home(onnx: ModuleType, proto: Any, say: Say) -> Any:
    """The model with QONNX's operations in its domain, and that among its operator sets.

    A copy if something changes, which `say` is told; the model itself stays as it is.
    """
    standard = {schema.name for schema in onnx.defs.get_all_schemas_with_history() if not schema.domain}
    graphs = (proto.graph, *proto.functions)
    nodes = [node for graph in graphs for node in every_node(graph) if node.op_type in HOMELESS - standard]
    strays = [node for node in nodes if node.domain in ("", "ai.onnx")]
    used = {node.domain for graph in graphs for node in every_node(graph)} & set(QUANT_DOMAINS)
    missing = used - {entry.domain for entry in proto.opset_import}
    if not strays and not missing:
        return proto
    fresh = type(proto)()
    fresh.CopyFrom(proto)
    home = QUANT_DOMAINS[0]
    if strays:
        names = ", ".join(sorted({node.op_type for node in strays}))
        say(f"{names} of the default domain taken as {home}'s, as QONNX's tools do")
    if missing:
        say(f"the model names no operator set for {', '.join(sorted(missing))}: version 1 is taken")
    missing |= {home} if strays else set()
    for graph in (fresh.graph, *fresh.functions):
        for node in every_node(graph):
            if node.op_type in HOMELESS - standard and node.domain in ("", "ai.onnx"):
                node.domain = home
    for target in (fresh, *fresh.functions):
        have = {entry.domain for entry in target.opset_import}
        for domain in sorted(missing - have):
            target.opset_import.add(domain=domain, version=1)
    return fresh


def opset_of(onnx: ModuleType, proto: Any, title: str) -> int:
    """The version of ai.onnx. Raises DesignError: too old a one, or what changed in a newer one."""
    versions = [entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")]
    if len(versions) != 1 or versions[0] < OLDEST_OPSET:
        found = f"it uses operator set {versions[0]}" if versions else "it names no ai.onnx operator set"
        fix = (
            f"export with an operator set from {OLDEST_OPSET} to {NEWEST_OPSET}, or use "
            f"onnx.version_converter.convert_version(model, {NEWEST_OPSET})"
        )
        message = f"{title}: {found}; {OLDEST_OPSET} to {NEWEST_OPSET} are supported"
        raise DesignError(Problem(message=message, fix=fix))
    version = int(versions[0])
    changed = sorted(
        {
            node.op_type
            for graph in (proto.graph, *proto.functions)
            for node in every_node(graph)
            if node.domain in ("", "ai.onnx")
            and version > NEWEST_OPSET
            and _changed(onnx, node.op_type, version)
        }
    )
    if changed:
        message = f"{title}: operator set {version} has changed {', '.join(changed)} since {NEWEST_OPSET}"
        fix = f"export with operator set {NEWEST_OPSET} or an older one"
        raise DesignError(Problem(message=f"{message}, the last that hlsgen knows", fix=fix))
    return version


def _changed(onnx: ModuleType, op: str, version: int) -> bool:
    """Whether an operation is not in `version` what it was in NEWEST_OPSET."""
    try:
        return bool(onnx.defs.get_schema(op, version).since_version > NEWEST_OPSET)
    except onnx.defs.SchemaError:  # a local function, or what is refused by its own name
        return False
