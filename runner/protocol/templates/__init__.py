"""Text templates: how a session of turns becomes a lesson's text and passages (§2.4).

Each template is one function, and one line in TEMPLATES.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from pgmnemo.passages.windows import Line, cut
from pgmnemo.records import Passage
from pgmnemo.registry import Parts
from runner.protocol.editions import PassagePins


@dataclass(frozen=True, slots=True)
class Turn:
    """The words of one speaker; `caption` describes a shared photo, `person` is False for an assistant.

    `speaker` is empty if the corpus names no speaker.
    """

    speaker: str
    words: str
    caption: str = ""
    person: bool = True


@dataclass(frozen=True, slots=True)
class Session:
    """The source of a lesson. `date` is the corpus's own text, empty if there is no date.

    `chat`: the turns are messages to an assistant; their passages embed only the beginning of the words,
    without the speaker.
    """

    date: str
    turns: tuple[Turn, ...]
    chat: bool = False


@dataclass(frozen=True, slots=True)
class WrittenText:
    """The text that is indexed as a whole, and its passages."""

    text: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """A text template. `words` says in one line which parts it keeps and which it leaves out."""

    words: str
    write: Callable[[Session, PassagePins], WrittenText]


def write(session: Session, pins: PassagePins, *, date: bool = True, captions: bool = True) -> WrittenText:
    """Return the session as text: a line with the date in brackets, if any, then a line for each turn.

    A turn is `Speaker: words [caption]`. NUL characters, which no database stores, are left out.
    """
    lines = [_line(turn, session.chat, captions) for turn in session.turns]
    head = [f"[{session.date}]"] if date and session.date else []
    text = "\n".join([*head, *(line.line for line in lines)])
    return WrittenText(text, cut(lines, pins, pins.characters if session.chat else None))


def _line(turn: Turn, chat: bool, captions: bool) -> Line:
    caption = f" [{turn.caption}]" if captions and turn.caption else ""
    speaker = f"{turn.speaker}: " if turn.speaker else ""
    line = f"{speaker}{turn.words}{caption}".replace("\0", "")
    return Line(line, turn.words.replace("\0", "") if chat else line, turn.person)


def people_turns(session: Session, pins: PassagePins, *, date: bool = False) -> WrittenText:
    """Return only the turns of people, without speakers.

    If there are none, the first turn (PROTOCOL.md §2.6).
    """
    turns = [turn for turn in session.turns if turn.person] or session.turns[:1]
    bare = tuple(replace(turn, speaker="") for turn in turns)
    return write(replace(session, turns=bare), pins, date=date, captions=False)


FULL = Template("the date, every turn and the captions of photos", write)
DATED_WITHOUT_CAPTIONS = Template(
    "the date and every turn, without captions of photos", partial(write, captions=False)
)
UNDATED_WITHOUT_CAPTIONS = Template(
    "every turn, without the date and captions of photos", partial(write, date=False, captions=False)
)
UNDATED = Template("every turn and the captions of photos, without the date", partial(write, date=False))
USER_ONLY = Template("the words of people alone, without who says them and without the date", people_turns)
USER_ONLY_DATED = Template(
    "the words of people alone, without who says them, below the date", partial(people_turns, date=True)
)
TEMPLATES: Parts[Template] = Parts(
    "template",
    {
        "full": "runner.protocol.templates:FULL",
        "dated-without-captions": "runner.protocol.templates:DATED_WITHOUT_CAPTIONS",
        "undated-without-captions": "runner.protocol.templates:UNDATED_WITHOUT_CAPTIONS",
        "undated": "runner.protocol.templates:UNDATED",
        "user-only": "runner.protocol.templates:USER_ONLY",
        "user-only-dated": "runner.protocol.templates:USER_ONLY_DATED",
    },
)
