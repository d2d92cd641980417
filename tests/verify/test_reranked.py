"""A run with strategies and a reranker is intact; reranked arms are held against what they reorder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.cli import main
from runner.runs.canonical import pretty
from runner.verify import Found, verify


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("reranked")
    options = ["--embedder", "hash", "--systems", "rrf", "--beside", "headline", "--rerank", "linear"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONHASHSEED", "42")
        assert main(["sample", *options, "--output", str(place), "--quiet"]) == 0
    [made] = place.glob("v*")
    return made


def arms(folder: Path, change: Callable[[list[dict[str, Any]]], Any]) -> str:
    """What the check `arms` says once run.json's arms were changed; the folder is as it was afterwards."""
    before = (folder / "run.json").read_bytes()
    document = json.loads(before)
    change(document["arms"])
    (folder / "run.json").write_text(pretty(document), encoding="utf-8")
    try:
        answers = verify(folder).answers
    finally:
        (folder / "run.json").write_bytes(before)
    [said] = [one.sentence for one in answers if one.check == "arms" and one.found is Found.WRONG]
    return said


def test_a_run_with_strategies_and_a_reranker_is_intact(folder: Path) -> None:
    assert [one.sentence for one in verify(folder).answers if one.found is Found.WRONG] == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda arms: arms.pop(next(at for at, arm in enumerate(arms) if arm["name"] == "rrf+rerank")),
         "rrf+rerank is missing"),
        (lambda arms: arms.append({**arms[-1], "name": "chroma+rerank"}), "chroma+rerank: the run chose no"),
        (lambda arms: arms[-1].update(words="magic"), "rrf+rerank is said to be magic"),
    ],
)  # fmt: skip
def test_a_reranked_arm_stands_behind_what_it_reorders(
    folder: Path, change: Callable[[list[dict[str, Any]]], Any], said: str
) -> None:
    assert said in arms(folder, change)
