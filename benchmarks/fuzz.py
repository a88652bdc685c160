"""Random models through hlsgen, each judged by its framework.

python benchmarks/fuzz.py [--cases N] [--first SEED] [--kinds KIND ...] [--csim SHARE] [--json PATH]

A case is a kind and a seed, which give the model, its number types and style. Its framework runs it on frames
off the grid (hlsgen/tracing/judge.py). Models with their own types must be exact but for named ties; others
must be read as the framework computes them. Designs without a framework, and every share-th of the others,
are C-simulated beside golden. What is done is kept in PATH, so that a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from fuzz_models import MODELS, Model
from rich.console import Console
from rich.table import Table

import hlsgen
from hlsgen.api.design import Design
from hlsgen.api.project import judge_only, simulate_only
from hlsgen.base.errors import HlsgenError, JudgeError, MismatchError
from hlsgen.base.progress import silent

JSON = Path("build/benchmarks/fuzz.jsonl")
FRAMES = 4
OUTCOMES = ("exact", "ties", "agrees", "skipped", "equal", "refused", "departs", "differs", "crashed")
WRONG = ("departs", "differs", "crashed")


def design_of(kind: str, model: Model, rng: np.random.Generator, folder: Path) -> Design:
    """The design of a model, with types and style drawn from `rng`. Raises HlsgenError: it is refused."""
    style = str(rng.choice(["dataflow", "dataflow", "tasks", "shared"]))
    if kind == "layers":
        (folder / "fuzz.yaml").write_text(yaml.safe_dump(model.source), encoding="utf-8")
        return hlsgen.load(folder / "fuzz.yaml")
    chosen: dict[str, Any] = {"board": "u200", "style": style, "batch": 2}
    if kind in ("qonnx", "qdq"):
        return hlsgen.from_onnx(model.source, **chosen)
    if kind == "qkeras":
        return hlsgen.from_qkeras(model.source, **chosen)
    precision = ["auto", 8, 6, "fixed<16,6>", "float32"][int(rng.integers(5))]
    chosen["style"] = "tasks" if precision == "float32" else style
    if kind == "torch":
        x = rng.normal(0, 1, (8, *model.shape))
        return hlsgen.from_torch(model.source, model.shape, calibration=x, precision=precision, **chosen)
    x = rng.normal(0, 1, (8, *model.source.input_shape[1:]))
    return hlsgen.from_qkeras(model.source, calibration=x, precision=precision, **chosen)


def outcome(kind: str, seed: int, csim: int) -> dict[str, Any]:
    """What became of a case: its outcome, and in words why."""
    rng = np.random.default_rng([seed, *kind.encode()])
    try:
        with tempfile.TemporaryDirectory() as name:
            design = design_of(kind, MODELS[kind](rng), rng, Path(name))
            said = judge_only(design, FRAMES, None, silent)
            found = {"outcome": said.verdict, "why": said.why}
            if kind == "layers" or (csim and seed % csim == 0):
                simulate_only(design, frames=1, judge=False)
                found |= {"outcome": "equal"} if kind == "layers" else {"csim": "equal"}
            return found
    except JudgeError as error:
        return {"outcome": "departs", "why": str(error)}
    except MismatchError as error:
        return {"outcome": "differs", "why": str(error)}
    except HlsgenError as error:
        return {"outcome": "refused", "why": str(error)}
    except Exception:
        return {"outcome": "crashed", "why": traceback.format_exc()}


def reason(text: str) -> str:
    """An error without its names and numbers."""
    first = text.removeprefix("error: ").split("\n")[0]
    return re.sub(r"\b[\w.]*\d[\w.]*\b", "#", first)[:90]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--kinds", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--csim", type=int, default=50, help="C-simulate one of every SHARE seeds; 0: none")
    parser.add_argument("--json", type=Path, default=JSON, metavar="PATH")
    given = parser.parse_args()
    given.json.parent.mkdir(parents=True, exist_ok=True)
    lines = given.json.read_text(encoding="utf-8").splitlines() if given.json.exists() else []
    done = {(one["kind"], one["seed"]): one for one in map(json.loads, lines)}
    warnings.simplefilter("ignore")
    with given.json.open("a", encoding="utf-8") as file:
        for number in range(given.cases):
            kind, seed = given.kinds[number % len(given.kinds)], given.first + number // len(given.kinds)
            if (kind, seed) in done:
                continue
            found = {"kind": kind, "seed": seed, **outcome(kind, seed, given.csim)}
            done[kind, seed] = found
            file.write(json.dumps(found) + "\n")
            file.flush()
            if found["outcome"] in WRONG:
                print(
                    f"{kind} {seed}: {found['outcome']}: {found['why'].strip().splitlines()[-1]}", flush=True
                )
    show(list(done.values()))
    raise SystemExit(any(one["outcome"] in WRONG for one in done.values()))


def show(done: list[dict[str, Any]]) -> None:
    """The table of outcomes by kind, and the most frequent refusals."""
    table = Table("models", "tried", *OUTCOMES, title="Random models, each judged by its framework")
    for kind in MODELS:
        counts = Counter(one["outcome"] for one in done if one["kind"] == kind)
        table.add_row(kind, str(counts.total()), *(str(counts[one]) for one in OUTCOMES))
    console = Console(width=140)
    console.print(table)
    refused = Counter((one["kind"], reason(one["why"])) for one in done if one["outcome"] == "refused")
    for (kind, why), count in refused.most_common(20):
        console.print(f"{count:5} {kind}: {why}", markup=False)


if __name__ == "__main__":
    main()
