"""Rules on loops whose bounds are known only at run time."""

from __future__ import annotations

import re

from tree_sitter import Node

from hlsgen.lint.checking import Here
from hlsgen.lint.structure import Block

MAX_STEPS = 12
"""Constants that the value of a constant may lead over."""
_NAME = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*(?:::\w+)*(?!\w|\s*\()")


def check_trips(all_of_them: list[Here]) -> None:
    """Pipelined loops whose bounds are not constant, and such loops around them, say their trip counts."""
    said = {id(here.block) for here in all_of_them if here.form.name == "loop_tripcount"}
    for here in all_of_them:
        if here.form.name != "pipeline" or here.pragma.says("off"):
            continue
        if here.block is None or here.block.loop is None:
            continue
        block: Block | None = here.block
        while block is not None:
            if block.loop is not None and id(block) not in said:
                said.add(id(block))
                _check_loop(here, block, block.loop)
            block = block.parent


def _check_loop(here: Here, block: Block, loop: Node) -> None:
    """A finding at the loop's condition, if a variable is in it or in the counter's first value."""
    condition = loop.child_by_field_name("condition")
    around = block.parent
    if condition is None or around is None:
        return
    counters = set(_NAME.findall(_text(here, loop.child_by_field_name("update"))))
    first = loop.child_by_field_name("initializer")
    declared = [] if first is None else first.named_children
    counters |= {_text(here, one.child_by_field_name("declarator")) for one in declared}
    begins = [_text(here, one.child_by_field_name("value")) for one in declared]
    for text in (_text(here, condition), *begins):
        for name in _NAME.findall(text):
            if name not in counters and _at_run_time(here, name, around):
                which = "this pipelined loop" if block is here.block else "this loop around a pipelined one"
                message = f"`{name[:50]}`, which bounds {which}, is not constant: reports have no latency"
                fix = "say how often it runs: `#pragma HLS loop_tripcount min=N max=N` in its body"
                here.say("no-tripcount", message, fix, (condition.start_byte, condition.end_byte))
                return


def _text(here: Here, node: Node | None) -> str:
    data = here.module.source.data
    return "" if node is None else data[node.start_byte : node.end_byte].decode(errors="replace")


def _at_run_time(here: Here, name: str, block: Block, steps: int = 0) -> bool:
    """Whether a variable's value is not known before; names that are not found are taken for constants."""
    variable = here.names.variable(name, block)
    if variable is None or steps > MAX_STEPS:
        return False
    if variable is block.function.parameter(name) or not variable.constant:
        return True
    others = set(_NAME.findall(variable.value)) - {name}
    return any(_at_run_time(here, other, block, steps + 1) for other in others)
