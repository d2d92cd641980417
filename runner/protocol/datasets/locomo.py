"""LoCoMo (Maharana et al., ACL 2024): ten long conversations, each a project of 19 to 32 sessions.

`event_summary`, `observation`, `session_summary`, `query` and ids are never indexed: they leak. A question's
key is its position, since twelve questions occur twice.

Evidence is every id in every evidence string (PROTOCOL, evidence normalisation):

1. An id is `D<session>:<turn>`. Every id in a string is read, with any separators
   (`D8:6; D9:17`, `D9:1 D4:4 D4:6`), with leading zeros dropped (`D30:05` is turn 5 of session 30)
   and a doubled colon accepted (`D:11:26` is `D11:26`: that turn exists, and supports the answer).
2. A string without an id (a bare `D`) names no session and is no citation, as long as the question
   cites at least one other id. If it cites none, each string stays as evidence that resolves to
   nothing, so that the coverage gate fails and no question is dropped silently.
3. At session level an id resolves to its session; at turn level to its turn, and to nothing if the
   corpus has no such turn (`D10:19` of conv-42, `D4:36` of conv-47).
4. An id that a question cites twice counts once. A question with an empty list is not scored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from runner.errors import CorpusError
from runner.protocol.datasets.corpus import POOLED, Lessons, cut_lessons, speaker, suite_of
from runner.protocol.datasets.corpus_file import CorpusFile, check_list, check_type, one_of, take
from runner.protocol.datasets.dates import spoken
from runner.protocol.templates import Session, Turn
from runner.records import Evidence, Json, Question, Segment

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
SESSION = re.compile(r"session_(\d{1,9})")
TURN = re.compile(r"D(\d{1,9}):(\d{1,9})")
CITATION = re.compile(r"D:?(\d{1,9}):(\d{1,9})")
TURN_ID = r"\bD\d{1,3}:\d{1,3}\b"  # an id inside a text


@dataclass(frozen=True, slots=True)
class Dialog:
    """A dialog session: its number, its date as text and as a time, and (turn number, turn) pairs."""

    number: int
    date: str
    time: datetime
    turns: tuple[tuple[int, Turn], ...]


def _parts(source: CorpusFile, level: str) -> Iterator[tuple[Lessons, Iterable[Question]]]:
    """Yield the lessons and questions of each conversation; CorpusError names a faulty item."""
    turns = level == "turn"
    for at, item in enumerate(source.items()):
        project = take(item, "sample_id", str, f"item {at} of {source.path}")
        sessions = _sessions(item, project)
        lessons = list(_lessons(project, sessions, turns))
        yield lessons, _questions(item, project, sessions, {head.id for head, _ in lessons}, turns)


def _sessions(item: Json, project: str) -> list[Dialog]:
    """Return the sessions that have a turn, by number (the file also has dates without a session)."""
    conversation = take(item, "conversation", dict, project)
    numbers = sorted(int(match[1]) for key in conversation if (match := SESSION.fullmatch(key)))
    sessions = (_session(conversation, number, project) for number in numbers)
    return [session for session in sessions if session.turns]


def _session(conversation: Json, number: int, project: str) -> Dialog:
    where = f"session {number} of {project}"
    date = take(conversation, f"session_{number}_date_time", str, project)
    turns = check_list(conversation, f"session_{number}", dict, project)
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
        check_type(caption, str, f"the caption of {where}"),
    )
    return int(identifier[2]), said


def _lessons(project: str, dialogs: Sequence[Dialog], turns: bool) -> Lessons:
    for at, part, position in cut_lessons([dialog.turns for dialog in dialogs], turns):
        dialog, (number, first) = dialogs[at], part[0]
        head = Segment(
            project=project,
            id=segment_id(project, dialog.number, number, turns),
            text="",
            occurred_at=dialog.time,
            role=speaker(first) if turns else None,
            position=position,
        )
        yield head, Session(dialog.date, tuple(turn for _, turn in part))


def _questions(
    item: Json, project: str, sessions: Sequence[Dialog], segments: set[str], turns: bool
) -> Iterator[Question]:
    now = max((session.time for session in sessions), default=None)

    def evidence(entry: Json, where: str) -> tuple[Evidence, ...]:
        return resolve_evidence(check_list(entry, "evidence", str, where), project, segments, turns)

    return locomo_questions(
        check_list(item, "qa", dict, project), CATEGORIES, project, project, now, evidence
    )


def locomo_questions(
    entries: Sequence[Json],
    categories: Mapping[int, str],
    project: str,
    place: str,
    now: datetime | None,
    evidence: Callable[[Json, str], tuple[Evidence, ...]],
) -> Iterator[Question]:
    """Yield the questions of a project in LoCoMo's format; `place` names their source in errors."""
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


def resolve_evidence(
    strings: Iterable[str], project: str, segments: Collection[str], turns: bool
) -> tuple[Evidence, ...]:
    """Return an Evidence for each distinct id in `strings`, in order; `segments` are the ids that exist."""
    given = list(strings)
    found = {(int(m[1]), int(m[2])): m[0] for text in given for m in CITATION.finditer(text)}
    if not found:
        return tuple(Evidence(text, None) for text in given)
    named = ((cited, segment_id(project, *pair, turns)) for pair, cited in found.items())
    return tuple(Evidence(cited, segment if segment in segments else None) for cited, segment in named)


def segment_id(project: str, session: int, turn: int, turns: bool) -> str:
    """Return the id of a segment: `conv-26/D3`, or `conv-26/D3:5` at turn level."""
    return f"{project}/D{session}:{turn}" if turns else f"{project}/D{session}"


LOCOMO = suite_of(
    _parts, "locomo", "LoCoMo", ("session", "turn"), tuple(CATEGORIES.values()), turns=True,
    corpus={**POOLED, "labels": (TURN_ID,)},
    unsplit="has no split: what is chosen on it is judged by leaving one conversation out (tune)",
)  # fmt: skip
