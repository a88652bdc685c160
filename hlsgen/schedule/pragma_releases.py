"""Pragmas that a release of the vendor's tool does not know yet, or takes in another way."""

from __future__ import annotations

from dataclasses import replace

from hlsgen.schedule.pragmas import Pragma
from hlsgen.schedule.releases import release_of
from hlsgen.schedule.sites import Sites, VariableSite

TYPED = (2021, 1)
"""The first release that knows `type=complete` of a split; before, the type is a word (`complete`).

2020.2 says "unexpected pragma parameter 'type'" of such a pragma and leaves it out: of a design with six of
them (MadsHoeffer/EmbeddedFinalMPSoC) its report has every array in one bank, and II 5 for nine reads.
"""
SHARED = (2021, 1)
"""The first release whose AXI ports without a bundle are one, gmem, in the flow of IP.

In 2020.2 that is so of those with `offset=slave` (ZhengmingHu/HLS_MNIST, jehigh-sd/LTE_Cell_Search), which is
the default from then on; others are ports of their own (yobuwen/hello-one: m_axi_a_ddr;
SuperChamp234/spgemm-format-exploration row_product.cpp:32: two reads, II 1).
"""
_WITH_OFFSET = frozenset(("slave", "direct"))
_SPLITS = frozenset(("array_partition", "array_reshape"))


def understood(sites: Sites, version: str, *, kernel_flow: bool) -> Sites:
    """The marks as a release takes them, without those of pragmas that it leaves out, which count as lost.

    A directive is none of these: it has had its type as an option all the time.
    """
    release = release_of(version)
    if release < SHARED and not kernel_flow:
        sites = replace(sites, variables=[_with_own_port(site) for site in sites.variables])
    if release >= TYPED:
        return sites
    variables = [site for site in sites.variables if not _is_typed(site.pragma)]
    left_out = dict.fromkeys(site.pragma for site in sites.variables if _is_typed(site.pragma))
    return replace(sites, variables=variables, lost=[*sites.lost, *left_out])


def _with_own_port(site: VariableSite) -> VariableSite:
    """The mark; of an AXI port without bundle and offset with its own name as the bundle's."""
    pragma = site.pragma
    is_port = pragma.name == "interface" and ("m_axi" in pragma.words or pragma.texts.get("mode") == "m_axi")
    if not is_port or "bundle" in pragma.texts or _WITH_OFFSET & {*pragma.words, pragma.texts.get("offset")}:
        return site
    return replace(site, pragma=replace(pragma, texts={**pragma.texts, "bundle": pragma.variable}))


def _is_typed(pragma: Pragma) -> bool:
    return pragma.name in _SPLITS and "type" in pragma.texts and not pragma.origin
