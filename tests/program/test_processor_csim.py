"""C-simulation of shared processors: layers and small graphs of all sorts through one binary a processor."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from hlsgen.base.errors import MismatchError
from hlsgen.base.fixed import Codes, FixedType, Overflow, Rounding
from hlsgen.base.type_text import parse_type
from hlsgen.csim.compiler import Headers, reference_headers
from hlsgen.emit.shared import program_data
from hlsgen.hardware.processor import Processor
from hlsgen.layers.base import Tensor
from hlsgen.layers.concat import Concat
from hlsgen.layers.conv2d import Conv2d
from hlsgen.layers.pool2d import Pool2d
from hlsgen.model.ir import Graph, Port
from hlsgen.program.program import program
from tests.support.kernels import conv
from tests.support.shared_graphs import (
    Case,
    Drawing,
    addition,
    cases,
    convolution,
    network,
    pooled,
    single_layer,
    tall,
)
from tests.support.shared_processor import (
    PROCESSORS,
    Building,
    assert_outputs_exact,
    assert_program_exact,
    chain,
    random_inputs,
)

every_processor = pytest.mark.parametrize("name", PROCESSORS)
BUILDERS = {"layer": single_layer, "addition": addition, "tall": tall, "pooled": pooled}


@every_processor
@pytest.mark.parametrize("builder", BUILDERS)
def test_tasks_equal_golden(built: Building, name: str, builder: str) -> None:
    for case in cases(BUILDERS[builder], PROCESSORS[name], 30):
        assert_program_exact(built(name), case.graph, together=case.together, rounds=case.rounds)


@every_processor
def test_networks_equal_golden(built: Building, name: str) -> None:
    for case in cases(network, PROCESSORS[name], 20):
        assert_program_exact(built(name), case.graph, together=case.together, rounds=case.rounds)
        assert_outputs_exact(built(name), case.graph, together=case.together, rounds=case.rounds)


@every_processor
def test_convolutions_equal_those_of_torch(built: Building, name: str) -> None:
    pytest.importorskip("torch", reason="torch is not installed: convolutions are compared with golden alone")
    for case in cases(convolution, PROCESSORS[name], 20):
        inputs = random_inputs(case.graph, case.together * case.rounds, case.seed)
        _, found = assert_program_exact(
            built(name), case.graph, together=case.together, rounds=case.rounds, inputs=inputs
        )
        (layer,) = case.graph.layers
        assert isinstance(layer, Conv2d)
        np.testing.assert_array_equal(found[layer.name], by_torch(layer, inputs["in0"]))


def by_torch(layer: Conv2d, codes: Codes) -> Codes:
    """Its sums by torch in float64, exact for these sizes; limited and cast."""
    import torch

    assert isinstance(layer.result_type, FixedType) and isinstance(layer.bias_type, FixedType)
    top, left, bottom, right = layer.padding
    x = torch.nn.functional.pad(torch.from_numpy(codes.astype(np.float64)), (left, right, top, bottom))
    weights = torch.from_numpy(layer.weights.astype(np.float64))
    product = layer.product_fraction
    bias = layer.bias * 2.0 ** (product - layer.bias_type.fraction)
    sums = torch.nn.functional.conv2d(
        x,
        weights,
        torch.from_numpy(bias) if bias.size else None,
        stride=layer.stride,
        dilation=layer.dilation,
        groups=layer.groups,
    ).numpy()
    values = np.clip(
        sums * 2.0**-product,
        -np.inf if layer.low is None else layer.low,
        np.inf if layer.high is None else layer.high,
    )
    return layer.result_type.encode(values)


def test_what_is_drawn_covers_what_a_processor_does() -> None:
    """Bands, parts of weights, two roundings and all the rest occur above, several times each."""
    found: Counter[str] = Counter()
    for processor in PROCESSORS.values():
        drawn = {**dict.fromkeys(BUILDERS.values(), 30), network: 20, convolution: 20}
        for builder, count in drawn.items():
            for case in cases(builder, processor, count):
                found.update(features(case))
    assert set(found) == FEATURES
    assert min(found.values()) >= 5, found


FEATURES = {
    *("bands", "frames at once", "frames in sequence", "rounds", "chunks", "unfolded", "depthwise", "groups"),
    *("two roundings", "added early", "added late", "added before two", "largest", "average", "slope"),
    *("strides", "dilation", "padding", "cut off", "repeated", "concatenated", "above the image"),
    *("pooled", "pooled bands"),
}


def features(case: Case) -> list[str]:
    found = ["rounds"] * (case.rounds > 1)
    for tiling in case.program.tilings:
        task, window = tiling.task, tiling.task.window
        first = task.stages[0]
        facts = {
            "bands": tiling.bands > 1,
            "frames at once": tiling.frames > 1,
            "frames in sequence": tiling.sequels > 1,
            "chunks": len(tiling.chunks) > 1,
            "unfolded": task.source.unfolded is not None,
            "depthwise": task.depthwise,
            "groups": tiling.read_step > 0 and not task.depthwise,
            "two roundings": len(task.stages) > 1,
            "added early": first.joining != 0,
            "added late": task.added is not None and first.joining == 0,
            "added before two": first.joining != 0 and len(task.stages) > 1,
            "largest": task.weights is None,
            "average": first.tie > 0,
            "slope": any(stage.slope != stage.factor for stage in task.stages),
            "strides": window.stride[0] > 1 and window.stride[1] > 1,
            "dilation": window.dilation[0] > 1 and window.dilation[1] > 1,
            "padding": window.top > 0 and window.left > 0,
            "cut off": window.top < 0 and window.left < 0,
            "repeated": window.repeat[0] > 1 and window.repeat[1] > 1,
            "concatenated": task.offset > 0,
            "pooled": task.pooled,
            "pooled bands": task.pooled and tiling.bands > 1,
            "above the image": tiling.band_first < 0 and tiling.bands > 1,
        }
        found += [name for name, holds in facts.items() if holds]
    return found


def extreme_layer(processor: Processor, source: str) -> Conv2d:
    """Three words of channels by 3 x 3; weights of an output are all least, all largest, or both in turn."""
    lanes, bits = processor.lanes, processor.weight_bits
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    weights = np.full((lanes + 4, 3 * lanes, 3, 3), low, np.int64)
    weights[1::4] = high
    weights[2::4, ::2] = high
    weights[3::4, :, 1] = high
    layer = Conv2d(
        name="extreme",
        inputs=("input",),
        in_shape=(3 * lanes, 7, 4),
        out_channels=lanes + 4,
        kernel=(3, 3),
        padding=(1, 1, 1, 1),
        input_type=parse_type(source),
        weight_type=FixedType(bits, bits),
        bias_type=FixedType(bits, bits),
        accumulator=FixedType(bits, bits),
        result_type=FixedType(bits, bits),
        weights=weights,
        bias=np.zeros(0, np.int64),
    ).retyped((parse_type(source),), None)
    kept = max(abs(end) for end in layer.worst_case_sum).bit_length() + 1
    return replace(layer, result_type=FixedType(bits, kept, True, Rounding.RND, Overflow.SAT))


@every_processor
@pytest.mark.parametrize("signed", [True, False])
def test_sums_of_extremes_are_exact(built: Building, name: str, signed: bool) -> None:
    """What packed products collide at first: all codes and weights at the ends of their ranges."""
    processor = PROCESSORS[name]
    bits = processor.activation_bits - (not signed and not processor.unsigned)
    source = f"{'' if signed else 'u'}fixed<{bits},{bits}>"
    layer = extreme_layer(processor, source)
    type_ = parse_type(source)
    assert isinstance(type_, FixedType)
    codes = np.full((4, *layer.in_shape), type_.min_code, np.int64)
    codes[1] = type_.max_code
    codes[2, ::2] = type_.max_code
    codes[3, :, ::2] = type_.max_code
    assert_program_exact(built(name), chain(layer), together=4, inputs={"input": codes})


@every_processor
def test_largest_values_of_extremes_are_exact(built: Building, name: str) -> None:
    processor = PROCESSORS[name]
    drawing = Drawing(processor, np.random.default_rng(3))
    tensor = drawing.tensors[drawing.port((processor.lanes + 1, 9, 6))]
    assert isinstance(tensor.type, FixedType)
    low, high = tensor.type.min_code, tensor.type.max_code
    layer = Pool2d(
        name="pool",
        inputs=("input",),
        source=tensor,
        function="max",
        kernel=(3, 3),
        padding=(1, 1, 1, 1),
        result_type=tensor.type,
    )
    codes = np.full((3, *tensor.shape), low, np.int64)
    codes[1] = high
    codes[2, :, 4, 3] = high
    assert_program_exact(built(name), chain(layer), together=3, inputs={"input": codes})


@every_processor
def test_weights_in_parts_go_with_several_bands(built: Building, name: str) -> None:
    """Of an image of one column, whose bands have a single position each: all parts for every band."""
    processor = PROCESSORS[name]
    channels = processor.lanes * (processor.weight_depth // 3 + 1)
    layer = conv(
        (channels, 3 * processor.rows + 2, 1),
        processor.lanes + 1,
        (3, 1),
        input_type="fixed<4,2>",
        weight_type="fixed<3,2>",
        result_type="fixed<8,8,rnd,sat>",
    )
    graph = chain(replace(layer, inputs=("input",)))
    made, _ = assert_program_exact(built(name), graph, together=2, rounds=2)
    assert made.tilings[0].bands == 3 and len(made.tilings[0].chunks) == 2


@every_processor
def test_all_processes_at_once_give_the_same(built: Building, name: str) -> None:
    """With FIFOs of the declared depths nothing stands still."""
    for builder, count in ((network, 8), (single_layer, 8)):
        for case in cases(builder, PROCESSORS[name], count, first_seed=1000):
            assert_program_exact(
                built(name), case.graph, together=case.together, rounds=case.rounds, options=("--bounded",)
            )


def test_too_short_a_fifo_is_a_deadlock(built: Building) -> None:
    """The biases of the next output group wait before its weights, which the array needs to end this one."""
    case = extreme_layer(PROCESSORS["packed"], "fixed<8,8>")
    made = program(chain(case), PROCESSORS["packed"], 1)
    data = program_data(made, random_inputs(chain(case), 1, 0), 1)
    built("packed").run(data, "--bounded", "--depth", "biases=2")
    with pytest.raises(MismatchError, match="load_weights waits to write biases, which is full"):
        built("packed").run(data, "--bounded", "--depth", "biases=1")


@pytest.mark.skipif(reference_headers() is None, reason="needs hls4ml: pip install hls4ml")
def test_the_reference_headers_give_the_same(built: Building) -> None:
    name = "packed"  # tables, signed and unsigned products that share a multiplier
    for builder, count in ((network, 5), (addition, 5), (single_layer, 5)):
        for case in cases(builder, PROCESSORS[name], count, first_seed=2000):
            assert_program_exact(
                built(name, Headers.REFERENCE), case.graph, together=case.together, rounds=case.rounds
            )


POOLED = ("wide", "signed")
"""Processors that pool on the way to DDR."""


@pytest.mark.parametrize("name", POOLED)
@pytest.mark.parametrize(
    ("rows", "columns", "stride"),
    [(14, 10, 1), (15, 9, 1), (7, 7, 1), (21, 12, 1), (29, 13, 2), (2, 2, 1), (31, 10, 1), (10, 3, 1)],
)
@pytest.mark.parametrize("low", [None, 0.0])
def test_pools_on_the_way_equal_golden(
    built: Building, name: str, rows: int, columns: int, stride: int, low: float | None
) -> None:
    """Odd heights and widths, whose last row or column is in no window, and blocks that end within one."""
    type_ = parse_type("fixed<8,4,rnd,sat>")
    plain = conv(
        (4, rows, columns),
        5,
        stride=(stride, stride),
        padding=(1, 1, 1, 1),
        input_type="fixed<8,3>",
        weight_type="fixed<8,1>",
        result_type="fixed<8,4,rnd,sat>",
        seed=rows,
    )
    layer = replace(plain, low=low)
    pool = Pool2d(
        name="pool",
        inputs=(layer.name,),
        source=layer.output,
        result_type=type_,
        function="max",
        kernel=(2, 2),
        stride=(2, 2),
    )
    graph = chain(layer, pool)
    made, _ = assert_program_exact(built(name), graph, together=2, rounds=2, seed=rows)
    assert_program_exact(built(name), graph, options=("--bounded",))
    fits = 2 <= pool.output_shape[2] <= built(name).processor.pool_columns
    assert len(made.tasks) == 2 or fits
    assert len(made.tasks) == 1 or not fits or rows > 21, "two blocks of rows may be too many for a bank"


@pytest.mark.parametrize("name", ["packed", "wide", "signed"])
def test_parts_that_begin_within_a_word_equal_golden(built: Building, name: str) -> None:
    """Parts of any number of channels and of several types, one after the other."""
    rng = np.random.default_rng(5)
    signed = ["fixed<8,4>", "fixed<8,3>", "fixed<6,4>"]
    types = signed if name == "signed" else [*signed, "ufixed<7,4>", "ufixed<8,5>"]
    within = 0
    for seed in range(12):
        channels = [int(count) for count in rng.integers(1, 12, rng.integers(2, 5))]
        parts = tuple(
            Tensor(shape=(count, 5, 4), type=parse_type(str(rng.choice(types)))) for count in channels
        )
        names = [f"in{number}" for number in range(len(parts))]
        layer = Concat(
            name="joined",
            inputs=tuple(names),
            parts=parts,
            result_type=parse_type(str(rng.choice(["fixed<8,4,rnd,sat>", "fixed<8,5,rnd_conv,sat_sym>"]))),
        )
        graph = Graph(
            name="parts",
            inputs=tuple(Port.of(name, part) for name, part in zip(names, parts, strict=True)),
            layers=(layer,),
            outputs=(Port.of("out", layer.output, "joined"),),
        )
        made, _ = assert_program_exact(built(name), graph, together=2, rounds=2, seed=seed)
        assert_outputs_exact(built(name), graph, rounds=2, seed=seed)
        within += sum(task.added is not None for task in made.tasks)
    assert within > 5, "parts begin within a word"
