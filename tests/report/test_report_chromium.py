"""report.html in a headless Chromium: nothing missing, clipped or beside the page, in any light and width."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.browser import Browser, browser, chromium
from tests.support.report_builds import DEEP_LAYERS, KINDS, built

PROGRAM = chromium()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed")
WIDTHS = (1280, 800, 390, 320)

CHECKS = (Path(__file__).parent / "page_checks.js").read_text()


def wrong(window: Browser, check: str) -> object:
    """What a function of page_checks.js finds."""
    return window.value(f"(() => {{ {CHECKS}; return {check}(); }})()")


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    assert PROGRAM is not None
    with browser(PROGRAM) as opened:
        yield opened


@pytest.fixture(scope="module", params=KINDS)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(str(request.param), tmp_path_factory.mktemp("page")) / "report.html"


@pytest.mark.parametrize("width", WIDTHS)
def test_everything_has_room(window: Browser, page: Path, width: int) -> None:
    window.open(page, width=width)
    assert window.value("innerWidth") == width
    assert window.value("document.documentElement.scrollWidth") <= width
    window.value("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert window.value("document.documentElement.scrollWidth") <= width
    for check in ("clipped", "beside", "outside", "cut", "crowded", "covered"):
        assert wrong(window, check) == [], check
    assert window.value("document.querySelectorAll('section').length") >= 8


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("deep", tmp_path_factory.mktemp("deep")) / "report.html"


@pytest.mark.parametrize(("width", "columns"), [(1400, 3), (1280, 3), (900, 2), (390, 1)])
def test_all_of_a_deep_network_is_seen_at_once(window: Browser, deep: Path, width: int, columns: int) -> None:
    """Its graph stands in parts side by side, without a box that scrolls."""
    window.open(deep, width=width)
    window.value("document.querySelectorAll('details').forEach(one => one.open = true)")
    for check in ("clipped", "beside", "outside", "cut", "crowded", "covered"):
        assert wrong(window, check) == [], check
    assert window.value("document.querySelectorAll('.graph .box').length") == DEEP_LAYERS + 2
    tops = "[...document.querySelectorAll('.graph')].map(one => Math.round(one.getBoundingClientRect().top))"
    assert window.value(f"{tops}.filter((top, _, all) => top === all[0]).length") == columns
    labels = "[...document.querySelectorAll('.graph .label')].map(one => one.textContent)"
    assert window.value(f"{labels}.length") == DEEP_LAYERS + 1, "each edge has its label, once"
    if width >= 1280:
        assert wrong(window, "scrolled") == []


@pytest.mark.parametrize("dark", [False, True])
def test_it_is_readable_in_any_light(window: Browser, page: Path, dark: bool) -> None:
    window.open(page, width=1280, dark=dark)
    red = int(window.value("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]"))
    assert (red < 64) == dark
    assert wrong(window, "faint") == []


@pytest.mark.parametrize("dark", [False, True])
def test_the_browser_has_nothing_to_complain_of(window: Browser, page: Path, dark: bool) -> None:
    """Neither does it load anything but the page, and its bank picture from inside."""
    window.open(page, width=1280, dark=dark)
    window.value("document.images.length && Promise.all([...document.images].map(one => one.decode()))")
    assert window.complaints() == []
    assert [one for one in window.requests() if not one.startswith("data:")] == [page.as_uri()]
    assert window.value("[...document.images].every(one => one.naturalWidth > 0)")


def test_no_script_runs_even_if_one_got_in(window: Browser, page: Path, tmp_path: Path) -> None:
    """The page's own policy forbids it."""
    hostile = tmp_path / "report.html"
    script = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">"
    hostile.write_text(page.read_text().replace("<main>", f"<main>{script}"))
    window.open(hostile, width=1280)
    assert window.value("document.title") != "owned"
    assert window.complaints() != []


def test_the_picture_of_the_page_is_not_blank(window: Browser, page: Path) -> None:
    window.open(page, width=390)
    picture = window.picture()
    assert picture.startswith(b"\x89PNG") and len(picture) > 50_000
