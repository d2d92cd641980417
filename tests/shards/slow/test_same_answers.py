"""The router's answers are those of one node, byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import shards.same
from runner.database.server_checks import Session
from runner.embedders import EMBEDDERS, EmbedderOptions, embed_corpus
from runner.progress import Progress
from runner.suites import SUITES
from shards import local
from shards.same import Compared, part_of, same
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
    """Twenty haystacks; `python -m shards.same longmemeval --embedder hash` asks them all."""
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
    kept: Callable[..., bytes] = shards.same._answer

    def other(side: Session, tenant: object, given: list[object]) -> bytes:
        """One side asks for fewer."""
        asked = [given[0], 3, *given[2:]] if side.info.dbname == "alone" else given
        return kept(side, tenant, asked)

    monkeypatch.setattr("shards.same._answer", other)
    found = compared("sample", sample_path, None)
    assert len(found.differing) == found.questions
