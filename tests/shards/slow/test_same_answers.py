"""The router's answers are those of one node, byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.scale import same_answers
from benchmarks.scale.same_answers import DEPTH, Compared, part_of, same
from pgmnemo.calls import Call, Rows
from pgmnemo.embedders import EMBEDDERS, EmbedderOptions
from pgmnemo.progress import Progress
from pgmnemo.server.server_checks import Session
from runner.protocol.suites import SUITES
from runner.protocol.texts.embedding import embed_corpus
from shards import local
from shards.temporary import temporary


def compared(suite: str, path: Path, most: int | None) -> Compared:
    corpus, quiet = part_of(SUITES[suite].load(path), most), Progress(quiet=True)
    vectors = embed_corpus(corpus, EMBEDDERS["hash"](EmbedderOptions()), None, quiet, passages=True)
    with temporary() as folder:
        try:
            return same(local.up(folder, 3, volatile=True), corpus, vectors, quiet)
        finally:
            local.down(folder)


def test_locomo_is_answered_alike(
    plproxy: None, locomo_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = compared("locomo", locomo_path, None)
    tell(capsys, "locomo", found)
    assert found.questions == 1986
    assert found.shards == (4, 3, 3)
    assert found.differing == ()


def test_longmemeval_is_answered_alike(
    plproxy: None, longmemeval_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Twenty haystacks; the script itself, with `longmemeval --embedder hash`, asks them all."""
    found = compared("longmemeval", longmemeval_path, 20)
    tell(capsys, "longmemeval", found)
    assert found.questions >= 20
    assert sum(found.shards) == 20
    assert len(found.shards) == 3
    assert found.differing == ()


def tell(capsys: pytest.CaptureFixture[str], suite: str, found: Compared) -> None:
    with capsys.disabled():
        print(
            f"\n{suite}: {found.questions:,} questions, {found.size:,} bytes, {len(found.differing)} differ"
        )


def test_another_answer_is_seen(plproxy: None, sample_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: Callable[..., bytes] = same_answers._answer

    def other(side: Session, asked: Call[Rows]) -> bytes:
        """One side asks for fewer."""
        fewer = replace(asked, parameters=tuple(3 if value == DEPTH else value for value in asked.parameters))
        return kept(side, fewer if side.info.dbname == "alone" else asked)

    monkeypatch.setattr("benchmarks.scale.same_answers._answer", other)
    found = compared("sample", sample_path, None)
    assert len(found.differing) == found.questions
