"""LifeBench (arXiv:2603.03781): a year on the phone of each of ten persons, in English and in Chinese.

A person is a folder and a project, and a record of the phone is a lesson: a message, note, call, calendar
entry, photo, notification, day of health data, or chat with an assistant. Answers, options, ids and the
summaries that the generator wrote are never indexed; only the summary of a day of health data is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pgmnemo.client.blank import is_blank
from runner.errors import CorpusError
from runner.protocol.datasets.corpus import POOLED, Lessons, suite_of
from runner.protocol.datasets.corpus_file import (
    CorpusFile,
    check_list,
    check_type,
    number_repeats,
    one_of,
    take,
)
from runner.protocol.datasets.dates import Times
from runner.protocol.datasets.suite import Suite
from runner.protocol.templates import Session, Turn
from runner.records import Evidence, Json, Question, Segment

TYPES = (
    "Information Extraction", "Multi-hop reasoning", "Nondeclarative", "Temporal and Knowledge Updating",
    "Unanswerable",
)  # fmt: skip
ASSISTANT, CALL, HEALTH = "assistant", "call", "fitness_health"
Writer = Callable[[Json, str, str], tuple[Turn, ...]]  # of a record, its person, and its place for errors
QUESTIONS = "QA/QA_clean.json"
SENT = ("Send", "发送")
NAMED = re.compile(r"[^:：]{1,40}[:：]")  # noqa: RUF001  the text of a message begins with its speaker
PLACE = ("city", "district", "poi")
UNWRITTEN = ("", "none")  # values of health data that say nothing


@dataclass(frozen=True, slots=True)
class PhoneRecord:
    """A record: its kind, its id among the records of the kind, its time to the minute, and its turns."""

    kind: str
    id: str
    time: str
    turns: tuple[Turn, ...]


def _parts(call: str, source: CorpusFile, level: str) -> Iterator[tuple[Lessons, Iterable[Question]]]:
    """Yield the lessons and questions of each person; CorpusError names a faulty file."""
    writers: Mapping[str, Writer] = {**WRITERS, CALL: partial(_call, call)}
    for person in _persons(source):
        records = [one for kind, write in writers.items() for one in _records(source, person, kind, write)]
        records = sorted((one for one in records if not _is_blank(one)), key=lambda one: one.time)
        if not records:
            raise CorpusError(f"{source.path / person} holds no record of a phone; fetch it again")
        lessons = list(_lessons(person, records, Times(str(source.path / person))))
        yield lessons, _questions(source, person, [head for head, _ in lessons])


def _persons(source: CorpusFile) -> list[str]:
    """Return the names of the persons' folders; a person who lacks a file is an error."""
    wanted = [QUESTIONS, *(f"phone_data/{kind}.json" for kind in WRITERS)]
    persons = sorted({name.partition("/")[0] for name in source.names(*(f"*/{one}" for one in wanted))})
    for person in persons:
        for name in wanted:
            if not (source.path / person / name).is_file():
                raise CorpusError(f"{source.path / person} holds no {name}; fetch it, or take the person out")
    return persons


def _records(source: CorpusFile, person: str, kind: str, write: Writer) -> Iterator[PhoneRecord]:
    name = f"{person}/phone_data/{kind}.json"
    entries = check_type(source.within(name).document(), list, f"what {source.path / name} holds")
    for at, entry in enumerate(entries):
        where = f"record {at} of {source.path / name}"
        record = check_type(entry, dict, where)
        time = next((record[key] for key in ("datetime", "date", "日期") if record.get(key)), None)
        minute = check_type(time, str, f"the time of {where}")[:16]
        yield PhoneRecord(kind, _id(record, where), minute, write(record, person, where))


def _id(record: Json, where: str) -> str:
    """Return the id of a record, or of the record that an entry of the evidence names."""
    given = record.get("id", record.get("phone_id"))
    if isinstance(given, bool) or not isinstance(given, int | str):
        raise CorpusError(f"{where} has no 'phone_id' that is a number")
    return str(given)


def _chat(record: Json, person: str, where: str) -> tuple[Turn, ...]:
    """Return the turns of a chat, of the person and of the assistant."""
    exchanges = check_type(take(record, "conversation", dict, where), dict, where).values()
    return tuple(
        Turn(
            person if role == "user" else ASSISTANT, take(said, "content", str, where), person=role == "user"
        )
        for exchange in exchanges
        for role in ("user", ASSISTANT)
        if (said := check_type(exchange, dict, f"an exchange of {where}").get(role))
    )


def _message(record: Json, person: str, where: str) -> tuple[Turn, ...]:
    """Return the message; a text that begins with its speaker gets no other."""
    words = take(record, "message_content", str, where)
    sender = person if record.get("message_type") in SENT else take(record, "contactName", str, where)
    return (Turn("" if NAMED.match(words) else sender, words),)


def _call(call: str, record: Json, person: str, where: str) -> tuple[Turn, ...]:
    """Return the line of a call: the word for it, with whom, and how it went."""
    result = record.get("call_result") or record.get("call_type") or ""
    return (Turn("", f"{call}: {take(record, 'contactName', str, where)} {result}".rstrip()),)


def _fields(*keys: str) -> Writer:
    """Return a function that writes the fields of a record that are not empty, a line each."""

    def written(record: Json, person: str, where: str) -> tuple[Turn, ...]:
        return (Turn("", "\n".join(str(record[key]) for key in keys if record.get(key))),)

    return written


def _photo(record: Json, person: str, where: str) -> tuple[Turn, ...]:
    """Return the caption, the place, the tags and the text of a photo."""
    place = check_type(record.get("location") or {}, dict, f"'location' of {where}")
    tags = ", ".join(check_list(record, "imageTag", str, where))
    lines = [record.get("caption"), " ".join(str(place.get(key, "")) for key in PLACE), tags]
    return (Turn("", "\n".join(str(line or "") for line in (*lines, record.get("ocrText")))),)


def _health(record: Json, person: str, where: str) -> tuple[Turn, ...]:
    """Return the data of a day, a line each, with the innermost name."""
    return (Turn("", "\n".join(_leaves(record, ""))),)


def _leaves(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _leaves(one, key) if key != "phone_id" else ()
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one, name)
    elif value is not None and value not in UNWRITTEN:
        yield f"{name}: {value}"


WRITERS: Mapping[str, Writer] = {
    "agent_chat": _chat, HEALTH: _health, "note": _fields("title", "content"), "sms": _message,
    CALL: partial(_call, CALL),
    "calendar": _fields("title", "description", "start_time"), "photo": _photo,
    "push": _fields("title", "content"),
}  # fmt: skip
"""The kinds of records, each with the function that makes its turns, in the order of records of one time.

The word for a call is that of the corpus's language.
"""


def _is_blank(record: PhoneRecord) -> bool:
    return is_blank("".join(turn.words for turn in record.turns))


def _lessons(person: str, records: list[PhoneRecord], times: Times) -> Lessons:
    ids = number_repeats(f"{person}/{one.kind}/{one.id}" for one in records)
    for identifier, one in zip(ids, records, strict=True):
        time = times.read(one.time, f"{identifier}")
        yield Segment(person, identifier, "", occurred_at=time), Session(one.time, one.turns)


def _questions(source: CorpusFile, person: str, heads: list[Segment]) -> Iterator[Question]:
    """Yield the questions of a person.

    An id that several records have cites each of them, and an id that no record has is no citation.
    """
    name = f"{person}/{QUESTIONS}"
    named: dict[str, list[str]] = {}
    for head in heads:
        named.setdefault(head.id.partition("#")[0], []).append(head.id)
    now = max(head.occurred_at for head in heads if head.occurred_at)
    entries = check_type(source.within(name).document(), list, f"what {source.path / name} holds")
    for at, entry in enumerate(entries):
        where = f"question {at} of {source.path / name}"
        asked = check_type(entry, dict, where)
        given = check_list({"evidence": asked.get("evidence") or []}, "evidence", dict, where)
        found = dict.fromkeys(f"{person}/{one.get('type')}/{_id(one, where)}" for one in given)
        yield Question(
            key=f"{person}/q{at}",
            project=person,
            text=take(asked, "question", str, where).replace("\0", ""),
            type=one_of(take(asked, "question_type", str, where), TYPES, f"the type of {where}"),
            evidence=tuple(Evidence(one, one) for cited in found for one in named.get(cited, ())),
            as_of=now,
        )


def _suite(name: str, language: str, folder: str, call: str) -> Suite:
    return suite_of(
        partial(_parts, call), name, f"LifeBench, {language}", ("record",), TYPES, corpus={**POOLED},
        file=folder, folder_of=(f"*/{QUESTIONS}",),
        unsplit="has no split: the file of its persons leimingxuan and lumingqiang alone may be chosen on",
    )  # fmt: skip


LIFEBENCH = _suite("lifebench", "English", "data_en", "Phone call")
LIFEBENCH_ZH = _suite("lifebench-zh", "Chinese", "data", "电话")
