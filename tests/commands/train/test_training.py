"""The command `train`: from raw corpora to the same bytes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runner.cli import main
from runner.stages.rerankers.linear import read_model
from runner.stages.rerankers.linear.features import FEATURES


def train(place: Path, *options: str) -> int:
    return main(
        ["train", "--suite", "sample", "--embedder", "hash", "--output", str(place), "--quiet", *options]
    )


def test_training_twice_writes_the_same_bytes_and_says_what_it_was_trained_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    assert train(one) == train(other) == 0
    assert one.read_bytes() == other.read_bytes()
    document = json.loads(one.read_text())
    assert [row["task"] for row in document["trained_on"]] == ["sample session"]
    assert document["trained_on"][0]["questions"] == document["left_out"][0]["n"] == 36
    assert len(read_model(one).weights) == len(FEATURES)
    told = capsys.readouterr().out
    assert "sample session, n = 36, each question by weights that were fitted without it" in told


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "w.json"
    place.write_text("mine")
    assert train(place) == 3
    assert place.read_text() == "mine"
    assert "is there, and nothing is overwritten" in capsys.readouterr().err


def test_what_is_never_tuned_on_is_never_trained_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "--suite", "realtalk"]) == 2
    assert "realtalk is never tuned on" in capsys.readouterr().err
