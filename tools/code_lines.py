"""What the house weighs, with the most that each figure may be and its goal: code, files, words, checkout.

`python tools/code_lines.py` prints the figures and ends with 1 where one is above its limit; with a folder it
prints the code lines of each package in it. Lines are counted without blank ones, comments and docstrings.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tokenize
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
APPENDED = ("HISTORY.md", "CHANGELOG.md")
ARTEFACTS = re.compile(r"benchmarks/\w+/results/|/performance/(v|growth)|/reliability/|/TUNING\.md$|/tests/")
GENERATED = re.compile(r"pgmnemo/client/sync/(?!waiting)")  # of pgmnemo/client/aio, by `make sync`
DOORS = re.compile(r"pgmnemo/(adapters|mcp|serving|cli/serving|cli/mcp|client/aio/files)")
SHORT = 15

SILENT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(path: Path) -> int:
    """How many lines of a Python file hold code."""
    with tokenize.open(path) as file:
        lines = {
            line
            for token in tokenize.generate_tokens(file.readline)
            if token.type not in SILENT
            for line in range(token.start[0], token.end[0] + 1)
        }
    return len(lines - _docstrings(ast.parse(path.read_bytes())))


def _docstrings(tree: ast.Module) -> set[int]:
    """The lines of every docstring."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


@dataclass(frozen=True, slots=True)
class Weight:
    """One figure of the house, the most that it may be today, and what it shall come to."""

    what: str
    found: float
    most: float
    goal: float


def weights() -> list[Weight]:
    """Every figure that has a limit; what git does not track does not count."""
    runner, base = _python("runner"), [path for path in _python("pgmnemo") if not GENERATED.search(str(path))]
    doors = [path for path in base if DOORS.search(str(path))]
    pages = _tracked("*.md")
    documents = [p for p in pages if p.name not in APPENDED and not ARTEFACTS.search(str(p))]
    return [
        Weight("code lines, runner", sum(map(code_lines, runner)), 22_250, 19_960),
        Weight(
            "code lines, pgmnemo without its doors", sum(map(code_lines, {*base} - {*doors})), 11_500, 8_000
        ),
        Weight("code lines, doors of pgmnemo", sum(map(code_lines, doors)), 4_050, 3_000),
        Weight("files, runner", len(runner), 260, 260),
        Weight(f"files of the runner under {SHORT} code lines", sum(map(_short, runner)), 5, 5),
        Weight("code lines, tests", sum(map(code_lines, _python("tests"))), 48_700, 22_000),
        Weight("words in documents", sum(len(_text(path).split()) for path in documents), 48_600, 38_000),
        Weight("megabytes, checkout", sum(path.stat().st_size for path in _tracked()) / 1e6, 65, 60),
    ]


def _short(path: Path) -> bool:
    """Whether a file holds little; a package's face only hands names on."""
    return path.name != "__init__.py" and code_lines(path) < SHORT


def _python(folder: str) -> list[Path]:
    return _tracked(f"{folder}/**.py")


def _tracked(*patterns: str) -> list[Path]:
    names = subprocess.run(
        ["git", "ls-files", "-z", "--", *patterns], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.split("\0")
    return [path for name in names if name and (path := ROOT / name).is_file()]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def packages(top: Path) -> Counter[str]:
    """Code lines of each package and module below a folder."""
    counted: Counter[str] = Counter()
    for path in sorted(top.rglob("*.py")):
        counted[path.relative_to(top).parts[0].removesuffix(".py")] += code_lines(path)
    return counted


def main() -> int:
    """Print the weights, or the lines of a folder's packages; 1 where a weight is above its limit."""
    if len(sys.argv) > 1:
        counted = packages(Path(sys.argv[1]))
        for name, lines in sorted(counted.items()):
            print(f"{lines:7,}  {name}")
        print(f"{counted.total():7,}  {sys.argv[1]}")
        return 0
    found = weights()
    for one in found:
        over = "  too much" if one.found > one.most else ""
        print(f"{one.found:9,.0f} of at most {one.most:6,.0f}, goal {one.goal:6,.0f}  {one.what}{over}")
    return int(any(one.found > one.most for one in found))


if __name__ == "__main__":
    sys.exit(main())
