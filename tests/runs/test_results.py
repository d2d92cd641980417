"""A results folder is read once, and only what is of the schema that it names."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.errors import UsageError
from runner.records import RankedSegment
from runner.runs.canonical import pretty
from runner.runs.raw import read_raw
from runner.runs.results import Results, Unreadable, is_run, read_results
from runner.runs.run import Arm, write_run
from runner.runs.timings import Timing


@pytest.fixture(scope="module")
def whole(finish: Callable[..., Any]) -> Path:
    """A finished run, which no test changes."""
    place: Path = finish().folder
    return place


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(whole, tmp_path / "run")


def change(path: Path, **facts: Any) -> None:
    """Change some facts of a JSON file."""
    path.write_text(pretty({**json.loads(path.read_bytes()), **facts}), encoding="utf-8")


def list_anew(folder: Path, name: str) -> None:
    """Let the manifest list a file as it stands."""
    files = json.loads((folder / "manifest.json").read_bytes())["files"]
    for entry in files:
        if entry["name"] == name:
            entry["sha256"] = sha256((folder / name).read_bytes()).hexdigest()
    change(folder / "manifest.json", files=files)


def test_rows_are_the_raw_lines_without_scores_and_detailed_ones_have_them(whole: Path) -> None:
    results, read = Results(whole), list(read_raw(whole / "raw_retrievals.jsonl"))
    assert results.rows == [
        replace(row, ranking=tuple(RankedSegment(hit.id) for hit in row.ranking)) for row in read
    ]
    tens = [
        replace(row, ranking=tuple(hit if hit.components else RankedSegment(hit.id) for hit in row.ranking))
        for row in read
    ]
    assert list(results.detailed()) == tens
    first = next(results.detailed())
    assert [bool(hit.components) for hit in first.ranking] == [True] * 10 + [False] * 3


def test_raw_lines_are_counted_and_timings_are_records(whole: Path) -> None:
    results: Results = read_results(whole)
    arms = [arm.name for arm in results.run.arms]
    scopes = [scope.name for scope in results.run.scopes]
    assert list(results.counts) == [(arm, scope) for arm in arms for scope in scopes]
    assert set(results.counts.values()) == {36}
    line = json.loads((whole / "timings.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert results.timings[0] == Timing(**line)


def test_a_record_is_read_back_as_it_was_written(whole: Path, tmp_path: Path) -> None:
    former = Results(whole).run
    choice = replace(former.choice, k=(1, 5), limit=3, types=("graph",), settings={"bm25_b": "0.4"})
    other = Arm(
        "chroma", "a library", "system", "Chroma", "1.0", "never", facts={"space": "cosine"},
        load_seconds={"write": 1.5}, disk_bytes=7, remarks=("slow",), failed="it fell over",
    )  # fmt: skip
    run = replace(former, choice=choice, arms=(*former.arms, other))
    document = write_run(tmp_path, run)
    read = Results(tmp_path).run
    assert read == run
    assert read.document() == document


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _unlist(path: Path) -> None:
    files = json.loads(path.read_bytes())["files"]
    change(path, files=[entry for entry in files if entry["name"] != "raw_retrievals.jsonl"])


def _put(text: bytes) -> Callable[[Path], None]:
    def put(path: Path) -> None:
        path.write_bytes(text)

    return put


@pytest.mark.parametrize(
    ("name", "damage", "fact", "sentence"),
    [
        ("run.json", Path.unlink, "run", r"^run\.json cannot be read \(No such file or directory\)$"),
        ("run.json", _put(b'{"\xff": 1}'), "run", r"^run\.json is no UTF-8 text \(byte 2\)$"),
        ("run.json", _put(b"{"), "run", r"^run\.json is not JSON \("),
        ("run.json", _put(b'{"schema": "pgmnemo/run/9"}'), "run", "names the schema pgmnemo/run/9; known"),
        ("run.json", lambda path: change(path, seed="42"), "run", r"is not of its schema: it\.seed must be"),
        ("metrics.json", lambda path: change(path, results=7), "metrics", "is not of its schema"),
        ("raw_retrievals.jsonl", _cut, "raw", r"^raw_retrievals\.jsonl ends in the middle of a line$"),
        ("raw_retrievals.jsonl", _put(b"{}\n"), "rows", "line 1, is not of its schema"),
        ("timings.jsonl", _put(b'{"question": "q"}\n'), "timings", "line 1, is not of its schema"),
        ("manifest.json", _unlist, "raw", r"^raw_retrievals\.jsonl names the schema None; known here",),
    ],
)  # fmt: skip
def test_what_is_missing_or_damaged_is_told_in_half_a_sentence(
    folder: Path, name: str, damage: Callable[[Path], None], fact: str, sentence: str
) -> None:
    damage(folder / name)
    with pytest.raises(Unreadable, match=sentence):
        getattr(Results(folder), fact)


def test_a_record_that_no_run_can_have_made_is_told(folder: Path) -> None:
    change(folder / "run.json", started="2026-13-32T25:61:61Z")
    with pytest.raises(Unreadable, match=r"^run\.json cannot be read as a run \(.*started"):
        _ = Results(folder).run


@pytest.mark.parametrize("name", ["run.json", "BLOCKED.md"])
def test_one_file_is_enough_to_see_a_damaged_run(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert is_run(tmp_path)


def test_a_run_of_an_edition_that_is_not_known_here_says_so(folder: Path) -> None:
    change(folder / "run.json", protocol={"version": "9.0.0", "sha256": "ab" * 32, "pins_sha256": "ab" * 32})
    list_anew(folder, "run.json")
    results: Results = read_results(folder)
    with pytest.raises(UsageError, match=r"protocol 9\.0\.0 is not known here; known are: 2\.2\.0"):
        _ = results.edition
