"""A user's own data: sessions and questions from the file that --data names (docs/howto/your-data.md).

No edition registers the file, so its runs are unverified and never cited. Ids are unique in the whole file.
At session level the id of a turn stands for its session. At turn level the id of a session stands for its
turn if the session has only one turn, and is an error if it has more, because any choice would be a guess.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from runner.errors import CorpusError
from runner.protocol.datasets.corpus import POOL, build_corpus, speaker
from runner.protocol.datasets.corpus_file import CorpusFile
from runner.protocol.datasets.custom import CustomEntry, read_own
from runner.protocol.datasets.dates import Times
from runner.protocol.datasets.suite import Suite, Write
from runner.protocol.templates import Session, Turn
from runner.records import Corpus, Evidence, Json, Question, SearchScope, Segment

ASSISTANT = "assistant"  # the speaker that passages leave out (§2.6)
ONE = "memory"  # the project if the file names no project
UNTYPED = "untyped"  # the type of a question without a type
TAKEN = (
    "all", "projects", "segments", "questions", "scored", "answerable", "turns", "edges", "abstention",
    "empty",
)  # fmt: skip
"""Names under which the runner counts, which no type may have."""


@dataclass(frozen=True, slots=True)
class IdTarget:
    """The target of an id: its project, its session, and its turn.

    The turn is None for a session of several turns.
    """

    project: str
    session: str
    turn: str | None


def read(source: CorpusFile, level: str, write: Write) -> Corpus:
    """Return the corpus at `level` ("session" or "turn").

    Raises CorpusError with the place of a wrong entry.
    """
    own = read_own(source)
    reading = FileReader(source.path.name, level, write, own.empty)
    segments = [segment for entry in own.sessions for segment in reading.segments(entry)]
    questions = [reading.question(entry, at) for at, entry in enumerate(own.questions, start=1)]
    if not any(question.scored for question in questions):
        raise CorpusError(
            f"no question of {source.path.name} cites evidence, so that none can be scored; give "
            f"{own.questions[0].where} or another the ids of what answers it"
        )
    pool = (POOL,) if len(reading.latest) > 1 else ()
    kinds = list(dict.fromkeys(question.type for question in questions))
    turns = sum(len(entry.record["turns"]) for entry in own.sessions)
    counts = {"turns": turns, **({"empty": len(own.empty)} if own.empty else {})}
    return build_corpus(
        source, "file", level, tuple(segments), questions, kinds, counts,
        scopes=(SearchScope("project"), *pool), title=f"own data: {own.name}",
        clustered=len({question.project for question in questions if question.scored}) > 1,
    )  # fmt: skip


class FileReader:
    """The reader of the entries of one file, with every id, and each project with its latest time.

    `empty` are the ids of documents without text, which are no lessons.
    """

    def __init__(self, file: str, level: str, write: Write, empty: Collection[str] = ()) -> None:
        self.file, self.level, self.write, self.times = file, level, write, Times(file)
        self.empty = empty
        self.places: dict[str, IdTarget] = {}
        self.latest: dict[str, datetime | None] = {}
        self._named: bool | None = None  # whether sessions name their projects
        self._order = Order()
        self._keys: dict[str, CustomEntry] = {}
        self._texts: dict[str, str] = {}  # a text that several lessons have is in memory once

    def segments(self, entry: CustomEntry) -> Iterator[Segment]:
        """Yield the session as one segment, or one segment for each of its turns."""
        record, where = entry.record, entry.where
        project, turns = self._project(record, where), record["turns"]
        ids = self._ids(record, project, where)
        dates = [turn.get("time") or record.get("time") for turn in turns]
        places = [f"turn {at} of {where}" for at in range(1, len(turns) + 1)]
        said = list(map(_turn, turns, places))
        times = [
            self._time(date, place if turn.get("time") else where)
            for date, place, turn in zip(dates, places, turns, strict=True)
        ]
        order = self._order.of(project, turns, places)
        if self.level == "turn":
            for one, date, time, turn, position in zip(ids, dates, times, said, order, strict=True):
                segment = self._segment(project, one, date, time, (turn,))
                yield replace(segment, role=speaker(turn), position=position)
        else:
            date = record.get("time") or dates[0]
            session = _id(record["id"], where)
            yield self._segment(project, session, date, self._time(date, where), tuple(said))
        known = [time for time in (self.latest.get(project), *times) if time is not None]
        self.latest[project] = max(known, default=None)

    def question(self, entry: CustomEntry, number: int) -> Question:
        """Return the question; its key is its id, or `q` and its number in the file."""
        record, where = entry.record, entry.where
        key, kind = _id(record.get("id", f"q{number}"), where), record.get("type", UNTYPED)
        self._check_key(key, entry)
        if kind in TAKEN:
            raise CorpusError(
                f"'type' of {where} is {kind!r}, under which the runner counts; name it otherwise"
            )
        project = self._asked_in(record, where)
        cited = dict.fromkeys(_id(one, where) for one in record["evidence"])
        return Question(
            key=key,
            project=project,
            text=_text(record["text"], f"'text' of {where}"),
            type=_text(kind, f"'type' of {where}"),
            evidence=tuple(Evidence(one, self._gold(one, project, where)) for one in cited),
            as_of=self._time(record.get("as_of"), where) or self.latest[project],
        )

    def _check_key(self, key: str, entry: CustomEntry) -> None:
        before = self._keys.setdefault(key, entry)
        if before is entry:
            return
        unnamed = [one.where for one in (before, entry) if "id" not in one.record]
        own = f" ({unnamed[0]} has no id and is named by its number)" if unnamed else ""
        raise CorpusError(
            f"in {self.file} two questions have the id {key!r}, the second is {entry.where}{own}; give one "
            "of them another id"
        )

    def _project(self, record: Json, where: str) -> str:
        named = "project" in record
        if self._named not in (None, named):
            raise CorpusError(
                f"{where} names {'a' if named else 'no'} project, unlike the sessions before it; let every "
                "session name its project, or none"
            )
        self._named = named
        return _text(record.get("project", ONE), f"'project' of {where}")

    def _ids(self, record: Json, project: str, where: str) -> list[str]:
        """Return the ids of the session's turns: their own ids, or the session's id with their number."""
        session, turns = _id(record["id"], where), record["turns"]
        lone = len(turns) == 1 and "id" not in turns[0]
        given = (turn.get("id", f"{session}#{at}") for at, turn in enumerate(turns, start=1))
        numbered = (_id(one, where) for one in given)
        ids = [session] if lone else list(numbered)
        for one in [session] if lone else [session, *ids]:
            if one in self.places:
                raise CorpusError(
                    f"the id {one!r} stands twice in {self.file}, the second time in {where}; give "
                    "each session and each turn an id of its own, in all projects together"
                )
            turn = one if one != session else (ids[0] if len(ids) == 1 else None)
            self.places[one] = IdTarget(project, session, turn)
        return ids

    def _asked_in(self, record: Json, where: str) -> str:
        if "project" in record:
            project = _text(record["project"], f"'project' of {where}")
            if project not in self.latest:
                raise CorpusError(
                    f"{where} is of the project {project!r}, which has no session in {self.file}"
                )
            return project
        if len(self.latest) > 1:
            raise CorpusError(
                f"{where} names no 'project', and {self.file} has {len(self.latest)}; name its own"
            )
        return next(iter(self.latest))

    def _gold(self, cited: str, project: str, where: str) -> str | None:
        """Return the lesson that an id refers to at this level; None for a document without text."""
        place = self.places.get(cited)
        if place is None and cited in self.empty:
            return None
        if place is None:
            raise CorpusError(
                f"{where} cites {cited!r}, which is the id of no session and no turn in {self.file}; add it, "
                "or remove what cites it"
            )
        if place.project != project:
            raise CorpusError(
                f"{where} is of the project {project!r} and cites {cited!r}, which is of "
                f"{place.project!r}; a question's evidence is of its own project"
            )
        if self.level == "session":
            return place.session
        if place.turn is None:
            raise CorpusError(
                f"{where} cites {cited!r}, a session of several turns; at --granularity turn cite the turns "
                "that answer, or measure at session level"
            )
        return place.turn

    def _segment(
        self, project: str, one: str, date: str | None, time: datetime | None, turns: tuple[Turn, ...]
    ) -> Segment:
        written = self.write(Session(date or "", turns))
        text = self._texts.setdefault(written.text, written.text)
        return Segment(project, one, text, occurred_at=time, passages=written.passages)

    def _time(self, text: str | None, where: str) -> datetime | None:
        return self.times.read(text, where) if text else None


class Order:
    """The positions of turns, given by the file or counted in its order."""

    def __init__(self) -> None:
        self._given: bool | None = None  # whether the file gives positions
        self._taken: dict[tuple[str, int], str] = {}  # (project, position) → place of the turn
        self._last: dict[str, int] = {}  # project → position of its last turn

    def of(self, project: str, turns: Sequence[Json], places: Sequence[str]) -> list[int]:
        """Return the position of each turn of a session.

        `places` are their places in the file, for errors.
        """
        start = self._last.get(project, -1) + 2  # skips one number between sessions
        numbered = enumerate(zip(turns, places, strict=True), start=start)
        found = [self._position(project, turn, place, at) for at, (turn, place) in numbered]
        self._last[project] = found[-1]
        return found

    def _position(self, project: str, turn: Json, place: str, usual: int) -> int:
        self._check_alike("position" in turn, place)
        position = int(turn.get("position", usual))
        before = self._taken.setdefault((project, position), place)
        if before != place:
            raise CorpusError(
                f"{place} has the position {position}, and so has {before}; give each turn of a project a "
                "position of its own"
            )
        return position

    def _check_alike(self, given: bool, place: str) -> None:
        if self._given not in (None, given):
            raise CorpusError(
                f"{place} has {'a' if given else 'no'} position, unlike the turns before it; give every turn "
                "its position, or none"
            )
        self._given = given


def _turn(turn: Mapping[str, Any], where: str) -> Turn:
    speaker = _text(turn.get("speaker", ""), f"'speaker' of {where}")
    words = _text(turn["text"], f"'text' of {where}")
    return Turn(speaker, words, person=speaker.lower() != ASSISTANT)


def _id(given: str | float, where: str) -> str:
    """Return an id of the entry at `where` as text. A whole number is a valid id."""
    return _text(given if isinstance(given, str) else str(int(given)), f"an id of {where}")


def _text(text: str, where: str) -> str:
    """Return `text` without NUL, which no database stores.

    Raises CorpusError if it cannot be encoded in UTF-8.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise CorpusError(
            f"{where} holds half a character (\\u{ord(text[error.start]):04x} by itself); write it anew"
        ) from None
    return text.replace("\0", "")


FILE = Suite(
    name="file",
    title="your own data",
    levels=("session", "turn"),
    types=(),
    read=read,
    embedder="minilm",
    own=True,
)
