"""BEAM (Tavakoli et al., ICLR 2026): long chats with an assistant, each a folder and a project.

A message is a lesson. If `chat_trunecated.json` (so spelt) exists it is read, as BEAM's own program does.
Answers, ids and the index that ends most messages (` ->-> 1,1`) are never indexed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any

from runner.errors import CorpusError
from runner.protocol.datasets.corpus import POOLED, Lessons, cut_lessons, speaker, suite_of
from runner.protocol.datasets.corpus_file import (
    CorpusFile,
    check_list,
    check_type,
    number_repeats,
    one_of,
    take,
)
from runner.protocol.datasets.dates import anchored
from runner.protocol.datasets.suite import Suite
from runner.protocol.templates import Session, Turn
from runner.records import Evidence, Json, Question, Segment

TYPES = (
    "information_extraction", "knowledge_update", "multi_session_reasoning", "temporal_reasoning",
    "contradiction_resolution", "event_ordering", "summarization", "instruction_following",
    "preference_following", "abstention",
)  # fmt: skip
ASSISTANT = "assistant"
CHATS = ("chat_trunecated.json", "chat.json")  # the first existing file is read
QUESTIONS = "probing_questions/probing_questions.json"
FOLDER_OF = tuple(f"*/{name}" for name in CHATS)
INDEX = r"->\s*->\s*(?:\d+|N/A)\s*,\s*(?:\d+|N/A)"
CUT = re.compile(rf"{INDEX}|->\s*->\s*\Z")


@dataclass(frozen=True, slots=True)
class Message:
    """A message: its id in the chat, its turn, and its batch's date as given and as a time, if known."""

    id: str
    turn: Turn
    date: str
    time: datetime | None


def _parts(size: str, source: CorpusFile, level: str) -> Iterator[tuple[Lessons, Iterable[Question]]]:
    """Yield the lessons and questions of each chat, project `<size>_<chat>`.

    CorpusError names a faulty file.
    """
    for number, name in _chats(source):
        project = f"{size}_{number}"
        batches = check_type(source.within(name).document(), list, f"what {source.path / name} holds")
        sessions = [list(_messages(batch, name)) for batch in batches]
        messages = list(chain.from_iterable(sessions))
        if not messages:
            raise CorpusError(f"{source.path / name} holds no message; fetch it again, or take the chat out")
        lessons = list(_lessons(project, sessions))
        now = max((one.time for one in messages if one.time), default=None)
        ids = {head.id for head, _ in lessons}
        yield lessons, _questions(source, f"{number}/{QUESTIONS}", project, ids, now)


def _chats(source: CorpusFile) -> list[tuple[int, str]]:
    """Return (number of the chat, name of its file) in order; a chat without questions is an error."""
    found: dict[int, str] = {}
    for name in source.names(*FOLDER_OF, f"*/{QUESTIONS}"):
        folder = name.partition("/")[0]
        if not re.fullmatch(r"[1-9]\d*", folder):
            remedy = "name it without leading zeros" if re.fullmatch(r"0+[1-9]\d*", folder) else "take it out"
            raise CorpusError(
                f"{source.path / folder} is no chat of BEAM, whose folders are numbers; {remedy}"
            )
        files = set(source.names(*(f"{folder}/{known}" for known in (*CHATS, QUESTIONS))))
        chat = next((known for known in CHATS if f"{folder}/{known}" in files), None)
        missing = CHATS[1] if chat is None else QUESTIONS
        if chat is None or f"{folder}/{QUESTIONS}" not in files:
            raise CorpusError(f"{source.path / folder} holds no {missing}; fetch it, or take the chat out")
        found[int(folder)] = f"{folder}/{chat}"
    if not found:
        raise CorpusError(f"the folder {source.path} holds no chat of BEAM ({FOLDER_OF[1]}); fetch it again")
    return sorted(found.items())


def _messages(batch: Any, name: str) -> Iterator[Message]:
    """Yield the messages of a batch, all dated by the first time anchor of the batch or its messages."""
    where = f"batch {check_type(batch, dict, f'a batch of {name}').get('batch_number')} of {name}"
    given = [
        check_type(message, dict, f"a message of {where}")
        for exchange in check_list(batch, "turns", list, where)
        for message in exchange
    ]
    anchors = (one.get("time_anchor") for one in (batch, *given))
    date = check_type(next((anchor for anchor in anchors if anchor), ""), str, f"'time_anchor' of {where}")
    time = anchored(date, where) if date else None
    for message in given:
        identifier = message.get("id")
        if isinstance(identifier, bool) or not isinstance(identifier, int | str):
            raise CorpusError(f"'id' of a message of {where} must be a number, but is {identifier!r}")
        role = take(message, "role", str, f"message {identifier} of {where}")
        content = take(message, "content", str, f"message {identifier} of {where}")
        yield Message(
            str(identifier), Turn(role, without_plan_index(content), person=role != ASSISTANT), date, time
        )


def without_plan_index(content: str) -> str:
    """Return the text of a message without its index in BEAM's plan."""
    without, cuts = CUT.subn("", content)
    return without.rstrip() if cuts else content


def _lessons(project: str, sessions: list[list[Message]]) -> Lessons:
    """Yield each message as a lesson; a batch is a session."""
    ids = number_repeats(f"{project}/{message.id}" for message in chain.from_iterable(sessions))
    for identifier, (_, [message], position) in zip(ids, cut_lessons(sessions, turns=True), strict=True):
        head = Segment(
            project=project,
            id=identifier,
            text="",
            occurred_at=message.time,
            role=speaker(message.turn),
            position=position,
        )
        yield head, Session(message.date, (message.turn,), chat=True)


def _questions(
    source: CorpusFile, name: str, project: str, segments: set[str], now: datetime | None
) -> Iterator[Question]:
    """Yield the questions of a chat, in the order of the file."""
    place = source.path / name
    types: Json = check_type(source.within(name).document(), dict, f"what {place} holds")
    entries = [(kind, entry) for kind in types for entry in check_list(types, kind, dict, str(place))]
    for at, (kind, entry) in enumerate(entries):
        where = f"question {at} of {place}"
        yield Question(
            key=f"{project}/q{at}",
            project=project,
            text=without_plan_index(take(entry, "question", str, where)).replace("\0", ""),
            type=one_of(kind, TYPES, f"the type of {where}"),
            evidence=tuple(_evidence(entry, where, project, segments)),
            as_of=now,
        )


def _evidence(entry: Json, where: str, project: str, segments: set[str]) -> Iterator[Evidence]:
    for one in dict.fromkeys(_ids(entry.get("source_chat_ids"), where)):
        segment = f"{project}/{one}"
        yield Evidence(one, segment if segment in segments else None)


def _ids(value: Any, where: str) -> Iterator[str]:
    """Yield every id in a list or an object, at any depth."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict | list):
            left += reversed([*one.values()] if isinstance(one, dict) else one)
        elif isinstance(one, int | str) and not isinstance(one, bool):
            yield str(one)
        elif one is not None:
            raise CorpusError(f"'source_chat_ids' of {where} holds {one!r}, which is no id of a message")


def _suite(name: str, size: str) -> Suite:
    return suite_of(
        partial(_parts, size), name, f"BEAM {size.upper()}", ("message",), TYPES,
        corpus={**POOLED, "labels": (INDEX,)}, folder_of=FOLDER_OF,
        unsplit="has no split: what is chosen on it is judged by leaving one chat out (tune)",
    )  # fmt: skip


BEAM = _suite("beam", "100k")
BEAM_500K = _suite("beam-500k", "500k")
