"""A run with a rewriter: every arm is asked the rewriter's words, and what it did is counted and verified."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import runner
from pgmnemo.errors import ModelError
from pgmnemo.models import http
from runner.bench.finish import RunResult
from runner.errors import ResumeFault
from runner.protocol.datasets import SUITES
from runner.runs.canonical import compact
from runner.runs.results import read_results
from runner.runs.timings import asked_sha256
from runner.stages.rewriters import RewriteOptions
from runner.stages.rewriters.llm import PROMPT
from runner.verification import CheckStatus
from tests.service import Server, chat, serving

pytest.importorskip("bm25s")
Make = Callable[..., RunResult]
TEXTS = [one.text for one in SUITES["sample"].load(SUITES["sample"].locate(None, {})).questions]
HEAD = PROMPT.partition("{question}")[0]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A run of the sample by an in-process system, beside exact cosine."""
    monkeypatch.setenv("PYTHONHASHSEED", "42")
    monkeypatch.setattr(http, "LONGEST_PAUSE", 0.0)

    def run(
        server: Server | None = None, resume: Path | None = None, rewrite: str = "", **told: Any
    ) -> RunResult:
        options = RewriteOptions(
            rewrite_url=server.url if server else None, rewrite_model="m",
            rewrite_cache=tmp_path / "cache", **told,
        )  # fmt: skip
        request = runner.Request(
            "sample", system="bm25s", embedder="hash", scopes=("pool",),
            rewrite="llm" if server else rewrite or None, rewrite_options=options,
            output=tmp_path / "out", resume=resume,
        )  # fmt: skip
        return runner.run(request)

    return run


def asked(body: Any) -> str:
    """The question in a prompt."""
    content: str = body["messages"][0]["content"]
    return content.removeprefix(HEAD).partition("\n")[0] if content.startswith(HEAD) else ""


def next_one(_: str, body: Any) -> Any:
    """Another question of the sample in place of each."""
    text = asked(body)
    return chat(TEXTS[(TEXTS.index(text) + 1) % len(TEXTS)] if text else "yes")


def test_every_arm_is_asked_the_words_of_the_rewriter(make: Make) -> None:
    plain = make()
    with serving(next_one) as server:
        done = make(server)
    before, after = (
        {(row.arm, row.question): row.ranking for row in read_results(one.folder).rows}
        for one in (plain, done)
    )
    keys = [question for arm, question in before if arm == "bm25s"]
    for arm in ("bm25s", "cosine"):
        for place, key in enumerate(keys):
            assert after[arm, key] == before[arm, keys[(place + 1) % len(keys)]], (arm, key)
    assert {key: after["random", key] for key in keys} == {key: before["random", key] for key in keys}


def test_what_was_asked_is_recorded_counted_and_verified(make: Make) -> None:
    with serving(next_one) as server:
        first = make(server)
        asked_for = len(server.requests)
        again = make(server)
    assert asked_for == len(TEXTS) + 1  # and once whether anybody is there
    assert len(server.requests) == asked_for
    results = read_results(first.folder)
    assert [one.asked_sha256 for one in results.rewrites] == [
        asked_sha256(text) for text in (*TEXTS[1:], TEXTS[0])
    ]
    whole, *types = first.run.rewrites
    assert (whole.type, whole.n, whole.changed, whole.calls, whole.cached, whole.failures) == (
        "all", 36, 36, 36, 0, 0,
    )  # fmt: skip
    assert sum(one.n for one in types) == 36
    assert [(one.calls, one.cached) for one in again.run.rewrites[:1]] == [(0, 36)]
    raw = "raw_retrievals.jsonl"
    assert (first.folder / raw).read_bytes() == (again.folder / raw).read_bytes()
    assert first.run.name.endswith("_rewrite-llm")
    assert "every question asked in the words of the rewriter llm (--rewrite)" in " ".join(
        first.run.deviations
    )
    assert "## Rewritten" in (first.folder / "report.md").read_text()
    page = (first.folder / "report.html").read_text()
    assert "asked in the words of the rewriter llm." in page
    assert "36 of 36 questions were asked in other words, 0 failed" in page
    assert not any(text in path.read_text() for path in first.folder.iterdir() for text in TEXTS)
    assert [one.sentence for one in runner.verify(first.folder).faults] == []


CHANGES = [
    ({"changed": False}, "whether its words were changed is not as the line says"),
    ({"question": "garden/q02"}, "rewrites.jsonl is not of the questions of the raw rankings"),
    ({"asked_sha256": asked_sha256(TEXTS[0])}, "whether its words were changed is not as the line says"),
    ({"asked_sha256": "0" * 64}, "words gives other words than were asked"),
]


def test_a_line_that_is_changed_is_found(make: Make) -> None:
    folder, corpus = make(rewrite="words").folder, SUITES["sample"].locate(None, {})
    checks = {one.check: one for one in runner.verify(folder, corpus=corpus).answers}
    assert checks["rewrites"].found is CheckStatus.HOLDS
    assert checks["rewrites"].sentence.endswith("; the rewriter gives the words that were asked")
    whole = (folder / "rewrites.jsonl").read_text()
    first, *rest = whole.splitlines()
    for change, sentence in CHANGES:
        line = compact({**json.loads(first), **change})
        (folder / "rewrites.jsonl").write_text("\n".join([line, *rest, ""]))
        checks = {one.check: one for one in runner.verify(folder, corpus=corpus).answers}
        assert checks["manifest"].found is CheckStatus.WRONG
        assert (checks["rewrites"].found, sentence in checks["rewrites"].sentence) == (
            CheckStatus.WRONG,
            True,
        )


def test_a_question_that_cannot_be_rewritten_is_asked_as_it_stands_and_counted(make: Make) -> None:
    plain = make()
    with serving(lambda _, body: chat("") if asked(body) in TEXTS[:3] else next_one(_, body)) as server:
        done = make(server)
    lines = read_results(done.folder).rewrites
    assert [bool(one.failed) for one in lines] == [True] * 3 + [False] * 33
    assert (done.run.rewrites[0].failures, done.run.rewrites[0].changed) == (3, 33)
    before, after = (
        {(row.arm, row.question): row.ranking for row in read_results(one.folder).rows}
        for one in (plain, done)
    )
    for one in lines[:3]:
        assert after["bm25s", one.question] == before["bm25s", one.question]
    assert [one.sentence for one in runner.verify(done.folder).faults] == []


def test_beyond_the_limit_the_run_fails_in_one_sentence_and_nothing_is_lost(
    make: Make, tmp_path: Path
) -> None:
    with serving(lambda _, body: chat("") if asked(body) in TEXTS[20:] else next_one(_, body)) as server:
        with pytest.raises(ModelError, match="failed on 3 questions, and --rewrite-failures allows 2") as end:
            make(server, rewrite_failures=2)
        assert end.value.__notes__ == ["what was rewritten is kept: the same command goes on with it"]
        assert list((tmp_path / "out").iterdir()) == []
        server.answer, before = next_one, len(server.requests)
        done = make(server, rewrite_failures=2)
    assert len(server.requests) == before + 16 + 1
    assert (done.run.rewrites[0].calls, done.run.rewrites[0].cached) == (16, 20)


@pytest.fixture
def torn(make: Make, monkeypatch: pytest.MonkeyPatch) -> Callable[[Server], Path]:
    """The partial folder of a run that was interrupted before anything was recalled."""

    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    def run(server: Server) -> Path:
        with monkeypatch.context() as patch:
            patch.setattr("runner.bench.pipeline.measure_under_test", stop)
            with pytest.raises(KeyboardInterrupt) as end:
                make(server)
        return Path(end.value.__notes__[0].split()[1])

    return run


def test_a_run_that_goes_on_asks_what_it_asked_before(make: Make, torn: Callable[[Server], Path]) -> None:
    with serving(lambda _, body: chat("") if asked(body) == TEXTS[0] else next_one(_, body)) as server:
        partial = torn(server)
        before = (partial / "rewrites.jsonl").read_bytes()
        server.answer = lambda *_: chat("something else")
        done = make(server, partial)
    assert (done.folder / "rewrites.jsonl").read_bytes() == before  # what failed stays as it was asked


def test_a_run_that_goes_on_in_other_words_is_refused(
    make: Make, torn: Callable[[Server], Path], tmp_path: Path
) -> None:
    with serving(next_one) as server:
        partial = torn(server)
        for file in (tmp_path / "cache").iterdir():
            file.unlink()
        server.answer = lambda *_: chat("something else")
        with pytest.raises(ResumeFault, match=r"has other words for .* than the rewriter gives"):
            make(server, partial)
    assert (partial / "rewrites.jsonl").exists()
