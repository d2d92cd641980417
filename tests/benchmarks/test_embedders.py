"""The table of embedders: a made-up corpus and the hash embedder, and what cannot be measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner.paths import ROOT

NOTES = {
    "s1": "The bill came on Monday.",
    "s2": "The cat is called Miso.",
    "s3": "The router drops the line.",
}
QUESTIONS = {"When did the bill come?": "s1", "What is the cat called?": "s2", "What drops the line?": "s3"}


@pytest.fixture
def embedders(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))  # where the script finds its neighbour
    from benchmarks import embedders

    return embedders


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [{"id": key, "turns": [{"text": text}]} for key, text in NOTES.items()]
    questions = [{"text": text, "evidence": [key]} for text, key in QUESTIONS.items()]
    (tmp_path / "mine.jsonl").write_text("\n".join(json.dumps(line) for line in [*lines, *questions]))
    return tmp_path


def test_recall_and_costs_of_each_embedder_are_printed(
    embedders: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["mine", "--data", str(folder), "--embedders", "hash", "--out", str(folder / "runs")]
    assert embedders.main(words) == 0
    recall, cost = (
        [[cell.strip() for cell in line.split("|")[1:-1]] for line in part.splitlines()]
        for part in capsys.readouterr().out.split("\n\n")
    )
    assert recall[2][:3] == ["mine", "3", "hash"]
    assert [cell.partition(" ")[0] for cell in recall[2][3:6]] == ["100.0", "1.000", "100.0"]
    assert cost[2][:2] == ["hash", "256"]
    assert all(float(cell.replace(",", "")) >= 0 for cell in cost[2][1:])


def test_what_cannot_be_measured_is_one_sentence(
    embedders: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert embedders.main(["yours", "--data", str(folder)]) == 2
    told = capsys.readouterr().err
    assert "no corpus is named 'yours'; choose one of: lifebench, lifebench-zh, knowme, mine, locomo" in told
    words = ["mine", "--data", str(folder), "--embedders", "hash", "--out", str(folder / "runs")]
    assert embedders.main([*words, "--endpoint-url", "http://127.0.0.1:1"]) == 1
    shown = capsys.readouterr()
    assert shown.err.count("the embedder endpoint needs both a URL and the name of a model") == 2
    assert "| hash" in shown.out
