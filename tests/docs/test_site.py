"""The documentation site builds strictly, loads nothing from the network, and shows what hlsgen offers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import hlsgen
from tests.support.places import ROOT

for package in ("material", "mkdocstrings_handlers.python", "nbconvert"):
    pytest.importorskip(package, reason="the site's tools are not installed: pip install 'hlsgen[docs]'")

LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}
RELATIONS = {"stylesheet", "preload", "preconnect", "dns-prefetch", "icon", "modulepreload", "manifest"}
"""Of <link>: those that fetch something. canonical, next and prev only name pages."""


def mkdocs(project: Path, into: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(into)],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("built") / "site"
    done = mkdocs(ROOT, into)
    assert done.returncode == 0, done.stdout + done.stderr
    return into


class Loads(HTMLParser):
    """What a page makes a browser fetch, and the words of its title."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "link" and RELATIONS & set((given.get("rel") or "").split()):
            self.fetched.append(given.get("href") or "")
        elif tag in LOADING:
            self.fetched.append(given.get(LOADING[tag]) or "")
        self.fetched += re.findall(r"url\(([^)]+)\)", given.get("style") or "")


def test_no_page_loads_anything_from_the_network(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        loads = Loads()
        loads.feed(page.read_text(encoding="utf-8"))
        outside = [url for url in loads.fetched if re.match(r"(https?:)?//", url.strip("'\" "))]
        assert not outside, f"{page.relative_to(site)}: {outside}"
        missing = [
            url
            for url in loads.fetched
            if url and not url.startswith(("data:", "#")) and not (page.parent / url.split("?")[0]).exists()
        ]
        assert not missing or page.name == "404.html", f"{page.relative_to(site)}: {missing}"
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", sheet.read_text(encoding="utf-8")), (
            sheet
        )


def test_pages_have_titles_of_their_own(site: Path) -> None:
    titles: dict[str, Path] = {}
    for page in set(site.rglob("*.html")) - {site / "404.html"}:
        (title,) = re.findall(r"<title>(.*?)</title>", page.read_text(encoding="utf-8"), re.DOTALL)
        assert title not in titles, (page, titles[title])
        titles[title] = page


def test_the_search_finds_words_of_every_page(site: Path) -> None:
    index = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    found = {entry["location"].split("#")[0] for entry in index["docs"]}
    assert {path.relative_to(site).as_posix() for path in site.rglob("*.html")} - {"404.html"} <= found
    assert any("from_torch" in entry["title"] for entry in index["docs"])


def test_the_reference_has_every_public_name(site: Path) -> None:
    reference = (site / "api.html").read_text(encoding="utf-8")
    for name in set(hlsgen.__all__) - {"__version__"}:
        thing = getattr(hlsgen, name)
        assert f'id="{thing.__module__}.{thing.__qualname__}"' in reference, name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[there](nowhere.md)", "nowhere.md"),
        ("[there](kernel.md#no-such-heading)", "no-such-heading"),
        ("see docs/nowhere.md", "docs/nowhere.md, which is not there"),
        ('see docs/kernel.md, "No such heading"', "No such heading"),
        ("[there](../designs/nowhere.md)", "../designs/nowhere.md, which is not there"),
    ],
    ids=["page", "anchor", "mention", "section", "outside"],
)
def test_a_broken_link_ends_the_build(text: str, said: str, tmp_path: Path) -> None:
    project = small_project(tmp_path)
    (project / "docs/index.md").write_text(f"# Small\n\n{text}\n", encoding="utf-8")
    done = mkdocs(project, tmp_path / "site")
    assert done.returncode != 0 and said in done.stdout + done.stderr


def test_a_page_outside_the_navigation_ends_the_build(tmp_path: Path) -> None:
    project = small_project(tmp_path)
    assert mkdocs(project, tmp_path / "site").returncode == 0
    (project / "docs/forgotten.md").write_text("# Forgotten\n", encoding="utf-8")
    done = mkdocs(project, tmp_path / "site")
    assert done.returncode != 0 and "forgotten.md" in done.stdout + done.stderr


def test_mentions_become_links_but_not_in_code_or_in_links(tmp_path: Path) -> None:
    project = small_project(tmp_path)
    text = (
        'a (docs/kernel.md), docs/kernel.md, "Four words", `docs/kernel.md`, [docs/kernel.md](kernel.md).\n'
    )
    (project / "docs/index.md").write_text(f"# Small\n\n{text}", encoding="utf-8")
    nested = "# Nested\n\ndocs/kernel.md, [up](../kernel.md), [out](../../mkdocs.yml)\n"
    (project / "docs/notebooks/index.md").write_text(nested, encoding="utf-8")
    config = (project / "mkdocs.yml").read_text(encoding="utf-8")
    (project / "mkdocs.yml").write_text(
        config.replace("[index.md", "[notebooks/index.md, index.md"), encoding="utf-8"
    )
    done = mkdocs(project, tmp_path / "site")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    assert '(<a href="kernel.html">The kernel</a>)' in page
    assert '<a href="kernel.html#four-words">The kernel, Four words</a>' in page
    assert "<code>docs/kernel.md</code>" in page and '<a href="kernel.html">docs/kernel.md</a>' in page
    below = (tmp_path / "site/notebooks/index.html").read_text(encoding="utf-8")
    assert '<a href="../kernel.html">The kernel</a>' in below and '<a href="../kernel.html">up</a>' in below
    assert "out (<code>mkdocs.yml</code>)" in below


def small_project(folder: Path) -> Path:
    """The site's configuration and hooks with two pages, and without what takes time."""
    project = folder / "project"
    (project / "docs/notebooks").mkdir(parents=True)
    shutil.copytree(ROOT / "docs/site", project / "docs/site", ignore=shutil.ignore_patterns("__pycache__"))
    (project / "docs/kernel.md").write_text("# The kernel\n\n## Four words\n", encoding="utf-8")
    (project / "docs/index.md").write_text('# Small\n\ndocs/kernel.md, "Four words"\n', encoding="utf-8")
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    head, _, _ = config.partition("\nnav:")
    head = re.sub(r"  - mkdocstrings:\n(?:    .*\n)+", "", head)
    (project / "mkdocs.yml").write_text(head + "\nnav: [index.md, kernel.md]\n", encoding="utf-8")
    return project
