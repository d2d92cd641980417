"""What a text construction is: how a session of turns becomes a lesson's text and passages (§2.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from runner.editions import PassagePins
from runner.records import Passage
from runner.texts.cutting import Line, cut


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker says; `caption` describes a shared photo, `person` is False for an assistant.

    `speaker` may be empty where nobody is named.
    """

    speaker: str
    words: str
    caption: str = ""
    person: bool = True


@dataclass(frozen=True, slots=True)
class Session:
    """What a lesson is made of. `date` is as the corpus writes it, empty where it has none.

    `chat`: messages to an assistant. Of a passage of it the words alone are embedded, without who says them,
    and a beginning of them.
    """

    date: str
    turns: tuple[Turn, ...]
    chat: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """The text that is indexed as a whole, and its passages."""

    text: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A text construction. `words` say in one line what it keeps and what it leaves out."""

    words: str
    write: Callable[[Session, PassagePins], Written]


def write(session: Session, pins: PassagePins, *, date: bool = True, captions: bool = True) -> Written:
    """A line with the date in brackets, if there is one, then one line a turn: `Speaker: words [caption]`.

    NUL bytes are left out, which no database takes.
    """
    lines = [_line(turn, session.chat, captions) for turn in session.turns]
    head = [f"[{session.date}]"] if date and session.date else []
    text = "\n".join([*head, *(line.line for line in lines)])
    return Written(text, cut(lines, pins, pins.characters if session.chat else None))


def _line(turn: Turn, chat: bool, captions: bool) -> Line:
    caption = f" [{turn.caption}]" if captions and turn.caption else ""
    speaker = f"{turn.speaker}: " if turn.speaker else ""
    line = f"{speaker}{turn.words}{caption}".replace("\0", "")
    return Line(line, turn.words.replace("\0", "") if chat else line, turn.person)
