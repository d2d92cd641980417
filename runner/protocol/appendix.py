"""Appendix A of PROTOCOL.md: every pin of the machine-readable twin, printed.

`python -m runner.protocol.appendix` prints it, to be pasted when a pin changes; a test compares the two.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from runner.protocol.load import PINS

HEAD = "## Appendix A. Pins\n"


def appendix(pins: Path = PINS) -> str:
    """The appendix as Markdown, from its heading to the end of the document."""
    rows = "".join(f"| `{name}` | `{value}` |\n" for name, value in flat(tomllib.loads(pins.read_text())))
    return f"{HEAD}\n`runner/protocol/protocol.toml`, in full:\n\n| Pin | Value |\n|---|---|\n{rows}"


def flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """(dotted name, value as text) of every pin, in the order of the file."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, ", ".join(map(str, value)) if isinstance(value, list) else str(value)


if __name__ == "__main__":
    print(appendix(), end="")
