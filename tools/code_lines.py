"""Lines of code below a folder, by package, without blank lines, comments and docstrings.

`python tools/code_lines.py runner` prints a line for each package and the total; folders and files named
behind it are counted apart: `python tools/code_lines.py runner runner/systems/http.py`.
"""

from __future__ import annotations

import ast
import sys
import tokenize
from collections import Counter
from pathlib import Path

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


def main() -> int:
    """Print the lines of each package of a folder and of what is counted apart."""
    if len(sys.argv) < 2 or not Path(sys.argv[1]).is_dir():
        print("name a folder: python tools/code_lines.py runner [counted apart …]", file=sys.stderr)
        return 2
    top, apart = Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]]
    counted: Counter[str] = Counter()
    for path in sorted(top.rglob("*.py")):
        named = next((place for place in apart if path == place or place in path.parents), None)
        package = path.relative_to(top).parts[0].removesuffix(".py")
        counted[f"apart: {named}" if named else package] += code_lines(path)
    for name in sorted(counted, key=lambda name: (name.startswith("apart"), name)):
        print(f"{counted[name]:7,}  {name}")
    outside = sum(number for name, number in counted.items() if not name.startswith("apart"))
    print(f"{outside:7,}  {top} without what is counted apart; {counted.total():,} with it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
