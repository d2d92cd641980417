"""How a run makes lessons of sessions: a text, how it is cut into passages, and where it is cut off."""

from __future__ import annotations

from dataclasses import dataclass, replace

from runner.editions import PassagePins
from runner.errors import UsageError
from runner.runs.choice import BY_TURNS, FULL, Choice
from runner.texts import TEXTS, Session, Written
from runner.texts.cutting import characters


@dataclass(frozen=True, slots=True)
class Construction:
    """`text` is a name of TEXTS, `passages` is `turns` or `SIZE/OVERLAP` in characters.

    `most` is the number of characters that a lesson has at the most; None: all that it has.
    """

    text: str = FULL
    passages: str = BY_TURNS
    most: int | None = None

    @classmethod
    def of(cls, choice: Choice) -> Construction:
        """The construction that a run chose."""
        return cls(choice.text, choice.passages, choice.max_chars)

    def check(self) -> None:
        """UsageError for what is not offered."""
        TEXTS[self.text]
        if self.passages != BY_TURNS:
            characters(self.passages)
        if self.most is not None and self.most < 1:
            raise UsageError(f"--max-chars takes a positive number of characters, not {self.most}")

    def write(self, session: Session, pins: PassagePins) -> Written:
        """The session as text, with its passages."""
        written = self._shortened(session, pins)
        if self.passages == BY_TURNS:
            return written
        return Written(written.text, characters(self.passages).cut(written.text))

    def _shortened(self, session: Session, pins: PassagePins) -> Written:
        """The longest beginning of the session whose text is not too long; of a date alone its beginning."""
        write = TEXTS[self.text].write
        written = write(session, pins)
        while self.most is not None and (excess := len(written.text) - self.most) > 0:
            if not session.turns:
                return Written(written.text[: self.most], ())
            shorter = write(_shorter(session, excess), pins)
            alike = len(shorter.text) == len(written.text)  # what was cut is not in this text
            session = _without_last(session) if alike else _shorter(session, excess)
            written = write(session, pins)
        return written


def _shorter(session: Session, excess: int) -> Session:
    """The session without the last `excess` characters of its last turn, or without that turn."""
    last = session.turns[-1]
    if excess >= len(last.words) + len(last.caption):
        return _without_last(session)
    caption = last.caption[: max(len(last.caption) - excess, 0)]
    words = last.words[: len(last.words) - (excess - (len(last.caption) - len(caption)))]
    return replace(session, turns=(*session.turns[:-1], replace(last, words=words, caption=caption)))


def _without_last(session: Session) -> Session:
    return replace(session, turns=session.turns[:-1])
