"""Rules on dataflow regions: the canonical form that the vendor's front end asks for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from tree_sitter import Node

from hlsgen.lint.argument_access import Access, ArgumentAccess
from hlsgen.lint.checking import Here
from hlsgen.lint.regions import STATEMENT, Argument, Call, Region, region_of
from hlsgen.lint.structure import Variable

_CONDITIONS = frozenset(("if_statement", "switch_statement"))
_EXITS = frozenset(("return_statement", "break_statement", "continue_statement", "goto_statement"))
_LITERALS = frozenset(
    ("number_literal", "string_literal", "char_literal", "true", "false", "null", "concatenated_string")
)


@dataclass(kw_only=True, eq=False)
class Channel:
    """A variable between stages: the numbers of those that read and write it, and of whom it is not known."""

    variable: Variable
    name: str
    local: bool
    readers: list[int] = field(default_factory=list)
    writers: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)


def check_dataflow(here: Here, access: ArgumentAccess) -> None:
    """All rules on one dataflow pragma's region."""
    assert here.block is not None
    if here.block.loop is not None:
        _check_loop(here, here.block.loop)
    region = region_of(here)
    _check_statements(region)
    for call in region.calls:
        _check_call(region, call)
    _check_static(region)
    channels = _channels(region, access)
    for channel in channels:
        _check_channel(region, channel)
    _check_bypass(region, channels)


def _say(region: Region, rule: str, message: str, fix: str, node: Node | Call) -> None:
    at = (node.start, node.end) if isinstance(node, Call) else (node.start_byte, node.end_byte)
    region.here.say(rule, message, fix, at)


# ---- statements --------------------------------------------------------------------------------------------


def _check_statements(region: Region) -> None:
    for node in region.others:
        if node.type == "ERROR":
            continue
        if node.type in _CONDITIONS or (node.named_children and _conditional(node)):
            message = "a stage of a dataflow region runs each time, not on a condition"
            _say(region, "dataflow-condition", message, "move the condition into the stage", node)
        elif node.type in _EXITS:
            fix = "stages say when they are done; leave it out"
            _say(region, "dataflow-exit", "a dataflow region has one way out", fix, node)
        else:
            message = "a dataflow region holds nothing but declarations and calls"
            _say(region, "dataflow-statement", message, "move this into a function of its own", node)
    for node in region.assigned:
        message = "a stage that returns a value cannot be used in a dataflow region"
        _say(region, "dataflow-return", message, "return nothing, and write to an argument instead", node)
    for node in region.macros:
        name = region.here.findings.source.text(node.start_byte, node.end_byte).partition("(")[0]
        message = f"the macro `{name[:50]}` is no plain call; the dataflow rules are not checked on it"
        _say(region, "not-understood", message, "write the call out", node)


def _conditional(node: Node) -> bool:
    inner = node.named_children[0]
    return (
        inner.type in ("conditional_expression", "binary_expression") and node.type == "expression_statement"
    )


def _check_static(region: Region) -> None:
    for variables in region.block.variables.values():
        for variable in variables:
            if variable.static and not variable.is_stream:
                at = (variable.start, variable.start + len(variable.name))
                message = f"the static `{variable.name}` is treated like a local variable"
                region.here.say("dataflow-static", message, "leave `static` out, or move it into a stage", at)


def _check_loop(here: Here, loop: Node) -> None:
    """for (int i = 0; i < N; ++i) { ... }, N a constant or an argument."""
    say = here.module.source
    fix = "write for (int i = 0; i < N; ++i) with a constant N or an argument of the function"
    if loop.type != "for_statement":
        here.say("dataflow-loop", "only for loops and functions can be dataflow regions", fix)
        return
    start, condition, update = (
        loop.child_by_field_name(name) for name in ("initializer", "condition", "update")
    )
    counter = _counter(start, say.text) if start is not None else None
    if counter is None:
        message = "the loop's counter is not declared in its header, alone, starting at 0"
    elif condition is None or not _counts_to(here, condition, counter):
        message = f"the loop does not run while `{counter}` is less than a constant or an argument"
    elif update is None or "".join(say.text(update.start_byte, update.end_byte).split()) not in (
        f"++{counter}",
        f"{counter}++",
        f"{counter}+=1",
    ):
        message = f"the loop's counter `{counter}` does not go up in steps of 1"
    else:
        return
    end = loop.child_by_field_name("body")
    here.say("dataflow-loop", message, fix, (loop.start_byte, end.start_byte if end else loop.end_byte))


def _counter(start: Node, text: object) -> str | None:
    declarators = start.children_by_field_name("declarator")
    if start.type != "declaration" or len(declarators) != 1 or declarators[0].type != "init_declarator":
        return None
    name, value = (declarators[0].child_by_field_name(key) for key in ("declarator", "value"))
    if name is None or value is None or value.text != b"0" or name.text is None:
        return None
    return name.text.decode(errors="replace")


def _counts_to(here: Here, condition: Node, counter: str) -> bool:
    if condition.type != "binary_expression" or here.block is None:
        return False
    left, right = condition.child_by_field_name("left"), condition.child_by_field_name("right")
    operator = condition.child_by_field_name("operator")
    if left is None or right is None or operator is None or operator.type != "<":
        return False
    source = here.module.source
    bound = source.text(right.start_byte, right.end_byte)
    function = here.block.function
    if source.text(left.start_byte, left.end_byte) != counter:
        return False
    known = function.parameter(bound) is not None or here.value(bound) is not None
    # a template parameter, or what a header that is not there declares
    return known or here.block.find(bound) is None


# ---- calls -------------------------------------------------------------------------------------------------


def _check_call(region: Region, call: Call) -> None:
    if call.made:
        return
    found = [] if call.method_of else region.here.names.functions(call.name)
    found = [one for one in found if len(one.parameters) == len(call.arguments)]
    if found and all(one.returns not in ("void", "") for one in found):
        message = f"`{call.name}` returns {found[0].returns}"
        _say(region, "dataflow-return", message, "return nothing, and write to an argument instead", call)
    for argument in call.arguments:
        wrong = _wrong_argument(region, argument)
        if wrong is not None:
            rule, why = wrong
            fix = "hand on an argument of the function, a constant, or a variable declared in the region"
            at = argument.node
            inside = region.block.node.start_byte <= at.start_byte < region.block.node.end_byte
            place = at if inside and _is_written(region, argument) else call
            _say(region, rule, f"`{argument.text[:60]}` {why}", fix, place)


def _is_written(region: Region, argument: Argument) -> bool:
    """Whether the argument's node is the file's own, not that of an expanded macro."""
    node = argument.node
    return region.here.findings.source.text(node.start_byte, node.end_byte) == argument.text


def _wrong_argument(region: Region, argument: Argument) -> tuple[str, str] | None:
    """The rule that an argument of a stage breaks, and why it is none that a dataflow region may hand on."""
    rule = "dataflow-argument"
    if argument.node.type in _LITERALS or region.here.value(argument.text) is not None:
        return None
    base = region.base_of(argument)
    if base is None:
        return rule, "is computed in the region"
    name = base[0]
    block = region.block
    local = block.variables.get(name)
    if local is not None:
        return None
    function = block.function
    if function.parameter(name) is not None or name in function.templates:
        return None
    loop = block.loop
    found = block.find(name)
    if found is not None:
        in_header = loop is not None and loop.start_byte <= found.start < loop.end_byte
        return None if in_header else (rule, "is declared outside of the region")
    if region.here.names.variable(name, block) is not None:
        return "dataflow-global", "is neither local nor an argument of the function"
    return None


# ---- who writes and who reads ------------------------------------------------------------------------------


def _channels(region: Region, access: ArgumentAccess) -> list[Channel]:
    """The streams and arrays of the region, in the order of their first use."""
    found: dict[tuple[int, str], Channel] = {}
    for number, call in enumerate(region.calls):
        if call.method_of:
            variable, local = _variable(region, call.method_of)
            if variable is not None and variable.is_stream:
                channel = _channel(found, variable, call.method_of, local)
                (channel.readers if call.name.startswith("read") else channel.writers).append(number)
        for position, argument in enumerate(call.arguments):
            base = region.base_of(argument)
            variable, local = _variable(region, base[0]) if base is not None else (None, False)
            if base is None or variable is None or not _is_channel(variable, base[1]):
                continue
            channel = _channel(found, variable, base[0] + base[1], local)
            done = access.of(call.name, len(call.arguments), position)
            if done is Access.NONE:
                channel.unknown.append(number)
            if Access.READS in done:
                channel.readers.append(number)
            if Access.WRITES in done:
                channel.writers.append(number)
    return _with_whole_arrays(found)


def _with_whole_arrays(found: Mapping[tuple[int, str], Channel]) -> list[Channel]:
    """Where one stage takes an array as a whole and others take elements of it, each element is a channel,
    which the first one has too.
    """
    channels = list(found.values())
    wholes = [whole for whole in channels if any(_is_element(other, whole) for other in channels)]
    for whole in wholes:
        for channel in channels:
            if _is_element(channel, whole):
                channel.readers += whole.readers
                channel.writers += whole.writers
                channel.unknown += whole.unknown
    return [channel for channel in channels if not any(channel is whole for whole in wholes)]


def _is_element(channel: Channel, whole: Channel) -> bool:
    return channel.variable is whole.variable and channel.name.startswith(f"{whole.name}[")


def _variable(region: Region, name: str) -> tuple[Variable | None, bool]:
    local = region.block.variables.get(name)
    if local is not None:
        return local[0], True
    return region.block.function.parameter(name), False


def _is_channel(variable: Variable, element: str) -> bool:
    """Streams and memory; numbers, and elements of an array of them, may go to several stages."""
    if variable.is_stream or "burst_maxi" in variable.type:
        return True
    depth = len(variable.dims) or int(variable.pointer)
    return element.count("[") < depth


def _channel(found: dict[tuple[int, str], Channel], variable: Variable, name: str, local: bool) -> Channel:
    key = (variable.start, name)
    return found.setdefault(key, Channel(variable=variable, name=name, local=local))


def _check_channel(region: Region, channel: Channel) -> None:
    what = "stream" if channel.variable.is_stream else "array" if channel.local else "argument"
    name = f"the {what} `{channel.name}`"
    at = (channel.variable.start, channel.variable.start + len(channel.variable.name))
    calls = region.calls

    def among(numbers: list[int]) -> str:
        return ", ".join(_named(calls[number]) for number in dict.fromkeys(numbers[:4]))

    fix = "give each stage a stream of its own; a fork copies one stream into two"
    if len(set(channel.writers)) > 1:
        region.here.say("dataflow-producer", f"{name} is written by {among(channel.writers)}", fix, at)
    if len(set(channel.readers)) > 1:
        region.here.say("dataflow-consumer", f"{name} is read by {among(channel.readers)}", fix, at)
    users = set(channel.writers + channel.readers + channel.unknown)
    both = len(set(channel.writers)) > 1 or len(set(channel.readers)) > 1
    either = any(calls[number].made for number in channel.unknown)
    if not both and not either and channel.unknown and len(users) > (2 if channel.local else 1):
        region.here.say("dataflow-consumer", f"{name} goes to {among(sorted(users))}", fix, at)
    if channel.local:
        _check_ends(region, channel, name, at)
    elif channel.readers and channel.writers and set(channel.readers) != set(channel.writers) and not both:
        region.here.say("dataflow-consumer", f"{name} goes to {among(sorted(users))}", fix, at)


def _named(call: Call) -> str:
    return call.name if call.name == STATEMENT else f"`{call.name}`"


def _check_ends(region: Region, channel: Channel, name: str, at: tuple[int, int]) -> None:
    """A local channel has both ends, the writing one first."""
    stream = channel.variable.is_stream
    fix = "add the stage at the other end, or leave it out"
    only = region.calls[channel.unknown[0]] if channel.unknown else None
    if only is not None and stream and not only.made and not channel.readers + channel.writers:
        if len(set(channel.unknown)) < 2:
            region.here.say("dataflow-consumer", f"only {_named(only)} has {name}", fix, at)
    elif not channel.writers and not channel.unknown and (stream or not channel.variable.value):
        region.here.say("dataflow-producer", f"nothing writes {name}", fix, at)
    elif not channel.readers and not channel.unknown and stream:
        region.here.say("dataflow-consumer", f"nothing reads {name}", fix, at)
    elif channel.readers and channel.writers and min(channel.readers) < min(channel.writers):
        first, last = region.calls[min(channel.readers)], region.calls[min(channel.writers)]
        message = f"{name} is read by `{first.name}` before `{last.name}` writes it"
        fix = f"call {last.name} first"
        if stream:
            fix += ", or make sure that the reader starts without a word of it"
        region.here.say("dataflow-stream-back" if stream else "dataflow-feedback", message, fix, at)


def _check_bypass(region: Region, channels: list[Channel]) -> None:
    """An array from one stage to another that is also reached through stages between them."""
    edges: dict[int, set[int]] = defaultdict(set)
    for channel in channels:
        for writer in channel.writers:
            edges[writer].update(reader for reader in channel.readers if reader > writer)
    for channel in channels:
        if channel.variable.is_stream or not channel.local or not channel.writers or not channel.readers:
            continue
        first, last = min(channel.writers), max(channel.readers)
        if last > first and _way_round(edges, first, last):
            at = (channel.variable.start, channel.variable.start + len(channel.variable.name))
            message = f"the array `{channel.name}` goes past the stages between `{region.calls[first].name}`"
            message += f" and `{region.calls[last].name}`"
            fix = "hand it through those stages, or use a stream that is deep enough"
            region.here.say("dataflow-bypass", message, fix, at)


def _way_round(edges: dict[int, set[int]], first: int, last: int) -> bool:
    """Whether `last` is reached from `first` through another stage."""
    stack = [step for step in edges[first] if step != last]
    seen = set(stack)
    while stack:
        at = stack.pop()
        if last in edges[at]:
            return True
        for step in edges[at] - seen:
            seen.add(step)
            stack.append(step)
    return False
