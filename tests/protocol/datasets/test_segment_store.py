"""LongMemEval-M: read like S, with lessons that lie in a file instead of memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.errors import OutputError
from runner.paths import ROOT
from runner.protocol.datasets import SUITES, segment_store
from runner.records import StoredSegments

S, M = SUITES["longmemeval"], SUITES["longmemeval-m"]
Item = dict[str, Any]
Write = Callable[[Any], Path]


@pytest.mark.parametrize("level", ["session", "turn"])
def test_the_shelf_holds_what_memory_holds(write: Write, item: Item, level: str) -> None:
    path = write([item, {**item, "question_id": "q2"}])
    one, other = S.load(path, level), M.load(path, level)
    assert isinstance(other.segments, StoredSegments)
    assert tuple(other.segments) == one.segments
    assert other.questions == one.questions
    assert (other.shape, other.scopes, other.sha256) == (one.shape, one.scopes, one.sha256)


def test_a_shelf_is_a_sequence(write: Write, item: Item) -> None:
    segments = M.load(write([item])).segments
    whole = list(segments)
    assert len(segments) == 2
    assert (segments[0], segments[-1], segments[0:1]) == (whole[0], whole[1], (whole[0],))
    assert list(reversed(segments)) == whole[::-1]
    with pytest.raises(IndexError):
        segments[2]


def test_several_threads_may_read_a_shelf(write: Write, item: Item) -> None:
    corpus = M.load(write([{**item, "question_id": f"q{n}", "question": f"{n} " * n} for n in range(40)]))
    whole, wanted = list(corpus.segments), [place % len(corpus.segments) for place in range(0, 4000, 7)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(corpus.segments.__getitem__, wanted)) == [whole[place] for place in wanted]


def test_a_full_disk_is_one_sentence(write: Write, item: Item, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: Any) -> Any:
        return open("/dev/full", "r+b", buffering=0)

    monkeypatch.setattr(segment_store, "TemporaryFile", full)
    with pytest.raises(OutputError, match="cannot hold the lessons of the corpus: "):
        M.load(write([item]))


PROGRAM = """
import sys, psutil, pathlib
import numpy as np
from runner.protocol.templates.embedding import embed_corpus
from pgmnemo.records import EmbedderIdentity
from runner.protocol.datasets import SUITES

class Blind:
    identity = EmbedderIdentity("blind", "none", "1", dimensions=2, max_tokens=0, batch_size=8)
    grown = 0

    def load(self, progress):
        pass

    def embed_documents(self, texts):
        self.grown = max(self.grown, psutil.Process().memory_info().rss - before)
        return np.tile(np.array([1, 0], dtype=np.float32), (len(texts), 1))

    embed_queries = embed_documents

suite, before, blind = SUITES[sys.argv[1]], psutil.Process().memory_info().rss, Blind()
corpus = suite.load(pathlib.Path(sys.argv[2]))
vectors = embed_corpus(corpus, blind, None, passages=True)
assert vectors.segments.shape == (1200, 2) and len(vectors.places) == 1200
print(blind.grown)
"""


def test_lessons_on_a_shelf_take_little_memory_until_they_are_embedded(tmp_path: Path, item: Item) -> None:
    path = tmp_path / "large.json"
    items = [_large(item, number) for number in range(12)]
    path.write_text(json.dumps(items))
    assert path.stat().st_size > 40e6
    grown = {
        name: int(subprocess.check_output([sys.executable, "-c", PROGRAM, name, str(path)], cwd=ROOT))
        for name in ("longmemeval", "longmemeval-m")
    }
    assert grown["longmemeval-m"] < grown["longmemeval"] / 2


def _large(item: Item, number: int) -> Item:
    names = [f"s{number}_{at}" for at in range(100)]
    sessions = [[{"role": "user", "content": f"{name} " + 4500 * "tea milk "}] for name in names]
    return {
        **item, "question_id": f"q{number}", "answer_session_ids": names[:1], "haystack_session_ids": names,
        "haystack_dates": ["2023/05/20 (Sat) 10:44"] * 100, "haystack_sessions": sessions,
    }  # fmt: skip
