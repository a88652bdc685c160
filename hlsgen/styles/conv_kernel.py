"""A convolution as a kernel that is called: load, compute, drain and store; instances over the batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hlsgen.base.errors import DesignError, MismatchError, Place, Problem, collecting
from hlsgen.base.fixed import Codes
from hlsgen.base.overflow_count import counting_overflow
from hlsgen.base.progress import Progress, silent
from hlsgen.base.scratch import Scratch, executable_in, scratch_folder
from hlsgen.csim.check_counts import check_counts
from hlsgen.csim.compiler import Headers, compile_testbench, compiling
from hlsgen.csim.conv_kernel import simulate
from hlsgen.csim.verification import Comparison, Verification, compare
from hlsgen.designfile.constraints import NoFit
from hlsgen.designfile.document import Document
from hlsgen.designfile.schema import DesignFile
from hlsgen.emit.conv2d import folding_names
from hlsgen.emit.conv_kernel import conv_kernel_plan
from hlsgen.emit.ompss_project import uncertainty_notes
from hlsgen.hardware.conv2d import ConvMapping
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model import samples
from hlsgen.model.clipping import Clipped, values_of
from hlsgen.model.ir import Golden
from hlsgen.model.ports import port_codes
from hlsgen.model.simulation_frames import SimulationFrames
from hlsgen.report.content import Report
from hlsgen.report.conv_kernel import Estimate, conv_kernel_estimate, conv_kernel_markdown
from hlsgen.search.conv_kernel import ConvConstraints, ConvHardware, choose
from hlsgen.styles.style import MOST_SAMPLE_ELEMENTS, MOST_SAMPLE_FRAMES, Style
from hlsgen.targets.terms import CostStyle

PORT_CHECK_FRAMES = 2
"""Frames of the build that records ports: every kind of iteration occurs in two."""


@dataclass(frozen=True, kw_only=True)
class LayerVerification(Verification):
    """What C-simulation showed of a layer, its iterations counted where ports are recorded."""

    def checked(self) -> str:
        return "Memory ports: no iteration asks for more than there are; iterations equal the model's"


@dataclass(frozen=True, kw_only=True, eq=False)
class ConvKernel(Style[ConvHardware]):
    """One convolution layer, and what is fixed about its hardware."""

    cost_style: ClassVar[CostStyle] = "layer"

    constraints: ConvConstraints
    file: DesignFile
    document: Document
    given_frames: NDArray[np.float64] | None = None
    """The frames of the file that the design's `samples` names."""

    @property
    def layer(self) -> Conv2d:
        layer = self.graph.layers[0]
        assert isinstance(layer, Conv2d)
        return layer

    def search(self, progress: Progress) -> ConvHardware:
        return choose(self.layer, self.board, self.constraints, clock_mhz=self.clock_mhz, batch=self.batch)

    def no_fit(self, failure: NoFit) -> Problem:
        return mapping_problem(failure, self.layer.name, self.document)

    def codes(self, x: ArrayLike, *, what: str = "x", place: Place | None = None) -> Codes:
        """The codes of the one input, as `inputs_of` makes them."""
        return port_codes(self.graph.inputs[0], x, what, place)

    def counted_golden(self, inputs: Mapping[str, Codes]) -> Golden:
        simd = self.hardware.deployment.mapping.folding.simd
        with counting_overflow() as excess:
            tensors = {self.layer.name: self.layer.golden(inputs["input"], simd=simd)}
        return Golden(tensors=tensors, excess={self.layer.name: excess})

    def check(self) -> None:
        problems: list[Problem] = []
        with collecting(problems):
            _ = self.hardware
        with collecting(problems):
            self.sample_inputs()
        if problems:
            raise self.document.error(problems)

    def sampled(self, frames: int | None = None, *, file: Path | None = None) -> SimulationFrames:
        place = None if file else self.document.place(("input", "samples"))
        array = self.sample_frames(frames, file=file)
        codes = self.codes(array, what=str(file or "samples"), place=place)
        return SimulationFrames(values=values_of(self.graph.inputs, array), codes={"input": codes})

    def sample_frames(self, frames: int | None = None, *, file: Path | None = None) -> NDArray[np.float64]:
        """The frames [frames, C, H, W] of the design's `samples`, or those of `file`; at most `frames`.

        Raises DesignError: the file is wrong, or so many frames do not fit in memory.
        """
        shape = self.graph.input.shape
        given = self.given_frames if file is None else samples.from_file(file, shape)
        if given is not None:
            return given[:frames] if frames else given
        elements = math.prod(shape)
        count = frames or max(1, min(self.batch, MOST_SAMPLE_FRAMES, MOST_SAMPLE_ELEMENTS // elements))
        most = samples.MOST_BYTES // (8 * elements)
        if count > most:
            raise DesignError(
                Problem(
                    message=f"{count:,} frames of {elements:,} elements are too many to simulate at once",
                    fix=f"at most {most:,} frames",
                )
            )
        if self.file.input.samples == "random":
            return samples.random_frames(shape, count, seed=0)
        return samples.photograph(shape, count)

    def estimate(self) -> Estimate:
        return conv_kernel_estimate(self.name, self.graph, self.hardware, self.uncertainty)

    def warnings(self, clipping: Sequence[Clipped]) -> list[str]:
        """Warnings of a layer alone: every result counts, as whoever gives its type knows what it holds."""
        notes = [f"ompss/: {one}" for one in uncertainty_notes(self.clock)]
        return [*self.fit_warnings(), *notes] + [
            f"{one.name}: {one.excess.outside:,} of {one.excess.values:,} results leave the range of "
            f"{one.excess.type} on these frames; give precision.output more integer bits"
            if one.part == "result"
            else str(one)
            for one in clipping
            if one.excess.outside and (one.part != "input" or one.worth_a_warning)
        ]

    def plan(self, inputs: Mapping[str, Codes], golden: Mapping[str, Codes]) -> dict[str, str | bytes]:
        for kernel in self.hardware.deployment.kernels:
            proven = kernel.mapping.bank_map.proves(kernel.mapping.patterns)
            assert proven, "the bank mapper returned a map with collisions"
        return conv_kernel_plan(
            self.hardware.deployment,
            name=self.name,
            source=self.source,
            uncertainty=self.uncertainty,
            frames=inputs["input"],
            golden=golden[self.layer.name],
        )

    def markdown(self, report: Report) -> str:
        return conv_kernel_markdown(self.hardware.deployment, report)

    def verify(
        self,
        folder: Path,
        inputs: Mapping[str, Codes],
        golden: Mapping[str, Codes],
        *,
        headers: Headers = Headers.FAST,
        progress: Progress = silent,
        executables: Scratch | None = None,
    ) -> LayerVerification:
        """C-simulates each kernel twice: on all frames, and recording memory ports on the first few."""
        progress("compiling and running the C-simulation")
        kernels = dict(zip(self._kernels, self.hardware.deployment.kernels, strict=True))
        with scratch_folder(executables) as scratch:
            found = [
                self._verified(name, kernel.mapping, folder, scratch, headers, inputs["input"], golden)
                for name, kernel in kernels.items()
            ]
        first, *others = found
        iterations = dict(first.iterations)
        for name, one in zip(self._kernels[1:], others, strict=True):
            iterations |= {f"{name} {loop}": count for loop, count in one.iterations.items()}
        compared = sum(one.comparison.compared for one in found)
        return replace(
            first,
            comparison=replace(first.comparison, compared=compared),
            iterations=iterations,
            compile_seconds=sum(one.compile_seconds for one in found),
            run_seconds=sum(one.run_seconds for one in found),
        )

    @property
    def _kernels(self) -> list[str]:
        """The kernels' names."""
        deployment = self.hardware.deployment
        return [name for name, _ in folding_names(self.name, self.layer.name, len(deployment.kernels))]

    def _verified(
        self,
        kernel: str,
        mapping: ConvMapping,
        folder: Path,
        scratch: Path,
        headers: Headers,
        codes: Codes,
        golden: Mapping[str, Codes],
    ) -> LayerVerification:
        """What C-simulation shows of one kernel. Raises as `verify` does."""
        plain = executable_in(scratch, folder, kernel, headers)
        recording = scratch / f"recording_{kernel}"
        with (
            compiling(folder, kernel, plain, headers=headers) as first,
            compiling(folder, kernel, recording, record_ports=True, optimise="-O1") as second,
        ):
            compiled = first.wait()
            second.wait()
        run = simulate(self.layer, plain, codes, scratch)
        few, want = codes[:PORT_CHECK_FRAMES], golden[self.layer.name]
        recorded = simulate(self.layer, recording, few, scratch)
        comparison = compare(run.output, want, self.layer.output_type)
        _check(self, kernel, comparison, run.output, want)
        check_counts(recorded, mapping, len(few))
        return LayerVerification(
            comparison=comparison,
            iterations=asdict(recorded.iterations),
            recorded_frames=len(few),
            frames=len(codes),
            compile_seconds=compiled.seconds,
            run_seconds=run.seconds,
        )

    def simulator(
        self, folder: Path, scratch: Path, headers: Headers
    ) -> Callable[[Mapping[str, Codes]], dict[str, Codes]]:
        executables = [executable_in(scratch, folder, name, headers) for name in self._kernels]
        for name, executable in zip(self._kernels, executables, strict=True):
            if not executable.exists():
                compile_testbench(folder, name, executable, headers=headers)
        return lambda inputs: {self.layer.name: _dealt(self.layer, executables, inputs["input"], scratch)}


def _dealt(layer: Conv2d, executables: Sequence[Path], codes: Codes, scratch: Path) -> Codes:
    """The results of `codes`, whose frames the kernels take in turn, as compute units would."""
    count = len(executables)
    parts = [
        (number, simulate(layer, executable, codes[number::count], scratch).output)
        for number, executable in enumerate(executables)
        if len(codes) > number
    ]
    found = np.empty((len(codes), *parts[0][1].shape[1:]), parts[0][1].dtype)
    for number, output in parts:
        found[number::count] = output
    return found


def _check(design: ConvKernel, kernel: str, comparison: Comparison, got: Codes, want: Codes) -> None:
    if comparison.mismatches == 0:
        return
    assert comparison.first is not None
    frame, channel, row, column = comparison.first
    type_ = design.layer.output_type
    pair = [
        (array[comparison.first], float(type_.decode(array[comparison.first])))
        for array in (got, want.astype(got.dtype))
    ]
    where = "" if kernel == design.name else f" of {kernel}"
    raise MismatchError(
        f"error: C-simulation{where} differs from golden in {comparison.mismatches} of {comparison.compared} "
        f"results; the first is frame {frame}, channel {channel}, row {row}, column {column}: "
        f"code {pair[0][0]} ({pair[0][1]:g}), golden {pair[1][0]} ({pair[1][1]:g})"
    )


def mapping_problem(
    failure: NoFit, layer: str, document: Document, *, inside: tuple[str, ...] = ()
) -> Problem:
    """What a user reads of a mapping that does not fit. inside: keys below the layer's where it stands."""
    keys: tuple[str, ...] = ("mapping", layer, *inside)
    if failure.key in ("instances", "foldings"):
        keys = ("mapping", failure.key)
    elif failure.key is not None:
        keys = (*keys, failure.key)
    return Problem(message=f"{layer}: {failure}", fix=failure.fix, place=document.place(keys))
