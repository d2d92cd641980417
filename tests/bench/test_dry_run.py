"""A dry run shows every gate, ends in 0 or 1, and leaves no trace of itself anywhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.postgres.bench_database import database_name
from runner.protocol.editions import current
from tests.helping import CURRENT

BENCH = database_name(CURRENT)
CATALOGUES = ("pg_database", "pg_roles", "pg_extension", "pg_namespace", "pg_class", "pg_proc")


def traces(server: Any) -> dict[str, Any]:
    """What a dry run could leave on a server: rows of the catalogues, rows of ours, grants."""
    found = {
        f"{catalogue} of {database}": server.execute(f"SELECT md5(string_agg({catalogue}::text, '' ORDER BY "
                                                     f"{catalogue}::text)) FROM {catalogue}", database)
        for database in ("postgres", BENCH) for catalogue in CATALOGUES
    }  # fmt: skip
    ours = ("lesson", "lesson_edge", "passage", "posting", "tenant_grant")
    return found | {table: server.execute(f"SELECT count(*) FROM pgmnemo.{table}", BENCH) for table in ours}


def files(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def test_it_prints_every_gate_and_leaves_nothing(
    bench: Callable[..., Any], server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    before, there = traces(server), files(tmp_path)
    ended = bench("--dry-run")
    assert ended.code == 0
    rows = [line.split()[1] for line in ended.out.splitlines() if line.startswith("| ")]
    assert rows == ["gate", *current().gates]
    assert ended.out.splitlines()[-1].startswith("dry run: the verdict would be deviation")
    assert "embedder: use --embedder minilm, without options" in ended.out
    assert (traces(server), files(tmp_path)) == (before, there)


def test_a_gate_that_fails_makes_it_end_in_1_and_writes_no_report(
    bench: Callable[..., Any], altered: Callable[..., Path], tmp_path: Path
) -> None:
    def alter(projects: list[dict[str, Any]]) -> None:
        projects[0]["sessions"][0]["turns"][0] += "!"

    data = altered(alter)
    there = files(tmp_path)
    ended = bench("--dry-run", "--data", data)
    assert ended.code == 1
    assert "the verdict would be blocked" in ended.out
    assert "dataset: restore sample.json from the repository" in ended.out
    assert files(tmp_path) == there


def test_the_database_that_is_yet_to_be_made_is_not_made(bench: Callable[..., Any], server: Any) -> None:
    server.execute(f"ALTER DATABASE {BENCH} RENAME TO aside")
    try:
        before = server.execute("SELECT datname FROM pg_database ORDER BY datname")
        ended = bench("--dry-run")
        assert server.execute("SELECT datname FROM pg_database ORDER BY datname") == before
    finally:
        server.execute(f"ALTER DATABASE aside RENAME TO {BENCH}")
    assert ended.code == 0


LOCOMO = [{
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ana", "speaker_b": "Bo", "session_1_date_time": "12:05 am on 8 May, 2023",
        "session_1": [{"speaker": "Ana", "dia_id": "D1:1", "text": "I have a red kite."}],
    },
    "qa": [{"question": "Which kite?", "answer": "red", "evidence": ["D1:1"], "category": 4}],
}]  # fmt: skip


@pytest.mark.parametrize(("packaged", "other"), [(True, "minilm"), (False, "none")])
def test_where_the_canonical_model_cannot_be_had_it_names_an_embedder_that_works_here(
    cli: Callable[..., Any],
    server: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    packaged: bool,
    other: str,
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    if not packaged:
        monkeypatch.setattr("pgmnemo.embedders.minilm.PACKAGE", "no_package_of_this_name")
    (tmp_path / "locomo10.json").write_text(json.dumps(LOCOMO))
    words = (
        "locomo", "--dry-run", "--quiet", "--data", tmp_path, "--dsn", server.dsn(), "--output", tmp_path,
    )  # fmt: skip
    ended = cli(*words)
    assert (ended.code, ended.out) == (3, "")
    assert ended.sentence.endswith(f"(--model); --embedder {other} works here, as a labelled deviation")
    assert packaged or cli(*words, "--embedder", other).code == 1
