"""The dates of the corpora as aware UTC times. A published corpus names no time zone and is read as UTC.

A user's own file has ISO 8601 times, all with a zone, or all without one and read as UTC. Month names are
matched here and not by `strptime`, which follows the machine's locale.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from runner.errors import CorpusError

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
TIME = re.compile(r"(\d{4})-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?")
EXAMPLE = '"2024-05-08T13:56:00Z", "2024-05-08 13:56" or "2024-05-08"'
FIRST, LAST = 1000, 2999  # years; any other is a typing error, or stands for no time


class DateFormat:
    """A date format of a corpus, such as `example`. A call parses a text; `where` names its place in errors.

    `pattern` has the groups year, month (a number or a name), day and, if the format has them, hour,
    minute, second and half (of the day, a or p). Raises CorpusError for another form or an impossible
    time.
    """

    def __init__(self, example: str, pattern: str) -> None:
        self.example = example
        self._pattern = re.compile(pattern, re.IGNORECASE)

    def __call__(self, text: str, where: str) -> datetime:
        match = self._pattern.fullmatch(text.strip())
        try:
            if match is None:
                raise ValueError
            return _time(**match.groupdict())
        except ValueError:
            wanted = f"write it as {self.example}"
            raise CorpusError(f"the date of {where} cannot be read: {text!r}; {wanted}") from None


def _time(
    year: str, month: str, day: str, hour: str = "0", minute: str = "0", second: str = "0", half: str = ""
) -> datetime:
    """Return the time of these parts; raise ValueError if there is no such time."""
    hours = int(hour)
    if half:
        if not 1 <= hours <= 12:
            raise ValueError
        hours = hours % 12 + (12 if half.lower() == "p" else 0)
    months = int(month) if month.isdecimal() else MONTHS.index(month.lower()) + 1
    return datetime(int(year), months, int(day), hours, int(minute), int(second), tzinfo=UTC)


CLOCK = r"(?P<hour>\d\d):(?P<minute>\d\d)"
spoken = DateFormat(  # LoCoMo
    "1:56 pm on 8 May, 2023",
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d) (?P<half>[ap])m on "
    r"(?P<day>\d{1,2}) (?P<month>[A-Za-z]+), (?P<year>\d{4})",
)
slashed = DateFormat(  # LongMemEval; the weekday is not checked
    "2023/05/30 (Tue) 23:40", rf"(?P<year>\d{{4}})/(?P<month>\d\d)/(?P<day>\d\d)(?: \(\w+\))? {CLOCK}"
)
plain = DateFormat(  # the sample
    "14 March 2024, 18:30", rf"(?P<day>\d{{1,2}}) (?P<month>[A-Za-z]+) (?P<year>\d{{4}}), {CLOCK}"
)
dotted = DateFormat(  # REALTALK
    "29.12.2023, 00:51:12",
    rf"(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.(?P<year>\d{{4}}), {CLOCK}:(?P<second>\d\d)",
)
anchored = DateFormat(  # BEAM, at the first moment of the day
    "March-15-2024", r"(?P<month>[A-Za-z]+)-(?P<day>\d{1,2})-(?P<year>\d{4})"
)


class Times:
    """A parser of the ISO times of one file; CorpusError for an invalid time or mixed zones."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._before: dict[bool, str] = {}  # whether a time has a zone → the place of the first such time

    def read(self, text: str, where: str) -> datetime:
        """Return the time, in UTC."""
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
