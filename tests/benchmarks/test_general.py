"""The table over corpora of any kind: a made-up corpus is measured once, and wrong names are refused."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from benchmarks import general
from runner.records import RankedSegment, Retrieval

NOTES = {"s1": "Die Rechnung kam am Montag.", "s2": "我们明天去北京。", "s3": "The router drops the line."}
QUESTIONS = {"Wann kam die Rechnung?": "s1", "谁去北京": "s2", "What does the router drop?": "s3"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one corpus of three notes in three languages."""
    lines = [{"id": key, "turns": [{"text": text}]} for key, text in NOTES.items()]
    questions = [{"text": text, "evidence": [key]} for text, key in QUESTIONS.items()]
    made = tmp_path / "data"
    made.mkdir()
    (made / "mine.jsonl").write_text("\n".join(json.dumps(line) for line in [*lines, *questions]))
    return made


def test_a_corpus_is_measured_once_and_printed_twice(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["--data", str(folder), "--embedder", "hash", "--out", str(tmp_path / "runs"), "--quick"]
    assert general.main(words) == 0
    first = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in first.splitlines()]
    assert [row[1] for row in rows[2:]] == ["hybrid", "keyword", "vector", "rrf"]
    keyword = rows[3]
    assert keyword[0] == "mine"
    assert keyword[2].startswith("100.0 [")
    assert keyword[5] == "3"
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("the run was made again"))
    assert general.main(words) == 0
    assert capsys.readouterr().out == first


def test_a_changed_corpus_has_another_folder(folder: Path) -> None:
    options = general.parse(["--data", str(folder)])
    [source] = general.find_corpora(folder, ["mine"], quick=True)
    before = general.run_folder(source, options)
    (folder / "mine.jsonl").write_text("{}")
    assert general.run_folder(source, options) != before


def test_an_unknown_corpus_is_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert general.main(["yours", "--data", str(folder)]) == 2
    assert "no corpus is named 'yours'; choose one of: mine, locomo" in capsys.readouterr().err


def test_rank_fusion_adds_the_inverse_of_both_ranks() -> None:
    keyword, vector = (
        Retrieval("q1", "", arm, "project", "p", 3, ("b",), tuple(RankedSegment(name) for name in order))
        for arm, order in (("keyword", "abc"), ("vector", "bc"))
    )
    fused = general.fuse(keyword, vector)
    assert [hit.id for hit in fused.ranking] == ["b", "c", "a"]
    assert fused.ranking[0].score == pytest.approx(1 / 62 + 1 / 61)
