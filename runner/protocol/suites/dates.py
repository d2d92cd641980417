"""The corpora's dates as aware UTC times: a published corpus names no time zone and is read as UTC.

A user's own file has ISO 8601 times, all with a zone, or all without one and read as UTC.

Month names are matched here and not by `strptime`, which follows the machine's locale.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from runner.errors import CorpusError

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
SPOKEN = re.compile(r"(\d{1,2}):(\d\d) ([ap])m on (\d{1,2}) (\w+), (\d{4})", re.IGNORECASE)
SLASHED = re.compile(r"(\d{4})/(\d\d)/(\d\d)(?: \(\w+\))? (\d\d):(\d\d)")
DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4}), (\d\d):(\d\d):(\d\d)")
ANCHOR = re.compile(r"([A-Za-z]+)-(\d{1,2})-(\d{4})")
TIME = re.compile(r"(\d{4})-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?")
EXAMPLE = '"2024-05-08T13:56:00Z", "2024-05-08 13:56" or "2024-05-08"'
FIRST, LAST = 1000, 2999  # years: outside of them stands a slip, or a time that means "none"
PLAIN = re.compile(r"(\d{1,2}) (\w+) (\d{4}), (\d\d):(\d\d)")


def spoken(text: str, where: str) -> datetime:
    """LoCoMo: `1:56 pm on 8 May, 2023`."""
    hour, minute, half, day, month, year = _groups(SPOKEN, text, where)
    if not 1 <= int(hour) <= 12:
        raise _unreadable(text, where)
    hours = int(hour) % 12 + (12 if half.lower() == "p" else 0)
    return _time(text, where, year, _month(month), day, hours, minute)


def slashed(text: str, where: str) -> datetime:
    """LongMemEval: `2023/05/30 (Tue) 23:40`; the weekday is not checked."""
    year, month, day, hour, minute = _groups(SLASHED, text, where)
    return _time(text, where, year, month, day, hour, minute)


def plain(text: str, where: str) -> datetime:
    """The sample: `14 March 2024, 18:30`."""
    day, month, year, hour, minute = _groups(PLAIN, text, where)
    return _time(text, where, year, _month(month), day, hour, minute)


def dotted(text: str, where: str) -> datetime:
    """REALTALK: `29.12.2023, 00:51:12`."""
    day, month, year, *clock = _groups(DOTTED, text, where)
    return _time(text, where, year, month, day, *clock)


def anchored(text: str, where: str) -> datetime:
    """BEAM: `March-15-2024`, of which the first moment is taken."""
    month, day, year = _groups(ANCHOR, text, where)
    return _time(text, where, year, _month(month), day)


def _groups(pattern: re.Pattern[str], text: str, where: str) -> tuple[str, ...]:
    match = pattern.fullmatch(text.strip())
    if match is None:
        raise _unreadable(text, where)
    return match.groups()


def _month(name: str) -> int:
    return MONTHS.index(name.lower()) + 1 if name.lower() in MONTHS else 0


def _time(text: str, where: str, *parts: str | int) -> datetime:
    year, month, day, hour, minute, second = [*map(int, parts), 0, 0, 0][:6]
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        raise _unreadable(text, where) from None


def _unreadable(text: str, where: str) -> CorpusError:
    return CorpusError(f"the date of {where} cannot be read: {text!r}")


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
