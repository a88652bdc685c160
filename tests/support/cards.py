"""Cards of notebooks as an HTML parser reads them."""

from __future__ import annotations

import re
from html.parser import HTMLParser

MOST_BYTES = 40_000


class Elements(HTMLParser):
    """Tags with their attributes; fails where they do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += f"{data} "


def assert_small_and_whole(text: str) -> Elements:
    """One element that needs nothing else, and gives nothing else its style."""
    elements = Elements(text)
    assert elements.found[0] == ("div", {"class": "hlsgen-card"})
    assert len(text) < MOST_BYTES
    for tag, attributes in elements.found:
        assert tag not in ("script", "link", "iframe", "object", "img", "form")
        assert not any(name.startswith("on") or name in ("href", "src", "id") for name in attributes)
    style = text[text.index("<style>") + 7 : text.index("</style>")]
    assert "url(" not in style and "@import" not in style
    selectors = re.findall(r"(?:^|\})\s*([^{}]+)\{", style)
    assert len(selectors) > 20
    for selector in selectors:
        for one in selector.split(","):
            assert one.strip().startswith(".hlsgen-card"), "a style for nothing but the card"
    return elements
