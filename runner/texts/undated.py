"""As the full text, without the date of the session."""

from __future__ import annotations

from functools import partial

from runner.texts.text import Text, write

UNDATED = Text("every turn and the captions of photos, without the date", partial(write, date=False))
