"""A file of JSON lines read as records, whichever record a line is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from runner.errors import OutputError

L = TypeVar("L")


def decoded(content: bytes, name: str, kind: type[L], what: str) -> Iterator[L]:
    """The lines of a file of that name, in its order, each a record of `kind`, called `what` in a sentence.

    Raises OutputError that names a malformed one.
    """
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            yield msgspec.json.decode(line, type=kind)
        except msgspec.DecodeError as error:
            raise OutputError(f"{name}, line {number} is no {what} ({error})") from None
