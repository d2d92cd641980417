"""Collect the pages of the site in one folder: docs/ and the other files of the repository that they link to.

Links between files of the repository become links between pages. `ELSEWHERE` has the place of a page outside
docs/; other files that are linked to are copied below source/.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from os.path import normpath, relpath
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAID_OUT = ROOT / "build" / "pages"
ELSEWHERE = {
    "README.md": "index.md",  # which says the same in fewer words
    "PROTOCOL.md": "reference/protocol.md",
    "GLOSSARY.md": "reference/glossary.md",
    "CAPABILITIES.md": "reference/capabilities.md",
    "CHANGELOG.md": "reference/changelog.md",
    "HISTORY.md": "results/history.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "reference/security.md",
    "pgmnemo/README.md": "reference/client.md",
    "sql/README.md": "reference/extension.md",
    "shards/README.md": "howto/shards.md",
    "runner/README.md": "reference/measuring.md",
    "runner/systems/README.md": "howto/systems.md",
    "lab/README.md": "reference/laboratory.md",
    "runner/stages/rerankers/linear/CARD.md": "results/linear.md",
    "benchmarks/README.md": "results/folders.md",
    "benchmarks/TUNING.md": "results/tuning.md",
    "benchmarks/performance/README.md": "results/performance.md",
    "benchmarks/performance/growth.md": "results/growth.md",
    "benchmarks/scale/README.md": "results/scale.md",
    "benchmarks/client/README.md": "results/client.md",
}
FENCE = re.compile(r"^(?P<indent> *)(?P<fence>```+)(?P<rest>.*)$")
COMMENT = re.compile(r"<!--.*?-->[ \t]*", re.DOTALL)
LINK = re.compile(
    r"(?P<image>!?)\[(?P<label>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)\s#]*)(?P<place>#[^)\s]*)?\)"
)
OUTSIDE = re.compile(r"[a-z]+:")
ITEM = re.compile(r"(?:[-*]|\d+\.) ")


def lay_out(generated: Mapping[str, str], folder: Path = LAID_OUT) -> None:
    """Write every page, and the files that pages link to, into `folder`, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    places = {f"docs/{path}": path for path in generated}
    places |= {str(path.relative_to(ROOT)): str(path.relative_to(ROOT / "docs")) for path in _files()}
    places = {**ELSEWHERE, **places}
    left = [name for name in places if name != "README.md"]
    while left:
        name = left.pop()
        made = folder / places[name]
        made.parent.mkdir(parents=True, exist_ok=True)
        if not name.endswith(".md"):
            shutil.copyfile(ROOT / name, made)
            continue
        own = name.removeprefix("docs/")
        text = generated[own] if own in generated else (ROOT / name).read_text(encoding="utf-8")
        page = Page(name, places)
        made.write_text(_hidden(text, made.name) + page.written(text), encoding="utf-8")
        left += page.found


def _hidden(text: str, name: str) -> str:
    """Return front matter that hides the contents of a short page, and the home page's navigation."""
    if text.count("\n## ") > 1 or "\n::: " in text:
        return ""
    return f"---\nhide: [toc{', navigation' if name == 'index.md' and '<div' in text else ''}]\n---\n\n"


def _files() -> list[Path]:
    """Return the files of docs/, without those that only install the builder."""
    return [path for path in (ROOT / "docs").rglob("*") if path.is_file() and path.suffix != ".txt"]


class Page:
    """A page while its links are changed; `found` lists the files that no earlier page linked to."""

    def __init__(self, name: str, places: dict[str, str]) -> None:
        self.name, self.places, self.found = name, places, list[str]()

    def written(self, text: str) -> str:
        """Return the text with links to pages, without comments, and with a blank line before each list."""
        return "".join(
            part if part.lstrip().startswith("```") else self._prose(part) for part in _parts(text)
        )

    def _prose(self, text: str) -> str:
        return _spaced(LINK.sub(self._link, COMMENT.sub("", text)))

    def _link(self, found: re.Match[str]) -> str:
        target = found["target"]
        if not target or OUTSIDE.match(target):
            return found[0]
        label = LINK.sub(self._link, found["label"])
        name = normpath(f"{Path(self.name).parent}/{target}")
        if name not in self.places:
            if not (ROOT / name).is_file():
                return label if (ROOT / name).is_dir() else found[0]  # the builder tells of what is nowhere
            self.places[name] = "source/" + name.replace("/.", "/").removeprefix(".")
            self.found.append(name)
        own = self.places[self.name]
        turned = relpath(self.places[name], Path(own).parent)
        return f"{found['image']}[{label}]({turned}{found['place'] or ''})"


def _parts(text: str) -> list[str]:
    """Split a text into prose and blocks of code."""
    parts, fence = [""], ""
    for line in text.splitlines(keepends=True):
        mark = FENCE.match(line.rstrip("\n"))
        if mark and not fence:
            parts, fence = [*parts, line], mark["fence"]
        elif mark and mark["fence"] == fence and not mark["rest"].strip():
            parts, fence = [*parts[:-1], parts[-1] + line, ""], ""
        else:
            parts[-1] += line
    return parts


def _spaced(text: str) -> str:
    """Return a text with a blank line before each list, which GitHub does not need but the builder does."""
    lines: list[str] = []
    for line in text.split("\n"):
        above = lines[-1] if lines else ""
        if ITEM.match(line) and above.strip() and not ITEM.match(above) and not above.startswith((" ", "#")):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)
