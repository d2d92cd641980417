"""Style and script that a page carries in itself, so that it needs no network."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

ASSETS = Path(__file__).parent / "assets"


@cache
def inlined(names: tuple[Path | str, ...]) -> str:
    """The files one after another; a name is of a file in `assets`, or a path of its own."""
    return "\n".join((ASSETS / name).read_text(encoding="utf-8").strip() for name in names)


def allowed(script: str) -> str:
    """The source expression by which a Content-Security-Policy lets this script alone run."""
    return f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"
