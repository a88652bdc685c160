"""The quick choice of a network's kernels: no slower than a layer of its own, and its estimates are true."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hlsgen.designfile.constraints import NetworkConstraints, NoFit, WeightConstraints
from hlsgen.layers import constant_products
from hlsgen.layers.conv2d import Conv2d
from hlsgen.model.ir import Graph
from hlsgen.search.conv_kernel import ConvConstraints
from hlsgen.search.conv_kernel import choose as choose_kernel
from hlsgen.search.layerwise import LayerwiseHardware, LayerwiseSearch, layerwise_hardware
from hlsgen.search.task_choice import choose, vector
from hlsgen.search.task_kernels import kernel_names, task_kernel
from hlsgen.targets.board import load_board
from tests.support.kernels import conv

BATCH = 64
NARROW = {"input_type": "fixed<8,3>", "weight_type": "fixed<8,1>", "result_type": "fixed<8,4,rnd,sat>"}


def alone(layer: Conv2d) -> Graph:
    named = replace(layer, inputs=("input",))
    return Graph.chain("net", named.sources[0], (named,))


def as_network(layer: Conv2d, board: str, **constraints: object) -> LayerwiseHardware:
    return layerwise_hardware(
        alone(layer),
        load_board(board).for_style("tasks"),
        NetworkConstraints(**constraints),  # type: ignore[arg-type]
        name="net",
        batch=BATCH,
        clock_mhz=300,
    )


@pytest.mark.parametrize("board", ["u200", "zcu102"])
@pytest.mark.parametrize("types", [NARROW, {}], ids=["fixed8", "float32"])
def test_a_layer_is_no_slower_in_a_network_than_as_a_design_of_its_own(
    types: dict[str, str], board: str
) -> None:
    """Than one of equal instances, since a network's kernels have no second folding."""
    layer = conv((16, 32, 32), 16, padding=(1, 1, 1, 1), **types)
    chosen = as_network(layer, board)
    network = chosen.instances * 300e6 / chosen.interval
    own = choose_kernel(
        layer, load_board(board).for_style("layer"), ConvConstraints(foldings=1), clock_mhz=300, batch=BATCH
    )
    assert network >= own.deployment.frames_per_s


def test_options_are_what_the_kernels_take() -> None:
    layer = conv((8, 14, 13), 8, padding=(1, 1, 1, 1), **NARROW)
    board = load_board("u200").for_style("tasks")
    search = LayerwiseSearch(
        alone(layer), board, NetworkConstraints(), name="net", batch=BATCH, clock_mhz=300
    )
    name = kernel_names("net", [layer])[layer.name]
    for bits, formats in search.formats.items():
        for option in search.kernels[bits][0][::5]:
            named = search.graph.layers[0]
            made = task_kernel(named, name, option.fold, search.places[layer.name], formats, board)
            assert option.resources == made.resources, option.fold
            assert option.interval == made.interval, option.fold
            assert option.bytes_moved == made.bytes_moved, option.fold


def test_the_choice_keeps_to_its_limit_and_no_step_that_fits_is_left() -> None:
    layer = conv((8, 14, 13), 8, padding=(1, 1, 1, 1), **NARROW)
    board = load_board("zcu102").for_style("tasks")
    search = LayerwiseSearch(
        alone(layer), board, NetworkConstraints(), name="net", batch=BATCH, clock_mhz=300
    )
    options = search.options(max(search.formats), 1)
    assert options is not None
    limit = vector(search.whole) / 7
    picked = choose(options, limit, search._prices, None)
    assert picked is not None
    (one,) = options
    assert (one.resources[picked[0]] <= limit).all()
    faster = one.cycles < one.cycles[picked[0]]
    assert not (one.resources[faster] <= limit).all(axis=1).any()


def test_fixed_foldings_are_kept() -> None:
    layer = conv((16, 32, 32), 16, padding=(1, 1, 1, 1), **NARROW)
    fold = {"rows": 4, "pe": 8, "simd": 2, "fabric_pe": 2, "multipliers": "packed"}
    chosen = as_network(layer, "u200", instances=2, folds={layer.name: fold}).kernels[0].fold
    assert {key: getattr(chosen, key) for key in fold} == fold
    window = as_network(layer, "u200", folds={layer.name: {"rows": 0}}).kernels[0].fold
    assert window.rows == 0


def test_what_lacks_is_said_with_a_remedy_that_there_is() -> None:
    """Nobody in float32 is sent to style: dataflow, which has fixed point only."""
    tiny = load_board("zcu102").for_style("tasks")
    slrs = tuple(slr.model_copy(update={"lut": 9000, "dsp": 60}) for slr in tiny.slrs)
    small = tiny.model_copy(update={"slrs": slrs})
    for types, remedy in (({}, "a fixed-point precision"), (NARROW, "style: dataflow")):
        typed = conv((64, 8, 8), 64, **types)
        with pytest.raises(NoFit) as caught:
            layerwise_hardware(alone(typed), small, NetworkConstraints(), name="net", batch=2, clock_mhz=300)
        assert remedy in caught.value.fix, (types, caught.value)


def test_weights_of_any_value_are_packed_only_where_their_type_allows_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With these types not even three products may be added before two lanes are taken apart."""
    monkeypatch.setattr(constant_products, "MOST_DIGITS", 0)  # else they are shifts and adders
    types = {"input_type": "fixed<16,6>", "weight_type": "fixed<8,1>", "result_type": "fixed<16,6,rnd,sat>"}
    layer = conv((16, 32, 32), 16, padding=(1, 1, 1, 1), **types)
    small = replace(layer, weights=layer.weights.astype(np.int64) // 128)
    wish = WeightConstraints(place="runtime")
    free = as_network(small, "u200", instances=1).kernels[0].fold
    any_ = as_network(small, "u200", instances=1, weights=wish).kernels[0].fold
    assert free.multipliers == "packed" and any_.multipliers != "packed"


def test_weights_of_any_value_in_float32() -> None:
    layer = conv((8, 14, 13), 8, padding=(1, 1, 1, 1))
    chosen = as_network(layer, "u200", instances=1, weights=WeightConstraints(place="runtime"))
    assert chosen.kernels[0].fold.rows > 0, "there is a front wave, which packs nothing"
