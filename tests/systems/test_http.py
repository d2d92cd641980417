"""A service over HTTP: what it may answer, and the sentence for each way in which it answers wrongly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runner.cli import main
from runner.errors import SystemAbsent, SystemFault
from runner.systems import Match, SystemContext, open_system
from runner.systems.query_runner import AnswerValidator, ask_all
from tests.service import Broken, serving

Rows = list[dict[str, Any]]


class Memories:
    """Texts by user. `search` makes the rows of an answer; what `broken` has for a path comes instead."""

    def __init__(self) -> None:
        self.users: dict[str, Rows] = {}
        self.search: Callable[[Rows], Any] = lambda rows: rows
        self.broken: dict[str, Broken] = {}
        self.url, self.added, self.limit = "", 0, True

    def answer(self, path: str, body: Any) -> Any:
        path = path.removeprefix("/v1")
        self.added += path == "/add"
        if path in self.broken:
            return self.broken[path]
        rows = self.users.setdefault(body["user_id"], [])
        if path == "/add":
            rows.append({"id": body["metadata"]["id"], "memory": body["text"], "score": 1.0})
            return {"results": []}
        found = self.search(sorted(rows, key=lambda row: -int(row["id"])))
        return {"results": found[: body["limit"]] if self.limit else found}


@pytest.fixture
def service() -> Iterator[Memories]:
    memories = Memories()
    with serving(memories.answer) as server:
        memories.url = server.url
        yield memories


def asked(
    service: Memories, place: SystemContext, tiny: Any, k: int = 3
) -> tuple[list[Match], dict[str, str]]:
    """The answer to one question in a project of five lessons, judged as in a run, and the facts then."""
    with open_system("http", replace(place, url=service.url)) as system:
        system.load(tiny)
        query = tiny.query("What of the anchor?", tiny.projects[1])
        [answer] = ask_all(system, "http", [query], k, AnswerValidator("http", tiny))
        return list(answer.matches), dict(system.facts())


def test_a_service_that_keeps_the_contract_is_heard(
    service: Memories, place: SystemContext, tiny: Any
) -> None:
    matches, facts = asked(service, place, tiny)
    inside = [lesson.number for lesson in tiny if lesson.project == tiny.projects[1]]
    assert [match.number for match in matches] == inside[:3]
    assert "memories" not in facts


@pytest.mark.parametrize("key", ["id", "beliefId"])
def test_our_id_in_the_metadata_decides(service: Memories, place: SystemContext, tiny: Any, key: str) -> None:
    before, _ = asked(service, place, tiny)

    def theirs(rows: Rows) -> Rows:
        own = {} if key == "id" else {"id": 1}
        return [{**row, "id": 7 - at, "metadata": {**own, key: row["id"]}} for at, row in enumerate(rows)]

    service.search = theirs
    assert [one.number for one in asked(service, place, tiny)[0]] == [one.number for one in before]


def test_a_system_that_answers_nothing_is_told_in_the_report_and_by_the_exit_code(
    service: Memories, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "42")
    service.search = lambda rows: []
    words = ["--system", "http", "--system-url", service.url, "--limit", "2", "--output", str(tmp_path)]
    assert main(["sample", *words, "--quiet"]) == 5
    assert "every answer of http was empty" in capsys.readouterr().err
    [report] = tmp_path.glob("*/report.md")
    assert "**Every answer of `http` was empty**" in report.read_text()


def test_several_memories_of_one_lesson_count_as_their_best_and_the_facts_say_so(
    service: Memories, place: SystemContext, tiny: Any
) -> None:
    service.search = lambda rows: [
        {**row, "memory": part, "score": 1.0 - at / 10}
        for at, (row, part) in enumerate((row, part) for row in rows for part in ("a", "b"))
    ]  # fmt: skip
    matches, facts = asked(service, place, tiny, k=2)
    assert len({match.number for match in matches}) == 2
    assert [match.score for match in matches] == [1.0, 0.8]
    assert facts["memories"] == "several of one lesson; the best stands for it"


@pytest.mark.parametrize(
    ("search", "words"),
    [
        (lambda rows: [rows[0], rows[1], rows[0]], r"answered the same memory of lesson \d+ twice"),
        (lambda rows: rows * 9, "answered 45 memories where 3 were asked for"),
        (lambda rows: [{**rows[0], "score": "high"}], 'answered a score that is no number: "high"'),
        (lambda rows: [{**rows[0], "score": float("nan")}], "answered a score that is no number: NaN"),
        (lambda rows: [{**rows[0], "score": 10**400}], "answered a score that is no number: 1000"),
        (lambda rows: [{**row, "score": at} for at, row in enumerate(rows)], "scores that do not fall"),
        (lambda rows: [{"id": "9999", "score": 1}], "9999, which is no lesson that it was given"),
        (lambda rows: [{"memory": "x"}], "answered a memory without our id"),
        (lambda rows: [{"id": "9" * 5000}], "answered a memory without our id"),
        (lambda rows: [{"id": "\u0663"}], "answered a memory without our id"),
        (lambda rows: "\x1b[31mred", r"answered no list of results"),
    ],
)
def test_a_wrong_answer_is_one_sentence(
    service: Memories, place: SystemContext, tiny: Any, search: Any, words: str
) -> None:
    service.search, service.limit = search, "45" not in words
    with pytest.raises(SystemFault, match=words):
        asked(service, place, tiny)


CUT = Broken(content=b"{'a':".ljust(374), cut=369)
LIMITED = Broken(429, b"slow", {"Retry-After": "0"})
RED = Broken(content=b"\x1b[31m\x07red")
DEEP = Broken(content=b"[" * 100_000)


@pytest.mark.parametrize(
    ("path", "broken", "words"),
    [
        ("/search", CUT, r"/search: its answer broke off after 5 of 374 bytes; see its log$"),
        ("/search", Broken(0), r"/search: the connection broke off without an answer; see its log$"),
        ("/search", LIMITED, r"/search answered 429: slow; raise its limit of requests for this run$"),
        ("/add", LIMITED, r"/add answered 429: slow; raise its limit of requests for this run$"),
        ("/search", DEEP, r"/search did not answer with JSON: \[\["),
        ("/search", RED, r"/search did not answer with JSON: \\u001b\[31m\\u0007red$"),
    ],
)
def test_an_answer_that_is_none_says_what_came(
    service: Memories,
    place: SystemContext,
    tiny: Any,
    path: str,
    broken: Broken,
    words: str,
    monkeypatch: Any,
) -> None:
    monkeypatch.setattr("runner.systems.http.BUSY.backoff_factor", 0.01)
    service.broken[path] = broken
    with pytest.raises(SystemFault, match=words):
        asked(service, place, tiny)


def test_a_lesson_whose_answer_was_lost_is_not_stored_again(
    service: Memories, place: SystemContext, tools: Any
) -> None:
    service.broken["/add"] = Broken(0)
    lessons = tools.Listed([("one", "alone")])
    lessons.pooled = False
    with (
        pytest.raises(SystemFault, match="broke off"),
        open_system("http", replace(place, url=service.url)) as system,
    ):
        system.load(lessons)
    assert service.added == 1


def test_nobody_at_the_address_is_no_fault_of_the_contract(
    service: Memories, place: SystemContext, tiny: Any, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr("runner.systems.http.BUSY.backoff_factor", 0.0)
    service.url = "http://127.0.0.1:1"
    with pytest.raises(SystemAbsent, match=r"got no answer \(.*\); start the service, or check --system-url"):
        asked(service, place, tiny)
    assert main(["check-system", "http", "--system-url", service.url]) == 3
    assert "error: POST http" in capsys.readouterr().err


def test_check_system_holds_it_to_the_contract(service: Memories, capsys: pytest.CaptureFixture[str]) -> None:
    service.search = lambda rows: rows[:1] * 3
    assert main(["check-system", "http", "--system-url", service.url]) == 1
    assert "the same memory of lesson" in capsys.readouterr().out
