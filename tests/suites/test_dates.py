"""The corpora's date forms become aware UTC times, and anything else is an error that shows it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from runner.errors import CorpusError
from runner.suites.dates import plain, slashed, spoken


@pytest.mark.parametrize(
    ("parse", "text", "expected"),
    [
        (spoken, "1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        (spoken, "12:09 am on 13 September, 2023", datetime(2023, 9, 13, 0, 9, tzinfo=UTC)),
        (spoken, "12:30 PM on 1 January, 2024", datetime(2024, 1, 1, 12, 30, tzinfo=UTC)),
        (slashed, "2023/05/30 (Tue) 23:40", datetime(2023, 5, 30, 23, 40, tzinfo=UTC)),
        (plain, "29 February 2024, 07:05", datetime(2024, 2, 29, 7, 5, tzinfo=UTC)),
    ],
)
def test_date_is_read_as_utc(parse: Callable[[str, str], datetime], text: str, expected: datetime) -> None:
    assert parse(text, "here") == expected


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (spoken, "13:56 pm on 8 May, 2023"),
        (spoken, "0:56 am on 8 May, 2023"),
        (spoken, "1:56 pm on 8 Mai, 2023"),
        (spoken, "1:56 pm on 31 June, 2023"),
        (spoken, "2023/05/30 (Tue) 23:40"),
        (slashed, "2023/13/30 (Tue) 23:40"),
        (slashed, "2023/05/30 (Tue) 24:40"),
        (slashed, "soon"),
        (plain, "30 February 2024, 07:05"),
        (plain, ""),
    ],
)
def test_unreadable_date_is_shown_with_its_place(parse: Callable[[str, str], datetime], text: str) -> None:
    with pytest.raises(CorpusError, match="the date of session 3 cannot be read") as caught:
        parse(text, "session 3")
    assert repr(text) in str(caught.value)
