"""Measure the repository: lines of each part, words of documents, megabytes of a checkout, each with a limit.

`python tools/code_lines.py` prints the figures; the exit code is 1 if a figure is above its limit. With a
folder it prints the code lines of each package in the folder. Blank lines do not count; in Python, comments
and docstrings do not count either. A limit is 5 % above the current figure; tests have no limit.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
APPENDED = ("HISTORY.md", "CHANGELOG.md")
WRITTEN = re.compile(r"benchmarks/\w+/results/|/performance/(v|growth)|/reliability/|/TUNING\.md$|/tests/")
SYNC = re.compile(r"/client/sync/(?!concurrency)")  # made of pgmnemo/client/aio by tools/sync_client.py
SCRIPTS = ("sql/pgmnemo--*.sql",)  # of releases
TYPESCRIPT = "clients/typescript"
TYPES = f"{TYPESCRIPT}/src/openapi.ts"  # made by tools/typescript_types.py
PAGES = ("*.js", "*.css", "*.html", "*.j2", "*.sh", "*.mjs")

SILENT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(path: Path) -> int:
    """Return the number of lines of a Python file that contain code."""
    with tokenize.open(path) as file:
        lines = {
            line
            for token in tokenize.generate_tokens(file.readline)
            if token.type not in SILENT
            for line in range(token.start[0], token.end[0] + 1)
        }
    return len(lines - _docstrings(ast.parse(path.read_bytes())))


def _docstrings(tree: ast.Module) -> set[int]:
    """Return the numbers of the lines of every docstring."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


def filled_lines(path: Path) -> int:
    """Return the number of lines of a file that are not blank."""
    return sum(bool(line.strip()) for line in path.read_text(encoding="utf-8").splitlines())


@dataclass(frozen=True, slots=True)
class Weight:
    """A figure of the repository, its limit (None: no limit) and its goal."""

    name: str
    found: float
    limit: float | None
    goal: float | None = None

    @property
    def exceeded(self) -> bool:
        return self.limit is not None and self.found > self.limit


def weights() -> list[Weight]:
    """Return all figures; files that git does not track do not count."""
    python = {
        part: _python(part) for part in ("pgmnemo", "runner", "lab", "shards", "tools", "benchmarks", "tests")
    }
    by_hand = {part: [path for path in paths if not SYNC.search(str(path))] for part, paths in python.items()}
    lines = {part: _total(code_lines, paths) for part, paths in by_hand.items()}
    sql = _total(filled_lines, tracked("sql/src/**", "sql/upgrade/*.sql"))
    pages = _total(filled_lines, tracked(*PAGES))
    generated = _total(code_lines, python["pgmnemo"]) - lines["pgmnemo"]
    types, ours = tracked(TYPES), tracked(f"{TYPESCRIPT}/src/*.ts", f"{TYPESCRIPT}/examples/*.ts")
    typescript = _total(filled_lines, [path for path in ours if path not in types])
    lines["tests"] += _total(filled_lines, tracked(f"{TYPESCRIPT}/test/*.ts"))
    generated += _total(filled_lines, types)
    released = _total(filled_lines, tracked(*SCRIPTS))
    total = sum(lines.values()) + sql + pages + typescript + generated + released
    documents = [
        path for path in tracked("*.md") if path.name not in APPENDED and not WRITTEN.search(str(path))
    ]
    return [
        Weight("lines, Python of pgmnemo", lines["pgmnemo"], 18_430),
        Weight("lines, Python of runner", lines["runner"], 20_070, 18_500),
        Weight("lines, Python of lab", lines["lab"], 5_300),
        Weight("lines, Python of shards", lines["shards"], 2_950),
        Weight("lines, Python of tools and benchmarks", lines["tools"] + lines["benchmarks"], 5_300),
        Weight("lines, Python and TypeScript of tests", lines["tests"], None),
        Weight("lines, SQL that scripts are made of", sql, 10_800),
        Weight("lines, templates, pages, scripts and styles", pages, 2_550),
        Weight("lines, TypeScript of the client and its example", typescript, 600),
        Weight("lines generated: the synchronous client, types of the TypeScript client", generated, None),
        Weight("lines frozen: SQL scripts of releases", released, None, 3_000),
        Weight("lines of all kinds", total, None, 88_000),
        Weight("words in documents", sum(len(_text(path).split()) for path in documents), 49_650, 34_000),
        Weight("megabytes, checkout", sum(path.stat().st_size for path in tracked()) / 1e6, 35, 20),
    ]


def _total(count: Callable[[Path], int], paths: Sequence[Path]) -> int:
    return sum(map(count, paths))


def _python(folder: str) -> list[Path]:
    return tracked(f"{folder}/**.py")


def tracked(*patterns: str) -> list[Path]:
    """Return the files that git tracks under some patterns (none: all)."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--", *patterns], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.split("\0")
    return [path for name in names if name and (path := ROOT / name).is_file()]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def packages(top: Path) -> Counter[str]:
    """Return the code lines of each package and module below a folder."""
    counted: Counter[str] = Counter()
    for path in sorted(top.rglob("*.py")):
        counted[path.relative_to(top).parts[0].removesuffix(".py")] += code_lines(path)
    return counted


def main() -> int:
    """Print the figures, or the lines of a folder's packages; return 1 if a figure is above its limit."""
    if len(sys.argv) > 1:
        counted = packages(Path(sys.argv[1]))
        for name, lines in sorted(counted.items()):
            print(f"{lines:7,}  {name}")
        print(f"{counted.total():7,}  {sys.argv[1]}")
        return 0
    found = weights()
    for one in found:
        limit = "" if one.limit is None else f"limit {one.limit:,.0f}"
        goal = "" if one.goal is None else f"goal {one.goal:,.0f}"
        print(f"{one.found:9,.0f}  {limit:13}  {goal:11}  {one.name}{'  TOO MUCH' if one.exceeded else ''}")
    return int(any(one.exceeded for one in found))


if __name__ == "__main__":
    sys.exit(main())
