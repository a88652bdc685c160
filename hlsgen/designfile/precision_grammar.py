"""How users write number types, in a design file and as `precision=`: one grammar for both.

"auto" | a type | a width | a mapping of the keys of `PrecisionSection`; any other key of it is a layer's
name. A width, 8, "int8" or {"bits": 8}, may stand for every type but those of biases and sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)

from hlsgen.base.errors import DesignError, Problem
from hlsgen.base.fixed import FixedType, FloatType
from hlsgen.base.floating import HALF
from hlsgen.base.type_text import FLOATING
from hlsgen.designfile.schema_values import FIXED_PATTERN, check_accumulator, check_type
from hlsgen.designfile.validation import Mistake, Real, label_of, mistakes_in, must_be, refused, unknown_key
from hlsgen.designfile.widths import (
    WIDTH_EXAMPLE,
    WIDTH_PATTERN,
    WIDTH_SCHEMA,
    check_width,
    is_bits_mapping,
    looks_like_width,
    refuse_width,
)
from hlsgen.model.precision import (
    AGREEMENT,
    LEAST_TARGET_DB,
    MOST_HEADROOM,
    MOST_TARGET_DB,
    OUTPUT_DB,
    Bits,
    LayerPrecision,
    Precision,
)

TYPE_EXAMPLE = 'a type such as "fixed<16,6>"'
Written = str | int | FixedType | Bits | Mapping[str, object] | None
"""What users write; None: as "auto"."""
Given = Written | Precision
"""... and what Python users may make instead."""


def _fixed(value: object, check: Any, words: str) -> Any:
    found = value if isinstance(value, FixedType) else check(value)
    if isinstance(found, FixedType | str):
        return found
    message = f"is {found}, but a streaming kernel computes in fixed point"
    raise refused(Mistake(message=message, fix=f"{words}{TYPE_EXAMPLE}"))


def check_fixed(value: object) -> FixedType:
    """A fixed-point type: a streaming kernel has no other."""
    found: FixedType = _fixed(value, check_type, "")
    return found


def check_sized(value: object) -> FixedType | Bits:
    """A fixed-point type, or a width."""
    return check_width(value) or check_fixed(value)


def check_result(value: object) -> FixedType | FloatType | Bits:
    """A fixed-point type, a width, or half."""
    if value == HALF or (isinstance(value, str) and value.strip() == str(HALF)):
        return HALF
    return check_sized(value)


def check_bias(value: object) -> FixedType:
    """A fixed-point type: of a width the biases' grid would not be said."""
    refuse_width(value, "a bias lies on the grid of the products", f"leave bias out, or {TYPE_EXAMPLE}")
    return check_fixed(value)


def check_default(value: object) -> FixedType | FloatType | Bits | Literal["auto"]:
    """auto, a fixed-point type, a width, float32 for a network of tasks or on shared processors, or half for
    tasks.
    """
    if value == "auto":
        return "auto"
    if isinstance(value, FixedType | FloatType):
        return value
    width = check_width(value)
    if width is not None:
        return width
    if not isinstance(value, str):
        fix = f"auto, float32, half, {TYPE_EXAMPLE}, or {WIDTH_EXAMPLE}"
        raise refused(must_be("auto, a number type or a width", value, fix))
    found: FixedType | FloatType = check_type(value)
    return found


def check_sums(value: object) -> FixedType | FloatType | Literal["exact", "tight"]:
    """exact, tight or a fixed-point type; half or float32, which sums of half products may be in."""
    if isinstance(value, FloatType) or (isinstance(value, str) and value.strip() in FLOATING):
        return value if isinstance(value, FloatType) else FLOATING[value.strip()]
    refuse_width(value, "a sum's range is that of its products", f"exact, tight, or {TYPE_EXAMPLE}")
    found: FixedType | Literal["exact", "tight"] = _fixed(value, check_accumulator, "exact, tight, or ")
    return found


def _text(words: str = "") -> WithJsonSchema:
    """A fixed-point type, or one of some words: "exact|tight"."""
    return WithJsonSchema({"type": "string", "pattern": f"^({FIXED_PATTERN}{words and '|' + words})$"})


def _sized(words: str = "") -> WithJsonSchema:
    """A fixed-point type, a width, or one of some words."""
    text = {"type": "string", "pattern": f"^({FIXED_PATTERN}|{WIDTH_PATTERN}{words and '|' + words})$"}
    return WithJsonSchema({"anyOf": [text, *WIDTH_SCHEMA]})


def check_input(value: object) -> FixedType | FloatType | Bits:
    """The type of an input: fixed point, a width, or float32 or half with a network in it."""
    if isinstance(value, FixedType | FloatType):
        return value
    found: FixedType | FloatType | Bits = check_width(value) or check_type(value)
    return found


Bias = Annotated[FixedType, PlainValidator(check_bias), _text()]
Sized = Annotated[FixedType | Bits, PlainValidator(check_sized), _sized()]
Result = Annotated[FixedType | FloatType | Bits, PlainValidator(check_result), _sized("half")]
Default = Annotated[
    FixedType | FloatType | Bits | Literal["auto"], PlainValidator(check_default), _sized("auto|float32|half")
]

InputType = Annotated[FixedType | FloatType | Bits, PlainValidator(check_input), _sized("float32|half")]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class LayerTypes(_Section):
    """Types of one layer; None: as for all."""

    weights: Sized | None = None
    """Type of its weights, or their width."""
    bias: Bias | None = None
    """Type of its biases."""
    output: Result | None = None
    """Type of what it gives, or its width; half: it computes in half."""
    input: Sized | None = None
    """Type of what it reads, or its width, where a tensor in half becomes fixed point."""


def _layer(value: object) -> object:
    """A type alone is that of what a layer gives; a width that of its weights too."""
    width = check_width(value)
    if width is not None:
        return {"weights": width, "output": width}
    if isinstance(value, str | FixedType | FloatType):
        return {"output": value}
    return dict(value) if isinstance(value, Mapping) else value


Layer = Annotated[LayerTypes, BeforeValidator(_layer, json_schema_input_type=Result | LayerTypes)]


class PrecisionSection(BaseModel):
    """Number types of a floating-point network; any other key is a layer's name, as in `layers`."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)
    __pydantic_extra__: dict[str, Layer] = Field(init=False)

    default: Default = "auto"
    """Type of all activations; auto: chosen for each tensor from calibration frames; a width such as 8: the
    range is chosen from these; float32."""
    weights: Sized | None = None
    """Type of all weights, or a width: the range is chosen for each layer; None: as wide as the activations,
    each layer with the range it needs."""
    input: Result | None = None
    """Type of the input, or its width; half; None: as the other activations."""
    output: Sized | None = None
    """Type of the network's outputs, or their width; None: as the other activations."""
    accumulator: (
        Annotated[
            FixedType | FloatType | Literal["exact", "tight"],
            PlainValidator(check_sums),
            _text("exact|tight|half|float32"),
        ]
        | None
    ) = None
    """exact: no weights overflow it (default with weights: runtime); tight: these do not; or a type; of half
    also float32.
    """
    target_db: Annotated[float, Real(LEAST_TARGET_DB, MOST_TARGET_DB)] | None = None
    """Least signal to quantisation noise that auto gives each tensor; None: what the outputs need."""
    output_db: Annotated[float, Real(0, MOST_TARGET_DB)] = OUTPUT_DB
    """Signal to noise that auto asks of the outputs; 0: whatever comes."""
    agreement: Annotated[float, Real(0, 1)] = AGREEMENT
    """Share of frames whose largest score auto wishes to be that of floating point; 0: whatever comes."""
    headroom: Annotated[float, Real(1, MOST_HEADROOM)] | None = None
    """Range that auto gives every tensor, as a multiple of what the frames showed; 1: none beyond; None: 2,
    and up to 8 for tensors in which frames differ much."""
    balance: bool = False
    """Whether channels are scaled by powers of two, so that large and small ones of a tensor lose less; the
    network stays the same. Only where that brings the outputs nearer on calibration frames."""
    layers: dict[str, Layer] = {}
    """Types by layer name."""

    @property
    def precision(self) -> Precision:
        types = {**(self.__pydantic_extra__ or {}), **self.layers}
        return Precision(
            default=self.default,
            weights=self.weights,
            input=self.input,
            output=self.output,
            accumulator=self.accumulator,
            target_db=self.target_db,
            output_db=self.output_db,
            agreement=self.agreement,
            headroom=self.headroom,
            balance=self.balance,
            layers={
                name: LayerPrecision(weights=one.weights, bias=one.bias, output=one.output, input=one.input)
                for name, one in types.items()
            },
        )


KEYS = [*PrecisionSection.model_fields, "calibration"]
"""The keys of a design file; from Python calibration is an argument of its own."""


def written(value: object) -> object:
    """A mapping of what may also be written as auto, a type or a width. Raises what `refused` makes."""
    if isinstance(value, PrecisionSection):
        return value
    if not isinstance(value, Mapping):
        return {"default": value}
    if is_bits_mapping(value):
        return {"default": check_width(value)}
    mistakes = [replace(one, fix=f"{one.fix}; or a layer's name with a type") for one in _unknown(value)]
    if mistakes:
        raise refused(*mistakes)
    return dict(value)


def _unknown(value: Mapping[object, object]) -> list[Mistake]:
    """Keys that are neither of the grammar nor layers with their types."""
    found = []
    for key, one in value.items():
        if key == "bits" and looks_like_width(one):
            message, fix = "is a width by itself, and not one of several keys", f"write default: {one}"
            found.append(Mistake(message=message, fix=fix, at=(key,), key=True))
        elif key not in KEYS and not _of_a_layer(one):
            found.append(unknown_key((str(key),), KEYS))
    return found


def _of_a_layer(value: object) -> bool:
    """Whether a value was meant as the types of a layer."""
    if isinstance(value, Mapping | FixedType | FloatType) or (isinstance(value, str) and value in FLOATING):
        return True
    return looks_like_width(value) or "<" in str(value)


PrecisionValue = Annotated[
    PrecisionSection, BeforeValidator(written, json_schema_input_type=Default | PrecisionSection)
]
_ADAPTER: TypeAdapter[PrecisionSection] = TypeAdapter(PrecisionValue)


def precision_of(given: Given) -> Precision:
    """What users give as `precision=`, which a design file writes the same way.

    Raises DesignError with every mistake: an unknown key, no type, float32, a number out of its limits.
    """
    return given if isinstance(given, Precision) else section_of(given).precision


def section_of(given: Written) -> PrecisionSection:
    """The same as a design file has it. Raises as `precision_of` does."""
    if isinstance(given, Mapping):
        if "calibration" in given:
            message = "precision: `calibration` names a file of frames in a design file only"
            raise DesignError(Problem(message=message, fix="calibration=np.load(...) beside precision="))
        given = {key: value for key, value in given.items() if value is not None}
    try:
        return _ADAPTER.validate_python("auto" if given is None else given)
    except ValidationError as error:
        raise DesignError(
            [
                Problem(message=f"precision: {_label(mistake)}{mistake.message}", fix=mistake.fix)
                for details in error.errors(include_url=False)
                for mistake in mistakes_in(details, PrecisionSection)
            ]
        ) from None


def _label(mistake: Mistake) -> str:
    names = [str(step) for step in mistake.at[:-1]]
    return "".join(f"{name}: " for name in names) + (f"`{label_of(mistake.at)}` " if mistake.at else "")


OWN_KEYS = "precision of it says types of inputs, outputs, layers and accumulators"


def overrides_of(precision: Precision) -> Precision:
    """What is said of a network that brings its own types, which may be types alone.

    Raises DesignError: it says more than types of inputs, outputs, layers and accumulators.
    """
    ends = (precision.input, precision.output)
    kept = Precision(
        input=precision.input,
        output=precision.output,
        accumulator=precision.accumulator,
        layers=precision.layers,
    )
    fixed = all(one is None or isinstance(one, FixedType) for one in ends)
    if not fixed or precision != kept or isinstance(precision.accumulator, FloatType):
        message = f"the network brings its own number types: {OWN_KEYS}"
        fix = 'leave the rest out: {"input": "ufixed<8,0>", "conv1": {"output": "fixed<8,3>"}}'
        raise DesignError(Problem(message=message, fix=fix))
    return kept
