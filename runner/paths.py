"""The root folder of the repository, and a check that a path is outside any checkout."""

from __future__ import annotations

from pathlib import Path

from pgmnemo.errors import UsageError

ROOT = Path(__file__).resolve().parents[1]


def check_outside_checkout(option: str, place: Path) -> None:
    """Raise UsageError if `place`, where text of a corpus is to be written, is in a git checkout.

    `option` is the option that gave the path.
    """
    if any((parent / ".git").exists() for parent in (place.resolve() / "file").parents):
        raise UsageError(
            f"{option}: {place} lies in a git checkout, where text of the corpus could be committed and its "
            "licence broken; name a place outside of it"
        )
