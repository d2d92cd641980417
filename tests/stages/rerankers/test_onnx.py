"""A real graph of one's own, run by onnxruntime: its scores are those that one counts by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pgmnemo.errors import ModelError
from runner.stages.rerankers import RERANKERS, RerankOptions
from runner.stages.rerankers.local import Onnx
from tests.stages.rerankers.conftest import TEXTS, graph, pool

pytest.importorskip("onnxruntime")
Options = Callable[..., RerankOptions]
BY_HAND = [6.0, 1.0, 0.0, 2.0]  # of TEXTS: cat 4, mat 2, dog 1


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return graph(tmp_path / "tiny-graph")


def test_the_order_is_that_of_the_graphs_own_scores(folder: Path, options: Options) -> None:
    reranker = RERANKERS["onnx"](options(rerank_model=str(folder), rerank_batch=3))
    reranker.load()
    new = reranker.rerank(pool("where did the cat sit"))  # whose cat is worth nothing: it is the question's
    assert (new.order, new.scores) == ((0, 3, 1, 2), (6.0, 2.0, 1.0, 0.0))
    assert (new.calls, new.pairs) == (2, 4)
    assert reranker.rerank(pool("where did the cat sit")).calls == 0
    reranker.close()


def test_a_score_does_not_depend_on_what_is_read_beside_it(folder: Path, options: Options) -> None:
    made = RERANKERS["onnx"](options(rerank_model=str(folder)))
    assert isinstance(made, Onnx)
    made.load()
    assert made.scores("the cat", TEXTS) == BY_HAND
    assert [made.scores("the cat", [text])[0] for text in TEXTS] == BY_HAND
    assert made.scores("the cat", ["cat " * 600])[0] <= 4 * made.identity.max_tokens


def test_a_graph_in_a_folder_of_its_own_is_found(folder: Path, options: Options) -> None:
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    made = RERANKERS["onnx"](options(rerank_model=str(folder)))
    made.load()
    assert made.rerank(pool()).order[0] == 0
    made.close()


@pytest.mark.parametrize(
    ("break_it", "sentence"),
    [
        (lambda folder: (folder / "model.onnx").write_bytes(b"no graph"), r"cannot be loaded by onnxruntime"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), r"tokenizer\.json is no tokenizer"),
        (lambda folder: (folder / "tokenizer.json").unlink(), r"has no tokenizer\.json; take a folder that"),
        (
            lambda folder: graph(folder, ("input_ids", "attention_mask", "pixels")),
            r"wants pixels; take another",
        ),
    ],
)
def test_what_cannot_be_run_is_one_sentence(
    break_it: Callable[[Path], object], sentence: str, folder: Path, options: Options
) -> None:
    break_it(folder)
    reranker = RERANKERS["onnx"](options(rerank_model=str(folder)))
    with pytest.raises(ModelError, match=sentence):
        reranker.load()
