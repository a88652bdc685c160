"""What is wrong with a value, in words that need no knowledge of pydantic.

A model's own validators raise `refused(Mistake(...))`; `mistakes_in` says in the same way what pydantic
itself finds. `Whole`, `Real` and `Entries` are annotations of fields with limits.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeGuard, get_args, get_type_hints

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError, core_schema

Location = tuple[str | int, ...]


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """What is wrong at `at`, relative to the value that was validated. `message` follows the key's name.

    `key` points at the key instead of the value.
    """

    message: str
    fix: str
    at: Location = ()
    key: bool = False


def refused(*mistakes: Mistake) -> PydanticCustomError:
    """The exception that a validator of a model raises to report `mistakes`."""
    text = "; ".join(mistake.message for mistake in mistakes)
    return PydanticCustomError("hlsgen", "{text}", {"text": text, "mistakes": mistakes})


def mistakes_in(details: ErrorDetails, model: type[BaseModel] | None = None) -> Iterator[Mistake]:
    """What pydantic says of a value of `model` (None: of a dataclass), in our words."""
    loc = details["loc"]
    own: tuple[Mistake, ...] = details.get("ctx", {}).get("mistakes", ())
    if own:
        yield from (replace(mistake, at=(*loc, *mistake.at)) for mistake in own)
    elif details["type"] == "extra_forbidden":
        yield unknown_key(loc, _known_keys(model, loc[:-1]))
    elif details["type"] == "missing":
        yield Mistake(message="is missing", fix=_how_to_add(model, loc), at=loc)
    else:
        explain = _WORDS.get(details["type"], _any_other)
        message, fix = explain(details["input"], details.get("ctx", {}))
        yield Mistake(message=message, fix=fix, at=loc)


def unknown_key(at: Location, known: list[str]) -> Mistake:
    """The mistake of a key that is not one of `known`."""
    key = str(at[-1])
    allowed = f"the keys here are {', '.join(known)}"
    if key.endswith(">"):
        # {type: fixed<16,6>} is split by YAML at the comma.
        return Mistake(message="is no key", fix='quote a type inside { }: "fixed<16,6>"', at=at, key=True)
    return Mistake(message="is no key", fix=nearest(key, known) + allowed, at=at, key=True)


def must_be(wanted: str, value: object, fix: str, at: Location = ()) -> Mistake:
    """ "must be <wanted>, not <value>", with a word on the YAML traps that lead there."""
    if isinstance(value, bool):
        fix += " (YAML reads yes, no, on and off as true and false unless quoted)"
    verb = "is empty; it must be " + wanted if value is None else f"must be {wanted}, not {shown(value)}"
    return Mistake(message=verb, fix=fix, at=at)


@dataclass(frozen=True)
class Whole:
    """Annotation of a field: a whole number from `low` to `high`; no boolean, no 3.0, no "3"."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def holds(self, value: object) -> TypeGuard[int]:
        """Whether `value` is such a number."""
        return type(value) is int and self.low <= value <= self.high

    def check(self, value: object, at: Location = ()) -> int:
        """`value` itself. Raises what `refused` makes, at `at`."""
        if self.holds(value):
            return value
        raise refused(self.mistake(value, at))

    def mistake(self, value: object, at: Location = ()) -> Mistake:
        """The mistake of a `value` that is none."""
        how = " in plain digits without quotes" if isinstance(value, str) else ""
        how = " without a fraction" if isinstance(value, float) else how
        return must_be(str(self), value, f"write a number from {self.low} to {self.high}{how}", at)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.check)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True)
class OneOf:
    """Annotation of a field: one of these whole numbers; no boolean, no 8.0, no "8"."""

    values: tuple[int, ...]

    def __str__(self) -> str:
        return f"one of {', '.join(map(str, self.values))}"

    def holds(self, value: object) -> TypeGuard[int]:
        """Whether `value` is one of them."""
        return type(value) is int and value in self.values

    def check(self, value: object) -> int:
        """`value` itself. Raises what `refused` makes."""
        if self.holds(value):
            return value
        how = " in plain digits without quotes" if isinstance(value, str) else ""
        raise refused(must_be(str(self), value, f"write {str(self)}{how}"))

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.check)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return {"type": "integer", "enum": list(self.values)}


@dataclass(frozen=True)
class Real:
    """Annotation of a field: a finite number from `low` to `high`, whole or not; no boolean, no "3".

    example: what else to say of how it is written.
    """

    low: float
    high: float
    example: str = ""

    def holds(self, value: object) -> TypeGuard[float]:
        """Whether `value` is such a number."""
        return type(value) in (int, float) and self.low <= value <= self.high  # type: ignore[operator]

    def check(self, value: object) -> float:
        """`value` itself. Raises what `refused` makes."""
        if self.holds(value):
            return value
        how = " in plain digits without quotes" if isinstance(value, str) else ""
        fix = f"write a number from {self.low:g} to {self.high:g}{how}{self.example}"
        raise refused(must_be(f"a number from {self.low:g} to {self.high:g}", value, fix))

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.check)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return {"type": "number", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True)
class Entries:
    """Annotation of a field `tuple[X, ...]`: a list of `low` to `high` entries.

    pydantic's own limits count the valid entries only, so that one wrong entry makes two messages.
    """

    low: int
    high: int

    def check(self, value: object) -> tuple[object, ...]:
        """The list as a tuple. Raises what `refused` makes."""
        if isinstance(value, list | tuple) and self.low <= len(value) <= self.high:
            return tuple(value)
        fix = "write it as `[...]` or as indented lines that start with `- `"
        raise refused(must_be(f"a list of {self.low} to {self.high} entries", value, fix))

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return {**handler(schema), "minItems": self.low, "maxItems": self.high}


def needed_keys(how: str, keys: Iterable[str]) -> dict[str, Any]:
    """What a JSON Schema says of a mapping that needs some of these keys; how: "anyOf" or "oneOf" them."""
    given: dict[str, Any] = {"not": {"type": "null"}}
    return {how: [{"required": [key], "properties": {key: given}} for key in keys]}


Words = Callable[[Any, Mapping[str, Any]], tuple[str, str]]


def _wanted(wanted: str, fix: str) -> Words:
    def words(value: Any, ctx: Mapping[str, Any]) -> tuple[str, str]:
        mistake = must_be(wanted, value, fix)
        return mistake.message, mistake.fix

    return words


def _one_of(value: Any, ctx: Mapping[str, Any]) -> tuple[str, str]:
    allowed = re.findall("'([^']*)'", str(ctx["expected"]))
    mistake = must_be(" or ".join(allowed), value, f"{nearest(value, allowed)}write {' or '.join(allowed)}")
    return mistake.message, mistake.fix


def _any_other(value: Any, ctx: Mapping[str, Any]) -> tuple[str, str]:
    return f"cannot be {shown(value)}", "see the reference of the file's keys"


_MAPPING = _wanted(
    "a mapping of keys to values", "write it as `{key: value}` or as indented `key: value` lines"
)
# pydantic's name of an error -> our words for it. What is not here is said by the models' own validators.
_WORDS: Mapping[str, Words] = {
    "dataclass_type": _MAPPING,
    "bool_type": _wanted("true or false", "write true or false without quotes"),
    "dict_type": _MAPPING,
    "literal_error": _one_of,
    "model_attributes_type": _MAPPING,
    "model_type": _MAPPING,
    "string_type": _wanted("text", "write a word, in quotes if it looks like a number"),
}


def label_of(at: Location) -> str:
    """The last key with the indexes after it: ("input", "shape", 1) -> "shape[1]"."""
    names = [index for index, step in enumerate(at) if isinstance(step, str)]
    first = names[-1] if names else 0
    return printable(shortened(str(at[first]))) + "".join(f"[{step}]" for step in at[first + 1 :])


def _how_to_add(model: type[BaseModel] | None, loc: Location) -> str:
    parent = _model_at(model, loc[:-1])
    field = _fields(parent).get(str(loc[-1])) if parent else None
    examples = field.examples if field else None
    return (
        f"add it, for example `{loc[-1]}: {_in_yaml(examples[0])}`" if examples else f"add `{loc[-1]}: ...`"
    )


def _in_yaml(value: Any) -> str:
    # As an entry of a list, because there a type gets the quotes that it needs inside { }.
    return yaml.safe_dump([value], default_flow_style=True, sort_keys=False, width=10_000).strip()[1:-1]


def _known_keys(model: type[BaseModel] | None, loc: Location) -> list[str]:
    parent = _model_at(model, loc)
    return list(_fields(parent)) if parent else []


def _fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Fields by the keys that a document has for them."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _model_at(model: type[BaseModel] | None, loc: Location) -> type[BaseModel] | None:
    """The model of the mapping at `loc`; the keys that a model takes beyond its fields share one type."""
    current = model
    for step in loc:
        if isinstance(step, str) and current is not None:
            field = _fields(current).get(step)
            extra = get_type_hints(current).get("__pydantic_extra__")
            current = _model_in(field.annotation if field else extra)
    return current


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)


# ---------------------------------------------------------------- text


def shown(value: object) -> str:
    """`value` as a person wrote it in YAML, in one short printable line."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(printable(shortened(value)), ensure_ascii=False)
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}" if value else "an empty list"
    return shortened(str(value))


def shortened(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def printable(text: str) -> str:
    """`text` with tabs as spaces and each other unprintable character replaced, at the same length."""
    return "".join(char if char.isprintable() else " " if char == "\t" else "\ufffd" for char in text)


def nearest(word: object, known: list[str]) -> str:
    """ "did you mean 'kernel'? " when some known word is close, else nothing."""
    close = difflib.get_close_matches(str(word)[:100], known, n=1)
    return f"did you mean '{close[0]}'? " if close else ""
