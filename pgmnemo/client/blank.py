"""The test for a blank text: white space, control characters and invisible characters, of any script."""

from __future__ import annotations

from unicodedata import category


def is_blank(text: str) -> bool:
    """Return whether a text has no character that can be seen."""
    return all(one.isspace() or category(one) in ("Cc", "Cf") for one in text)
