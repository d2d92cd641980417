"""Every ending of a run is provoked, and is one sentence with its code: those of tests/endings.tsv."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pgmnemo.errors import PgmnemoError
from pgmnemo.models import http
from pgmnemo.postgres.bench_database import database_name
from pgmnemo.progress import QUIET, Progress
from runner import Request, run
from runner.protocol.datasets.suite import PARITY
from runner.systems import SYSTEMS, Lessons, Match, Query, System, SystemSpec
from tests.helping import CURRENT, endings, is_sentence, registering
from tests.service import Broken, chat, serving

ROOT = Path(__file__).parents[2]
BENCH = database_name(CURRENT)
TABLE = endings("run")


@dataclass(frozen=True)
class Stage:
    """What a case may use."""

    cli: Callable[..., Any]
    bench: Callable[..., Any]
    altered: Callable[..., Path]
    server: Any
    sql: Path
    folder: Path
    start: Callable[..., Any]
    patch: pytest.MonkeyPatch

    def file(self, content: str | bytes) -> Path:
        place = self.folder / "corpus.json"
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        return place

    def sample(self, *arguments: str) -> Any:
        return self.cli("sample", *arguments)


@pytest.fixture
def stage(
    cli: Any, bench: Any, altered: Any, server: Any, sql: Path, tmp_path: Path, start: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> Stage:  # fmt: skip
    return Stage(cli, bench, altered, server, sql, tmp_path, start, monkeypatch)


Case = Callable[[Stage], Any]
RERANK = ("sample", "--embedder", "none", "--rerank")
CASES: dict[str, Case] = {}
ending = registering(CASES)


for cause, arguments in {
    "no command": [],
    "an unknown command": ["nothing"],
    "an option before the command": ["--quiet", "sample"],
    "a needed option left out": ["score"],
    "an option without its value": ["sample", "--data"],
    "an unknown option": ["sample", "--nonsense"],
    "a word in place of a number": ["sample", "--limit", "x"],
    "an unknown embedder": ["sample", "--embedder", "x"],
    "an unknown question type": ["sample", "--types", "x"],
    "an unknown granularity": ["sample", "--granularity", "turn"],
    "an unknown mode": ["sample", "--mode", "x"],
    "a mode that needs vectors": ["sample", "--mode", "vector", "--embedder", "none"],
    "an unknown version": ["sample", "--embedder", "hash", "--version", "v9.9.9"],
    "an unknown version beside": ["sample", "--embedder", "hash", "--baselines", "pgmnemo@9.9.9"],
    "an unknown system": ["sample", "--embedder", "hash", "--system", "x"],
    "a version of a system that takes none": ["sample", "--embedder", "hash", "--baselines", "chroma@1"],
    "a system twice": ["sample", "--embedder", "hash", "--baselines", "chroma,chroma"],
    "a name of another form": ["sample", "--embedder", "hash", "--system", "x y"],
    "a setting without a value": ["sample", "--embedder", "hash", "--set", "x"],
    "an unknown setting": ["sample", "--embedder", "hash", "--baselines", "chroma:x=1"],
    "a mode by `--set`": ["sample", "--embedder", "hash", "--set", "mode=vector"],
    "an unknown wrapper": ["sample", "--embedder", "hash", "--baselines", "chroma+x"],
    "a wrapper that a system cannot bear": ["sample", "--embedder", "hash", "--system", "pgmnemo+passages"],
    "a system that needs vectors": ["sample", "--embedder", "none", "--baselines", "chroma"],
    "a mode of another system": ["sample", "--system", "sqlite-fts5", "--mode", "keyword"],
    "`--time-limit 0`": ["sample", "--embedder", "hash", "--time-limit", "0"],
    "an unknown template": ["sample", "--embedder", "hash", "--template", "x"],
    "`--jobs 0`": ["sample", "--embedder", "none", "--jobs", "0"],
    "passages that are no size and overlap": ["sample", "--embedder", "none", "--passages", "100/100"],
    "`--max-chars 0`": ["sample", "--embedder", "none", "--max-chars", "0"],
    "tokens of an embedder that cuts none": ["sample", "--embedder", "hash", "--max-tokens", "8"],
    "an unknown split": ["longmemeval", "--embedder", "none", "--split", "x"],
    "a split of a suite that has none": ["locomo", "--embedder", "none", "--split", "development"],
    "an unknown scope": ["sample", "--embedder", "none", "--scopes", "x"],
    "k = 0": ["sample", "--k", "0"],
    "k that is no number": ["sample", "--k", "five"],
    "`--limit 0`": ["sample", "--limit", "0"],
    "an unknown rewriter": ["sample", "--rewrite", "x"],
    "a rewriter without its service": ["sample", "--embedder", "none", "--rewrite", "llm"],
    "`--rewrite-timeout 0`": ["sample", "--rewrite", "llm", "--rewrite-timeout", "0"],
    "an unknown reranker": ["sample", "--rerank", "x"],
    "a reranker without its service": ["sample", "--embedder", "none", "--rerank", "llm-list"],
    "a local reranker without its model": ["sample", "--embedder", "none", "--rerank", "onnx"],
    "a reranker's model that is no folder": [*RERANK, "onnx", "--rerank-model", "/nonsense"],
    "`--rerank-depth 0`": ["sample", "--rerank", "linear", "--rerank-depth", "0"],
    "an address that is none": [*RERANK, "endpoint", "--rerank-url", "host", "--rerank-model", "m"],
    "an address that holds a password": [
        *RERANK,
        "endpoint",
        "--rerank-model",
        "m",
        "--rerank-url",
        "http://a:b@c",
    ],
    "an empty `--output`": ["sample", "--output", ""],
    "`--output` of the repository": ["sample", "--embedder", "none", "--output", str(ROOT)],
    "`--resume` of nothing": ["sample", "--resume", "/nonsense"],
    "a DSN that cannot be read": ["sample", "--embedder", "hash", "--dsn", "host"],
    "an embedder's option that is not positive": ["sample", "--dimensions", "0"],
    "an endpoint without its address": ["sample", "--embedder", "endpoint"],
    "a model that is no folder": ["sample", "--embedder", "minilm", "--model", "/nonsense"],
    "no file of one's own": ["file"],
    "no corpus": ["locomo", "--embedder", "none"],
    "a path without a corpus": ["sample", "--embedder", "none", "--data", "/nonsense"],
}.items():
    CASES[cause] = lambda stage, arguments=arguments: stage.cli(*arguments)  # type: ignore[misc]


@ending("a broken line in a file of one's own")
def _(stage: Stage) -> Any:
    turns = '{"id": 1, "turns": [{"text": "hello"}]}'
    return stage.cli("file", "--data", stage.file(f'{turns}\n{{"text": "?" "evidence": [1]}}'))


@ending("unknown evidence in a file of one's own")
def _(stage: Stage) -> Any:
    turns = '{"id": 1, "turns": [{"text": "hello"}]}'
    return stage.cli("file", "--data", stage.file(f'{turns}\n{{"text": "?", "evidence": [2]}}'))


@ending("a question that is too long")
def _(stage: Stage) -> Any:
    turns, asked = '{"id": 1, "turns": [{"text": "hello"}]}', "cat " * 50_000
    data = stage.file(f'{turns}\n{{"text": "{asked}", "evidence": [1]}}')
    words = ("file", "--data", data, "--embedder", "none")
    ended = stage.cli(*words)
    assert stage.cli(*words, "--dry-run") == ended
    return ended


@ending("a HISTORY.md of the user's own")
def _(stage: Stage) -> Any:
    results = stage.folder / "results"
    results.mkdir()
    (results / "HISTORY.md").write_text("# Release history of MyApp\n")
    return stage.bench()


@ending("`--resume` of a finished run")
def _(stage: Stage) -> Any:
    stage.bench("--limit", 1)
    return stage.bench("--resume", next((stage.folder / "results").glob("v*")))


@ending("`--resume` of another run")
def _(stage: Stage) -> Any:
    process = stage.start("sample", "--quiet", "--embedder", "hash", "--dsn", stage.server.dsn(),
                          "--output", stage.folder / "other", pause="bm25, pool")  # fmt: skip
    process.kill()
    process.communicate()
    return stage.bench("--limit", 3, "--resume", stage.folder / "other")


def longmemeval(stage: Stage, *arguments: str, others: int = 0) -> Any:
    """A run on one item, whose haystack has so many sessions beside the evidence."""
    item = {
        "question_id": "q1", "question_type": "multi-session", "question": "Which kite?", "answer": "red",
        "question_date": "2023/05/30 (Tue) 23:40", "answer_session_ids": ["answer_1"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"] * (others + 1),
        "haystack_session_ids": ["answer_1", *(f"s{number}" for number in range(others))],
        "haystack_sessions": [[{"role": "user", "content": "My kite is red."}]] * (others + 1),
    }  # fmt: skip
    return stage.cli(
        "longmemeval", "--embedder", "none", "--data", stage.file(json.dumps([item])), *arguments
    )


@ending("a split of which the file has nothing")
def _(stage: Stage) -> Any:
    [split] = [name for name, inside in PARITY.items() if not inside("q1")]
    return longmemeval(stage, "--split", split, others=1)


@ending("no question is left to ask")
def _(stage: Stage) -> Any:
    def drop(projects: list[dict[str, Any]]) -> None:
        for project in projects:
            project["questions"] = [q for q in project["questions"] if q["type"] != "recency"]

    return stage.bench("--data", stage.altered(drop), "--types", "recency")


@ending("another hash than the registered one")
def _(stage: Stage) -> Any:
    def alter(projects: list[dict[str, Any]]) -> None:
        projects[0]["sessions"][0]["turns"][0] += "!"

    return stage.bench("--data", stage.altered(alter))


@ending("an id or a label in an indexed text")
def _(stage: Stage) -> Any:
    def alter(projects: list[dict[str, Any]]) -> None:
        projects[0]["sessions"][0]["turns"][0] += " as in garden/s02"

    return stage.bench("--data", stage.altered(alter), "--allow-unregistered-corpus")


@ending("no gold can be resolved")
def _(stage: Stage) -> Any:
    conversation = {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Bo",
            "session_1_date_time": "12:05 am on 8 May, 2023",
            "session_1": [{"speaker": "Ana", "dia_id": "D1:1", "text": "Look!"}],
        },
        "qa": [{"question": "Which kite?", "answer": "red", "evidence": ["D7:1"], "category": 1}],
    }
    words = ["--data", stage.file(json.dumps([conversation])), "--allow-unregistered-corpus"]
    return stage.cli("locomo", "--quiet", "--embedder", "none", "--output", stage.folder / "results",
                     "--dsn", stage.server.dsn(), *words)  # fmt: skip


@ending("a patched extension in this checkout")
def _(stage: Stage) -> Any:
    folder = stage.folder / "sql"
    shutil.copytree(stage.sql, folder)
    with (folder / f"pgmnemo--{CURRENT}.sql").open("a") as script:
        script.write("\nALTER TABLE pgmnemo.lesson SET (fillfactor = 70);\n")
    words = ["--quiet", "--embedder", "hash", "--output", stage.folder / "results"]
    return stage.cli("sample", *words, sql=folder)


@ending("a missing script of a release")
def _(stage: Stage) -> Any:
    folder = stage.folder / "sql"
    shutil.copytree(stage.sql, folder)
    (folder / "pgmnemo--0.2.1.sql").unlink()
    return stage.cli("sample", "--version", "0.2.1", "--dry-run", sql=folder)


@ending("HISTORY.md cannot take the entry")
def _(stage: Stage) -> Any:
    (stage.folder / "results" / "HISTORY.md").mkdir(parents=True)
    return stage.bench()


@ending("a cut file")
def _(stage: Stage) -> Any:
    whole = stage.altered(lambda projects: None).read_bytes()
    return stage.bench("--data", stage.file(whole[:3000]))


class Odd(System):
    """Answers as it is told to, and keeps nothing."""

    def __init__(self, answer: Callable[[], Any]) -> None:
        self.answer = answer

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> dict[str, float]:
        return {}

    def ask(self, query: Query, k: int) -> Any:
        return self.answer()


def odd(
    stage: Stage, answer: Callable[[], Any], *words: object, packages: tuple[str, ...] = (),
    role: str = "--system",
) -> Any:  # fmt: skip
    kind = SystemSpec(
        "Odd", "an odd one", lambda _: Odd(answer), packages, remedy="pip install odd", vectors=False
    )
    stage.patch.setitem(SYSTEMS._members, "odd", kind)
    return stage.bench(role, "odd", *words)


@ending("a model that cannot be downloaded")
def _(stage: Stage) -> Any:
    stage.patch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    stage.patch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:1")
    stage.patch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(stage.folder / "hub"))
    return stage.bench("--embedder", "dragon-plus")


@ending("no pgvector on the server")
def _(stage: Stage) -> Any:
    stage.server.execute(f"ALTER DATABASE {BENCH} RENAME TO aside")
    try:
        # a role that sees an empty list of extensions stands for a server without pgvector
        stage.server.execute("CREATE ROLE bare SUPERUSER LOGIN")
        stage.server.execute("ALTER ROLE bare SET search_path = bare, pg_catalog")
        stage.server.execute("CREATE SCHEMA bare CREATE VIEW bare.pg_available_extensions AS "
                             "SELECT name, default_version FROM pg_catalog.pg_available_extensions "
                             "WHERE name <> 'vector'")  # fmt: skip
        return stage.bench("--dsn", stage.server.dsn(user="bare"))
    finally:
        stage.server.execute("DROP SCHEMA IF EXISTS bare CASCADE")
        stage.server.execute("DROP ROLE IF EXISTS bare")
        stage.server.execute(f"ALTER DATABASE aside RENAME TO {BENCH}")


@ending("a foreign or patched extension in the database")
def _(stage: Stage) -> Any:
    stage.server.execute("ALTER FUNCTION pgmnemo.version() SET work_mem = '5MB'", BENCH)
    try:
        return stage.bench()
    finally:
        stage.server.execute("ALTER FUNCTION pgmnemo.version() RESET work_mem", BENCH)


@ending("another version in the database")
def _(stage: Stage) -> Any:
    stage.server.execute(f"ALTER DATABASE {BENCH} RENAME TO aside")
    stage.server.execute(f"CREATE DATABASE {BENCH}")
    try:
        stage.server.execute("CREATE SCHEMA pgmnemo", BENCH)
        return stage.bench()
    finally:
        stage.server.execute(f"DROP DATABASE {BENCH} WITH (FORCE)")
        stage.server.execute(f"ALTER DATABASE aside RENAME TO {BENCH}")


@ending("another run works on the same corpus")
def _(stage: Stage) -> Any:
    stage.start("sample", "--embedder", "hash", "--dsn", stage.server.dsn(),
                "--output", stage.folder / "other", pause="bm25, pool")  # fmt: skip
    return stage.bench()


REWRITE = ("--rewrite", "llm", "--rewrite-model", "m", "--rewrite-url")


def asking(stage: Stage, answer: Any, *arguments: str) -> Any:
    """The sample asked in the words of a model behind a server of the test."""
    stage.patch.setattr(http, "LONGEST_PAUSE", 0.0)
    with serving(lambda _, body: answer(body) if callable(answer) else answer) as server:
        if isinstance(answer, Broken):
            server.broken = [answer]
        return stage.bench(*REWRITE, server.url, *arguments)


@ending("a service that is not there")
def _(stage: Stage) -> Any:
    stage.patch.setattr(http, "LONGEST_PAUSE", 0.0)
    return stage.bench(*REWRITE, "http://127.0.0.1:1/v1")


@ending("a cross-encoder that is none")
def _(stage: Stage) -> Any:
    place = stage.folder / "model"
    place.mkdir()
    (place / "config.json").write_text('{"architectures": ["BertModel"]}')
    (place / "model.onnx").write_bytes(b"x")
    return stage.bench("--rerank", "onnx", "--rerank-model", place)


CASES |= {
    "an unknown setting of pgmnemo": lambda stage: stage.bench("--set", "bm25_c=1"),
    "a setting of pgmnemo out of its range": lambda stage: stage.bench("--set", "bm25_b=2"),
    "LongMemEval's oracle file": lambda stage: longmemeval(stage),
    "a file of another form": lambda stage: stage.bench("--data", stage.file('[{"a": 1}]')),
    "an empty file": lambda stage: stage.bench("--data", stage.file("")),
    "a system that is not installed": lambda stage: odd(stage, list, packages=("no-such-package",)),
    "a system that fails under test": lambda stage: odd(stage, lambda: 1 / 0),
    "a system that hangs": lambda stage: odd(stage, lambda: time.sleep(5), "--time-limit", "0.2"),
    "a system that answers wrongly": lambda stage: odd(stage, lambda: [Match(99)]),
    "a system beside the one under test that fails": lambda stage: odd(
        stage, lambda: 1 / 0, "--limit", 3, role="--baselines"
    ),
    "no database answers": lambda stage: stage.bench("--dsn", "postgresql://127.0.0.1:1/nothing"),
    "a database that is read-only": lambda stage: stage.bench(
        "--dsn", stage.server.dsn(options="-c default_transaction_read_only=on")
    ),
    "a service that refuses the key": lambda stage: asking(stage, Broken(401, b"who are you")),
    "a service that answers no JSON": lambda stage: asking(stage, Broken(content=b"<html>")),
    "a language model that is none": lambda stage: asking(stage, {"object": "list"}),
    "a rewriter that fails too often": lambda stage: asking(
        stage, lambda body: chat("I\ncannot"), "--rewrite-failures", "2"
    ),
    "results cannot be written": lambda stage: stage.bench("--output", stage.file("a file") / "results"),
}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    try:
        command = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(place)]
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting a small file system needs root")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def holds(cause: str, ended: Any) -> None:
    row = TABLE[cause]
    assert is_sentence(row, ended.sentence), ended.sentence
    assert ended.code == int(row["code"])


@pytest.mark.parametrize("cause", CASES)
def test_an_ending_is_its_sentence(cause: str, stage: Stage) -> None:
    ended = CASES[cause](stage)
    holds(cause, ended)
    assert not list((stage.folder / "results").glob(".*"))  # nothing half-made is left
    reports = list((stage.folder / "results").glob("*/BLOCKED.md"))
    assert len(reports) == (ended.code == 1)


def test_a_full_disk_keeps_what_was_done(stage: Stage, small_disk: Path) -> None:
    ended = stage.bench("--output", small_disk)
    holds("a full disk", ended)
    partial = Path(ended.sentence.rpartition("--resume ")[2].partition(" goes on")[0])
    assert (partial / "raw_retrievals.jsonl").stat().st_size > 10_000
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    assert stage.bench("--output", small_disk, "--resume", partial).code == 0


def test_a_reranker_that_fails_too_often_keeps_what_was_done(stage: Stage) -> None:
    stage.patch.setattr(http, "LONGEST_PAUSE", 0.0)
    ours = ("--system", "sqlite-fts5", "--embedder", "none", "--limit", "6")
    options = (*ours, "--rerank", "llm-list", "--rerank-model", "m", "--rerank-failures", "1", "--rerank-url")
    with serving(lambda *_: chat("the first, I think")) as server:
        ended = stage.bench(*options, server.url)
        holds(REFUSED, ended)
        server.answer = lambda *_: chat("[2, 1]")
        partial = Path(ended.sentence.rpartition("--resume ")[2].partition(" goes on")[0])
        assert stage.bench(*options, server.url, "--resume", partial).code == 0


def test_the_api_refuses_another_hash_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    with pytest.raises(PgmnemoError) as refused:
        run(Request("sample", embedder="hash"))
    row = TABLE["`PYTHONHASHSEED` is not 42, from Python"]
    assert f"wrong use: {refused.value}" == row["sentence"]
    assert refused.value.code == int(row["code"])


def test_every_ending_is_provoked() -> None:
    elsewhere = {
        "a full disk", REFUSED, BARE, "`PYTHONHASHSEED` is not 42, from Python", "Ctrl-C or SIGTERM", OTHERS,
    }  # fmt: skip
    assert set(TABLE) == set(CASES) | elsewhere


REFUSED = "a reranker that fails too often"
BARE = "a Python without the packages"


def test_a_python_without_the_packages_is_told_apart() -> None:
    words = [sys.executable, "-S", "-m", "runner", "sample"]  # -S: without site-packages
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    holds(BARE, SimpleNamespace(code=done.returncode, sentence=done.stderr.strip()))


OTHERS = "another suite's file"


def test_another_suites_file_is_called_by_its_name(stage: Stage, locomo_path: Path) -> None:
    ended = stage.cli("longmemeval", "--embedder", "none", "--data", locomo_path)
    holds(OTHERS, ended)
