"""A convolution as the front wave, as a stage: rows x PE x SIMD x taps multipliers on a band of rows.

The same wave and banks as a convolution kernel of its own has (hlsgen/hardware/conv2d.py), between streams of
pixels instead of planes in DDR, so that a network's layers can be joined by it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

import numpy as np

from hlsgen.base.fixed import FixedType
from hlsgen.base.floating import HALF
from hlsgen.hardware.banks import BankMap, Pattern, map_banks
from hlsgen.hardware.conv_band import access_patterns
from hlsgen.hardware.conv_words import BAND_LATENCY, FIXED_SUM_LATENCY, FLOAT_SUM_LATENCY
from hlsgen.hardware.wave import Wave, band_constants, wave_of, window_constants
from hlsgen.hardware.wave_words import arriving_pairs, arriving_rows, fewest_waiting, powers, rows_arriving
from hlsgen.layers.conv2d_stage import ConvStage
from hlsgen.layers.stage import LEAST_SUMS, Buffer, Schedule, StreamFormat, Times, Work

MOST_SPARE_SLOTS = 6
"""Row slots beyond the fewest that are tried: more slots can mean fewer banks."""
LUTRAM_WORDS = 64
MOST_LANES = 256
"""Elements of a word of the input or of the output."""
RESULT_LATENCY = {"float": 12, "fixed": 6}
"""Cycles of the loop's pipeline besides the adders: counters, band, multiplier, rounding, memory."""
ADDER_LATENCY = {"float": 7, "fixed": 1}


@dataclass(frozen=True, kw_only=True, eq=False)
class WaveStage(ConvStage):
    """A band of rows in offset banks; each iteration computes a column of ROWS rows of PE output channels.

    Several groups at once are whole ones. Time is cut into periods: in each the rows of the next tile arrive,
    a tile is computed, and the results of the tile before leave. A tile takes GF * NF * CF * COLUMNS
    iterations, more where its neighbours need longer. Columns run innermost, then the channels; or, where a
    row has too few columns for a sum to be complete before the next one is added to it, the filters.
    """

    template = "conv2d_wave"

    @property
    def rows(self) -> int:
        """Output rows at once."""
        return self.fold.rows

    @property
    def wave(self) -> Wave:
        return wave_of(self.layer, self.rows)

    @property
    def _kind(self) -> str:
        return "float" if self.layer.is_float else "fixed"

    @property
    def latency(self) -> int:  # type: ignore[override]
        """Cycles of the loop's pipeline, from a column of the band to its results."""
        levels = self.terms.bit_length() + 1 if self.layer.is_float else min(self.terms, 16)
        return RESULT_LATENCY[self._kind] + levels * ADDER_LATENCY[self._kind]

    @property
    def sum_latency(self) -> int:
        """Iterations between two uses of a running sum."""
        return FLOAT_SUM_LATENCY if self.layer.is_float else FIXED_SUM_LATENCY

    @cached_property
    def filters_inside(self) -> bool:
        """Whether the passes over filters run within those over channels: a row is short."""
        _, filters, channels = self.passes
        return channels > 1 and filters > 1 and self.wave.columns < self.sum_latency

    @cached_property
    def columns(self) -> int:
        """Iterations of a pass over a row; the last ones idle if a sum takes longer."""
        _, filters, channels = self.passes
        if channels == 1:
            return self.wave.columns
        between = filters if self.filters_inside else 1
        return max(self.wave.columns, -(-self.sum_latency // between))

    @property
    def sum_distance(self) -> int:
        """Iterations from a sum to the next one that is added to it."""
        return self.columns * (self.passes[1] if self.filters_inside else 1)

    @cached_property
    def tile_iterations(self) -> int:
        """Iterations that compute a tile."""
        return math.prod(self.passes) * self.columns

    @property
    def folds_in(self) -> int:
        """Words that hold all input channels of the same pixels."""
        groups, _, channels = self.passes
        return groups * channels

    @property
    def folds_out(self) -> int:
        """Words that hold all output channels of the same pixels."""
        groups, filters, _ = self.passes
        return groups * filters

    # ---- Words in and out

    @cached_property
    def px_in(self) -> int:
        """Neighbouring pixels of an input word: the fewest with which no tile, or the fewest, waits."""
        _, _, width = self.layer.read_shape
        choices = powers(width, MOST_LANES // self.fold.simd)
        return fewest_waiting(choices, self._fill_waits)

    @cached_property
    def px_out(self) -> int:
        """Neighbouring pixels of an output word: the fewest with which a tile leaves in its time."""
        width = self.layer.output_shape[2]
        choices = powers(width, MOST_LANES // self.fold.pe)
        return fewest_waiting(choices, lambda px: max(0, self._leaving(px) - self.tile_iterations))

    def _fill_waits(self, px: int) -> int:
        """Iterations of a frame in which tiles wait for their rows."""
        row_words, hidden = self._in_row_words(px), self.tile_iterations - BAND_LATENCY
        # few numbers: quicker one by one, and every folding asks
        return sum(
            count * max(0, rows * row_words - hidden)
            for rows, count in arriving_pairs(self.layer, self.rows)
            if rows
        )

    def _words_of_tiles(self, px: int) -> tuple[Times, Times]:
        """The different numbers of words that arrive for a tile, and how many tiles have each."""
        rows, counts = arriving_rows(self.layer, self.rows)
        return rows * self._in_row_words(px), counts

    def _in_row_words(self, px: int) -> int:
        return -(-self.layer.read_shape[2] // px) * self.folds_in

    def _words_by_tile(self, px: int) -> Times:
        """Words that arrive for each tile, those below the last window with the last tile."""
        return rows_arriving(self.layer, self.rows) * self._in_row_words(px)

    def _leaving(self, px: int) -> int:
        """Iterations in which the results of a whole tile leave, the delay before them included."""
        return self._drain_delay(px) + self.rows * self._out_row_words(px)

    def _out_row_words(self, px: int) -> int:
        return -(-self.layer.output_shape[2] // px) * self.folds_out

    def _drain_delay(self, px: int) -> int:
        """Iterations of a period before results leave: the last ones are still in the pipeline."""
        return max(0, self.latency + 2 - self._result_distance(px))

    def _result_distance(self, px: int) -> int:
        """Iterations from the write of a result to its read, if results left from a period's first on."""
        groups, filters, channels = self.passes
        width, lag = self.layer.output_shape[2], self.wave.lag
        # the least is at an end of the first or of the last whole word of a row
        ends = {min(px, width) - 1, max(1, width // px) * px - 1, width - 1}
        found = []
        for group, fold in product({0, groups - 1}, {0, filters - 1}):
            passes = (channels - 1) * filters + fold if self.filters_inside else (fold + 1) * channels - 1
            written = (group * filters * channels + passes) * self.columns + lag
            word = group * filters + fold
            found += [
                self.tile_iterations + column // px * self.folds_out + word - written - column
                for column in ends
                if column < width
            ]
        return min(found)

    @property
    def inputs(self) -> tuple[StreamFormat, ...]:
        (source,) = self.layer.sources
        # a dense layer's inputs at once may be several pixels
        channels = min(self.fold.simd, source.shape[0])
        return (StreamFormat(tensor=source, px=self.px_in * self.fold.simd // channels, channels=channels),)

    @property
    def output(self) -> StreamFormat:
        return StreamFormat(tensor=self.layer.output, px=self.px_out, channels=self.fold.pe)

    # ---- Time

    @cached_property
    def periods(self) -> Times:
        """[tiles] iterations of the period in which a tile is computed."""
        arriving = np.roll(self._words_by_tile(self.px_in), -1)
        lengths: Times = np.maximum(np.where(arriving > 0, arriving + BAND_LATENCY, 0), self.least_period)
        return lengths

    @property
    def first_iterations(self) -> int:
        """Iterations of the first period, in which nothing is computed."""
        return int(self._words_by_tile(self.px_in)[0]) + BAND_LATENCY

    @property
    def last_iterations(self) -> int:
        """Iterations of the last period, in which the last tile leaves."""
        return self._drain_delay(self.px_out) + self._rows_of_last * self._out_row_words(self.px_out)

    @property
    def _rows_of_last(self) -> int:
        return self.layer.output_shape[1] - (self.wave.tiles - 1) * self.rows

    @cached_property
    def interval(self) -> int:
        words, counts = self._words_of_tiles(self.px_in)
        lengths = np.maximum(np.where(words > 0, words + BAND_LATENCY, 0), self.least_period)
        return int(lengths @ counts)

    @cached_property
    def least_period(self) -> int:
        """Iterations in which a tile is computed, and the one before it leaves."""
        return max(self.tile_iterations, self._leaving(self.px_out))

    @property
    def rhythm(self) -> Hashable:
        layer = self.layer.geometry
        return None if layer is None else (WaveStage, layer, self.fold)

    def schedule(self, frames: int) -> Schedule:
        tiles = self.wave.tiles
        begin = np.concatenate([[0, self.first_iterations], np.tile(self.periods, frames)]).cumsum()
        arriving = np.tile(self._words_by_tile(self.px_in), frames)
        leaving = np.full(tiles, self.rows * self._out_row_words(self.px_out))
        leaving[-1] = self._rows_of_last * self._out_row_words(self.px_out)
        delay = self._drain_delay(self.px_out)
        return Schedule(
            iterations=int(begin[-1]) + self.last_iterations,
            reads=(_runs(begin[: len(arriving)], arriving),),
            writes=(_runs(begin[2:] + delay, np.tile(leaving, frames)),),
        )

    # ---- Memories

    @cached_property
    def bank_map(self) -> BankMap:
        """The banks of the band: over some numbers of row slots, those with the fewest words of LUTRAM."""
        fewest = max(self.wave.slots_needed, self.wave.row_offsets[-1] + 1)
        _, _, width = self.layer.read_shape
        return _band_map(access_patterns(self.wave, self.px_in), fewest, width, self.folds_in)

    @property
    def band_depth(self) -> int:
        _, _, width = self.layer.read_shape
        return max(2, self.bank_map.slots * self.folds_in * -(-width // self.bank_map.banks))

    @cached_property
    def band_distance(self) -> int:
        """The fewest iterations from the write of an element of the band to its read.

        The last row to arrive for a tile is the last to be written; a group of channels is first read in its
        first pass of the next period.
        """
        layer, px = self.layer, self.px_in
        _, filters, channels = self.passes
        steps = -(-layer.read_shape[2] // px)
        step, word = np.meshgrid(np.arange(steps), np.arange(self.folds_in), indexing="ij")
        column = (step * px + layer.padding[1]) // layer.stride[1]
        group, channel = np.divmod(word, channels)
        first_pass = group * filters * channels + channel * (filters if self.filters_inside else 1)
        read = first_pass * self.columns + column
        lengths = np.concatenate([[self.first_iterations], self.periods])
        rows = np.concatenate([self.wave.rows_by_tile[:1], np.roll(self.wave.rows_by_tile, -1)])
        found = [
            int((length + read - (((count - 1) * steps + step) * self.folds_in + word)).min())
            for length, count in sorted(set(zip(lengths.tolist(), rows.tolist(), strict=True)))
            if count > 0
        ]
        return min(found, default=self.tile_iterations)  # windows may lie in the padding alone

    @property
    def sums(self) -> int:
        """Words of the memory of an output row's and channel's running sums."""
        return max(LEAST_SUMS, self.columns if self.lone_sum else self._sums_of_row)

    @property
    def lone_sum(self) -> bool:
        """Whether an output row has a single sum, so that columns outside the image get sums as well."""
        return self._sums_of_row == 1

    @property
    def _sums_of_row(self) -> int:
        return self.layer.output_shape[2] * (self.passes[1] if self.filters_inside else 1)

    @property
    def result_words(self) -> int:
        """Words of each memory of results: two tiles'."""
        return 2 * self._out_row_words(self.px_out)

    def buffers(self) -> tuple[Buffer, ...]:
        layer, wave, at_once = self.layer, self.wave, self.rows * self.fold.pe
        in_bits = layer.input_type.width
        registers = self.fold.simd * len(wave.row_offsets) * wave.span * in_bits
        held = self.fold.pe * self.terms * layer.weight_type.width
        found = [
            Buffer(
                name="band",
                depth=self.band_depth,
                bits=in_bits,
                copies=self.fold.simd * self.bank_map.banks,
            ),
            Buffer(name="window", depth=1, bits=registers + held),
            Buffer(
                name="tile",
                depth=self.result_words,
                bits=self.fold.pe * layer.result_type.width,
                copies=self.rows * self.px_out,
            ),
        ]
        if self.passes[2] > 1:
            bits = layer.accumulator.width
            found.append(Buffer(name="partial", depth=self.sums, bits=bits, copies=at_once))
        return tuple(found)

    # ---- Arithmetic

    @property
    def products(self) -> int:
        return self.rows * self.fold.pe * self.terms

    def folding(self) -> dict[str, Any]:
        fold = self.fold
        spread = {"fabric_pe": fold.fabric_pe} if fold.fabric_pe else {}
        sizes = {"rows": fold.rows, "pe": fold.pe, "simd": fold.simd}
        return {**sizes, **spread, "multipliers": fold.multipliers}

    @property
    def arithmetic(self) -> str:
        """How products are built: fixed or packed, or as `FloatCores` says."""
        if self.layer.is_float:
            return self.layer.float_cores.arithmetic
        return "packed" if self.fold.multipliers == "packed" else "fixed"

    def work(self) -> tuple[Work, ...]:
        return (*self._multiply(), *self._move())

    def _multiply(self) -> tuple[Work, ...]:
        """The multipliers with the adders of their sums."""
        layer, fabric = self.layer, self.rows * self.fold.fabric_pe * self.terms
        rest = self.products - fabric
        if layer.is_float:
            built = ((f"{self.arithmetic}_mac", rest), (f"{self.arithmetic}_mac_fabric", fabric))
            found = [Work(operator=name, count=count) for name, count in built if count]
            if self.arithmetic == "widened":
                operands = (self.rows + self.fold.pe) * self.terms
                found.append(Work(operator="convert", count=1, bits=(operands, self.rows * self.fold.pe)))
            return tuple(found)
        assert isinstance(layer.input_type, FixedType) and isinstance(layer.weight_type, FixedType)
        widths = (layer.input_type.width, layer.weight_type.width)
        sums = Work(operator="add", count=self.rows * self.fold.pe, bits=(layer.accumulator.width,))
        found = [sums]
        if fabric:
            found.append(Work(operator="fabric", count=fabric, bits=widths))
        if rest and self.fold.multipliers == "packed":
            found.append(self.packed_work(self.rows * (self.fold.pe - self.fold.fabric_pe), self.rows))
        elif rest:
            found.append(Work(operator="mac", count=rest, bits=widths))
        return tuple(found)

    def _move(self) -> tuple[Work, ...]:
        """The crossbars of the band, and the choice of the row that leaves."""
        layer, wave, banks = self.layer, self.wave, self.bank_map.banks
        in_bits = layer.input_type.width
        reads = len(wave.row_offsets) * wave.columns_read
        address = max(1, (self.band_depth - 1).bit_length())
        word = self.fold.pe * layer.result_type.width
        return (
            Work(operator="mux", count=self.fold.simd * reads, bits=(banks, in_bits)),
            Work(operator="mux", count=banks, bits=(reads + 1, address)),
            Work(operator="mux", count=self.fold.simd * banks, bits=(self.px_in + 1, in_bits)),
            Work(operator="mux", count=banks, bits=(self.px_in + 1, address)),
            Work(operator="mux", count=self.px_out, bits=(self.rows, word)),
        )

    def constants(self) -> dict[str, Any]:
        layer, wave = self.layer, self.wave
        _, filters, channels = self.passes
        _, in_height, in_width = layer.read_shape
        unused = in_height - wave.rows_used
        several = channels > 1
        waits = bool((self.periods != self.periods[0]).any())
        return {
            **band_constants(wave, self.bank_map),
            **self._types(),
            "arithmetic": self.arithmetic,
            "floating": layer.is_float,
            "half": layer.input_type == HALF,
            "IN_CHANNELS": layer.read_shape[0],
            "IN_HEIGHT": in_height,
            "IN_WIDTH": in_width,
            **window_constants(layer),
            "image": "" if layer.in_shape == layer.read_shape else " x ".join(map(str, layer.in_shape)),
            "ROWS": self.rows,
            "PE": self.fold.pe,
            "SIMD": self.fold.simd,
            "GP": self.groups_at_once,
            "GF": self.passes[0],
            "folds_in": "FOLDS_IN" if self.passes[0] > 1 else "CF",
            "folds_out": "FOLDS_OUT" if self.passes[0] > 1 else "NF",
            "group_at": "at.group * CF + " if self.passes[0] > 1 else "",
            "filters_at": "at.group * NF + at.filters" if self.passes[0] > 1 else "at.filters",
            "NF": filters,
            "CF": channels,
            "FABRIC_PE": self.fold.fabric_pe,
            "fabric_what": "adders" if layer.is_float else "multipliers",
            "LAG": wave.lag,
            "COLUMNS": self.columns,
            "idle_columns": self.columns - wave.columns,
            "filters_inside": self.filters_inside,
            "macs_per_iteration": self.products,
            "PX_IN": self.px_in,
            "PX_OUT": self.px_out,
            "UNUSED_ROWS": unused,
            "DRAIN_DELAY": self._drain_delay(self.px_out),
            "RESULT_DISTANCE": self._result_distance(self.px_out) + self._drain_delay(self.px_out),
            "waits": waits,
            "PERIOD": int(self.periods[0]),
            "LEAST_PERIOD": self.least_period,
            "LONGEST_PERIOD": max(int(self.periods.max()), self.first_iterations),
            "FRAME_ITERATIONS": self.interval,
            "FIRST_ITERATIONS": self.first_iterations,
            "LAST_ITERATIONS": self.last_iterations,
            "BAND_MARGIN": BAND_LATENCY,
            "BAND_DEPTH": self.band_depth,
            "BAND_DISTANCE": self.band_distance,
            "has_partial": several,
            "SUMS": self.sums,
            "lone_sum": several and self.lone_sum,
            "PARTIAL_DISTANCE": self.sum_distance,
            "RESULT_WORDS": self.result_words,
            "weight_ports": "ram_1p",
        }

    def _types(self) -> dict[str, Any]:
        layer = self.layer
        if not layer.is_float:
            return self.fixed_types() | {
                "dot_name": "dot_t",
                "dot_call": "hlsgen::dot_chain",
                "dot_types": ", dot_t, product_t",
                "in_dsp": "hlsgen::in_dsp",
                "in_fabric": "hlsgen::in_fabric",
                "running_add": "before + dot[p]",
            }
        cores = layer.float_cores
        return self.types() | {
            **cores.constants(self.fold.fabric_pe, self.fold.pe),
            "low": layer.low,
            "high": layer.high,
            "low_value": cores.sums.literal(layer.low or 0.0),
            "high_value": cores.sums.literal(layer.high or 0.0),
        }


def _runs(begin: Times, counts: Times) -> Times:
    """Iterations of runs of `counts` neighbouring ones, the first of each at `begin`."""
    inside = np.arange(int(counts.sum())) - np.repeat(counts.cumsum() - counts, counts)
    return (np.repeat(begin, counts) + inside).astype(np.int64)


@lru_cache(maxsize=4096)
def _linear_map(patterns: tuple[Pattern, ...], slots: int) -> BankMap | None:
    return map_banks(patterns, slots, steps=0)


@lru_cache(maxsize=4096)
def _band_map(patterns: tuple[Pattern, ...], fewest: int, width: int, words: int) -> BankMap:
    """The linear map with the least memory: `words` words for each of `width` columns of a row slot."""
    found = []
    for slots in range(fewest, fewest + MOST_SPARE_SLOTS + 1):
        one = _linear_map(patterns, slots)
        if one is not None:
            blocks = one.banks * -(-slots * words * -(-width // one.banks) // LUTRAM_WORDS)
            found.append((blocks, one.step is None, one.banks, slots, one))
    assert found, "slots beyond the reach of the wave always have a map"
    return min(found, key=lambda one: one[:4])[4]
