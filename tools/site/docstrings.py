"""An extension of griffe, mkdocs' reader of docstrings: lines `name: description` become a list."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

ARGUMENT = re.compile(r"^(\w+(?:, \w+)*): (.*(?:\n {4}.*)*)", re.MULTILINE)


class Arguments(Extension):
    """An extension of griffe that turns such lines into list items, with a blank line before the first."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = listed(obj.docstring.value)


def listed(text: str) -> str:
    """Return a docstring with its arguments as a list."""
    parts = [_listed(part) if ARGUMENT.match(part) else part for part in text.split("\n\n")]
    return "\n\n".join(parts)


def _listed(part: str) -> str:
    names = re.compile(r"(?:, )?(\w+)")
    return ARGUMENT.sub(
        lambda one: f"- {names.sub(lambda n: n[0].replace(n[1], f'`{n[1]}`'), one[1])}: {one[2]}", part
    )
