"""LoCoMo (Maharana et al., ACL 2024): ten long conversations, each a project of 19 to 32 sessions.

Text: a line "[date]" as the corpus gives it, then one line "Speaker: text" a turn, with " [caption]"
where the turn shares a photo. `event_summary`, `observation`, `session_summary`, `query` and ids are
never indexed: they leak. A question's key is its position, since twelve questions occur twice.
A passage is some of these lines, without the date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from runner.errors import CorpusError
from runner.protocol.passages import Turn, cut
from runner.records import Corpus, Json, Question, SearchScope, Segment, View
from runner.suites.citations import resolve, segment_id
from runner.suites.dates import spoken
from runner.suites.reading import Source
from runner.suites.schema import distinct, each, one_of, take, typed
from runner.suites.shape import counted
from runner.suites.suite import Suite, everything

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
SESSION = re.compile(r"session_(\d+)")
TURN = re.compile(r"D(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Session:
    """One dialog session: its number, its date as given and as a time, and (turn number, line) pairs."""

    number: int
    date: str
    time: datetime
    lines: tuple[tuple[int, str], ...]


def read(source: Source, granularity: str) -> Corpus:
    """The corpus at `granularity` ("session" or "turn"); CorpusError names the item that is wrong."""
    segments: list[Segment] = []
    questions: list[Question] = []
    turns = granularity == "turn"
    count = 0
    for at, item in enumerate(source.items()):
        project = take(item, "sample_id", str, f"item {at} of {source.path}")
        sessions = _sessions(item, project)
        count += sum(len(session.lines) for session in sessions)
        mine = list(_segments(project, sessions, turns))
        segments += mine
        questions += _questions(item, project, sessions, {segment.id for segment in mine}, turns)
    distinct((segment.id for segment in segments), f"in {source.path} the segment")
    distinct((question.key for question in questions), f"in {source.path} the question")
    return Corpus(
        suite="locomo",
        path=str(source.path),
        sha256=source.sha256(),
        granularity=granularity,
        segments=tuple(segments),
        questions=tuple(questions),
        scopes=(SearchScope("conversation"), SearchScope("pool", pooled=True)),
        clustered=True,
        shape=counted(segments, questions, tuple(CATEGORIES.values()), turns=count),
    )


def _sessions(item: Json, project: str) -> list[Session]:
    """The sessions that hold a turn, by number (a date without a session stands in the file too)."""
    conversation = take(item, "conversation", dict, project)
    numbers = sorted(int(match[1]) for key in conversation if (match := SESSION.fullmatch(key)))
    sessions = (_session(conversation, number, project) for number in numbers)
    return [session for session in sessions if session.lines]


def _session(conversation: Json, number: int, project: str) -> Session:
    where = f"session {number} of {project}"
    date = take(conversation, f"session_{number}_date_time", str, project)
    turns = each(conversation, f"session_{number}", dict, project)
    lines = tuple(_turn(turn, number, f"turn {at + 1} of {where}") for at, turn in enumerate(turns))
    return Session(number, date, spoken(date, where), lines)


def _turn(turn: Json, session: int, where: str) -> tuple[int, str]:
    given = take(turn, "dia_id", str, where)
    identifier = TURN.fullmatch(given)
    if identifier is None or int(identifier[1]) != session:
        raise CorpusError(f"'dia_id' of {where} is {given!r}, not D{session}:<turn>")
    line = f"{take(turn, 'speaker', str, where)}: {take(turn, 'text', str, where)}"
    caption = turn.get("blip_caption")
    if caption:
        line += f" [{typed(caption, str, f'the caption of {where}')}]"
    return int(identifier[2]), line.replace("\0", "")


def _segments(project: str, sessions: Sequence[Session], turns: bool) -> Iterator[Segment]:
    for session in sessions:
        parts = [[line] for line in session.lines] if turns else [list(session.lines)]
        for part in parts:
            yield Segment(
                project=project,
                id=segment_id(project, session.number, part[0][0], turns),
                text="\n".join([f"[{session.date}]", *(line for _, line in part)]),
                occurred_at=session.time,
                passages=cut([Turn(line, line) for _, line in part]),
            )


def _questions(
    item: Json, project: str, sessions: Sequence[Session], segments: set[str], turns: bool
) -> Iterator[Question]:
    now = max((session.time for session in sessions), default=None)
    for at, entry in enumerate(each(item, "qa", dict, project)):
        where = f"question {at} of {project}"
        category = one_of(take(entry, "category", int, where), tuple(CATEGORIES), f"'category' of {where}")
        yield Question(
            key=f"{project}/q{at}",
            project=project,
            text=take(entry, "question", str, where).replace("\0", ""),
            type=CATEGORIES[category],
            evidence=resolve(each(entry, "evidence", str, where), project, segments, turns),
            as_of=now,
        )


LOCOMO = Suite(
    name="locomo",
    title="LoCoMo",
    granularities=("session", "turn"),
    types=tuple(CATEGORIES.values()),
    views={"all": everything, "categories 1-4": View("categories 1-4", without_types=("adversarial",))},
    read=read,
)
