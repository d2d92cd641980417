"""Make a lesson of a text or a conversation: its text, passages (PROTOCOL.md §2.6) and time.

The text of a conversation is a line with the date, then one line for each turn, `user: words` or `Ana:
words`. In a conversation with an assistant only the user's turns are in passages, and only the words of each
turn are embedded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pgmnemo.client.arguments import check_text
from pgmnemo.client.blank import is_blank
from pgmnemo.client.records import Turn
from pgmnemo.client.scope_calls import checked_time
from pgmnemo.errors import UsageError
from pgmnemo.passages.estimate import estimated_spans
from pgmnemo.passages.pieces import USUAL, Meter, passages_within
from pgmnemo.passages.windows import WINDOWS, Line, turns_of
from pgmnemo.records import Passage

CHAT = ("user", "assistant")
MAX_TEXT = 10_000_000  # bytes of a lesson's text that the extension takes
ESTIMATED_METER = Meter(estimated_spans, USUAL)  # if the embedder has no token limit of its own
MONTHS = (  # in English, in any locale
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LessonText:
    """A lesson's text, passages and time; `passages` is empty if they would only repeat the text."""

    text: str
    passages: tuple[Passage, ...]
    at: datetime | None = None


def lesson_text(
    text: str | Turn | Sequence[Turn], at: datetime | None, meter: Meter = ESTIMATED_METER
) -> LessonText:
    """Return a text, or turns, as a lesson with passages within the limits of `meter`.

    Raise UsageError for another type, an empty text, or a text of more than MAX_TEXT bytes.
    """
    if isinstance(text, str):
        sized = _checked_size(text)
        return _with_passages(sized, *turns_of(sized), at, meter)
    text = [text] if isinstance(text, Turn) else text
    given = text if isinstance(text, Sequence) else ()
    turns = [turn for turn in given if isinstance(turn, Turn) and isinstance(turn.text, str)]
    if not turns or len(turns) < len(given):
        kinds = ", ".join(sorted({type(one).__name__ for one in given}))
        found = f"{type(text).__name__} of {kinds or 'nothing'}" if given is text else type(text).__name__
        raise UsageError(f"a lesson is a text or a list of at least one Turn of text, not {found}")
    times = [checked_time(turn.at, "at of a turn") for turn in turns if turn.at is not None]
    return _conversation(turns, checked_time(at, "at") or next(iter(times), None), meter)


def _conversation(turns: Sequence[Turn], at: datetime | None, meter: Meter) -> LessonText:
    lines = [_line(turn) for turn in turns if not is_blank(turn.text)]
    if not lines:
        raise UsageError("no turn of the conversation has a word; leave it out")
    head = [f"[{at.day} {MONTHS[at.month - 1]} {at.year}]"] if at else []
    chat = any(turn.role in CHAT for turn in turns)
    text = _checked_size("\n".join([*head, *(line.line for line in lines)]))
    return _with_passages(text, lines, chat, at, meter)


def _line(turn: Turn) -> Line:
    speaker = turn.name or turn.role
    line = f"{speaker}: {turn.text}" if speaker else turn.text
    return Line(line, turn.text if turn.role in CHAT else line, turn.role != "assistant")


def _with_passages(
    text: str, lines: Sequence[Line], chat: bool, at: datetime | None, meter: Meter
) -> LessonText:
    """Return a lesson with its passages; without passages for a single line within the limits."""
    within = replace(meter, characters=WINDOWS.characters) if chat else meter
    if "\n" not in text.strip() and within.sizes([text])[0] <= min(within.limit, within.aim):
        return LessonText(text, (), at)
    passages = passages_within(lines, within)
    return LessonText(text, passages if len(passages) > 1 or "\n" in text.strip() else (), at)


def _checked_size(text: str) -> str:
    if is_blank(text):
        raise UsageError("the text of a lesson is empty; leave the lesson out")
    check_text("the text of a lesson", text)
    if (size := len(text.encode())) > MAX_TEXT:
        raise UsageError(
            f"the text of a lesson has {size:,} bytes and {MAX_TEXT:,} are stored at most; "
            "cut it into several"
        )
    return text
