"""Strategies over the legs of a real system, and anchors of time over a real server on loopback."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgmnemo.errors import UsageError
from pgmnemo.models import chat as models
from pgmnemo.models.http import Service
from runner.systems import Query, SystemContext, open_system
from runner.systems.anchors import ModelAnchors, fits
from runner.systems.strategy import Strategy
from runner.systems.system import Match
from tests.helping import ranked
from tests.service import Server, chat, serving

pytest.importorskip("apsw")
NOW = datetime(2026, 2, 1, tzinfo=UTC)


@pytest.mark.parametrize("leg", ["vector", "keyword"])
def test_a_retriever_alone_comes_without_the_components_of_the_system_within(
    leg: str, tiny: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Within:
        def ask(self, query: Query, k: int) -> list[Match]:
            return [Match(1, 0.5, (0.1, 0.2, 0.3, None, 0.0))]

    with open_system("convex:over=sqlite-hybrid", SystemContext(tmp_path)) as system:
        assert isinstance(system, Strategy)
        monkeypatch.setattr(system, "retriever", lambda what: Within())
        assert system.client({"leg": leg}).ask(Query(0, "tea", None, None), 5) == [Match(1, 0.5)]


def test_a_strategy_ranks_what_either_leg_finds_and_its_parts_add_up(tiny: Any, tmp_path: Path) -> None:
    with open_system("convex:over=sqlite-hybrid", SystemContext(tmp_path)) as system:
        system.load(tiny)
        assert isinstance(system, Strategy)
        for query, lesson in tiny.queries():
            found = system.ask(query, 3)
            assert found[0].number == lesson.number
            assert [match.score for match in found] == pytest.approx([sum(m.components) for m in found])
        assert system.facts()["over"] == "sqlite-hybrid"
        assert system.facts()["keyword leg"] == "keyword"
        assert system.description().startswith(
            "min-max convex fusion, 0.5 of the vector leg, of keyword and vector"
        )


def test_its_legs_are_those_of_the_system_within(tiny: Any, tmp_path: Path) -> None:
    queries = [query for query, _ in tiny.queries()]
    with open_system("rrf:over=sqlite-hybrid", SystemContext(tmp_path)) as system:
        system.load(tiny)
        assert isinstance(system, Strategy)
        alone = [
            [match.number for match in system.client({"leg": "keyword"}).ask(query, 5)] for query in queries
        ]
    with open_system("sqlite-fts5", SystemContext(tmp_path)) as words:
        words.load(tiny)
        assert alone == ranked("sqlite-fts5", words, tiny, queries, 5)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("rrf:over=chroma", "chroma has no leg for keyword=auto; name another system with over="),
        ("rrf:over=sqlite-hybrid,keyword=bm25",
         "sqlite-hybrid has no leg for keyword=bm25; choose one of: keyword, vector"),
        ("rrf:over=bm25s", "bm25s has no leg for vector=auto; name another system with over="),
        ("rrf:over=sqlite-hybrid,anchor=built-in",
         "the anchor built-in is pgmnemo's own: take over=pgmnemo, or anchor=llm or none"),
        ("rrf:over=sqlite-hybrid,anchor=llm",
         "the anchor llm needs the address of an endpoint in PGMNEMO_ANCHOR_URL and a model in "
         "PGMNEMO_ANCHOR_MODEL"),
    ],
)  # fmt: skip
def test_what_a_strategy_lacks_is_one_sentence(name: str, sentence: str, tiny: Any, tmp_path: Path) -> None:
    pytest.importorskip("chromadb")
    with (
        pytest.raises(UsageError) as raised,
        open_system(name, SystemContext(tmp_path, environ={})) as system,
    ):
        system.load(tiny)
    assert str(raised.value) == sentence


def test_an_anchor_of_a_model_lifts_what_is_of_the_days_that_it_names(tiny: Any, tmp_path: Path) -> None:
    name = "convex:over=sqlite-hybrid,anchor=llm,temporal=5"
    with ExitStack() as stack:
        server = stack.enter_context(
            serving(lambda *_: chat('Surely: {"from": "2026-01-03", "to": "2026-01-03"}'))
        )
        environ = {"PGMNEMO_ANCHOR_URL": server.url, "PGMNEMO_ANCHOR_MODEL": "some-chat"}
        system = stack.enter_context(open_system(name, SystemContext(tmp_path, environ=environ)))
        system.load(tiny)
        query = tiny.query("What did I see?", "bakery")
        system.ask(query, 3)
        best = system.ask(query, 3)[0]
    wanted = next(one for one in tiny if one.project == "bakery" and one.occurred_at.day == 3)
    assert (best.number, best.components[3]) == (wanted.number, 5.0)
    [(path, _, body)] = server.requests  # a question is read once
    assert path == "/v1/chat/completions"
    assert "Today is Sunday, 2026-02-01." in body["messages"][0]["content"]


@pytest.mark.parametrize(
    ("told", "spans", "unread"),
    [
        ('{"from": "2026-01-03", "to": "2026-01-04"}', 1, 0), ('{"from": null, "to": null}', 0, 0),
        ("I cannot say.", 0, 1), ('{"from": "soon", "to": "later"}', 0, 1),
        ('{"from": "2026-01-04", "to": "2026-01-03"}', 0, 1), ('{"from": 3, "to": 4}', 0, 1),
    ],
)  # fmt: skip
def test_an_answer_of_another_form_is_no_time_and_is_counted(told: str, spans: int, unread: int) -> None:
    with serving(lambda *_: chat(told)) as server:
        anchors = made(server)
        assert len(anchors.spans(Query(0, "When?", None, None, NOW))) == spans
    assert anchors.unread == unread
    assert anchors.spans(Query(1, "When, though?", None, None, None)) == ()  # no "now", no time


def made(server: Server) -> ModelAnchors:
    service = Service(f"{server.url}/chat/completions", "NO_SUCH_KEY", pause=lambda seconds: None)
    return ModelAnchors(models.ChatModel(service, "x"))


def test_a_moment_fits_an_interval_as_the_engine_counts() -> None:
    day = 86_400.0
    start, end = datetime(2026, 1, 10, tzinfo=UTC), datetime(2026, 1, 12, tzinfo=UTC)
    moments = np.array([start.timestamp(), end.timestamp() + 7 * day, start.timestamp() - 2 * day, np.nan])
    assert fits(moments, [(start, end)]).tolist() == pytest.approx([1.0, 0.5, 0.5, 0.0])
    assert fits(moments, []).tolist() == [0.0] * 4
