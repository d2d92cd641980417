"""What is redacted in ordinary code and chat, where nothing should be, and how long it takes.

    python benchmarks/redaction.py [--lines N]

Reads this repository's files that git tracks (Python, SQL, Markdown, TOML, JavaScript, shell), and the
messages of the chats that LOCOMO_DATA_DIR, REALTALK_DATA_DIR and BEAM_DATA_DIR name, N lines of each or all.
Prints each redaction with its line, secrets as their first three characters, then a table: lines, redactions
by kind, and milliseconds for 10,000 characters. The first lines of `mnemo doctor --secrets` name the rules.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from pgmnemo.redaction import find_secrets, rules, summary
from runner.markdown import table
from runner.protocol.datasets import SUITES

ROOT = Path(__file__).resolve().parents[1]
CODE = ("*.py", "*.sql", "*.md", "*.toml", "*.js", "*.ts", "*.sh", "*.yaml", "*.yml")
CHATS = ("locomo", "realtalk", "beam")


def code() -> Iterator[str]:
    """Yield every tracked file of code and documents."""
    names = subprocess.check_output(["git", "ls-files", "-z", "--", *CODE], cwd=ROOT, text=True)
    for name in names.split("\0"):
        if (path := ROOT / name).is_file():
            yield path.read_text(encoding="utf-8", errors="replace")


def chat(suite: str) -> Iterator[str]:
    """Yield every lesson and every question of a suite."""
    corpus = SUITES[suite].load(SUITES[suite].locate(None, os.environ), None)
    yield from (one.text for one in corpus.segments)
    yield from (one.text for one in corpus.questions)


def row(name: str, texts: Iterator[str], most: int | None) -> tuple[str, ...]:
    """Print the redactions of a corpus, and return its row of the table."""
    lines = list(islice((line for text in texts for line in text.splitlines()), most))
    text = "\n".join(lines)
    start = time.perf_counter()
    found = find_secrets(text)
    seconds = time.perf_counter() - start
    for one in found:
        begin, end = text.rfind("\n", 0, one.start) + 1, (text.find("\n", one.end) + 1 or len(text) + 1) - 1
        print(f"{name}, {one.kind}: {text[begin : one.start + 3]}…{text[one.end : end]}"[:160])
    kinds = summary(Counter(one.kind for one in found)) or "nothing"
    return name, f"{len(lines):,}", kinds, f"{seconds * 1e7 / max(len(text), 1):.2f}"


def main() -> None:
    """Print the redactions and the table."""
    given = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    given.add_argument("--lines", type=int, metavar="N", help="of each corpus; else all")
    most = given.parse_args().lines
    print(f"rules: {rules()}")
    rows = [row("this repository", code(), most), *(row(suite, chat(suite), most) for suite in CHATS)]
    print(table(("corpus", "lines", "redacted", "ms / 10,000 characters"), rows, "lrlr"))


if __name__ == "__main__":
    main()
