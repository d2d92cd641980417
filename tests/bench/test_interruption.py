"""A run that is killed or interrupted leaves nothing but what --resume completes, to the same bytes."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from pgmnemo.postgres.bench_database import database_name
from runner.bench import pipeline
from runner.runs import environment
from runner.runs.environment import Code
from runner.systems import missing_parts, spec_of
from tests.helping import CURRENT, until

RAW = "raw_retrievals.jsonl"
BENCH = database_name(CURRENT)
STAGES = {"embed": "hash batches", "ingest": "ingest", "recall": "bm25, conversation"}
ENDINGS = {signal.SIGINT: 130, signal.SIGTERM: 130, signal.SIGKILL: -signal.SIGKILL}
WORDS = ("sample", "--embedder", "hash", "--batch-size", 8)


@pytest.fixture(scope="session")
def whole(request: pytest.FixtureRequest) -> dict[str, bytes]:
    """Raw bytes of an uninterrupted run, once it was made."""
    return {}


@pytest.fixture
def expected(whole: dict[str, bytes], cli: Callable[..., Any], server: Any, tmp_path: Path) -> bytes:
    if not whole:
        folder = tmp_path / "whole"
        words = ("--quiet", "--output", folder, "--cache", tmp_path / "other", "--dsn", server.dsn())
        assert cli(*WORDS, *words).code == 0
        whole[RAW] = next(folder.glob(f"v*/{RAW}")).read_bytes()
    return whole[RAW]


@pytest.mark.parametrize(
    ("stage", "ending"),
    [("embed", signal.SIGKILL), ("ingest", signal.SIGINT), ("recall", signal.SIGKILL)],
)
def test_resume_ends_in_the_bytes_of_a_run_that_was_not_interrupted(
    stage: str, ending: signal.Signals, expected: bytes, start: Callable[..., Any], cli: Callable[..., Any],
    server: Any, tmp_path: Path, open_folder: Path,
) -> None:  # fmt: skip
    words = (*WORDS, "--output", tmp_path / "results", "--cache", tmp_path / "cache")
    process = start(*words, pause=STAGES[stage], temporary=open_folder)
    assert servers(open_folder)
    process.send_signal(ending)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == ENDINGS[ending]
    nothing_lives_in(open_folder)
    [partial] = (tmp_path / "results").glob(".*.partial")
    if ending is not signal.SIGKILL:
        assert complaint.splitlines()[-1] == f"interrupted; --resume {partial} goes on where it stopped"
    ended = cli(*words, "--resume", tmp_path / "results", "--dsn", server.dsn(), "--quiet")
    assert ended.code == 0
    [place] = (tmp_path / "results").glob("v*")
    assert (place / RAW).read_bytes() == expected


@pytest.fixture
def killed(start: Callable[..., Any], server: Any, tmp_path: Path) -> Path:
    """The partial folder of a run that was killed, which `bench` can resume."""
    words = ("sample", "--embedder", "hash", "--output", tmp_path / "results", "--dsn", server.dsn())
    process = start(*words, "--quiet", pause="bm25, pool")
    process.kill()
    process.communicate()
    [partial] = (tmp_path / "results").glob(".*.partial")
    return Path(partial)


def test_a_run_is_resumed_only_by_the_code_that_began_it(
    killed: Path, bench: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = pipeline.code(pipeline.ROOT)
    mine = environment.code_plan(pipeline.ROOT, begun)["uncommitted changes"]
    monkeypatch.setattr(environment, "_changes", lambda root: "c" * 64)
    for code, words in {
        Code("ab" * 20, begun.dirty): f"had commit = {begun.commit}, this one {'ab' * 20}; ",
        Code(begun.commit, True): f"had uncommitted changes = {mine}, this one {'c' * 64}; ",
    }.items():
        monkeypatch.setattr(pipeline, "code", lambda root, code=code: code)
        ended = bench("--resume", killed)
        assert ended.code == 2
        assert words in ended.sentence
        assert ended.sentence.endswith("; check out the code of then, or start anew without --resume")
    monkeypatch.undo()
    monkeypatch.setenv("PYTHONHASHSEED", "42")
    plan = (killed / "plan.json").read_text()
    (killed / "plan.json").write_text(plan.replace('"commit"', '"version of the runner"'))
    ended = bench("--resume", killed)
    assert ended.code == 3
    assert f"{killed / 'plan.json'} was written by another version of the runner; start" in ended.sentence
    (killed / "plan.json").write_text(plan)
    assert bench("--resume", killed).code == 0


def test_a_line_that_this_run_did_not_write_is_no_part_of_it(
    killed: Path, bench: Callable[..., Any], tmp_path: Path
) -> None:
    raw = killed / RAW
    before = raw.read_text()
    lines = before.splitlines()
    faults = {
        f"{before}garbage\n": f"line {len(lines) + 1} is no retrieval (",
        before.replace('"arm":"bm25"', '"arm":"bm26"'): "bm26, conversation, which this run does not ask",
        before.replace('"scope":"pool"', '"scope":"lake"'): "lake, which this run does not ask",
        before.replace('"question":"garden/q01"', '"question":"garden/q99"'): "line 1 is of garden/q99, ",
        before.replace('"gold":["', '"gold":["x'): "line 1 has not the type, project or gold of garden/q01",
        before.replace('[["garden/', '[["nowhere/', 1): "line 1 ranks nowhere/s0",
    }
    for text, words in faults.items():
        assert text != before, words
        raw.write_text(text)
        for _ in range(2):
            ended = bench("--resume", killed)
            assert ended.code == 3
            assert f"error: --resume: {killed} cannot be completed: {RAW}, " in ended.sentence
            assert words in ended.sentence
            assert ended.sentence.endswith("; start anew without --resume")
    raw.write_text(f"{before}half a li")
    assert bench("--resume", killed).code == 0


@pytest.mark.parametrize("ending", [signal.SIGTERM], ids=lambda ending: ending.name)
def test_what_a_system_beside_wrote_goes_with_the_run(
    ending: signal.Signals, start: Callable[..., Any], cli: Callable[..., Any], server: Any, tmp_path: Path,
    open_folder: Path,
) -> None:  # fmt: skip
    if sentence := missing_parts(spec_of("sqlite-fts5")):
        pytest.skip(sentence)
    words = (*WORDS, "--output", tmp_path / "results", "--baselines", "sqlite-fts5", "--dsn", server.dsn())
    process = start(*words, pause="sqlite-fts5, conversation", temporary=open_folder)
    assert list(open_folder.rglob("*.sqlite"))
    process.send_signal(ending)
    process.communicate(timeout=60)
    assert process.returncode == ENDINGS[ending]
    nothing_lives_in(open_folder)
    assert cli(*words, "--resume", tmp_path / "results", "--quiet").code == 0


def servers(folder: Path) -> list[psutil.Process]:
    """The PostgreSQL processes whose data lie in `folder`."""
    return [one for one in psutil.process_iter(["cmdline"]) if any(
        word.startswith(str(folder)) for word in one.info["cmdline"] or ())]  # fmt: skip


def nothing_lives_in(folder: Path) -> None:
    """A run that ends itself has tidied up; after SIGKILL a watchdog does, a moment later."""
    until(lambda: not servers(folder) and not any(folder.iterdir()))


def test_a_killed_run_leaves_rows_that_the_next_one_takes_away(
    start: Callable[..., Any], bench: Callable[..., Any], server: Any, tmp_path: Path
) -> None:
    words = ("sample", "--embedder", "hash", "--output", tmp_path / "other", "--dsn", server.dsn())

    def stored() -> int:
        [(count,)] = server.execute("SELECT count(*) FROM pgmnemo.lesson", BENCH)
        return int(count)

    def cleared() -> bool:
        """After a run, which takes the rows away once the server has noticed the death of whose they are."""
        return bench().code == 0 and stored() == 0

    until(cleared)  # of what other killed runs have left
    process = start(*words, pause="bm25, pool")
    process.kill()
    process.communicate()
    assert stored() == 39
    until(cleared)


def test_two_runs_at_once_have_a_server_and_a_folder_each(
    start: Callable[..., Any], tmp_path: Path, open_folder: Path
) -> None:
    words = ("sample", "--embedder", "hash", "--output", tmp_path / "results", "--limit", 3, "--quiet")
    both = [start(*words, temporary=open_folder) for _ in range(2)]
    for process in both:
        out, complaint = process.communicate(timeout=60)
        assert process.returncode == 0, complaint
        assert "artefacts: " in out
    raws = {path.read_bytes() for path in (tmp_path / "results").glob(f"v*/{RAW}")}
    assert len(list((tmp_path / "results").glob("v*"))) == 2
    assert len(raws) == 1
    assert (tmp_path / "results" / "HISTORY.md").read_text().count("\n## ") == 2
    assert not list(open_folder.iterdir())


def test_a_connection_that_breaks_off_is_one_sentence(
    start: Callable[..., Any], server: Any, tmp_path: Path
) -> None:
    words = ("sample", "--embedder", "hash", "--output", tmp_path / "results", "--dsn", server.dsn())
    process = start(*words, pause="pgmnemo, pool", wait=1)
    server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                   f"WHERE datname = '{BENCH}' AND pid <> pg_backend_pid()")  # fmt: skip
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "Traceback" not in complaint
    assert f"error: the connection to the database {BENCH} was lost" in complaint.splitlines()[-1]
