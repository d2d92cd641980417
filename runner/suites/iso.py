"""ISO 8601 times of one file, as aware UTC times: all with a zone, or all without one and read as UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from runner.errors import CorpusError

TIME = re.compile(r"(\d{4})-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?")
EXAMPLE = '"2024-05-08T13:56:00Z", "2024-05-08 13:56" or "2024-05-08"'
FIRST, LAST = 1000, 2999  # years: outside of them stands a slip, or a time that means "none"


class Times:
    """Reads the times of the file named `file`; CorpusError for one that does not exist or fit the others."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._before: dict[bool, str] = {}  # whether there is a zone → where such a time stood first

    def read(self, text: str, where: str) -> datetime:
        """The time, in UTC."""
        match = TIME.fullmatch(text)
        try:
            if match is None:
                raise ValueError
            found = datetime.fromisoformat(text)
            zoned, year = found.tzinfo is not None, found.year
            time = found.astimezone(UTC) if zoned else found.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            raise CorpusError(f"the time of {where} is {text!r}, which is none; write {EXAMPLE}") from None
        if not FIRST <= year <= LAST:
            raise CorpusError(f"the time of {where} is {text!r}; years from {FIRST} to {LAST} are read")
        self._check_zone(zoned, text, where)
        return time

    def _check_zone(self, zoned: bool, text: str, where: str) -> None:
        self._before.setdefault(zoned, f"{text!r} of {where}")
        if len(self._before) > 1:
            raise CorpusError(
                f"in {self.file} some times have a zone and others have none ({self._before[True]}, "
                f"{self._before[False]}); give all of them one, such as Z, or none"
            )
