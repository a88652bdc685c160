"""LUTs and FFs of what is emitted, as terms: a term is an amount for each of its features, such as bits.

Every coefficient is read from a file, terms.yaml here unless the user has another one, which says what
each was fitted to and how far off it was on rows that it was not fitted to (hlsgen/cost/fitting.py). A term
predicts two things that differ: what Vitis HLS reports (csynth) and what is left after routing (routed).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

import yaml
from pydantic import BaseModel, ConfigDict, model_validator

from hlsgen.designfile.document import Document
from hlsgen.designfile.validation import Entries, Mistake, Real, Whole, refused, unknown_key
from hlsgen.targets.device_family import DSP48E2, MODELLED, Dsp

PACKAGED = Path(__file__).with_name("terms.yaml")

HEAD = """\
# LUTs and FFs of what hlsgen emits (docs/cost-model.md). `fitted` figures are written by a program
# (python benchmarks/fit_terms.py, hlsgen calibrate); the others are written by hand.
"""

Target = Literal["routed", "csynth"]
Kind = Literal["lut", "ff"]
CostStyle = Literal["layer", "tasks", "dataflow", "shared"]
"""layer: a convolution as a kernel; the others are the styles of networks."""
TARGETS: tuple[Target, ...] = get_args(Target)
CELLS: tuple[Kind, ...] = get_args(Kind)

FEATURES: Mapping[str, tuple[str, ...]] = {
    "float_multiplier": ("one",),
    "float_adder_dsp": ("one",),
    "float_adder_fabric": ("one",),
    "half_multiplier": ("one",),
    "half_adder_dsp": ("one",),
    "half_adder_fabric": ("one",),
    "dsp_product": ("one", "bits", "tiles"),
    "cascaded_product": ("one", "delays"),
    "lut_product": ("one", "square", "rows", "bits"),
    "bit_count": ("one",),
    "adder": ("one", "bits"),
    "compare": ("one", "bits"),
    "select": ("bits",),
    "multiplexer": ("inputs", "lut6"),
    "register": ("bits",),
    "weight_register": ("bits",),
    "stream_word": ("bits",),
    "memory_lutram": ("one", "bits", "blocks", "primitives"),
    "memory_block": ("one", "bits"),
    "fifo_registers": ("one", "bits"),
    "fifo_shift": ("one", "bits", "address"),
    "fifo_lutram": ("one", "bits", "address", "primitives"),
    "fifo_block": ("one", "bits", "address"),
    "process_control": ("one",),
    "kernel_control": ("one",),
    "conv_control": ("one",),
    "axi_adapter": ("one", "bits"),
    "interconnect": ("one",),
}
"""What each term may count. one: of them; bits: their widths; the others: hlsgen/cost/published_cores.py."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


Error = Annotated[float, Real(0, 100)]
Amount = Annotated[float, Real(0, 1e9)]
Count = Annotated[int, Whole(0, 10**9)]


class Fit(_Section):
    """What a fitted figure rests on. Errors are relative, on rows that it was not fitted to."""

    rows: Count
    """Fitted to."""
    held_out: Count
    """Rows that it was held against instead."""
    median: Error
    q90: Error
    elsewhere: Error | None = None
    """Median error on rows of other clocks and versions, which take no part; None: there are none."""


class Figure(_Section):
    """LUT or FF of one term for one target: a sum over its features, or the other target's by a factor."""

    basis: Literal["fitted", "structure", "estimate"]
    """fitted: to published reports. structure: follows from the primitive. estimate: a guess."""
    per: dict[str, Amount] | None = None
    """How many of it there are for each of a feature, by the feature."""
    times: Annotated[float, Real(0.001, 1000)] | Literal["designs"] | None = None
    """Instead of `per`: the other target's figure times this; designs: times the factor of whole designs."""
    error: Error
    """Relative; 90 % quantile where it is fitted, an assumption where not."""
    fit: Fit | None = None
    source: str = ""

    @model_validator(mode="after")
    def check_form(self) -> Self:
        if (self.per is None) == (self.times is None):
            raise refused(Mistake(message="must have just one of `per` and `times`", fix="leave one out"))
        return self


class Pair(_Section):
    """A figure for each target; one of them may refer to the other, not both."""

    csynth: Figure
    routed: Figure

    @model_validator(mode="after")
    def check_one_is_given(self) -> Self:
        if self.csynth.per is None and self.routed.per is None:
            raise refused(Mistake(message="refers to the other target in both", fix="give one of them `per`"))
        return self


class Term(_Section):
    """One term: LUT and FF of something that is emitted."""

    what: str
    lut: Pair
    ff: Pair


class Factor(_Section):
    """Routed cells over those that csynth reports, of whole designs."""

    factor: Annotated[float, Real(0.01, 100)]
    error: Error
    """Half the spread over the designs, relative."""
    designs: Count
    source: str = ""


class Factors(_Section):
    """One for each kind of cell."""

    lut: Factor
    ff: Factor


class Calibration(_Section):
    """What one of a user's own sets of reports did to the terms of one style and target."""

    style: CostStyle
    target: Target
    designs: Annotated[int, Whole(1, 10**6)]
    lut_error: Error
    """Largest-but-10 % relative error, each design predicted from the others alone."""
    ff_error: Error
    lut_scale: dict[str, Annotated[float, Real(0.001, 1000)]]
    """How much more of a term there is than its own figure says, by term."""
    ff_scale: dict[str, Annotated[float, Real(0.001, 1000)]]


class TermsFile(_Section):
    """A file of terms."""

    name: str
    """Reports name it."""
    routed_over_csynth: Factors
    terms: dict[str, Term]
    calibrations: Annotated[tuple[Calibration, ...], Entries(0, 12)] = ()

    @model_validator(mode="after")
    def check_names(self) -> Self:
        mistakes = _unknown(("terms",), self.terms, FEATURES)
        missing = [name for name in FEATURES if name not in self.terms]
        if missing:
            fix = "add them, as in hlsgen/targets/terms.yaml"
            mistakes.append(Mistake(at=("terms",), message=f"lacks {', '.join(missing)}", fix=fix))
        for name, term in self.terms.items():
            for kind in CELLS:
                for target in TARGETS:
                    per = getattr(getattr(term, kind), target).per or {}
                    where = ("terms", name, kind, target, "per")
                    mistakes += _unknown(where, per, FEATURES.get(name, tuple(per)))
        for index, done in enumerate(self.calibrations):
            for key in ("lut_scale", "ff_scale"):
                mistakes += _unknown(("calibrations", index, key), getattr(done, key), FEATURES)
        if mistakes:
            raise refused(*mistakes)
        return self


def _unknown(at: tuple[str | int, ...], names: Iterable[str], known: Collection[str]) -> list[Mistake]:
    """Mistakes for the keys at `at` that are none of `known`."""
    return [unknown_key((*at, name), list(known)) for name in names if name not in known]


OUTSIDE = "interconnect"
"""The term of what no report of a kernel counts, because it lies outside."""

Weights = tuple[tuple[str, float, float], ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Terms:
    """Terms of a file, to predict one target for one style of design."""

    file: TermsFile
    target: Target = "routed"
    style: CostStyle = "layer"
    dsp: Dsp = DSP48E2
    """What products are built of."""

    @property
    def name(self) -> str:
        return self.file.name

    def cells(self, name: str, **amounts: float) -> tuple[float, float]:
        """LUT and FF of the term `name`, by how much there is of each of its features."""
        lut = ff = 0.0
        for feature, luts, ffs in self._weights[name]:
            amount = amounts.get(feature, 0.0)
            lut += luts * amount
            ff += ffs * amount
        return lut, ff

    def apart(self) -> TermsApart:
        """The same, of which a design's sum of all terms still has each by itself."""
        return TermsApart(file=self.file, target=self.target, style=self.style, dsp=self.dsp)

    def of(self, target: Target) -> Terms:
        return replace(self, target=target)

    def for_style(self, style: CostStyle) -> Terms:
        """The terms with what is calibrated for this style."""
        return replace(self, style=style)

    def for_dsp(self, dsp: Dsp) -> Terms:
        """The same for products in another kind of DSP."""
        return self if dsp == self.dsp else replace(self, dsp=dsp)

    @cached_property
    def calibration(self) -> Calibration | None:
        """The one for this style and target, if there is one."""
        wanted = (self.style, self.target)
        return next((one for one in self.file.calibrations if (one.style, one.target) == wanted), None)

    def per(self, name: str, kind: Kind) -> dict[str, float]:
        """The coefficients of a term by feature, what it was calibrated to included."""
        pair: Pair = getattr(self.file.terms[name], kind)
        own: Figure = getattr(pair, self.target)
        scale = 1.0
        if own.per is None:
            scale = self._factor(kind) if own.times == "designs" else float(own.times or 1)
            own = pair.csynth if self.target == "routed" else pair.routed
        if self.calibration is not None:
            scale *= getattr(self.calibration, f"{kind}_scale").get(name, 1.0)
        return {feature: amount * scale for feature, amount in (own.per or {}).items()}

    def errors(self, name: str, kind: Kind) -> tuple[float, float]:
        """The relative errors of a term: what was measured on rows that it was not fitted to, and what is
        assumed.
        """
        pair: Pair = getattr(self.file.terms[name], kind)
        own: Figure = getattr(pair, self.target)
        if own.per is not None:
            return (own.error, 0.0) if own.basis == "fitted" else (0.0, own.error)
        other = pair.csynth if self.target == "routed" else pair.routed
        factor = getattr(self.file.routed_over_csynth, kind).error if own.times == "designs" else 0.0
        assumed = own.error + factor
        return (other.error, assumed) if other.basis == "fitted" else (0.0, other.error + assumed)

    def _factor(self, kind: Kind) -> float:
        routed = float(getattr(self.file.routed_over_csynth, kind).factor)
        return routed if self.target == "routed" else 1 / routed

    @cached_property
    def _weights(self) -> dict[str, Weights]:
        found: dict[str, Weights] = {}
        for name, features in FEATURES.items():
            lut, ff = self.per(name, "lut"), self.per(name, "ff")
            used = [feature for feature in features if feature in lut or feature in ff]
            found[name] = tuple((one, lut.get(one, 0.0), ff.get(one, 0.0)) for one in used)
        return found


PART_BITS = 96
"""Bits that the cells of a term have of a sum of several: more than any board has cells."""


class TermsApart(Terms):
    """Every term in PART_BITS bits of its own of whole numbers: so one sum says what each term takes."""

    def cells(self, name: str, **amounts: float) -> tuple[float, float]:
        lut, ff = super().cells(name, **amounts)
        shift = PART_BITS * list(FEATURES).index(name)
        return round(lut) << shift, round(ff) << shift

    @staticmethod
    def parts(total: int) -> dict[str, int]:
        """The cells of each term in a sum of `cells`."""
        mask = (1 << PART_BITS) - 1
        return {name: total >> PART_BITS * number & mask for number, name in enumerate(FEATURES)}


@lru_cache(maxsize=len(MODELLED))
def packaged_terms(dsp: Dsp = DSP48E2) -> Terms:
    """The terms that come with hlsgen, for products in a kind of DSP."""
    if dsp != DSP48E2:
        return packaged_terms().for_dsp(dsp)
    # without the places of values, which only mistakes need, libyaml reads the file in a tenth of the time
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return Terms(file=TermsFile.model_validate(yaml.load(PACKAGED.read_bytes(), Loader=loader)))


def load_terms(path: str | Path) -> Terms:
    """The terms in a file. Raises DesignError with every mistake, each with its place."""
    return Terms(file=Document.read(Path(path)).validate(TermsFile))


def terms_text(file: TermsFile) -> str:
    """A file of terms as YAML; the same terms give the same bytes."""
    data = file.model_dump(mode="json", exclude_none=True)
    return HEAD + yaml.dump(data, sort_keys=False, default_flow_style=None, width=110)
