"""Text constructions: how the sessions of a corpus become lessons. One file each, and one line here."""

from __future__ import annotations

from runner.registry import Parts
from runner.texts.text import Session, Text, Turn, Written

TEXTS: Parts[Text] = Parts(
    "text",
    {
        "full": "runner.texts.full:FULL",
        "dated-without-captions": "runner.texts.dated_without_captions:DATED_WITHOUT_CAPTIONS",
        "undated-without-captions": "runner.texts.undated_without_captions:UNDATED_WITHOUT_CAPTIONS",
        "undated": "runner.texts.undated:UNDATED",
        "user-only": "runner.texts.user_only:USER_ONLY",
        "user-only-dated": "runner.texts.user_only:USER_ONLY_DATED",
    },
)

__all__ = ["TEXTS", "Session", "Text", "Turn", "Written"]
