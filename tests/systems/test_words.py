"""What finds by words alone: bm25s by Lucene's BM25 over all lessons, and SQLite with nothing but Python."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from runner import systems
from runner.errors import SystemAbsent
from runner.systems import Match, Query, SystemContext, missing_parts, open_system, spec_of, sqlite

ROWS = [
    ("a", "Ana feeds the gulls and the gulls come back"), ("a", "Ana sails to the lighthouse"),
    ("a", "the lighthouse keeper feeds one gull"), ("a", "bread and butter"),
    ("b", "Bo bakes bread for the lighthouse"), ("b", "Bo sings"), ("c", "nothing of the kind is said here"),
]  # fmt: skip
STEMS = [  # as English stopwords and stems leave them
    ["ana", "feed", "gull", "gull", "come", "back"], ["ana", "sail", "lighthous"],
    ["lighthous", "keeper", "feed", "one", "gull"], ["bread", "butter"],
    ["bo", "bake", "bread", "lighthous"], ["bo", "sing"], ["noth", "kind", "said", "here"],
]  # fmt: skip


@pytest.fixture
def ask(place: SystemContext, tools: Any) -> Iterator[Callable[..., list[Match]]]:
    if sentence := missing_parts(spec_of("bm25s")):
        pytest.skip(sentence)
    with ExitStack() as stack:
        system = stack.enter_context(open_system("bm25s", place))
        system.load(tools.Listed(ROWS))
        yield lambda text, project, k: list(system.ask(Query(0, text, None, project), k))


def lucene(word: str, stems: list[str]) -> float:
    """Lucene's BM25 of one word with k1 1.5 and b 0.75, by the statistics of all lessons."""
    holding = sum(word in own for own in STEMS)
    length = sum(map(len, STEMS)) / len(STEMS)
    idf = math.log(1 + (len(STEMS) - holding + 0.5) / (holding + 0.5))
    often = stems.count(word)
    return idf * often / (often + 1.5 * (1 - 0.75 + 0.75 * len(stems) / length))


@pytest.mark.parametrize("project", ["a", "b", None])
def test_scores_are_lucenes_by_the_statistics_of_all_lessons(ask: Any, project: str | None) -> None:
    scores = {
        100 + at: sum(lucene(word, STEMS[at]) for word in ("gull", "lighthous", "bread"))
        for at, (own, _) in enumerate(ROWS) if project in (None, own)
    }  # fmt: skip
    found = ask("gulls of the lighthouse, bread", project, 50)
    assert {match.number: match.score for match in found} == pytest.approx(
        {number: score for number, score in scores.items() if score}, rel=1e-5
    )
    assert [match.number for match in found] == sorted(
        (match.number for match in found), key=lambda number: -scores[number]
    )


def test_a_lesson_without_any_of_the_words_is_no_answer(ask: Any) -> None:
    """Not even where fewer than k are left: what is masked scores zero as it does."""
    assert [match.number for match in ask("bread", "a", 50)] == [103]
    assert ask("bread", "c", 50) == []
    assert ask("the of and", "a", 50) == []
    assert ask("zeppelin", None, 50) == []
    assert ask("", None, 50) == []


NAME = "sqlite-fts5"


def test_it_answers_where_nothing_is_installed_and_its_clients_in_any_thread(
    tiny: Any, place: SystemContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(systems, "_installed", lambda package: False)
    monkeypatch.setitem(sys.modules, "apsw", None)
    with open_system(NAME, place) as system, ThreadPoolExecutor(1) as other:
        system.load(tiny)
        [query, _] = tiny.queries()[0]
        client = system.client()  # type: ignore[attr-defined]
        assert other.submit(client.ask, query, 4).result() == system.ask(query, 4) != []
        client.close()


def test_a_python_without_it_is_one_sentence(place: SystemContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "TABLE", "CREATE VIRTUAL TABLE memory USING fts0(content)")
    words = "^sqlite-fts5 is without FTS5, which the SQLite of this Python lacks; run another Python"
    with pytest.raises(SystemAbsent, match=words), open_system(NAME, place):
        raise AssertionError("it cannot be opened")
