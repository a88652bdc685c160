"""report.html: what is in it, and that nothing from outside is taken for markup."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import hlsgen
from hlsgen.report.charts import axis, percent
from hlsgen.report.content import Report
from hlsgen.report.graph_parts import LOW, PAGE_WIDTH, PART_GAP, parted
from hlsgen.report.graph_picture import MOST_LANES, Join, Node, draw_graph
from hlsgen.report.html import html_of_build, html_report
from hlsgen.report.page_graph import shortened
from hlsgen.report.reading import checked_report
from hlsgen.report.roofline_picture import draw_roofline
from tests.support.documents import assert_constants_are_as_stated, rows
from tests.support.documents import document as read_document
from tests.support.places import ROOT
from tests.support.report_builds import KINDS, built, content

SECTIONS = ("graph", "cycles", "roofline", "resources", "timeline", "csim", "synthesised")
VOID = {"meta", "link", "img", "br", "path", "rect", "line", "circle"}
EVIL = """<img src=x onerror=alert(1)>"'&</title></style><script>alert(2)</script>{{ 7 * 7 }}"""


class Elements(HTMLParser):
    """Every element of a page with its attributes; fails where elements do not nest."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())


@pytest.fixture(params=KINDS)
def build_folder(request: pytest.FixtureRequest, builds: Callable[[str], Path]) -> Path:
    return builds(str(request.param))


def page_of(folder: Path) -> str:
    return (folder / "report.html").read_text()


# ---------------------------------------------------------------- the page


def test_sections_are_there_and_linked(build_folder: Path) -> None:
    page = Elements(page_of(build_folder))
    names = [attributes["id"] for tag, attributes in page.found if tag == "section"]
    assert len(names) == len(set(names))
    assert set(SECTIONS) <= set(names)
    assert "banks" in names or {"layers", "fifos", "accuracy"} <= set(names)
    links = [attributes["href"] for tag, attributes in page.found if tag == "a"]
    assert set(links) == {f"#{name}" for name in names if name != "summary"}


def test_every_layer_process_and_stream_is_named(build_folder: Path) -> None:
    report, words = content(build_folder), Elements(page_of(build_folder)).words
    for part in ("layers", "joints", "fifos", "timeline", "quantisation", "memories"):
        for one in report.get(part, []):
            assert one["name"] in words, (part, one["name"])
    for slr in report["slrs"]:
        assert slr["name"] in words or len(report["slrs"]) == 1 or not slr["instances"]
    for layer in report["layers"]:
        assert f"{layer['interval_cycles']:,}" in words


def test_every_figure_says_its_kind(build_folder: Path) -> None:
    """Each heading and each tile has a badge, and the four kinds are explained."""
    page = page_of(build_folder)
    headings = re.findall(r"<h2>(.*?)</h2>", page, re.DOTALL)
    tiles = re.findall(r"<dt>(.*?)</dt>", page, re.DOTALL)
    assert len(tiles) == 9 + ("loops" in content(build_folder)["schedule"])
    for one in (*headings, *tiles):
        assert re.search('class="badge (modelled|measured|scheduled|synthesised)"', one), one
    measured = [one for one in headings if "measured" in one]
    accuracy = bool(content(build_folder).get("quantisation"))
    clipping = bool(content(build_folder).get("clipping"))
    ranges = bool(content(build_folder).get("ranges"))
    assert ranges == bool(content(build_folder).get("calibration"))
    assert len(measured) == 2 + accuracy + clipping + ranges


def test_the_page_needs_nothing_else(build_folder: Path) -> None:
    page = page_of(build_folder)
    assert "http:" not in page and "https:" not in page and "//" not in re.sub('base64,[^"]*', "", page)
    for tag, attributes in Elements(page).found:
        assert tag not in ("script", "iframe", "object", "embed", "form", "base")
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        for name in ("src", "href"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:"))
    assert "url(" not in page.replace("url(#arrow)", "")
    assert "default-src 'none'" in page


def test_pictures_have_names(build_folder: Path) -> None:
    for tag, attributes in Elements(page_of(build_folder)).found:
        if tag == "svg" and attributes.get("class") != "ticks":
            assert attributes["role"] == "img" and attributes["aria-label"]
        if tag == "img":
            assert attributes["alt"]
        if attributes.get("role") == "region":
            assert attributes["tabindex"] == "0" and attributes["aria-label"]


def test_the_same_build_gives_the_same_bytes(builds: Callable[[str], Path], tmp_path: Path) -> None:
    for kind in ("layer", "dataflow"):
        assert page_of(built(kind, tmp_path)) == page_of(builds(kind))


def test_the_slowest_layers_are_marked(builds: Callable[[str], Path]) -> None:
    for kind, most in (("dataflow", 7), ("tasks", 6)):
        report, page = content(builds(kind)), page_of(builds(kind))
        slowest = max(layer["interval_cycles"] for layer in report["layers"])
        count = sum(layer["interval_cycles"] == slowest for layer in report["layers"])
        assert page.count('class="box bottleneck"') == page.count('class="bar hot"') == count <= most


def test_the_document_explains_every_section(builds: Callable[[str], Path]) -> None:
    text = read_document("report.md")
    assert_constants_are_as_stated(text)
    shown = {
        " ".join(re.sub("<.*?>", " ", heading).split()[:-1])
        for kind in ("layer", "dataflow", "best", "auto", "mixed")
        for heading in re.findall("<h2>(.*?)</h2>", page_of(builds(kind)), re.DOTALL)
    }
    assert {row[0] for row in rows(text)} == shown | {"section"}


def test_the_bank_picture_is_the_builds_own(builds: Callable[[str], Path], tmp_path: Path) -> None:
    folder = builds("layer")
    (data,) = re.findall('base64,([^"]*)', page_of(folder))
    assert base64.b64decode(data) == (folder / "banks.svg").read_bytes()
    (tmp_path / "report.json").write_text((folder / "report.json").read_text())
    assert "holds no banks.svg" in html_of_build(tmp_path)
    (tmp_path / "banks.svg").symlink_to(folder / "banks.svg")
    assert "holds no banks.svg" in html_of_build(tmp_path)


def test_synthesised_figures_stand_beside_the_model(builds: Callable[[str], Path]) -> None:
    report = content(builds("layer"))
    assert "No vendor tool has run" in page_of(builds("layer"))
    report["synthesised"] = [
        {
            "stage": "cosim",
            "file": "x.rpt",
            "top": "small",
            "version": "2024.2",
            "part": "",
            "passed": False,
            "differences": {
                "lut": {"modelled": 1100, "synthesised": 1000, "percent": 10.0},
                "dsp": {"modelled": 3, "synthesised": 0, "percent": None},
            },
        }
    ]
    words = Elements(html_report(checked_report(report), builds("layer"))).words
    assert "No vendor tool has run" not in words
    assert "small: cosim 2024.2, FAILED (x.rpt)" in words
    assert "LUT 1,100 1,000 +10.0 %" in words
    assert "DSP 3 0 –" in words


def test_what_c_simulation_found(builds: Callable[[str], Path]) -> None:
    report = content(builds("dataflow"))
    layers = [{"name": "conv1", "compared": 512, "mismatches": 2}]
    report["csim"] = {"verdict": "differs", "compared": 512, "mismatches": 2, "max_abs_error": 0.5}
    report["csim"] |= {"frames": 2, "layers": layers}
    page = html_report(checked_report(report), builds("dataflow"))
    assert 'class="tile double bad"' in page
    words = Elements(page).words
    assert "510 of 512 results of 2 frames equal golden bit for bit; the largest difference is 0.5" in words
    assert "conv1 512 2 differs" in words


# ---------------------------------------------------------------- what comes from outside


def texts(value: object, way: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The ways to all texts in a JSON document."""
    if isinstance(value, dict):
        return [one for key, item in value.items() for one in texts(item, (*way, key))]
    if isinstance(value, list):
        return [one for index, item in enumerate(value) for one in texts(item, (*way, index))]
    return [way] if isinstance(value, str) else []


CHOICES = {
    ("cost", "style"),
    ("csim", "verdict"),
    ("judge", "verdict"),
    ("schedule", "verdict"),
    ("total", "depths"),
}
"""Texts that are no texts, but one of a few words; so is how an II is known."""


def test_no_text_of_a_report_is_taken_for_markup(builds: Callable[[str], Path]) -> None:
    """Every text that the report has is replaced, names as well as what refers to them."""
    for kind in ("layer", "dataflow", "tasks"):
        report = content(builds(kind))
        names: dict[str, str] = {}
        for *way, last in texts(report):
            if (*way, last) in CHOICES or last == "known":
                continue
            place: Any = report
            for step in way:
                place = place[step]
            place[last] = names.setdefault(place[last], f"{EVIL}{len(names)}")
        report["warnings"] = [EVIL]
        page = html_report(checked_report(report), builds(kind))
        found = Elements(page).found
        before = Elements(page_of(builds(kind))).found
        assert {tag for tag, _ in found} <= {tag for tag, _ in before} | {"p", "strong"}
        assert not any(name.startswith("on") for _, attributes in found for name in attributes)
        assert (
            "<script" not in page
            and "alert(1)>" not in page
            and "49" not in page.partition("Warning")[2][:200]
        )
        assert html.escape("{{ 7 * 7 }}") in page


def test_a_hostile_bank_picture_stays_a_picture(builds: Callable[[str], Path], tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text((builds("layer") / "report.json").read_text())
    (tmp_path / "banks.svg").write_text('"><script>alert(1)</script><svg onload="alert(2)">')
    page = html_of_build(tmp_path)
    assert "alert" not in page
    (tmp_path / "banks.svg").write_bytes(b" " * (5 << 20))
    assert "holds no banks.svg" in html_of_build(tmp_path)


def test_extreme_figures_make_a_page(builds: Callable[[str], Path]) -> None:
    """Zeros and the largest figures, in every place that takes them."""
    for figure in (0, 10**15):
        report = content(builds("dataflow"))

        def change(value: Any, figure: int = figure) -> Any:
            if isinstance(value, dict):
                return {key: change(item) for key, item in value.items()}
            if isinstance(value, list):
                return [change(item) for item in value]
            return figure if isinstance(value, int) and not isinstance(value, bool) and value != 1 else value

        changed = change(report)
        changed["clock_mhz"] = 300
        changed["total"]["interval_cycles"] = max(1, figure)
        for fifo in changed["fifos"]:
            fifo["lanes"] = max(1, figure)
        page = html_report(checked_report(changed), builds("dataflow"))
        assert "nan" not in re.sub("[a-z]nan|nan[a-z]", "", page)
        for _, attributes in Elements(page).found:
            for name in ("x", "width"):
                value = attributes.get(name) or ""
                assert not value.endswith("%") or 0 <= float(value[:-1]) <= 100


# ---------------------------------------------------------------- pictures


def node(key: str) -> Node:
    return Node(key=key, title=key, full=key)


def test_boxes_of_a_graph_do_not_overlap_and_edges_pass_beside_them() -> None:
    keys = ("a", "b1", "b2", "c", "d1", "d2", "e")
    joins = [("a", "b1"), ("a", "b2"), ("b1", "c"), ("b2", "c"), ("a", "c"), ("c", "d1"), ("d1", "d2")]
    joins += [("d2", "e"), ("c", "e"), ("a", "e")]
    picture = draw_graph(
        [node(key) for key in keys], [Join(source=s, target=t, label="2 × 1") for s, t in joins]
    )
    assert picture is not None
    places = {
        box.node.key: (
            float(box.left),
            float(box.top),
            float(box.left) + box.width,
            float(box.top) + box.height,
        )
        for box in picture.boxes
    }
    for key, (left, top, right, bottom) in places.items():
        assert left >= 0 and right <= picture.width and top >= 0 and bottom <= picture.height
        for other, (left2, top2, right2, bottom2) in places.items():
            assert key == other or right <= left2 or right2 <= left or bottom <= top2 or bottom2 <= top
    for source, target in joins:
        assert places[source][3] < places[target][1]
    boxes = list(places.values())
    for line in picture.lines:
        assert float(line.label_x) <= picture.width
        for x, y in re.findall(r"([\d.]+),([\d.]+)V", line.path):
            beside = [x0 >= float(x) or float(x) >= x1 or not y0 <= float(y) < y1 for x0, y0, x1, y1 in boxes]
            assert all(beside)
    middles = {sum(places[key][::2]) / 2 for key in ("a", "c", "d1", "d2", "e")}
    assert len(middles) == 1, "the longest path stands straight"


@pytest.mark.parametrize("layers", [1, 4, 5, 9, 12, 40, 150])
@pytest.mark.parametrize("skip", [0, 3])
def test_parts_of_a_graph_hold_all_of_it_once(layers: int, skip: int) -> None:
    """skip: every layer that has one so many further down is joined to that, too."""
    joins = [Join(source=str(i), target=str(i + 1), label="2 × 1") for i in range(layers - 1)]
    if skip:
        joins += [Join(source=str(i), target=str(i + skip), label="8 × 1") for i in range(layers - skip)]
    picture = draw_graph([node(str(index)) for index in range(layers)], joins)
    assert picture is not None
    found = parted(picture)
    assert found.tall == (picture.height > LOW)
    assert [box for part in found.parts for box in part.boxes] == list(picture.boxes)
    assert sum(len(part.labels) for part in found.parts) == len(joins)
    bottom = 0.0
    for part in found.parts:
        assert float(part.top) == pytest.approx(bottom), "parts follow each other without a gap"
        bottom += float(part.height)
        for box in part.boxes:
            assert float(box.top) >= float(part.top) and float(box.top) + box.height <= bottom
        for line in part.labels:
            assert float(part.top) + 8 <= float(line.label_y) <= bottom - 3, "a label is cut"
        assert {line.join for line in part.labels} <= {line.join for line in part.lines}
    assert bottom == pytest.approx(picture.height, abs=0.2)
    if not found.tall or 2 * found.width + PART_GAP > PAGE_WIDTH:
        assert len(found.parts) == 1
    elif layers > 5:
        assert len(found.parts) > 1
    assert all(float(part.height) < 1000 for part in found.parts) or len(found.parts) == 1


def test_a_graph_with_too_many_edges_is_not_drawn() -> None:
    nodes = [node(str(index)) for index in range(300)]
    chain = [Join(source=str(i), target=str(i + 1)) for i in range(299)]
    assert draw_graph(nodes, chain) is not None
    far = [Join(source="0", target="299")] * (MOST_LANES // 299 + 1)
    assert draw_graph(nodes, [*chain, *far]) is None


def test_axes_and_bars() -> None:
    assert axis(512) == (("0", "0"), ("39.1", "200"), ("78.1", "400"))
    assert axis(1) == (("0", "0"), ("100", "1"))
    assert [label for _, label in axis(1_161_411)] == ["0", "500 k", "1 M"]
    assert (percent(1, 3), percent(5, 3), percent(-1, 3), percent(1, 0)) == ("33.3", "100", "0", "0")
    assert shortened("layer2_0_downsample_0", 10) == "layer…le_0"
    assert shortened("conv1", 10) == "conv1"


def test_the_roofline_has_its_point_below_its_roof(builds: Callable[[str], Path]) -> None:
    for kind in ("layer", "dataflow", "tasks"):
        report: Report = checked_report(content(builds(kind)))
        roof = report.roofline
        assert roof is not None
        picture = draw_roofline(roof)
        assert roof.achieved_gops <= roof.attainable_gops * 1.001
        assert roof.attainable_gops <= roof.ops_per_byte * roof.ddr_gb_per_s * 1.001
        assert float(picture.point[1]) >= float(picture.attainable[1])
        left, top, right, bottom = map(float, picture.frame)
        assert left <= float(picture.point[0]) <= right and top <= float(picture.point[1]) <= bottom
        assert [one.tone for one in picture.roofs][-1] == "own"


def test_without_multiplications_there_is_no_roofline(builds: Callable[[str], Path]) -> None:
    built = content(builds("dataflow"))
    page = html_report(checked_report({**built, "roofline": None}), builds("dataflow"))
    assert 'id="roofline"' in html_report(checked_report(built), builds("dataflow"))
    assert 'id="roofline"' not in page and 'href="#roofline"' not in page


def drawn_edges(page: str) -> set[tuple[str, str]]:
    """The edges of the page's graph, by the names in the boxes at which their paths begin and end."""
    boxes: dict[str, tuple[float, float, float, float]] = {}
    pattern = (
        r'<g class="box \w+" transform="translate\(([\d.]+),([\d.]+)\)">\s*<title>(.*?)</title>\s*'
        r'<rect width="(\d+)" height="(\d+)"'
    )
    for left, top, full, width, height in re.findall(pattern, page):
        name = re.split(r" \(|: ", full.removeprefix("input ").removeprefix("output "))[0]
        kind = full.split(" ")[0] if full.startswith(("input ", "output ")) else "layer"
        boxes[f"{kind} {name}"] = (float(left), float(top), float(width), float(height))
    found = set()
    for path in set(re.findall(r'<g class="edge[^"]*"><title>.*?</title><path d="(.*?)"', page)):
        numbers = [float(one) for one in re.findall(r"[\d.]+", path)]
        (x, y), (end_x, end_y) = numbers[:2], numbers[-2:]
        (source,) = [key for key, (a, b, w, h) in boxes.items() if a <= x <= a + w and abs(b + h - y) < 0.2]
        (target,) = [
            key for key, (a, b, w, _) in boxes.items() if a <= end_x <= a + w and abs(b - end_y) < 0.2
        ]
        found.add((source, target))
    return found


def test_the_drawn_edges_are_those_of_the_report(tmp_path: Path) -> None:
    """Of a graph in several parts: each edge once, and no part touches the one below it."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    nn = torch.nn

    class Net(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList(nn.Conv2d(2, 2, 1) for _ in range(30))

        def forward(self, x: Any) -> Any:
            for index, layer in enumerate(self.layers):
                x = layer(x) + x if index % 4 == 3 else layer(x)
            return x

    design = hlsgen.from_torch(Net().eval(), (2, 4, 4), precision="fixed<8,3>", board="zcu102")
    design.build(tmp_path / "b", csim=False, schedule=False, judge=False)
    page = (tmp_path / "b/report.html").read_text()
    report = json.loads((tmp_path / "b/report.json").read_text())["graph"]
    inputs = {port["name"] for port in report["inputs"]}
    wanted = {
        (f"{'input' if one['from'] in inputs else 'layer'} {one['from']}", f"layer {one['to']}")
        for one in report["edges"]
    }
    wanted |= {(f"layer {port['source']}", f"output {port['name']}") for port in report["outputs"]}
    assert drawn_edges(page) == wanted and len(wanted) > 40
    count = page.count('<figure class="part">')
    assert count >= 3 and page.count("goes on in part") == count - 1
    style = (ROOT / "templates/report/style.css").read_text()
    gap = re.search(r"\.parts \{[^}]*gap: (\d+)px", style)
    assert gap is not None and int(gap[1]) >= 20
