"""Names of layers and ports from a framework's own: valid, and each given once."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlsgen.base.cpp_names import CPP_KEYWORDS
from hlsgen.designfile.names import Names, valid_name
from hlsgen.designfile.schema_values import check_identifier


@pytest.mark.parametrize(
    ("wish", "name"),
    [
        ("layer1.0.conv1", "layer1_0_conv1"),
        ("0.weight", "n0_weight"),
        ("int", "int1"),
        ("ap_pool", "n_ap_pool"),
        ("input", "input1"),
        ("read", "read1"),
        ("FC", "fc"),
        ("__a__b__", "a_b"),
        ("size_t", "size_t1"),
        ("instances", "instances1"),
        ("search", "search1"),
        ("load_x", "n_load_x"),
        ("été", "t"),
        ("_t", "t"),
        ("", "n"),
        ("a" * 80, "a" * 63),
    ],
)
def test_valid_names(wish: str, name: str) -> None:
    assert valid_name(wish) == name


@settings(deadline=None)
@given(st.lists(st.text(max_size=70) | st.sampled_from(sorted(CPP_KEYWORDS)), max_size=8))
def test_any_names_become_valid_and_unique(wishes: list[str]) -> None:
    names = Names()
    made = [names.unique(wish) for wish in wishes]
    assert len({name.lower() for name in made}) == len(made)
    for name in made:
        check_identifier(name)
