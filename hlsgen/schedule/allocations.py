"""`allocation operation` pragmas: no more cores of an operation than that, so that a pipeline waits for them.

A limit of function instances is not counted: which calls the tool inlines first is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator

from hlsgen.schedule.control_flow import Loop
from hlsgen.schedule.ir import Module
from hlsgen.schedule.iteration import Region
from hlsgen.schedule.sites import Sites

_KINDS = {"fexp": "exp", "dexp": "exp", "flog": "log", "dlog": "log", "fsqrt": "sqrt", "dsqrt": "sqrt"} | {
    f"{precision}{kind}": f"f{kind}" for precision in "hd" for kind in ("add", "sub", "mul", "div")
}
"""Names of operations in pragmas, where they are not those of operations here."""


def core_uses(region: Region, sites: Sites, module: Module) -> Iterator[tuple[str, int, int]]:
    """Of each operation that a pragma within the region's loop, or one around it, limits: its name, how often
    an iteration has it, and how many cores there may be."""
    limits: dict[str, int] = {}
    nodes = set(_names(region.loop, module))
    for site in sites.plain:
        if site.pragma.name != "allocation" or site.loop not in nodes:
            continue
        limit = site.values.get("limit", 0)
        if limit > 0 and "function" not in (*site.pragma.words, site.pragma.texts.get("type", "")):
            name = site.pragma.texts.get("instances", "").lower()
            kind = _KINDS.get(name, name)
            limits[kind] = min(limit, limits.get(kind, limit))
    for kind, limit in limits.items():
        written = (node.operation for node in region.nodes if node.instruction is not None)
        yield kind, sum(one is not None and one.kind == kind for one in written), limit


def _names(loop: Loop | None, module: Module) -> Iterator[int]:
    """The nodes that a loop, and those around it, had before unrolling."""
    while loop is not None:
        yield module.loop_names.get(loop.node, -1)
        loop = loop.parent
