"""Keeps the machine that ran out of what is published: a path becomes its last part."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

# an absolute path of at least two parts, not the path of a URL nor the middle of a word such as conv-1/D3
ABSOLUTE = re.compile(r"(?<![\w.:/~-])~?/(?:[^\s/'\",;]+/)+([^\s/'\",;:)]+)/?")


def public(text: str) -> str:
    """`text` with the home folder and every absolute path reduced to `…/<last part>`."""
    home = str(Path.home())
    known = text.replace(home + "/", "~/") if len(home) > 1 else text
    return ABSOLUTE.sub(r"…/\1", known)


def published(document: Any) -> Any:
    """A JSON document with `public` applied to every text in it."""
    if isinstance(document, str):
        return public(document)
    if isinstance(document, dict):
        return {name: published(value) for name, value in document.items()}
    if isinstance(document, list | tuple):
        return [published(value) for value in document]
    return document
