"""Macros that stand as statements, expanded as far as their text is a plain call."""

from __future__ import annotations

import re
from collections.abc import Callable

from hlsgen.lint.structure import Macro

MAX_STEPS = 8
MAX_TEXT = 10_000
_NAME = re.compile(r"[A-Za-z_]\w*")


def expand(name: str, arguments: list[str], macro_of: Callable[[str], Macro | None]) -> str | None:
    """The text of a macro's call, None if it is none, or too large, or needs # or ##."""
    macro = macro_of(name)
    if macro is None or macro.parameters is None or "#" in macro.text:
        return None
    text = _substituted(macro, arguments)
    for _ in range(MAX_STEPS):
        if text is None or len(text) > MAX_TEXT:
            return None
        call = re.match(r"\s*([A-Za-z_]\w*)\s*\(", text)
        inner = macro_of(call.group(1)) if call else None
        if call is None or inner is None or inner.parameters is None:
            return text
        stop = text.rfind(")")
        text = _substituted(inner, split(text[call.end() : stop]))
    return None


def split(text: str) -> list[str]:
    """Arguments, cut at the commas outside of brackets."""
    found, depth, begin = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            found.append(text[begin:at].strip())
            begin = at + 1
    rest = text[begin:].strip()
    return [*found, rest] if rest or found else []


def _substituted(macro: Macro, arguments: list[str]) -> str | None:
    assert macro.parameters is not None
    named = [name for name in macro.parameters if name != "..."]
    variadic = len(named) < len(macro.parameters)
    if len(arguments) < len(named) or (len(arguments) > len(named) and not variadic):
        return None
    values = dict(zip(named, arguments, strict=False))
    if variadic:
        values["__VA_ARGS__"] = ", ".join(arguments[len(named) :])
    return _NAME.sub(lambda match: values.get(match.group(), match.group()), macro.text)
