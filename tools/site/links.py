"""Check a built site: links to pages, anchors and pictures; nothing may come from another server."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {"img": "src", "script": "src", "source": "src", "iframe": "src"}


class Page(HTMLParser):
    """A parser of one page: its anchors, its links, and the files that a browser loads for it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places, self.links, self.fetched = {""}, list[str](), list[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and given.get("rel") in ("stylesheet", "preload", "icon"):
            self.fetched.append(given["href"])
        if FETCHED.get(tag) in given:
            self.fetched.append(given[FETCHED[tag]])


def broken(site: Path) -> list[str]:
    """Return a sentence for each broken link, and for each file that another server provides."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    own = {path: page for path, page in pages.items() if path.name != "404.html"}  # whose links begin with /
    return [
        f"{path.relative_to(site)}: {link}"
        for path, page in sorted(own.items())
        for link in (*page.links, *page.fetched)
        if not _leads(path, link, pages, link in page.fetched)
    ]


def _leads(page: Path, link: str, pages: dict[Path, Page], fetched: bool) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return not fetched or parts.scheme == "data"
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    target = target / "index.html" if target.is_dir() else target
    if target not in pages:
        return target.is_file()
    return unquote(parts.fragment) in pages[target].places
