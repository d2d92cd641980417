"""What `supersede`, filters, the two times and `floor` do to answers when what was true changes.

    python benchmarks/changes.py [longmemeval] [beam] [household] [--level turn] [--embedder NAME]

Of a corpus the questions about what changed (knowledge update) with two lessons of evidence or more, without
abstentions. **The chain is taken from the labels**: the latest lesson of evidence supersedes the earlier
ones at its own time. So this measures what supersede does to an answer, not whether an agent finds what
changed. Where all evidence has one time (BEAM dates a whole batch), the place in the chat decides what is
earlier. Asked before and after, k = 10, mode hybrid, as of the question's date; then with `valid_at` a day
before the change, where an earlier lesson had happened by then. `household`: notes of a year, made up, with
one right answer a question.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from floor import FLOOR, K, opened, recall, shares, vectors_of

from runner.bench.workload import CorpusLessons
from runner.markdown import table
from runner.protocol.datasets import SUITES
from runner.protocol.datasets.longmemeval import is_abstention
from runner.protocol.templates.embedding import make_embedder
from runner.records import Corpus, Question, Segment

TYPES = ("knowledge-update", "knowledge_update")
FORMER = re.compile(r"\b(initial|previous|former|earlier|used to|before|when i just)", re.IGNORECASE)
DAY, LONG_AGO = timedelta(days=1), datetime(1, 1, 1, tzinfo=UTC)
FIGURES = (
    "latest first",
    "latest above all earlier",
    "latest in the first 5",
    "an earlier one in the first 10",
)
STORE = b"""
SELECT pgmnemo.store(NULL, %s, %s, %s, embedding => %s::real[], occurred_at => %s::timestamptz, topic => %s,
                            role => %s, metadata => %s::jsonb)
"""
SUPERSEDE = b"SELECT pgmnemo.supersede(NULL, %s, %s, %s, at => %s::timestamptz)"
# key, the key that it supersedes, day, topic, whom it is about, who says it: text
NOTES = """
home/1 - 2025-01-08 home family Jonas: We live at 14 Linden Street, third floor, without a lift.
rent/1 - 2025-01-10 money family Mara: The rent is 950 euros a month, due on the third.
work/1 - 2025-01-15 work Mara Mara: Mara works as a nurse at St. Anne's hospital, mostly night shifts.
food/1 - 2025-01-20 food Lena Jonas: Lena loves pasta with tomato sauce and would eat it every day.
car/1 - 2025-01-28 car family Jonas: Our old Golf needs new brakes; the garage asks 640 euros for them.
work/2 - 2025-02-03 work Jonas Jonas: Jonas teaches the violin at the music school, Mondays and Thursdays.
swim/1 - 2025-02-05 sport Lena Mara: Lena goes swimming on Tuesdays at four.
power/1 - 2025-02-12 money family Jonas: Electricity costs us 31 cents a kilowatt hour with Nordstrom.
drink/1 - 2025-02-20 food Mara Mara: Mara drinks two cups of black coffee every morning.
school/1 - 2025-02-24 school Lena Mara: Lena is in the Squirrel group of Birch kindergarten.
food/2 - 2025-03-02 food Jonas Jonas: Jonas is allergic to walnuts.
tooth/1 - 2025-03-14 health Lena Mara: Lena's dentist is Dr. Okafor on Station Road.
cat/1 - 2025-03-22 cat Miso Mara: Our cat Miso gets a tablet against worms every three months.
garden/1 - 2025-04-18 garden family Jonas: We planted two blackcurrant bushes behind the shed.
ilse/1 - 2025-05-03 family Ilse Jonas: Grandmother Ilse has her birthday on 9 November and loves orchids.
car/2 car/1 2025-05-09 car family Jonas: We sold the Golf for 2,100 euros.
car/3 - 2025-05-30 car family Mara: We bought a used Zoe, an electric car, and charge it at work.
home/2 home/1 2025-06-21 home family Mara: We have moved: our address is 3 Mill Lane now, a whole house.
rent/2 rent/1 2025-06-25 money family Mara: For the house we pay 1,280 euros rent a month, due on the first.
trip/1 - 2025-07-12 travel family Mara: Two weeks of summer holiday on Bornholm, in a guest house.
tooth/2 tooth/1 2025-07-30 health Lena Mara: Since the move Lena's dentist is Dr. Brandt on Market Square.
food/3 food/1 2025-08-17 food Lena Jonas: Lena has had enough of tomato sauce; she wants pesto with pasta.
school/2 school/1 2025-08-25 school Lena Mara: Lena has started school: class 1b, her teacher is Ms Petrov.
work/3 work/1 2025-09-01 work Mara Mara: Mara is a school nurse now, and works no more nights.
boiler/1 - 2025-09-15 home family Jonas: Kessler serviced the boiler; the next service is due in a year.
swim/2 swim/1 2025-09-22 sport Lena Mara: Lena's swimming lesson has moved to Saturdays at ten.
trip/2 - 2025-10-18 travel family Jonas: A weekend away in Prague with grandmother Ilse.
drink/2 drink/1 2025-11-11 food Mara Mara: Mara has given up coffee and takes green tea after she gets up.
cat/2 - 2025-11-20 cat Miso Mara: The vet weighed Miso: 5.4 kilograms, a little too much.
cat/3 - 2025-11-21 cat Miso assistant: I suggest 60 grams of dry food a day for Miso, in two meals.
power/2 power/1 2025-10-01 money family Jonas: New electricity contract with Helio: 27 cents from October on.
"""
LETTER, YEAR_END, NONE = (
    "power/2",
    datetime(2025, 12, 31, tzinfo=UTC),
    "none",
)  # LETTER: read after the others
ASKED: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("Where do we live?", "home/2", {}),
    ("How much rent do we pay?", "rent/2", {}),
    ("When does Lena go swimming?", "swim/2", {}),
    ("What does Mara drink in the morning?", "drink/2", {}),
    ("Which car do we drive?", "car/3", {}),
    ("What does electricity cost us?", LETTER, {}),
    ("What does electricity cost us?", "power/1", {"known_at": "before the letter"}),
    ("Where do we live?", "home/1", {"valid_at": "2025-03-01 UTC"}),
    ("Where does Mara work?", "work/1", {"valid_at": "2025-05-01 UTC"}),
    ("How heavy is she?", "cat/2", {"filter": '{"topic": "cat"}'}),
    ("What does she like to eat?", "food/3", {"filter": '{"metadata": {"about": "Lena"}}'}),
    ("Where did we travel?", "trip/2", {"filter": '{"since": "2025-09-01"}'}),
    ("What was suggested?", "cat/3", {"filter": '{"role": "assistant"}'}),
    ("Who must not eat nuts?", "food/2", {}),
    ("Which planet has the most moons?", NONE, {}),
    ("How do I reset the password of the mail server?", NONE, {}),
)
HEAD = ("question", "right", "recall", "superseded", "and", "", "fit", f"and floor {FLOOR:g}")


@dataclass(frozen=True, slots=True)
class Chain:
    """A question, and its evidence: the earlier lessons and the latest, whose time is the change."""

    position: int
    question: Question
    earlier: Sequence[Segment]
    latest: Segment
    change: datetime

    @property
    def began(self) -> datetime:
        """When the first of them happened."""
        return self.earlier[0].occurred_at or LONG_AGO

    def found(self, keys: Sequence[str]) -> tuple[bool, ...]:
        """FIGURES, of the keys that were recalled."""
        places = [keys.index(one.external_id) for one in self.earlier if one.external_id in keys]
        latest = keys.index(self.latest.external_id) if self.latest.external_id in keys else K
        return latest == 0, latest < min(places, default=K), latest < 5, bool(places)


def chains_of(corpus: Corpus) -> list[Chain]:
    """Return the questions about what changed, with the chain that the labels give."""
    segments, chains = {(one.project, one.id): one for one in corpus.segments}, []
    for position, question in enumerate(corpus.questions):
        gold = [segments[question.project, one] for one in question.gold]
        gold.sort(key=lambda one: (one.occurred_at or LONG_AGO, one.position or 0))
        timed = [one for one in gold if one.occurred_at != gold[-1].occurred_at]
        if len(gold) > 1 and not is_abstention(question.key):
            change = gold[-1].occurred_at or LONG_AGO
            chains.append(Chain(position, question, timed or gold[:-1], gold[-1], change))
    return chains


def labelled(name: str, level: str | None, embedder: str) -> None:
    """Ask a corpus's questions before and after, and print how often."""
    whole = SUITES[name].load(SUITES[name].locate(None, os.environ), level)
    questions = tuple(one for one in whole.questions if one.type in TYPES)
    projects = {one.project for one in questions}
    segments = [one for one in whole.segments if one.project in projects]
    corpus = replace(whole, segments=segments, questions=questions)
    vectors, chains = vectors_of(corpus, embedder), chains_of(corpus)
    lessons = CorpusLessons(corpus, vectors, "changes")
    with opened(lessons) as (system, connection):

        def project(one: Chain) -> UUID:
            return system.names.project_id(lessons.name(one.question.project))

        def ask(one: Chain, valid_at: datetime | None = None) -> tuple[bool, ...]:
            vector, as_of = system.form.vector(vectors.questions[one.position]), one.question.as_of
            rows = recall(connection, embedding=vector, k=K, query_text=one.question.text,
                          project_id=project(one), as_of=as_of, valid_at=valid_at)  # fmt: skip
            return one.found([key for key, _ in rows])

        before = [ask(one) for one in chains]
        for one in chains:
            for old in one.earlier:
                given = (project(one), old.external_id, one.latest.external_id, one.change)
                connection.execute(SUPERSEDE, given)
        after = [ask(one) for one in chains]
        dated = [one for one in chains if one.began <= one.change - DAY]
        back = [ask(one, one.change - DAY)[-1:] for one in dated]
    columns = [
        shares(found, [one.question.project for one in asked] if corpus.clustered else None)
        for found, asked in ((before, chains), (after, chains), (back, dated))
    ]
    print(
        f"\n{name} {corpus.granularity}, {embedder}, {len(chains)} questions, chain taken from the labels\n"
    )
    print(table(("per cent", "before", "superseded"), list(zip(FIGURES, *columns[:2], strict=True))))
    print(f"\nvalid_at a day before the change, {len(back)} questions: {FIGURES[-1]} {columns[2][0]}")
    print(sum(bool(FORMER.search(one.question.text)) for one in chains), "ask for what was before the change")
    early = sum((one.question.as_of or one.change) < one.change for one in chains)
    print(early, "are dated before the change, when the earlier lesson still holds")


def household(embedder: str) -> None:
    """Store the notes, ask, and print each answer."""
    made = make_embedder(embedder)
    notes = [(line.split(": ")[0].split(), line.partition(": ")[2]) for line in NOTES.strip().splitlines()]
    vectors = made.embed_documents([text for _, text in notes])
    meant = made.embed_queries([question for question, _, _ in ASKED])
    with opened() as (system, connection):
        home, unread = uuid4(), YEAR_END

        def ask(place: int, **more: Any) -> tuple[str, str]:
            question, right, _ = ASKED[place]
            found = recall(connection, embedding=system.form.vector(meant[place]), k=1, query_text=question,
                           project_id=home, as_of=YEAR_END, **more)  # fmt: skip
            key, fit = found[0] if found else (NONE, 0.0)
            return key + " ✓" * (key == right), f"{fit:.2f}"

        for ((key, _, day, topic, about, role), text), vector in zip(notes, vectors, strict=True):
            if key == LETTER:
                unread = connection.execute("SELECT clock_timestamp()").fetchall()[0][0]
            stored = (home, key, text, system.form.vector(vector), f"{day} 12:00Z", topic, role)
            connection.execute(STORE, (*stored, json.dumps({"about": about})))
        plain = [ask(place)[0] for place in range(len(ASKED))]
        for (new, old, day, *_), _ in notes:
            if old != "-":
                connection.execute(SUPERSEDE, (home, old, new, f"{day} 12:00Z"))
        rows: list[tuple[str, ...]] = []
        for place, (question, right, given) in enumerate(ASKED):
            more = {**given, "known_at": unread} if "known_at" in given else given
            shown = ", ".join(f"{name} {value}" for name, value in given.items())
            answer, fit = ask(place, **more)
            left, _ = ask(place, floor=FLOOR, **more)
            rows.append((question, right, plain[place], ask(place)[0], shown, answer, fit, left))
    print(f"\nhousehold, {len(notes)} notes, {embedder}; ✓ marks the right answer\n")
    counts = [str(sum("✓" in row[column] for row in rows)) for column in range(len(HEAD))]
    rows.append(("right", "", *counts[2:4], "", counts[5], "", counts[7]))
    print(table(HEAD, rows, "l" * len(HEAD)))


def main() -> None:
    """Print the tables that are asked for."""
    given = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    given.add_argument("parts", nargs="*", default=["longmemeval", "beam", "household"])
    given.add_argument("--level", help="what a lesson of a corpus is (default: the suite's own)")
    given.add_argument("--embedder", default="minilm")
    options = given.parse_args()
    for part in options.parts:
        if part == "household":
            household(options.embedder)
        else:
            labelled(part, options.level, options.embedder)


if __name__ == "__main__":
    main()
