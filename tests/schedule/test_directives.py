"""Directives: the marks are those of the pragmas that would stand in the source, and none is lost unsaid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hlsgen.base.errors import DesignError
from hlsgen.schedule.directives import Directive, configured_directives, read_directives
from hlsgen.schedule.front_end import FrontEnd
from hlsgen.schedule.ir_reader import read_module
from hlsgen.schedule.sites import VariableSite, sites_of
from tests.support.schedule_ir import front_end_of, needs_llvm, optimised

SOURCE = """#include <ap_int.h>
#define TAPS 8
namespace filters {
template <int N> struct Delay {
    int held[N];
    void push(int x) {
    shift:
        for (int i = N - 1; i > 0; --i) //@ unroll "Delay::push/shift"
            held[i] = held[i - 1];
        held[0] = x;
    }
};
}  // namespace filters
static int scale(int x, int by = 3) { //@ inline -off "scale"
    const char *word = "scale() { taps: for (;;) {";
    return x * by + word[1];
}
void sums(const int in[64], int out[64]);
void sums(const int in[64], int out[64])
{ //@ array_partition -type cyclic -factor 4 -dim 1 "sums" in
//@ interface -mode ap_memory "sums" out
//@ dataflow "sums"
    filters::Delay<TAPS> delay = {}, other[2];
    static ap_int<9> line[4][16], wide[8]; //@ array_partition -type complete -dim 2 "sums" line
//@ array_reshape -type block -factor 2 "sums" wide
rows: columns:
    for (int i = 0; i < 64; ++i) { //@ pipeline -II 2 "sums/rows"
//@ dependence -variable out -type inter -dependent false "sums/rows"
        int sum = 0;
        delay.push(in[i]);
    taps:
        for (int t = 0; t < TAPS; ++t) { //@ unroll -factor 4 "sums/rows/taps"
            int product[2] = {delay.held[t], 0}; //@ array_partition "sums/rows" product
            sum += product[t & 1] * (line[t & 3][i & 15] + wide[t]);
        }
        out[i] = scale(sum);
    }
    for (int i = 0; i < 4; ++i) //@ loop_tripcount -min 1 -max 4 "sums/VITIS_LOOP_{line}_1"
        out[i] += 1;
again:
    do { //@ pipeline -off "sums/again"
        out[1] /= 2;
    } while (out[1] > 4);
}
"""
_TOLD = re.compile(r"//@ (.*)")


def written(folder: Path) -> FrontEnd:
    """The front end's result with a pragma in each place of SOURCE that names one."""

    def pragma(found: re.Match[str]) -> str:
        command, *words = found[1].split()
        (place,) = (at for at, word in enumerate(words) if word.startswith('"'))
        named = {"interface": "port"}.get(command, "variable")
        options = " ".join(words[:place])
        options = re.sub(r"-(\w+) (?!-)(\w+)", r"\1=\2", options).replace("-", "")
        told = [command, options, *(f"{named}={word}" for word in words[place + 1 :])]
        return f"\n#pragma HLS {' '.join(told)}"

    return front_end_of(folder, _TOLD.sub(pragma, SOURCE))


def directed(folder: Path) -> FrontEnd:
    """The same of the bare source and a script."""
    lines = SOURCE.splitlines()
    commands = []
    for number, line in enumerate(lines, start=1):
        found = _TOLD.search(line)
        if found:
            commands.append(f"set_directive_{found[1]}".replace("{line}", str(number)))
    script = folder / "directives.tcl"
    script.write_text("\n".join(commands) + "\n", encoding="utf-8")
    return front_end_of(folder, _TOLD.sub("", SOURCE), directives=read_directives(script))


def places(front: FrontEnd) -> list[tuple[object, ...]]:
    """What every mark says, and where it stands once all is inlined."""
    module = read_module(optimised(front.ir))
    sites = sites_of(module, front.pragmas)
    nodes = {
        node: module.loop_places[node].line if node in module.loop_places else 0
        for node in {one.loop for one in [*sites.plain, *sites.variables]}
    }
    order = {node: at for at, node in enumerate(sorted(nodes, key=lambda node: nodes[node]))}
    found: list[tuple[object, ...]] = []
    for site in [*sites.plain, *sites.variables]:
        pragma = site.pragma
        about = (site.extents, site.offset) if isinstance(site, VariableSite) else ()
        said = (pragma.name, sorted(pragma.words), sorted(pragma.texts.items()), sorted(site.values.items()))
        found.append((*said, pragma.variable, order[site.loop], about))
    return sorted(found, key=str)


@needs_llvm
def test_a_directive_is_the_pragma_in_its_place(tmp_path: Path) -> None:
    ours, theirs = directed(tmp_path), written(tmp_path)
    assert ours.unplaced == () and ours.dropped == theirs.dropped == ()
    assert places(ours) == places(theirs)
    assert len(places(ours)) >= SOURCE.count("//@")
    by_name = {one.name: one for one in ours.pragmas}
    assert by_name["pipeline"].origin.startswith(str(tmp_path / "directives.tcl"))
    assert Path(by_name["pipeline"].file).name == "kernel.cpp"


TROUBLE = {
    'set_directive_unroll "fir/none"': "fir has no loop none",
    'set_directive_unroll "fir2"': "the files define no function fir2",
    'set_directive_unrol "fir"': "no pragma has that name",
    'set_directive_pipeline -IJ 3 "fir"': "it has no option IJ",
    'set_directive_unroll -factor $N "fir/taps"': "known only to who runs the script",
    "set_directive_dataflow": "it names no function",
}


@needs_llvm
def test_what_has_no_place_is_said(tmp_path: Path) -> None:
    script = tmp_path / "run_hls.tcl"
    script.write_text("open_project x\nset_top fir\n" + "\n".join(TROUBLE) + "\n", encoding="utf-8")
    source = "void fir(int *a) {\ntaps: for (int i = 0; i < 4; ++i) a[i] += i;\n}\n"
    front = front_end_of(tmp_path, source, directives=read_directives(script))
    said = [str(one) for one in front.unplaced]
    assert len(said) == len(TROUBLE)
    for line, (one, why) in enumerate(zip(said, TROUBLE.values(), strict=True), start=3):
        assert one.startswith(f"{script}:{line}: directive ") and why in one
    assert front.pragmas == ()


@needs_llvm
def test_one_that_names_no_variable_is_dropped_as_a_pragma_is(tmp_path: Path) -> None:
    directive = Directive(name="array_partition", place="fir", variable="none", file="d.tcl", line=3)
    front = front_end_of(tmp_path, "void fir(int *a) { *a = 1; }\n", directives=[directive])
    assert [str(one) for one in front.dropped] == ["d.tcl:3: directive array_partition"]


def test_lines_of_a_configuration() -> None:
    text = (
        "[hls]\nsyn.top=dct\n  syn.directive.pipeline = dct/rows II=4 rewind\n"
        "#syn.directive.inline=dct\nsyn.directive.array_partition=dct buf type=block factor=4\n"
        "syn.directive.interface=mode=axis register dct in\nsyn.directive.inline=scale off\n"
        "syn.directive.allocation=dct function instances=foo limit=2\n"
    )
    found = [(one.text, one.place, one.line) for one in configured_directives(text, "hls.cfg")]
    assert found == [
        ("pipeline II=4 rewind", "dct/rows", 3),
        ("array_partition type=block factor=4 variable=buf", "dct", 5),
        ("interface mode=axis register port=in", "dct", 6),
        ("inline off", "scale", 7),
        ("allocation function limit=2 instances=foo", "dct", 8),
    ]


def test_a_switch_before_the_place_is_no_value_of_it(tmp_path: Path) -> None:
    script = tmp_path / "d.tcl"
    script.write_text('set_directive_interface -mode axis -register "fir" data\n', encoding="utf-8")
    (found,) = read_directives(script)
    assert (found.text, found.place) == ("interface mode=axis register port=data", "fir")
    script.write_text("## This file is generated automatically\n\n", encoding="utf-8")
    assert read_directives(script) == ()
    script.write_text("set_directive_top -name fir fir\n", encoding="utf-8")
    with pytest.raises(DesignError, match="holds no directive"):
        read_directives(script)
