"""llms.txt has every page of the navigation, and the Markdown that it links to is in the site."""

from __future__ import annotations

import re
from pathlib import Path

from tools.site import layout, llms, reference

NAVIGATION = """
nav:
  - Home: index.md
  - How-to:
      - howto/index.md
      - Keep a memory:
          - Clean: howto/clean.md
"""


def test_the_navigation_is_read_with_its_sections() -> None:
    assert list(llms.navigation(NAVIGATION)) == [
        (llms.FIRST, "Home", "index.md"),
        ("How-to", "How-to", "howto/index.md"),
        ("How-to", "Clean", "howto/clean.md"),
    ]


def test_each_page_is_linked_and_its_markdown_is_there(tmp_path: Path) -> None:
    pages, site = tmp_path / "pages", tmp_path / "site"
    layout.lay_out(reference.pages(), pages)
    site.mkdir()
    text = llms.write(site, pages).read_text(encoding="utf-8")
    assert text.startswith("# pgmnemo\n\n> Agent memory in PostgreSQL")
    named = re.findall(r"(\S+)\.md$", (layout.ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.M)
    linked = re.findall(r"^- \[[^\]]+\]\((\S+)\)$", text, re.M)
    assert [one.removesuffix("/").removesuffix(".md") for one in linked] == named
    copies = {path.relative_to(site).as_posix() for path in site.rglob("*.md")}
    assert copies == {one for one in linked if one.endswith(".md")}
    assert all(llms.GENERATED in (pages / f"{one[:-1]}.md").read_text() for one in {*linked} - copies)
    assert (site / "trust/limits.md").read_text(encoding="utf-8").startswith("# Limits\n")
