"""Write llms.txt (llmstxt.org) and the Markdown of its pages into a built site, from the navigation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tools.site.layout import LAID_OUT, ROOT

ENTRY = re.compile(r"^( *)- (?:([^:\n]+):)? ?(\S+\.md)?$", re.M)
FRONT = re.compile(r"\A---\n.*?\n---\n+", re.S)
GENERATED = "\n::: "  # a page that the builder fills from docstrings has no text in Markdown
FIRST = "Start"  # the section of pages outside of every section


def navigation(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield section, title and path of each page in the text of mkdocs.yml."""
    section = FIRST
    for indent, title, path in ENTRY.findall(text.partition("\nnav:\n")[2]):
        if len(indent) == 2:
            section = FIRST if path else title
        if path:
            yield section, title or section, path


def write(site: Path, pages: Path = LAID_OUT) -> Path:
    """Write llms.txt with a link to each page, and the Markdown of each page; return the path of llms.txt."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    name, summary = (re.findall(rf"^site_{field}: (.+)$", text, re.M)[0] for field in ("name", "description"))
    lines, last = [f"# {name}", "", f"> {summary}"], ""
    for section, title, path in navigation(text):
        lines += ["", f"## {section}", ""] if section != last else []
        lines.append(f"- [{title}]({_copy(pages, site, path)})")
        last = section
    made = site / "llms.txt"
    made.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return made


def _copy(pages: Path, site: Path, path: str) -> str:
    """Copy the Markdown of a page into the site; return its link, that of the page if it is generated."""
    text = FRONT.sub("", (pages / path).read_text(encoding="utf-8"))
    if GENERATED in f"\n{text}":
        return f"{path.removesuffix('index.md').removesuffix('.md')}/"
    made = site / path
    made.parent.mkdir(parents=True, exist_ok=True)
    made.write_text(text, encoding="utf-8")
    return path
