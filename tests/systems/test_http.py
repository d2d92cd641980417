"""A service over HTTP: what it may answer, and the sentence for each way in which it answers wrongly."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from runner.cli import main
from runner.errors import SystemAbsent, SystemFault
from runner.systems import Match, Place, open_system
from runner.systems.asking import Judge, answers

Rows = list[dict[str, Any]]


class Service(ThreadingHTTPServer):
    """Keeps texts by user; `search` makes the rows of an answer, `raw` (if any) the bytes of any answer."""

    daemon_threads = True
    search: Callable[[Rows], Rows] = staticmethod(lambda rows: rows)
    raw: dict[str, bytes]
    limit = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.users: dict[str, Rows] = {}
        self.raw, self.added = {}, 0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Service

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/add":
            self.server.added += 1
        if (raw := self.server.raw.get(self.path)) is not None:
            self.wfile.write(raw)
            self.close_connection = True
            return
        rows = self.server.users.setdefault(body["user_id"], [])
        if self.path == "/add":
            rows.append({"id": body["metadata"]["id"], "memory": body["text"], "score": 1.0})
            found: Rows = []
        else:
            found = self.server.search(sorted(rows, key=lambda row: -int(row["id"])))
            found = found[: body["limit"]] if self.server.limit else found
        data = json.dumps({"results": found}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def address(service: Service) -> str:
    return f"http://127.0.0.1:{service.server_address[1]}"


def asked(service: Service, place: Place, tiny: Any, k: int = 3) -> tuple[list[Match], dict[str, str]]:
    """The answer to one question in a project of five lessons, judged as in a run, and the facts then."""
    with open_system("http", replace(place, url=address(service))) as system:
        system.load(tiny)
        query = tiny.query("What of the anchor?", tiny.projects[1])
        [answer] = answers(system, "http", [query], k, Judge("http", tiny))
        return list(answer.matches), dict(system.facts())


def test_a_service_that_keeps_the_contract_is_heard(service: Service, place: Place, tiny: Any) -> None:
    matches, facts = asked(service, place, tiny)
    inside = [lesson.number for lesson in tiny if lesson.project == tiny.projects[1]]
    assert [match.number for match in matches] == inside[:3]
    assert "memories" not in facts


def test_several_memories_of_one_lesson_count_as_their_best_and_the_facts_say_so(
    service: Service, place: Place, tiny: Any
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
        (lambda rows: "\x1b[31mred", r"answered no list of results"),
    ],
)
def test_a_wrong_answer_is_one_sentence(
    service: Service, place: Place, tiny: Any, search: Any, words: str
) -> None:
    service.search, service.limit = search, "45" not in words
    with pytest.raises(SystemFault, match=words):
        asked(service, place, tiny)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 374\r\n\r\n"
LIMITED = (
    b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 4\r\nRetry-After: 0\r\nConnection: close\r\n\r\nslow"
)
RED = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n\x1b[31m\x07red"


@pytest.mark.parametrize(
    ("path", "raw", "words"),
    [
        ("/search", HEAD + b"{'a':", r"/search: its answer broke off after 5 of 374 bytes; see its log$"),
        ("/search", b"", r"/search: the connection broke off without an answer; see its log$"),
        ("/search", LIMITED, r"/search answered 429: slow; raise its limit of requests for this run$"),
        ("/add", LIMITED, r"/add answered 429: slow; raise its limit of requests for this run$"),
        ("/search", RED, r"/search did not answer with JSON: \\u001b\[31m\\u0007red$"),
    ],
)
def test_an_answer_that_is_none_says_what_came(
    service: Service, place: Place, tiny: Any, path: str, raw: bytes, words: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr("runner.systems.http.BUSY.backoff_factor", 0.01)
    service.raw[path] = raw
    with pytest.raises(SystemFault, match=words):
        asked(service, place, tiny)


def test_a_lesson_whose_answer_was_lost_is_not_stored_again(
    service: Service, place: Place, tools: Any
) -> None:
    service.raw["/add"] = b""
    lessons = tools.Listed([("one", "alone")])
    lessons.pooled = False
    with (
        pytest.raises(SystemFault, match="broke off"),
        open_system("http", replace(place, url=address(service))) as system,
    ):
        system.load(lessons)
    assert service.added == 1


def test_nobody_at_the_address_is_no_fault_of_the_contract(
    service: Service, place: Place, tiny: Any, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr("runner.systems.http.BUSY.backoff_factor", 0.0)
    service.server_close()
    service.shutdown()
    with pytest.raises(SystemAbsent, match=r"got no answer \(.*\); start the service, or check --system-url"):
        asked(service, place, tiny)
    assert main(["check-system", "http", "--system-url", address(service)]) == 3
    assert "error: POST http" in capsys.readouterr().err


def test_check_system_holds_it_to_the_contract(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    service.search = lambda rows: rows[:1] * 3
    assert main(["check-system", "http", "--system-url", address(service)]) == 1
    assert "the same memory of lesson" in capsys.readouterr().out
