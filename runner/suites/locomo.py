"""LoCoMo (Maharana et al., ACL 2024): ten long conversations, each a project of 19 to 32 sessions.

`event_summary`, `observation`, `session_summary`, `query` and ids are never indexed: they leak. A question's
key is its position, since twelve questions occur twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from runner.errors import CorpusError
from runner.records import Corpus, Evidence, Json, Question, SearchScope, Segment
from runner.suites.citations import resolve, segment_id
from runner.suites.dates import spoken
from runner.suites.order import positions, speaker
from runner.suites.reading import Source
from runner.suites.schema import distinct, each, one_of, take, typed
from runner.suites.shape import counted
from runner.suites.suite import Suite, Write
from runner.texts import Session, Turn

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
SESSION = re.compile(r"session_(\d+)")
TURN = re.compile(r"D(\d+):(\d+)")
TURN_ID = r"\bD\d{1,3}:\d{1,3}\b"  # in a text


@dataclass(frozen=True, slots=True)
class Dialog:
    """One dialog session: its number, its date as given and as a time, and (turn number, turn) pairs."""

    number: int
    date: str
    time: datetime
    turns: tuple[tuple[int, Turn], ...]


def read(source: Source, level: str, write: Write) -> Corpus:
    """The corpus at `level` ("session" or "turn"); CorpusError names the item that is wrong."""
    segments: list[Segment] = []
    questions: list[Question] = []
    turns = level == "turn"
    count = 0
    for at, item in enumerate(source.items()):
        project = take(item, "sample_id", str, f"item {at} of {source.path}")
        sessions = _sessions(item, project)
        count += sum(len(session.turns) for session in sessions)
        mine = list(_segments(project, sessions, turns, write))
        segments += mine
        questions += _questions(item, project, sessions, {segment.id for segment in mine}, turns)
    distinct((segment.id for segment in segments), f"in {source.path} the segment")
    distinct((question.key for question in questions), f"in {source.path} the question")
    return Corpus(
        suite="locomo",
        path=str(source.path),
        sha256=source.sha256(),
        granularity=level,
        segments=tuple(segments),
        questions=tuple(questions),
        scopes=(SearchScope("conversation"), SearchScope("pool", pooled=True)),
        clustered=True,
        shape=counted(segments, questions, tuple(CATEGORIES.values()), turns=count),
        labels=(TURN_ID,),
    )


def _sessions(item: Json, project: str) -> list[Dialog]:
    """The sessions that hold a turn, by number (a date without a session stands in the file too)."""
    conversation = take(item, "conversation", dict, project)
    numbers = sorted(int(match[1]) for key in conversation if (match := SESSION.fullmatch(key)))
    sessions = (_session(conversation, number, project) for number in numbers)
    return [session for session in sessions if session.turns]


def _session(conversation: Json, number: int, project: str) -> Dialog:
    where = f"session {number} of {project}"
    date = take(conversation, f"session_{number}_date_time", str, project)
    turns = each(conversation, f"session_{number}", dict, project)
    said = tuple(_turn(turn, number, f"turn {at + 1} of {where}") for at, turn in enumerate(turns))
    return Dialog(number, date, spoken(date, where), said)


def _turn(turn: Json, session: int, where: str) -> tuple[int, Turn]:
    given = take(turn, "dia_id", str, where)
    identifier = TURN.fullmatch(given)
    if identifier is None or int(identifier[1]) != session:
        raise CorpusError(f"'dia_id' of {where} is {given!r}, not D{session}:<turn>")
    caption = turn.get("blip_caption") or ""
    said = Turn(
        take(turn, "speaker", str, where),
        take(turn, "text", str, where),
        typed(caption, str, f"the caption of {where}"),
    )
    return int(identifier[2]), said


def _segments(project: str, dialogs: Sequence[Dialog], turns: bool, write: Write) -> Iterator[Segment]:
    orders = positions((len(dialog.turns) for dialog in dialogs), turns)
    for dialog, order in zip(dialogs, orders, strict=True):
        parts = [[turn] for turn in dialog.turns] if turns else [list(dialog.turns)]
        for part, position in zip(parts, order, strict=True):
            number, first = part[0]
            written = write(Session(dialog.date, tuple(turn for _, turn in part)))
            yield Segment(
                project=project,
                id=segment_id(project, dialog.number, number, turns),
                text=written.text,
                occurred_at=dialog.time,
                role=speaker(first) if turns else None,
                passages=written.passages,
                position=position,
            )


def _questions(
    item: Json, project: str, sessions: Sequence[Dialog], segments: set[str], turns: bool
) -> Iterator[Question]:
    now = max((session.time for session in sessions), default=None)

    def evidence(entry: Json, where: str) -> tuple[Evidence, ...]:
        return resolve(each(entry, "evidence", str, where), project, segments, turns)

    return asked(each(item, "qa", dict, project), CATEGORIES, project, project, now, evidence)


def asked(
    entries: Sequence[Json],
    categories: Mapping[int, str],
    project: str,
    place: str,
    now: datetime | None,
    evidence: Callable[[Json, str], tuple[Evidence, ...]],
) -> Iterator[Question]:
    """The questions of a project in LoCoMo's shape; `place` says in errors where they stand."""
    for at, entry in enumerate(entries):
        where = f"question {at} of {place}"
        category = one_of(take(entry, "category", int, where), tuple(categories), f"'category' of {where}")
        yield Question(
            key=f"{project}/q{at}",
            project=project,
            text=take(entry, "question", str, where).replace("\0", ""),
            type=categories[category],
            evidence=evidence(entry, where),
            as_of=now,
        )


LOCOMO = Suite(
    name="locomo",
    title="LoCoMo",
    levels=("session", "turn"),
    types=tuple(CATEGORIES.values()),
    read=read,
    unsplit="has no split: what is chosen on it is judged by leaving one conversation out (tune)",
)
