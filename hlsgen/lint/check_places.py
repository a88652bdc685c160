"""Rules on where a pragma stands, and whether its variables are there."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

from hlsgen.lint.check_words import nearest
from hlsgen.lint.checking import Here
from hlsgen.lint.options import Kind, Scope
from hlsgen.lint.structure import LOOPS, Block, Variable
from hlsgen.lint.words import Word, names_of


def check_place(here: Here) -> bool:
    """Whether the pragma stands where it may."""
    name, block = here.form.name, here.block
    if block is None:
        here.say(
            "outside-function", f"`{name}` stands outside of a function", "move it into the function's body"
        )
        return False
    if here.form.scope is Scope.LOOP and block.loop is None:
        message = f"`{name}` does not stand directly in the body of a loop"
        here.say("outside-loop", message, "move it behind the opening brace of its loop")
        return False
    allowed = {
        Scope.FUNCTION: block.is_body,
        Scope.REGION: block.is_body or block.loop is not None,
        Scope.BLOCK: not block.is_body,
    }.get(here.form.scope, True)
    if not allowed:
        message = f"`{name}` has no meaning in this block"
        here.say("wrong-scope", message, f"it must stand {here.form.scope}")
        return False
    if name in ("pipeline", "unroll", "loop_tripcount", "loop_flatten") and block.node is not block.loop:
        before, behind = block.statements_around(here.pragma.start)
        while behind is not None and behind.type == "labeled_statement":
            behind = behind.named_children[-1]
        if before is not None and behind is not None and behind.type in LOOPS:
            around = "the function" if block.loop is None else "the loop around it"
            message = f"`{name}` stands before a loop and holds for {around}"
            here.say(
                "before-loop", message, "move it behind the loop's opening brace, or to the block's begin"
            )
    return True


def variables_of(here: Here) -> Iterable[tuple[str, str, tuple[int, int], Variable | None]]:
    """(option, name, place, variable or None) of all variables that a pragma names, `return` left out."""
    for word in here.pragma.words:
        option = here.form.option(word.key)
        if option is None or option.kind is not Kind.VARIABLE or word.value is None:
            continue
        for name, start, end in names_of(word):
            if name in ("return", "this") or here.block is None:
                continue
            yield option.name, name, (start, end), here.names.variable(name, here.block)


def check_variables(here: Here) -> None:
    """Every variable is declared where the pragma stands, and before it."""
    block = here.block
    assert block is not None
    for option, name, at, variable in variables_of(here):
        if option == "port":
            continue
        local = block.find(name)
        if local is not None and local.start > here.pragma.start:
            fix = "move the pragma behind the declaration"
            message = f"`{name}` is declared only behind this pragma"
            here.say("before-declaration", message, fix, at)
        elif variable is None and not _function(here, name):
            _unknown(here, block, name, at)


def _function(here: Here, name: str) -> bool:
    """Variables of macros and function names are not looked for."""
    return bool(here.names.functions(name)) or here.names.macro(name) is not None


def _unknown(here: Here, block: Block, name: str, at: tuple[int, int]) -> None:
    others = [one for one in here.module.blocks if one.function is block.function]
    if any(name in one.variables for one in others):
        fix = "move the pragma into the block that declares it"
        here.say("unknown-variable", f"`{name}` is declared in another block of the function", fix, at)
    elif not here.names.may_be_elsewhere(block):
        known = sorted({known for one in others for known in one.variables})
        known += [parameter.name for parameter in block.function.parameters]
        fix = f"{nearest(name, known)}name a variable of the function, or declare it before the pragma"
        here.say("unknown-variable", f"`{name[:50]}` is not declared", fix, at)


_EITHER = "pipeline or dataflow"
ONCE = ("pipeline", "unroll", "inline", "loop_tripcount", "dataflow", "latency", "loop_flatten")
ONCE_A_VARIABLE = ("array_partition", "array_reshape", "bind_storage", "stream", "aggregate", "disaggregate")


def check_conflicts(all_of_them: list[Here]) -> None:
    """No two pragmas in the same place say different things."""
    groups: dict[tuple[object, ...], list[Here]] = defaultdict(list)
    for here in all_of_them:
        if here.form.name in ONCE:
            groups[here.form.name, id(here.block)].append(here)
        if here.form.name in ("pipeline", "dataflow"):
            groups[_EITHER, id(here.block)].append(here)
        if here.form.name in ONCE_A_VARIABLE:
            dim = here.number("dim", 1) if "array" in here.form.name else None
            for _, name, _, variable in variables_of(here):
                where = variable.start if variable is not None else name
                groups[here.form.name, where, _member(here), dim].append(here)
    for key, group in groups.items():
        for first, second in pairwise(group):
            same_kind = first.form is second.form
            if same_kind and (key[0] == _EITHER or _said(first) == _said(second)):
                continue
            if not _exclusive(first, second):
                line = first.findings.source.place(first.pragma.start, first.pragma.end).line
                what = f"`{second.form.name}`"
                message = f"{what} contradicts the `{first.form.name}` of line {line}"
                second.say("conflicting-pragmas", message, "keep one of the two")


def _member(here: Here) -> str:
    """What a pragma names of a variable: `.rows` of `task.rows`, `->rows`, `[1]` of an array of streams."""
    named = next((value for key, value in map(_plain, here.pragma.words) if key == "variable"), "")
    return re.sub(r"^[&*(]*[\w:]*", "", named)


def _said(here: Here) -> tuple[object, ...]:
    """What a pragma says, in whatever order."""
    words = frozenset(_plain(word) for word in here.pragma.words)
    if here.form.name == "inline":
        words &= {("off", "")}  # the others say how deep, not whether
    return here.form.name, words


def _plain(word: Word) -> tuple[str, str]:
    return word.key.lower(), "".join((word.value or "").split()).lower()


def _exclusive(first: Here, second: Here) -> bool:
    """Whether the preprocessor takes only one of them."""
    branches = dict(first.pragma.source.branches)
    return any(branches.get(at, number) != number for at, number in second.pragma.source.branches)
