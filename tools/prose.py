"""Count docstrings and comments that read as translated English; exit with 1 above a limit.

`python -m tools.prose` prints each share with its limit, and with `--list` every match: a sentence that opens
with a bare pronoun or a preposition, or holds one of the words that this project once used as terms.
"""

from __future__ import annotations

import ast
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tools.code_lines import DOCUMENTED, ROOT, SYNC, tracked

WORDS = re.compile(
    r"^(Of|By|In|With|Behind|Beside|Beneath|Those|What|Whether|It|Any|Whose|Which|One|Who) "
    r"|\b(is|are) none\b|\b(told|stands|bears|lies in|is held|are held|is meant|are meant)\b"
    r"|\b(that it|what it|of which|with which|by which|for which|whose)\b|\balone\b|, too\b"
    r"|\b(that one|ones)\b"
    r"|\b(nobody|somebody|whoever|whatever|whichever|shall|thus|anew|whom|lest|is to be|are to be)\b"
)
LIMITS = {"docstrings": 3.0, "comments": 2.0}  # percent
MARKS = ("#!", "# fmt", "# type", "# noqa")
Text = tuple[str, Path, int, str]  # kind, file, line, sentence


def docstrings(path: Path) -> Iterator[Text]:
    """Yield the docstrings of a Python file, each on one line."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            yield "docstrings", path, getattr(node, "lineno", 1), " ".join(text.split())[:200]


def comments(path: Path) -> Iterator[Text]:
    """Yield the comments of a Python file, or the comment lines of an SQL file."""
    if path.suffix == ".sql":
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("--"):
                yield "comments", path, number, line.lstrip("- ")
        return
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type == tokenize.COMMENT and not token.string.startswith(MARKS):
                yield "comments", path, token.start[0], token.string.lstrip("# ")


def texts() -> Iterator[Text]:
    """Yield every docstring and comment that was written by hand, except those of tests."""
    for path in tracked(
        "pgmnemo/**.py", "runner/**.py", "shards/pgmnemo_shards/**.py", "lab/**.py", "tools/**.py"
    ):
        if not SYNC.search(str(path)):
            yield from docstrings(path)
            yield from comments(path)
    for path in tracked("sql/src/**.sql"):
        yield from comments(path)


def main() -> int:
    """Print the shares; return 1 if one is above its limit."""
    found = list(texts())
    matches = [text for text in found if WORDS.search(text[3])]
    if "--list" in sys.argv:
        for kind, path, line, text in matches:
            print(f"{path.relative_to(ROOT)}:{line}: {kind}: {text}")
    total, matched = (Counter(text[0] for text in some) for some in (found, matches))
    shares = {kind: 100 * matched[kind] / total[kind] for kind in LIMITS}
    for kind, share in shares.items():
        print(f"{share:5.1f} % of {kind} read as translated, at most {LIMITS[kind]} %")
    return int(any(share > LIMITS[kind] for kind, share in shares.items()))


if __name__ == "__main__":
    sys.exit(main())
