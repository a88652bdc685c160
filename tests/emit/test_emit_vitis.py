"""The files for Vitis, read back. tests/emit/test_vitis_scripts.py runs them with stand-ins."""

from __future__ import annotations

from hlsgen.emit.vitis import plain_word
from hlsgen.search.placement import Deployment
from tests.support.build_folders import CASES, emitted


def settings(text: str) -> list[tuple[str, str, str]]:
    """(section, key, value) of every line of a .cfg file."""
    found, section = [], ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            key, _, value = line.partition("=")
            found.append((section, key, value))
    return found


def link_settings(deployment: Deployment) -> list[tuple[str, str, str]]:
    return settings(emitted(deployment)["vitis/link.cfg"])


def test_hls_config() -> None:
    files = emitted(CASES["channels"].deployment())
    found = settings(files["vitis/hls_config.cfg"])
    assert found[0] == ("", "part", "xczu9eg-ffvb1156-2-e")
    assert {section for section, _, _ in found[1:]} == {"hls"}
    values = [(key, value) for _, key, value in found]
    for wanted in (
        ("clock", "200MHz"),
        ("flow_target", "vitis"),
        ("syn.top", "conv"),
        ("syn.cflags", "-std=c++14 -I../src"),
        ("package.output.format", "xo"),
    ):
        assert wanted in values
    named = [value for key, value in values if key in ("syn.file", "tb.file")]
    data = ["../tb/input.npy", "../tb/weights.npy", "../tb/golden.npy"]
    assert named == ["../src/conv.cpp", "../tb/conv_tb.cpp", *data], "a layer without bias has no biases.npy"
    assert all(name[3:] in files for name in named if name.endswith(".cpp"))


def test_link_alveo() -> None:
    deployment = CASES["fixed16"].deployment()
    found = link_settings(deployment)
    assert found[:2] == [
        ("", "kernel_frequency", "0:220"),
        ("connectivity", "nk", "conv:3:conv_1.conv_2.conv_3"),
    ]
    for number, instance in enumerate(deployment.instances, start=1):
        assert ("connectivity", "slr", f"conv_{number}:{instance.slr}") in found
        for bundle in ("gmem_input", "gmem_weights", "gmem_output"):
            assert ("connectivity", "sp", f"conv_{number}.m_axi_{bundle}:{instance.bank}") in found
    keys = [key for section, key, _ in found if section == "connectivity"]
    assert (keys.count("slr"), keys.count("sp")) == (3, 9)
    assert all(value.startswith("run.impl_1.STEPS.") for section, _, value in found if section == "vivado")


def test_link_names_the_kernels_bundles() -> None:
    files = emitted(CASES["fixed16"].deployment())
    bundles = {
        word.removeprefix("bundle=")
        for line in files["src/conv.cpp"].splitlines()
        if "interface m_axi" in line
        for word in line.split()
        if word.startswith("bundle=")
    }
    linked = {
        line.split("m_axi_")[1].split(":")[0]
        for line in files["vitis/link.cfg"].splitlines()
        if "m_axi" in line
    }
    assert linked == bundles


def test_link_zynq() -> None:
    found = link_settings(CASES["channels"].deployment())
    assert [(key, value) for section, key, value in found if section == "connectivity"] == [
        ("nk", "conv:2:conv_1.conv_2")
    ]
    assert [(key, value) for section, key, value in found if section == "clock"] == [
        ("freqHz", "200000000:conv_1.ap_clk"),
        ("freqHz", "200000000:conv_2.ap_clk"),
    ]
    assert not any(key in ("slr", "kernel_frequency") for _, key, _ in found)


def test_a_hostile_board_expands_nothing() -> None:
    deployment = CASES["float"].deployment()
    word = 'x}; exec id; [id] $(shell id) `id` "\\'
    board = deployment.board.model_copy(
        update={"part": word, "title": word, "platform": word, "ait_board": word}
    )
    changed = Deployment(**{**deployment.__dict__, "board": board})
    for path, text in emitted(changed).items():
        if path.startswith(("vitis/", "ompss/")) or path == "Makefile":
            assert not any(part in text for part in ("}; exec", "$(shell id", "`id`"))
    assert plain_word(word) == "x__ exec id_ [id] __shell id_ _id_ __"
    assert plain_word("DDR[0]") == "DDR[0]"
