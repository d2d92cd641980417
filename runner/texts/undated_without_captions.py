"""The words of people alone: neither the date of the session nor what a model says of photos."""

from __future__ import annotations

from functools import partial

from runner.texts.text import Text, write

UNDATED_WITHOUT_CAPTIONS = Text(
    "every turn, without the date and captions of photos", partial(write, date=False, captions=False)
)
