"""As the full text, without what a model says of photos: the words of people alone."""

from __future__ import annotations

from functools import partial

from runner.texts.text import Text, write

DATED_WITHOUT_CAPTIONS = Text(
    "the date and every turn, without captions of photos", partial(write, captions=False)
)
