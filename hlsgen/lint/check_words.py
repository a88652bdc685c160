"""Rules on a pragma's own text: its name, its options, their values."""

from __future__ import annotations

import difflib
import re

from hlsgen.lint.checking import Here
from hlsgen.lint.options import FORMS, MODES, OLD_MODES, OPERATIONS, STORAGE, Kind, Option
from hlsgen.lint.rules import Severity
from hlsgen.lint.words import Pragma, Word, names_of

_NAME = re.compile(r'[A-Za-z_]\w*|"[^"]*"')
_WORD = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*")
_LITERAL = re.compile(r'"|\d*\.\d|\d+[eE.]')


def nearest(word: str, known: list[str]) -> str:
    """ "did you mean 'x'? " or nothing."""
    close = difflib.get_close_matches(word[:50].lower(), known, n=1)
    return f"did you mean '{close[0]}'? " if close else ""


def unknown_pragma(pragma: Pragma) -> tuple[str, str]:
    """Message and remedy for a name that is no pragma's."""
    known = sorted(name for name, form in FORMS.items() if not form.instead)
    fix = f"{nearest(pragma.name, known)}the pragmas are {', '.join(known)}"
    if not pragma.name:
        return "`#pragma HLS` names no pragma", fix
    return f"there is no `#pragma HLS {pragma.name[:50]}`: the front end ignores it", fix


def check_words(here: Here) -> bool:
    """All rules on the pragma's text. Whether it is one that the front end takes."""
    before = len(here.findings.found)
    if here.form.instead:
        fix = f"use {here.form.instead}"
        here.say("deprecated", f"`{here.form.name}` is no longer supported", fix)
        return False
    if here.pragma.stray is not None:
        message = f"`{here.form.name}` cannot be read from here on"
        fix = "write words and key=value, with blanks between them"
        here.say("bad-value", message, fix, here.pragma.stray)
    mode = _check_mode(here) if here.form.modes else None
    seen: dict[str, Word] = {}
    for word in here.pragma.words:
        option = _option(here, word, mode)
        if option is not None:
            _check_word(here, word, option, seen)
    _check_required(here)
    if len(here.findings.found) == before:
        _MEANINGS.get(here.form.name, lambda _here: None)(here)
    return all(one.rule.severity is not Severity.ERROR for one in here.findings.found[before:])


def _check_mode(here: Here) -> str | None:
    """The mode of an interface: it must be there, once, and directly behind `interface`."""
    mode = here.word("mode")
    fix = "write `#pragma HLS interface m_axi port=...`, or mode=m_axi there"
    if mode is None:
        here.say("interface-mode", "the interface has no mode", fix)
        return None
    first = here.pragma.words[0]
    if first.key.lower() not in (mode, "mode"):
        where = next(word for word in here.pragma.words if word.key.lower() in (mode, "mode"))
        message = f"`{mode}` does not directly follow `interface`"
        here.say("interface-mode", message, fix, (where.start, where.end))
    if mode in OLD_MODES:
        here.say("deprecated", f"mode `{mode}` is no longer supported", f"use {OLD_MODES[mode]}")
    return mode


def _option(here: Here, word: Word, mode: str | None) -> Option | None:
    """The option that a word is, if the pragma (or the interface's mode) has it."""
    key, at = word.key.lower(), (word.start, word.end)
    option = here.form.option(key)
    if option is None:
        known = here.form.accepted
        fix = f"{nearest(key, [name.rstrip('=') for name in known])}{_accepted(here, mode)}"
        here.say("unknown-option", f"`{here.form.name}` has no option `{key[:50]}`", fix, at)
        return None
    if mode not in MODES or option.name in ("port", "name", "mode", "direct_io"):
        return option
    for own in MODES[mode or ""]:
        if own.name == key or (own.alone and key in own.words):
            return own
    here.say("wrong-mode-option", f"mode `{mode}` has no option `{key[:50]}`", f"{_accepted(here, mode)}", at)
    return None


def _accepted(here: Here, mode: str | None) -> str:
    if mode in MODES:
        names = ["port=", "name=", *(one.name for one in MODES[mode or ""])]
        return f"mode {mode} has {', '.join(names)}"
    return f"{here.form.name} has {', '.join(here.form.accepted) or 'no options'}"


def _check_word(here: Here, word: Word, option: Option, seen: dict[str, Word]) -> None:
    key, at = word.key.lower(), (word.start, word.end)
    if option.name in seen:
        other = seen[option.name].key.lower()
        if other == key:
            here.say("repeated-option", f"`{key}` is there twice", "keep one of the two", at)
        else:
            fix = f"keep one of the two; {option.name} is one of {', '.join(option.words)}"
            here.say("conflicting-options", f"`{key}` besides `{other}`", fix, at)
        return
    seen[option.name] = word
    if option.instead:
        here.say("deprecated", f"option `{key}` is no longer supported", f"write {option.instead}", at)
    bare = option.kind is Kind.PRESENT or (option.alone and key in option.words)
    if bare and word.value is not None:
        here.say("bad-value", f"`{key}` takes no value", f"write {key} alone", at)
    elif not bare and not word.value:
        here.say("bad-value", f"`{key}` has no value", f"write {key}={_example(option)}", at)
    elif word.value is not None:
        _VALUES[option.kind](here, word, option)


def _example(option: Option) -> str:
    if option.kind is Kind.CHOICE:
        return "|".join(option.words)
    return {Kind.INTEGER: "8", Kind.NUMBER: "100", Kind.VARIABLE: "x"}.get(option.kind, "name")


def _check_integer(here: Here, word: Word, option: Option) -> None:
    text, key = word.value or "", word.key
    at = (word.value_start, word.value_end)
    low, high = option.low or 0, option.high or 0
    range_ = f"a whole number from {low:,} to {high:,}" if high < 2**31 else f"a whole number from {low:,} on"
    value = here.value(text)
    if value is None:
        if _LITERAL.match(text):
            here.say(
                "bad-value", f"`{key}` must be {range_}, not {text[:50]}", f"write {key}={max(1, low)}", at
            )
            return
        for name in _WORD.findall(text):
            if here.block is not None and not _constant(here, name):
                fix = "use a number, a constexpr or const int with a known value, or a template parameter"
                here.say("not-constant", f"`{name[:50]}` in `{key}=` is not known at compile time", fix, at)
                return
    elif not low <= value <= high:
        shown = text[:50] if text == str(value) else f"{text[:50]} = {value}"
        here.say("bad-value", f"`{key}` must be {range_}, not {shown}", f"write {key}={max(1, low)}", at)
    elif option.power_of_two and value & (value - 1):
        here.say("bad-value", f"`{key}` must be a power of two, not {value}", f"write {key}=512", at)


def _constant(here: Here, name: str) -> bool:
    """Whether a name may be a constant: all that is not a variable we see."""
    assert here.block is not None
    found = here.block.find(name)
    return found is None or found.constant or name in here.block.function.templates


def _check_choice(here: Here, word: Word, option: Option) -> None:
    value = (word.value or "").strip('"').lower()
    if value not in option.words:
        fix = f"{nearest(value, list(option.words))}{option.name} is one of {', '.join(option.words)}"
        at = (word.value_start, word.value_end)
        here.say("bad-value", f"`{option.name}` cannot be {value[:50]}", fix, at)


def _check_name(here: Here, word: Word, option: Option) -> None:
    if not _NAME.fullmatch(word.value or "") and option.name != "instances":
        at = (word.value_start, word.value_end)
        message = f"`{option.name}` must be a name, not {(word.value or '')[:50]}"
        here.say("bad-value", message, "letters, digits and underscores, a letter first", at)


def _check_variable(here: Here, word: Word, option: Option) -> None:
    if next(names_of(word), None) is None:
        at = (word.value_start, word.value_end)
        message = f"`{option.name}` must name a variable, not {(word.value or '')[:50]}"
        here.say("bad-value", message, f"write {option.name}=x", at)


def _check_number(here: Here, word: Word, option: Option) -> None:
    text = word.value or ""
    if not re.fullmatch(r"\d+(\.\d*)?([eE][+-]?\d+)?|\w+", text) and here.value(text) is None:
        at = (word.value_start, word.value_end)
        here.say("bad-value", f"`{option.name}` must be a number", f"write {option.name}=100", at)


_VALUES = {
    Kind.INTEGER: _check_integer,
    Kind.CHOICE: _check_choice,
    Kind.NAME: _check_name,
    Kind.VARIABLE: _check_variable,
    Kind.NUMBER: _check_number,
}


def _check_required(here: Here) -> None:
    for option in here.form.options:
        alone = here.pragma.says(*option.words) if option.alone else None
        if option.required and here.pragma.value(option.name) is None and alone is None:
            example = " or ".join(option.words) if option.alone else f"{option.name}={_example(option)}"
            here.say("missing-option", f"`{here.form.name}` needs `{option.name}`", f"add {example}")


# ---- options that only make sense together -------------------------------------------------------------


def _partition(here: Here) -> None:
    kind = here.word("type") or "complete"
    factor = here.pragma.value("factor")
    if kind == "complete" and factor is not None:
        message = f"`{here.form.name}` complete ignores `factor`"
        here.say(
            "ignored-option", message, "leave it out, or write cyclic or block", (factor.start, factor.end)
        )
    if kind != "complete" and factor is None and here.pragma.says("object") is None:
        here.say("missing-option", f"`{here.form.name}` {kind} needs `factor`", "add factor=N")


def _storage(here: Here) -> None:
    _pair(here, "type", STORAGE, {"auto"})


def _operation(here: Here) -> None:
    _pair(here, "op", OPERATIONS, {"auto", "dsp"} if (here.word("op") or "")[:1] in "hfd" else {"auto"})


def _pair(here: Here, key: str, table: dict[str, tuple[str, ...]], always: set[str]) -> None:
    what, impl = here.word(key) or "", here.word("impl")
    word = here.pragma.value("impl")
    if impl is None or word is None or impl in always or impl in table[what]:
        return
    fix = f"{what} can be {', '.join(table[what])}"
    here.say("bad-value", f"{what} cannot be made of {impl}", fix, (word.value_start, word.value_end))


def _pipeline(here: Here) -> None:
    style = here.word("style")
    for other in ("off", "enable_flush"):
        if style and here.pragma.says(other):
            here.say("conflicting-options", f"`style` besides `{other}`", "keep one of the two")
    if style in ("flp", "frp") and here.pragma.says("rewind"):
        here.say("conflicting-options", f"`rewind` besides style={style}", "rewind goes with style=stp")


def _stream(here: Here) -> None:
    if here.pragma.says("off") and here.word("type") not in (None, "pipo"):
        here.say("conflicting-options", "`off` means type=pipo, besides another type", "keep type=")


def _dependence(here: Here) -> None:
    if here.pragma.value("variable") is not None and here.word("class") is not None:
        here.say("conflicting-options", "`variable` besides `class`", "keep one of the two")
    distance = here.pragma.value("distance")
    if distance is not None and (here.word("dependent") != "true" or here.word("type") == "intra"):
        fix = "write inter and true, or leave the distance out"
        message = "a `distance` is only looked at with inter and true"
        here.say("ignored-option", message, fix, (distance.start, distance.end))


def _least_and_most(here: Here) -> None:
    least, most = here.pragma.value("min"), here.pragma.value("max")
    if least is None and most is None:
        here.say("missing-option", f"`{here.form.name}` needs `min` or `max`", "add max=N")
    if least is None or most is None:
        return
    low, high = here.value(least.value or ""), here.value(most.value or "")
    if low is not None and high is not None and low > high:
        at = (least.value_start, least.value_end)
        here.say("bad-value", f"`min` is {low}, more than `max`, {high}", "exchange the two", at)


_MEANINGS = {
    "array_partition": _partition,
    "array_reshape": _partition,
    "bind_storage": _storage,
    "bind_op": _operation,
    "pipeline": _pipeline,
    "stream": _stream,
    "dependence": _dependence,
    "latency": _least_and_most,
    "loop_tripcount": _least_and_most,
}
