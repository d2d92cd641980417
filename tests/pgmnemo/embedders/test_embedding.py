"""A corpus to vectors: once for each text, in order, checked, and the same after an interruption."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgmnemo.embedders import EMBEDDERS, EmbedderOptions, unit_rows
from pgmnemo.embedders.embedding import text_key
from pgmnemo.errors import EmbedderError, OutputError
from pgmnemo.progress import QUIET, Progress
from pgmnemo.records import EmbedderIdentity, Passage
from runner.protocol.templates.embedding import embed_corpus, estimate_embedding
from runner.records import Corpus


class Recorder:
    """Rows that depend on the whole batch, as a model's last bits do; counts its calls."""

    identity = EmbedderIdentity("recorder", "fake", "1", dimensions=6, max_tokens=0, batch_size=8)

    def __init__(self, fail_at: int | None = None) -> None:
        self.batches: list[list[str]] = []
        self.loads = 0
        self.fail_at = fail_at

    def to_download(self) -> int:
        return 0

    def load(self, progress: Progress = QUIET) -> None:
        self.loads += 1

    def embed_documents(self, texts: Sequence[str]) -> Any:
        if len(self.batches) == self.fail_at:
            raise KeyboardInterrupt
        self.batches.append(list(texts))
        seed = sum(len(text) for text in texts)
        return unit_rows(np.array([[seed, len(t), *t.encode()[-4:]] for t in texts], dtype=np.float32))

    embed_queries = embed_documents


class Broken(Recorder):
    """Answers well but for one text."""

    def __init__(self, text: str, value: float) -> None:
        super().__init__()
        self.text, self.value = text, value

    def embed_documents(self, texts: Sequence[str]) -> Any:
        rows = super().embed_documents(texts)
        if self.text in texts:
            rows[texts.index(self.text)] = self.value
        return rows

    embed_queries = embed_documents


def test_each_distinct_text_is_embedded_once_and_rows_follow_the_corpus(
    corpus: Corpus, tmp_path: Path
) -> None:
    embedder = Recorder()
    vectors = embed_corpus(corpus, embedder, tmp_path)
    texts = [text for batch in embedder.batches for text in batch]
    assert len(texts) == len(set(texts)) == 39 + 9
    assert (vectors.cached, vectors.embedded) == (0, 48)
    assert vectors.segments.shape == (40, 6)
    assert vectors.questions.shape == (9, 6)
    np.testing.assert_array_equal(vectors.segments[0], vectors.segments[39])
    tails = [list(segment.text.encode()[-4:]) for segment in corpus.segments]
    ratios = vectors.segments[:, 2:] / vectors.segments[:, 1:2]
    lengths = np.array([len(segment.text) for segment in corpus.segments])
    np.testing.assert_allclose(ratios * lengths[:, None], tails, rtol=1e-4)


def with_passages(corpus: Corpus, texts: Sequence[str]) -> Corpus:
    """Every segment gets these passages, whose words are embedded with an exclamation mark."""
    passages = tuple(Passage(text, f"{text}!") for text in texts)
    return replace(corpus, segments=tuple(replace(one, passages=passages) for one in corpus.segments))


def test_each_distinct_passage_has_one_row_and_only_where_it_is_wanted(
    corpus: Corpus, tmp_path: Path
) -> None:
    whole = corpus.segments[0].text
    given = with_passages(corpus, ["one", "two", whole[:-1], "one"])
    given = replace(given, segments=(replace(given.segments[0], text="one!"), *given.segments[1:]))
    plain = embed_corpus(given, Recorder(), tmp_path)
    assert (plain.passages, plain.places) == (None, {})
    embedder = Recorder()
    vectors = embed_corpus(given, embedder, tmp_path, passages=True)
    assert list(vectors.places) == [text_key("document", one) for one in ("one!", "two!", f"{whole[:-1]}!")]
    assert vectors.passages.shape == (3, 6)
    assert vectors.segments.tobytes() == plain.segments.tobytes()
    place = vectors.places[text_key("document", "one!")]
    np.testing.assert_array_equal(vectors.passages[place], vectors.segments[0])
    assert (vectors.cached, vectors.embedded) == (plain.embedded, 2)
    assert sorted(text for batch in embedder.batches for text in batch) == sorted(["two!", f"{whole[:-1]}!"])


def test_a_second_run_reads_everything_and_loads_nothing(corpus: Corpus, tmp_path: Path) -> None:
    first = embed_corpus(corpus, Recorder(), tmp_path)
    embedder = Recorder()
    second = embed_corpus(corpus, embedder, tmp_path)
    assert (embedder.loads, embedder.batches) == (0, [])
    assert (second.cached, second.embedded) == (48, 0)
    assert second.segments.tobytes() == first.segments.tobytes()


def test_an_interrupted_run_loses_no_whole_batch_and_ends_with_the_same_bytes(
    corpus: Corpus, tmp_path: Path
) -> None:
    whole = embed_corpus(corpus, Recorder(), None)
    with pytest.raises(KeyboardInterrupt):
        embed_corpus(corpus, Recorder(fail_at=3), tmp_path)
    resumed = embed_corpus(corpus, Recorder(), tmp_path)
    assert resumed.cached == 24
    assert resumed.segments.tobytes() == whole.segments.tobytes()
    assert resumed.questions.tobytes() == whole.questions.tobytes()


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0, 3.0])
@pytest.mark.parametrize(
    ("text", "where"), [("segment 5 word word word word word ", "segment 6"), ("question 2?", "question 3")]
)
def test_an_unusable_vector_names_its_text(corpus: Corpus, text: str, where: str, value: float) -> None:
    with pytest.raises(EmbedderError, match=f"{where} of the corpus"):
        embed_corpus(corpus, Broken(text, value), None)


class Narrow(Recorder):
    def embed_documents(self, texts: Sequence[str]) -> Any:
        return np.ones((len(texts), 1), dtype=np.float32)


class Exhausted(Recorder):
    def embed_documents(self, texts: Sequence[str]) -> Any:
        raise RuntimeError("CUDA out of memory\nlong trace")


@pytest.mark.parametrize(
    ("embedder", "sentence"),
    [(Narrow(), r"expected \(8, 6\)"), (Exhausted(), r"begins with segment .* CUDA out of memory\)")],
)
def test_what_a_model_does_wrong_becomes_a_sentence(
    embedder: Recorder, sentence: str, corpus: Corpus
) -> None:
    with pytest.raises(EmbedderError, match=sentence):
        embed_corpus(corpus, embedder, None)


def test_a_long_embedding_is_announced_with_its_time(
    corpus: Corpus, lines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 10_000, 60))
    monkeypatch.setattr("pgmnemo.embedders.embedding.time.perf_counter", lambda: next(clock))
    embed_corpus(corpus, Recorder(), None, lines)
    assert lines.said[0] == "embedding 48 texts with recorder"
    assert "will take about 3 min" in lines.said[1]


def test_a_text_with_a_lone_surrogate_has_a_key(make_corpus: Callable[..., Corpus], tmp_path: Path) -> None:
    embedder = EMBEDDERS["hash"](EmbedderOptions())
    assert embed_corpus(make_corpus(["\ud83d"], ["why?"]), embedder, tmp_path).embedded == 2


class Distant(Recorder):
    """A model that is not on this machine."""

    def to_download(self) -> int:
        return 2_300_000_000


@pytest.mark.parametrize(
    ("embedder", "full", "said", "loads"),
    [
        (Recorder(), False, ["0 of 48 vectors of recorder", "the embedding will take about 0"], 1),
        (Recorder(), True, ["48 of 48 vectors of recorder are in the cache"], 0),
        (Distant(), False, ["0 of 48", "a run downloads fake first (2.3 GB)"], 0),
    ],
    ids=["empty", "full", "distant"],
)  # fmt: skip
def test_a_rehearsal_says_what_is_missing_and_keeps_nothing(
    embedder: Recorder, full: bool, said: list[str], loads: int, corpus: Corpus, tmp_path: Path, lines: Any
) -> None:
    if full:
        embed_corpus(corpus, Recorder(), tmp_path / "cache")
    estimate_embedding(corpus, embedder, tmp_path / "cache", lines)
    assert len(lines.said) == len(said)
    assert all(map(str.startswith, lines.said, said))
    assert embedder.loads == loads
    assert (tmp_path / "cache").exists() == full


def test_a_rehearsal_fails_where_the_vectors_do_not_fit_on_the_disk(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type(shutil.disk_usage(tmp_path))(100, 90, 10)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage)
    with pytest.raises(OutputError, match=r"GB free and .* GB are needed; free some space"):
        estimate_embedding(corpus, Recorder(), tmp_path / "below" / "cache")
