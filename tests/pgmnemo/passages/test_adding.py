"""Lessons without passages get theirs, once; whatever is in the way is told in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgmnemo.embedders import EMBEDDERS, EmbedderOptions, pad
from pgmnemo.passages import adding
from pgmnemo.server import Database, open_database
from runner.cli import main
from tests.helping import CURRENT, endings, is_sentence

ROLE = "pgmnemo_runner"
TEXTS = ("Ana: I sold the kite.\nBo: Good.", "user: Tea?\nassistant: Yes.\nuser: Thanks.", "[8 May 2023]\n ")


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with open_database(CURRENT, environ={}) as opened:
        yield opened


@pytest.fixture(scope="module")
def former() -> Iterator[Database]:
    with open_database("0.2.1", environ={}) as opened:
        yield opened


class Lessons:
    """A tenant, its lessons, and the command for it."""

    def __init__(self, database: Database, capsys: pytest.CaptureFixture[str]) -> None:
        self.database, self.capsys, self.tenant, self.project = database, capsys, uuid4(), uuid4()
        with database.admin() as owner:
            owner.execute("SELECT pgmnemo.grant_tenant(%s, %s)", (self.tenant, ROLE))

    def dsn(self, **changes: object) -> str:
        names = {**self.database.conninfo, "options": f"-c role={ROLE}", **changes}
        return make_conninfo(**{name: value for name, value in names.items() if value is not None})

    def connect(self, tenant: UUID | None = None) -> psycopg.Connection[Any]:
        connection = self.database.connect()
        connection.execute("SELECT set_config('pgmnemo.tenant_id', %s, false)", (str(tenant or self.tenant),))
        connection.execute("SET pgmnemo.gate_strict = off")
        return connection

    def store(self, *texts: str, vectors: bool = False) -> None:
        """Lessons 0, 1, … with these texts, and with the vectors of the embedder `hash`."""
        embedder = EMBEDDERS["hash"](EmbedderOptions())
        rows = pad(embedder.embed_documents(texts)) if vectors else [None] * len(texts)
        with self.connect() as connection:
            for number, (text, row) in enumerate(zip(texts, rows, strict=True)):
                given = None if row is None else [float(value) for value in row]
                connection.execute(
                    "SELECT pgmnemo.store_lesson(%s, %s, %s, %s::real[])",
                    (self.project, str(number), text, given),
                )

    def passages(self) -> dict[str, list[tuple[str, Any]]]:
        """Text and vector of each passage by lesson."""
        query = """
            SELECT l.external_id, p.content, v.embedding::vector FROM pgmnemo.passages p
            LEFT JOIN pgmnemo.vectors v USING (tenant_id, lesson_id, number)
            JOIN pgmnemo.lessons l ON (l.tenant_id, l.id) = (p.tenant_id, p.lesson_id)
            WHERE l.tenant_id = %s AND p.number > 0 ORDER BY l.id, p.number"""
        found: dict[str, list[tuple[str, Any]]] = {}
        with self.connect() as connection:
            for name, text, vector in connection.execute(query, (self.tenant,)):
                found.setdefault(name, []).append((text, vector))
        return found

    def texts(self) -> dict[str, list[str]]:
        return {name: [text for text, _ in rows] for name, rows in self.passages().items()}

    def add(self, *words: str, **changes: object) -> tuple[int, str, str]:
        """The command's exit code, and what it printed."""
        options = {"--dsn": self.dsn(), "--tenant": str(self.tenant), **changes}
        given = [word for pair in options.items() for word in pair if pair[1] is not None]
        self.capsys.readouterr()
        code = main(["passages", "--quiet", *map(str, given), *words])
        out, err = self.capsys.readouterr()
        return code, out.strip(), err.strip()


@pytest.fixture
def lessons(
    database: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Lessons:
    monkeypatch.delenv("PGMNEMO_DSN", raising=False)
    return Lessons(database, capsys)


def given(lessons: int, passages: int, vectors: str = "none") -> str:
    """The command's first line."""
    return f"lessons that were given passages: {lessons} (passages: {passages}, vectors: {vectors})"


def test_lessons_get_their_passages_and_a_second_call_finds_nothing_to_do(lessons: Lessons) -> None:
    lessons.store(*TEXTS)
    assert lessons.add() == (
        0, f"{given(2, 3)}\nlessons without a word to cut, which stay as they are: 1", "",
    )  # fmt: skip
    assert lessons.texts() == {"0": [TEXTS[0]], "1": ["user: Tea?", "user: Thanks."]}
    before = lessons.passages()
    assert lessons.add()[1].startswith(given(0, 0))
    assert lessons.passages() == before


def test_with_an_embedder_a_passage_has_the_vector_of_its_words(lessons: Lessons) -> None:
    lessons.store(*TEXTS[:2], vectors=True)
    code, out, _ = lessons.add("--embedder", "hash")
    assert (code, out) == (0, given(2, 3, "hash"))
    embedder = EMBEDDERS["hash"](EmbedderOptions())
    for (_, vector), words in zip(lessons.passages()["1"], ["Tea?", "Thanks."], strict=True):
        wanted = embedder.embed_documents([words])[0]
        stored = np.array(vector.to_list() if hasattr(vector, "to_list") else vector)
        assert float(stored[:256] @ wanted) == pytest.approx(1, abs=1e-3)


def test_passages_that_are_there_stay_as_they_are(lessons: Lessons) -> None:
    lessons.store(*TEXTS[:2])
    with lessons.connect() as connection:
        lesson = connection.execute("SELECT id FROM pgmnemo.lessons WHERE external_id = '0'").fetchone()
        connection.execute("SELECT pgmnemo.add_passages(%s, %s, NULL)", (lesson and lesson[0], ["my own"]))
    assert lessons.add()[1] == given(1, 2)
    assert lessons.texts()["0"] == ["my own"]


def test_only_the_tenant_s_own_lessons_are_touched(lessons: Lessons, database: Database, capsys: Any) -> None:
    other = Lessons(database, capsys)
    lessons.store(TEXTS[0])
    other.store(TEXTS[0])
    superuser = lessons.dsn(options=None)
    assert lessons.add(**{"--dsn": superuser})[1].startswith(given(1, 1))
    assert other.passages() == {}


def test_an_interruption_keeps_whole_batches_and_the_next_call_goes_on(
    lessons: Lessons, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adding, "BATCH", 2)
    lessons.store(*(f"lesson {number}" for number in range(7)))
    calls = iter([False, False, False, True])
    cut = adding._cut

    def interrupted(content: str, meter: Any) -> Any:
        if next(calls, False):
            raise KeyboardInterrupt
        return cut(content, meter)

    monkeypatch.setattr(adding, "_cut", interrupted)
    assert lessons.add()[0] == 130
    assert lessons.texts() == {"0": ["lesson 0"], "1": ["lesson 1"]}
    assert lessons.add()[1].startswith(given(5, 5))
    assert len(lessons.texts()) == 7


def test_a_lesson_that_is_written_meanwhile_is_left_to_the_next_call(
    lessons: Lessons, monkeypatch: pytest.MonkeyPatch
) -> None:
    lessons.store("one", "two")
    cut = adding._cut

    def slow(content: str, meter: Any) -> Any:
        if content == "two":
            lessons.store("one, corrected", "two")
        return cut(content, meter)

    monkeypatch.setattr(adding, "_cut", slow)
    code, out, _ = lessons.add()
    assert code == 0
    assert given(1, 1) in out
    assert "lessons that somebody else wrote meanwhile: 1; run the command once more" in out
    monkeypatch.setattr(adding, "_cut", cut)
    assert lessons.add()[1].startswith(given(1, 1))
    assert lessons.texts() == {"0": ["one, corrected"], "1": ["two"]}


def test_a_lesson_of_too_many_passages_is_left_out(lessons: Lessons, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adding, "MOST", 1)
    lessons.store(*TEXTS[:2])
    assert "lessons of more than 1,000 passages, which stay as they are: 1" in lessons.add()[1]
    assert list(lessons.passages()) == ["0"]


Wrong = Callable[[Lessons, Database], tuple[Sequence[str], dict[str, object]]]

ENDINGS = endings("passages")
STRANGER = "40ce5b98-d2be-57f3-af69-eb889de34161"

WRONG: dict[str, Wrong] = {
    "no address": lambda lessons, former: ((), {"--dsn": None}),
    "an address that cannot be read": lambda lessons, former: ((), {"--dsn": "host"}),
    "no tenant's uuid": lambda lessons, former: ((), {"--tenant": "me"}),
    "an unknown embedder": lambda lessons, former: (("--embedder", "x"), {}),
    "an embedder of another width": lambda lessons, former: (
        ("--embedder", "hash", "--dimensions", "1000"),
        {},
    ),
    "nobody answers": lambda lessons, former: ((), {"--dsn": "postgresql://127.0.0.1:1/nothing"}),
    "no extension": lambda lessons, former: ((), {"--dsn": lessons.dsn(dbname="postgres", options=None)}),
    "an extension of before": lambda lessons, former: ((), {"--dsn": make_conninfo(**former.conninfo)}),
    "no grant": lambda lessons, former: ((), {"--tenant": STRANGER}),
    "a database that is read-only": lambda lessons, former: (
        (),
        {"--dsn": lessons.dsn(options=f"-c role={ROLE} -c default_transaction_read_only=on")},
    ),
}


@pytest.mark.parametrize("cause", ENDINGS)
def test_what_is_in_the_way_is_one_sentence(cause: str, lessons: Lessons, former: Database) -> None:
    lessons.store(TEXTS[0], vectors=True)
    words, changes = WRONG[cause](lessons, former)
    ended, out, err = lessons.add(*words, **changes)
    assert (ended, out) == (int(ENDINGS[cause]["code"]), "")
    assert is_sentence(ENDINGS[cause], err), err
    assert lessons.passages() == {}
