"""Pragmas that a release of the vendor's tool does not know yet."""

from __future__ import annotations

from dataclasses import replace

from hlsgen.schedule.pragmas import Pragma
from hlsgen.schedule.releases import release_of
from hlsgen.schedule.sites import Sites

TYPED = (2021, 1)
"""The first release that knows `type=complete` of a split; before, the type is a word (`complete`).

2020.2 says "unexpected pragma parameter 'type'" of such a pragma and leaves it out: of a design with six of
them (MadsHoeffer/EmbeddedFinalMPSoC) its report has every array in one bank, and II 5 for nine reads.
"""
_SPLITS = frozenset(("array_partition", "array_reshape"))


def understood(sites: Sites, version: str) -> Sites:
    """The marks without those of pragmas that a release leaves out, which count as lost.

    A directive is none: it has had its type as an option all the time.
    """
    release = release_of(version)
    if release >= TYPED:
        return sites
    variables = [site for site in sites.variables if not _is_typed(site.pragma)]
    left_out = dict.fromkeys(site.pragma for site in sites.variables if _is_typed(site.pragma))
    return replace(sites, variables=variables, lost=[*sites.lost, *left_out])


def _is_typed(pragma: Pragma) -> bool:
    return pragma.name in _SPLITS and "type" in pragma.texts and not pragma.origin
