"""`train` on the sample: the same corpora give the same bytes, which a run takes as weights."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.cli import main
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
