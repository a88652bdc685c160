"""Fits the terms of LUTs and FFs anew to the published rows and writes them into hlsgen/targets/terms.yaml.

python benchmarks/fit_terms.py [--check]

Figures that are not fitted stay as they are in the file. With --check nothing is written, and the exit code
is 1 if the file is not what would be written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from hlsgen.cost.fitting import fit
from hlsgen.cost.published_cores import FAMILIES, published_rows
from hlsgen.targets.terms import PACKAGED, TermsFile, load_terms, terms_text


def table(file: TermsFile) -> Table:
    """Every fitted figure with its errors."""
    head = ("term", "", "per", "rows", "held out", "median", "90 %", "other clocks")
    found = Table(*head, title="fitted to csynth")
    for family in FAMILIES:
        for kind in family.kinds:
            figure = getattr(file.terms[family.name], kind).csynth
            assert figure.fit is not None
            per = ", ".join(f"{name} {amount:g}" for name, amount in figure.per.items())
            errors = [f"{one:.1%}" for one in (figure.fit.median, figure.fit.q90)]
            far = figure.fit.elsewhere
            found.add_row(
                family.name,
                kind.upper(),
                per,
                str(figure.fit.rows),
                str(figure.fit.held_out),
                *errors,
                "" if far is None else f"{far:.0%}",
            )
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing, only compare")
    chosen = parser.parse_args(arguments)
    file = fit(load_terms(PACKAGED).file, published_rows())
    Console(width=120).print(table(file))
    text = terms_text(file)
    if chosen.check:
        return int(PACKAGED.read_text(encoding="utf-8") != text)
    PACKAGED.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
