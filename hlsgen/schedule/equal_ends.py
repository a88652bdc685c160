"""Ends of a loop between its copies that none of them comes to: the bound is a multiple of their number.

A loop of i = 0, 16, ... below `n / 16 * 16` has sixteen copies, each with an end of its own: LLVM knows that
i + 1 is below the bound where i is, but not as long as the loop's end stands in front of its body.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

_NAME = r'%(?:"[^"]+"|[-\w$.]+)'
_FUNCTION = re.compile(r"^define .*?^}", re.MULTILINE | re.DOTALL)
_SHIFTED = re.compile(rf"^  ({_NAME}) = shl [a-z ]*i\d+ {_NAME}, (\d+)", re.MULTILINE)
_MULTIPLIED = re.compile(rf"^  ({_NAME}) = (?:mul [a-z ]*|and )i\d+ {_NAME}, -?(\d+)", re.MULTILINE)
_COUNTER = re.compile(rf"^  ({_NAME}) = phi i\d+ \[ 0, {_NAME} \], \[ ({_NAME}), {_NAME} \]", re.MULTILINE)
_STEPPED = re.compile(rf"^  ({_NAME}) = add [a-z ]*i\d+ ({_NAME}), (\d+)", re.MULTILINE)
_BETWEEN = re.compile(rf"^  ({_NAME}) = (?:or disjoint|add [a-z ]*)i\d+ ({_NAME}), (\d+)", re.MULTILINE)
_END = re.compile(
    rf"^  (?P<result>{_NAME}) = icmp (?P<how>[us]lt) i\d+ (?P<value>{_NAME}), (?P<bound>{_NAME})(?P<rest>.*\n"
    rf"  br i1 (?P=result), label {_NAME}, label (?P<out>{_NAME}).*)$",
    re.MULTILINE,
)


class _Asked(NamedTuple):
    """What a loop asks in front of its body, and where it goes if that is not so."""

    value: str
    how: str
    bound: str
    out: str


def with_equal_ends(text: str) -> str:
    """A module's text with ends between copies taken out: where i is below the bound so is i + k, if the
    bound and i are multiples of a power of two above k."""
    return _FUNCTION.sub(lambda found: _of_function(found[0]), text)


def _of_function(body: str) -> str:
    bounds = _multiples(body)
    if not bounds:
        return body
    steps = {one: (of, int(by)) for one, of, by in _STEPPED.findall(body)}
    counters = {
        counter: _twos(steps[last][1])
        for counter, last in _COUNTER.findall(body)
        if steps.get(last, ("", 0))[0] == counter
    }
    between = {
        one: (counter, int(offset))
        for one, counter, offset in _BETWEEN.findall(body)
        if 0 < int(offset) < counters.get(counter, 0)
    }
    asked = {_asked(found) for found in _END.finditer(body)}

    def held(found: re.Match[str]) -> str:
        its = _asked(found)
        counter, offset = between.get(its.value, ("", 0))
        if its._replace(value=counter) not in asked or offset >= bounds.get(its.bound, 0):
            return found[0]
        return f"  {found['result']} = freeze i1 true{found['rest']}"

    return _END.sub(held, body)


def _asked(found: re.Match[str]) -> _Asked:
    return _Asked(found["value"], found["how"], found["bound"], found["out"])


def _multiples(body: str) -> Mapping[str, int]:
    """The powers of two that values are multiples of, as far as their own instructions tell."""
    found = {one: 1 << min(int(by), 62) for one, by in _SHIFTED.findall(body)}
    return found | {one: _twos(int(by)) for one, by in _MULTIPLIED.findall(body)}


def _twos(number: int) -> int:
    """The largest power of two that divides a number."""
    return number & -number
