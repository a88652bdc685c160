"""What MkDocs does with these pages beside its own work: mentions of pages become links, notebooks pages.

The pages are to be read in an editor or on a forge too, where `docs/kernel.md, "Four words"` says enough. A
mention of a page, heading or file that does not exist ends a strict build, as a broken link does.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from markdown.extensions.toc import slugify
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))
from notebooks import pages_of

LOG = get_plugin_logger("hlsgen")
FENCE = re.compile(r"^(```.*?^```[^\n]*$)", re.MULTILINE | re.DOTALL)
TICKED = re.compile(r"(`[^`\n]+`)")
MENTION = re.compile(r'(?<![\w/\[.])(?<!\]\()docs/([\w-]+\.md)(?:, (?:"([^"\n]+)"|([A-Z]\w+)))?')
OUTSIDE = re.compile(r"\[([^\]\n]+)\]\((\.\./[^)\s]+)\)")


def on_files(files: Files, config: Any) -> Files:
    """A page for each notebook, with its outputs where `make site` has run it, and its pictures."""
    executed = Path(config.site_dir).parent / "notebooks"
    for path, content in pages_of(Path(config.docs_dir) / "notebooks", executed):
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Mentions of pages as links, wherever no code stands."""
    root = Path(config.docs_dir)
    here = Path(page.file.src_path).parent
    up = "../" * len(here.parts)
    parts = FENCE.split(markdown)
    for index in range(0, len(parts), 2):
        pieces = TICKED.split(parts[index])
        pieces[::2] = [_linked(piece, page.file.src_path, root, up) for piece in pieces[::2]]
        parts[index] = "".join(pieces)
    return "".join(parts)


def _linked(text: str, source: str, root: Path, up: str) -> str:
    def mention(match: re.Match[str]) -> str:
        name, quoted, plain = match.groups()
        if not (root / name).exists():
            LOG.warning("%s mentions docs/%s, which is not there", source, name)
            return match.group()
        title, headings = _headings(root / name)
        link = f"[{title}]({up}{name})"
        section = quoted or plain
        if not section:
            return link
        anchor = headings.get(section.lower())
        if anchor:
            return f"[{title}, {section}]({up}{name}#{anchor})"
        if quoted and f"**{quoted}" not in (root / name).read_text(encoding="utf-8"):
            LOG.warning('%s mentions docs/%s, "%s", which it does not have', source, name, quoted)
        return f'{link}, "{quoted}"' if quoted else f"{link}, {plain}"

    def outside(match: re.Match[str]) -> str:
        words, target = match.groups()
        path = (root / Path(source).parent / target.split("#")[0]).resolve()
        if not path.exists() and not path.is_relative_to(root):
            LOG.warning("%s links to %s, which is not there", source, target)
            return match.group()
        return match.group() if path.is_relative_to(root) else f"{words} (`{path.relative_to(root.parent)}`)"

    return OUTSIDE.sub(outside, MENTION.sub(mention, text))


def _headings(path: Path) -> tuple[str, dict[str, str]]:
    """The title of a page, and the anchors of its headings by their text in small letters."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    found = re.findall(r"^(#+) (.+)$", text, flags=re.MULTILINE)
    return found[0][1].replace("`", ""), {
        words.replace("`", "").lower(): slugify(words.replace("`", ""), "-") for _, words in found
    }
