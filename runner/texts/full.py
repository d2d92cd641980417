"""The text that every suite has by the protocol: date, turns, captions."""

from __future__ import annotations

from runner.texts.text import Text, write

FULL = Text("the date, every turn and the captions of photos", write)
