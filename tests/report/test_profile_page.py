"""profile.html and trace.html: what a person reads of which layer ruins a network's answers."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest

from hlsgen.report.profile import (
    AdviceFigures,
    NoiseFigures,
    ProfileFigures,
    TensorFigures,
    TracedFigures,
    TraceFigures,
    short_type,
)
from hlsgen.report.profile_page import profile_page, trace_page
from hlsgen.report.profile_pictures import COLUMN, LABEL, binade_picture, noise_chart, share_chart
from hlsgen.report.profile_pictures import MOST_PICTURED as MOST

TENSOR = TensorFigures(
    name="conv1",
    part="result",
    type="fixed<8,3,rnd,sat>",
    of_floats=True,
    min=-9.0,
    max=9.5,
    mean_abs=1.0,
    clipped=0.25,
    lost=0.00001,
    spare_bits=0,
    spare_bits_below=0,
    dead=False,
    dead_channels=0,
    top=1,
    bottom=-5,
    binades={"3": 25, "1": 50, "0": 100, "-5": 4, "-7": 1},
)
NOISE = (
    NoiseFigures(
        name="x", type="fixed<8,1>", snr_db=None, added_db=None, output_db=None, share=0.0, cause=""
    ),
    NoiseFigures(
        name="conv1",
        type="fixed<8,3,rnd,sat>",
        snr_db=10.0,
        added_db=12.0,
        output_db=9.0,
        share=0.9,
        cause="clipping",
    ),
    NoiseFigures(
        name="fc", type="fixed<8,3>", snr_db=9.0, added_db=40.0, output_db=38.0, share=0.1, cause="rounding"
    ),
)
ADVICE = AdviceFigures(
    layer="conv1",
    why="90% of all layers' noise",
    type="fixed<8,3,rnd,sat>",
    wider="fixed<10,5,rnd,sat>",
    design_file='precision: {layers: {conv1: "fixed<10,5>"}}',
)
PROFILE = ProfileFigures(
    frames=7, effect_frames=7, verdict=("conv1 ruins it",), advice=(ADVICE,), noise=NOISE, tensors=(TENSOR,)
)


def test_the_page_says_which_layer_and_what_to_write() -> None:
    text = html.unescape(profile_page("net", PROFILE))
    assert "Ruins it most" in text and "<strong>conv1</strong>" in text
    assert '<code>precision: {layers: {conv1: "fixed<10,5>"}}</code>' in text
    assert "25.00% clipped" in text and "<0.01% lost" in text
    assert text == html.unescape(profile_page("net", PROFILE))


def test_texts_are_escaped_and_nothing_runs() -> None:
    hostile = replace(PROFILE, verdict=("<script>alert(1)</script>",))
    text = profile_page("<b>net", hostile)
    assert "<script" not in text and "<b>net" not in text
    assert "default-src 'none'" in text


def test_a_picture_has_a_cell_for_each_binade_in_its_place() -> None:
    picture = binade_picture("results", [TENSOR])
    assert picture is not None
    (row,) = picture.rows
    # the highest power, 3, is leftmost; the type's bits are those of 2^1 down to 2^-5
    assert [float(cell.left) for cell in row.cells] == sorted(
        (LABEL + (3 - power) * COLUMN for power in (-7, -5, 0, 1, 3)), reverse=True
    )
    assert [cell.tone for cell in row.cells] == ["hot", "fill", "fill", "fill", "hot"]
    assert row.span == (f"{LABEL + 2 * COLUMN}", f"{7 * COLUMN}")
    assert row.cells[2].title == "conv1: 100 values (55.56%) from 2^0 up to 2^1"


def test_small_values_share_the_last_column_and_long_lists_end() -> None:
    tiny = replace(TENSOR, binades={"0": 10, "-90": 1, "-100": 2})
    picture = binade_picture("results", [tiny] * (MOST + 3))
    assert picture is not None and picture.more == 3 and len(picture.rows) == MOST
    assert len(picture.rows[0].cells) == 2
    assert "3 values" in picture.rows[0].cells[0].title
    assert binade_picture("results", []) is None


def test_charts_mark_the_worst_layer() -> None:
    shares = share_chart(PROFILE)
    assert [(bar.name, bar.tone) for bar in shares.bars] == [("conv1", "hot"), ("fc", "")]
    noise = noise_chart(NOISE, "conv1")
    assert [bar.text for bar in noise.bars] == [
        "adds nothing; exact",
        "adds 12.0 dB; 10.0 dB",
        "adds 40.0 dB; 9.0 dB",
    ]
    assert noise.bars[1].marks == (("25", "accumulated: 10.0 dB"),)


def test_the_page_of_a_trace() -> None:
    layers = tuple(
        TracedFigures(
            name=name,
            kind="Conv2d",
            shape="4 x 8 x 8",
            type="fixed<8,3,rnd,sat>",
            compared=compared,
            snr_db=snr_db,
            largest_error=0.25 if compared else None,
            note=note,
            wrong=compared and snr_db is not None and snr_db < 20,
        )
        for name, compared, snr_db, note in (
            ("layer1.conv1", False, None, "fused into layer1_conv1"),
            ("layer1.relu", True, 31.25, "layer1.conv1 fused into it"),
            ("fc", True, 12.0, ""),
        )
    )
    text = trace_page("net", TraceFigures(frames=3, judge="PyTorch 9", verdict=(), layers=layers))
    assert re.search(r"First wrong layer.*?<strong>fc</strong>", text, re.DOTALL)
    assert "with PyTorch 9" in text and "31.2 dB" in text and "fused into layer1_conv1" in text


@pytest.mark.parametrize(
    ("given", "short"),
    [("fixed<8,3,rnd,sat>", "fixed<8,3>"), ("ufixed<4,-1>", "ufixed<4,-1>"), ("float32", "float32")],
)
def test_types_without_their_modes(given: str, short: str) -> None:
    assert short_type(given) == short
