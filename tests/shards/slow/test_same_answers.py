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
from pgmnemo.postgres.server_checks import Session
from pgmnemo.progress import Progress
from pgmnemo_shards import local
from pgmnemo_shards.temporary_folder import temporary_folder
from runner.protocol.datasets import SUITES
from runner.protocol.templates.embedding import embed_corpus


def compared(suite: str, path: Path, most: int | None) -> Compared:
    corpus, quiet = part_of(SUITES[suite].load(path), most), Progress(quiet=True)
    vectors = embed_corpus(corpus, EMBEDDERS["hash"](EmbedderOptions()), None, quiet, passages=True)
    with temporary_folder() as folder:
        try:
            return same(local.up(folder, 3, volatile=True), corpus, vectors, quiet)
        finally:
            local.down(folder)


@pytest.mark.parametrize(("suite", "most", "questions"), [("locomo", 3, 497), ("longmemeval", 3, 3)])
def test_a_corpus_is_answered_alike(
    plproxy: None, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str], suite: str, most: int,
    questions: int,
) -> None:  # fmt: skip
    """The first conversations or haystacks; the script, with `SUITE --embedder hash`, asks them all."""
    found = compared(suite, request.getfixturevalue(f"{suite}_path"), most)
    with capsys.disabled():
        print(f"\n{suite}: {found.questions:,} questions, {found.size:,} bytes, {found.differing} differ")
    assert found.questions == questions
    assert (sum(found.shards), len(found.shards)) == (most, 3)
    assert found.differing == ()


def test_another_answer_is_seen(plproxy: None, sample_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: Callable[..., bytes] = same_answers._answer

    def other(side: Session, asked: Call[Rows]) -> bytes:
        """One side asks for fewer."""
        fewer = replace(asked, parameters=tuple(3 if value == DEPTH else value for value in asked.parameters))
        return kept(side, fewer if side.info.dbname == "alone" else asked)

    monkeypatch.setattr("benchmarks.scale.same_answers._answer", other)
    found = compared("sample", sample_path, None)
    assert len(found.differing) == found.questions
