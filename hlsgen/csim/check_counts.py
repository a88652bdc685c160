"""What a port-recording C-simulation counted, against what the cost model and the dependence pragmas say."""

from __future__ import annotations

from hlsgen.base.errors import MismatchError
from hlsgen.cost.cycles import iterations
from hlsgen.csim.conv_kernel import Run
from hlsgen.hardware.conv2d import ConvMapping


def check_counts(run: Run, mapping: ConvMapping, frames: int) -> None:
    """Iterations equal the model's, and no element is read sooner after its write than the pragmas promise.

    Raises MismatchError. Ports are checked while the simulation runs.
    """
    modelled = iterations(mapping, frames)
    if run.iterations != modelled:
        raise MismatchError(f"error: C-simulation counts {run.iterations}, the cost model says {modelled}")
    for depth, promised in promised_distances(mapping).items():
        measured = run.distances.get(depth)
        if measured is not None and measured < promised:
            raise MismatchError(
                f"error: an element of a memory of {depth} words is read {measured} iterations after its "
                f"write; the dependence pragma promises {promised}"
            )


def promised_distances(mapping: ConvMapping) -> dict[int, int]:
    """The least distance of a read from its write that the emitted pragmas state, by the memory's depth."""
    depth = mapping.bank_map.slots * mapping.channel_steps * mapping.column_words
    promised = {depth: mapping.band_distance}
    if mapping.memory("partial"):
        promised[mapping.sums] = min(mapping.columns, promised.get(mapping.sums, mapping.columns))
    return promised
