"""Appendix A of PROTOCOL.md: every pin of the machine-readable twin, printed.

`python -m runner.editions.appendix` prints it, to be pasted when a pin changes; a test compares the two.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from runner.editions.load import FOLDER, PINS, known

HEAD = "## Appendix A. Pins\n"


def appendix(version: str = "") -> str:
    """The appendix of an edition (default: the newest) as Markdown, from its heading to its end."""
    number = version or known()[-1]
    tables = tomllib.loads((FOLDER / number / PINS).read_text(encoding="utf-8"))
    rows = "".join(f"| `{name}` | `{value}` |\n" for name, value in flat(tables))
    return f"{HEAD}\n`runner/editions/{number}/{PINS}`, in full:\n\n| Pin | Value |\n|---|---|\n{rows}"


def flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """(dotted name, value as text) of every pin, in the order of the file."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, _text(value)


def _text(value: Any) -> str:
    """A pin as it is read; of a list of tables, each table in its order."""
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, Mapping):
        return "; ".join(f"{key} = {_text(one)}" for key, one in value.items())
    return str(value)


if __name__ == "__main__":
    print(appendix(), end="")
