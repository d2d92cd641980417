"""Make 60 days of chat of a person with an assistant, with questions whose right answers are known.

The sentences of each person lie in `<language>.toml` beside this file. A fact is said on one day (`says`); a
fact that changes is said in its newer form (`then`) at least eight days later, and never again in the older
form. A question (`asks`) is answered by the newest message of its fact. Greetings, thanks, remarks and
requests repeat over the days, and the assistant's replies are part of every second day. The same language,
seed and number of askings give the same chat; the chat with more askings has all messages of the other.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

LANGUAGES = ("english", "german", "chinese")
DAYS, ASKINGS = 60, 10
FIRST_DAY = datetime(2026, 3, 2, 7, tzinfo=UTC)
NOW = FIRST_DAY + timedelta(days=DAYS, hours=3)
LAST_FACT_DAY, LAST_CHANGE_DAY, LEAST_DAYS_BETWEEN = 40, 55, 8
MINUTES = range(0, 14 * 60, 2)  # of a day at which the person writes; a reply comes a minute later
HAILED = {3: 0, 5: 1, 7: 2}  # askings that begin with a hail of the person; the others repeat the question
USER, ASSISTANT = "user", "assistant"


@dataclass(frozen=True, slots=True)
class Message:
    """What the person or the assistant wrote, and when."""

    text: str
    role: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the message that answers it, and the message that it replaced if the fact changed."""

    text: str
    answer: str
    older: str | None
    kind: str
    indirect: bool


@dataclass(frozen=True, slots=True)
class Chat:
    """A person's messages in the order of time, and the questions to ask at NOW."""

    language: str
    person: str
    messages: tuple[Message, ...]
    questions: tuple[Question, ...]


def make_chat(language: str, *, seed: int = 1, asked: int = 0) -> Chat:
    """Return the chat of a language in which every question was asked `asked` times, at most ASKINGS.

    Raises ValueError for another number.
    """
    if not 0 <= asked <= ASKINGS:
        raise ValueError(f"asked is {asked}, but must be from 0 to {ASKINGS}")
    script = tomllib.loads((Path(__file__).parent / f"{language}.toml").read_text(encoding="utf-8"))
    plan = _plan_facts(script["fact"], Random(f"{seed} {language} facts"))
    messages = list(_write_days(script, plan, Random(f"{seed} {language} days")))
    for fact in script["fact"]:
        if "asks" in fact:
            times = Random(f"{seed} {language} {fact['asks']}")
            messages += _ask(script, fact["asks"], plan[fact["says"]], asked, times)
    messages.sort(key=lambda message: message.at)
    return Chat(language, script["person"], tuple(messages), questions_of(script["fact"]))


def questions_of(facts: Sequence[Mapping[str, Any]]) -> tuple[Question, ...]:
    """Return the questions about facts, each with its right answer."""
    return tuple(
        Question(
            fact["asks"],
            fact.get("then", fact["says"]),
            fact["says"] if "then" in fact else None,
            fact["kind"],
            fact.get("indirect", False),
        )
        for fact in facts
        if "asks" in fact
    )


def _plan_facts(facts: Sequence[Mapping[str, Any]], random: Random) -> dict[str, int]:
    """Return the day on which each statement is said."""
    plan: dict[str, int] = {}
    for fact in facts:
        day = plan[fact["says"]] = random.randint(0, LAST_FACT_DAY)
        if "then" in fact:
            plan[fact["then"]] = random.randint(day + LEAST_DAYS_BETWEEN, LAST_CHANGE_DAY)
    return plan


def _write_days(script: Mapping[str, Any], plan: Mapping[str, int], random: Random) -> Iterator[Message]:
    """Yield the messages of all days but the questions about facts, each reply after its message."""
    kinds = ("greetings", "remarks", "requests", "reactions", "closings", "replies")
    decks = {kind: _deal(script[kind], random) for kind in kinds}
    for day in range(DAYS):
        said = [text for text, planned in plan.items() if planned == day]
        said += [*islice(decks["remarks"], 2), *islice(decks["requests"], random.randint(1, 2))]
        answered = set(said if day % 2 else ())
        said += islice(decks["reactions"], random.randint(3, 5))
        random.shuffle(said)
        said = [next(decks["greetings"]), *said, next(decks["closings"])]
        for text, minute in zip(said, sorted(random.sample(MINUTES, len(said))), strict=True):
            yield Message(text, USER, _at(day, minute))
            if text in answered:
                yield Message(next(decks["replies"]), ASSISTANT, _at(day, minute + 1))


def _ask(script: Mapping[str, Any], text: str, day: int, asked: int, random: Random) -> Iterator[Message]:
    """Yield the first `asked` askings of a question after the day of its fact, each with a reply on days
    that have replies."""
    for number in range(asked):
        chosen, minute = random.randint(day + 1, DAYS - 1), random.choice(MINUTES)
        reply = random.choice(script["replies"])
        hail = script["hails"][HAILED[number]] if number in HAILED else ""
        yield Message(hail + text, USER, _at(chosen, minute))
        if chosen % 2:
            yield Message(reply, ASSISTANT, _at(chosen, minute + 1))


def _deal(texts: Sequence[str], random: Random) -> Iterator[str]:
    """Yield all texts in random order, then all in another, without end."""
    while True:
        yield from random.sample(texts, len(texts))


def _at(day: int, minute: int) -> datetime:
    return FIRST_DAY + timedelta(days=day, minutes=minute)
