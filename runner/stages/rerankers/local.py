"""Cross-encoders in this process, which read question and text together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pgmnemo.errors import ModelError, UsageError
from pgmnemo.models.hub import WEIGHTS, HubModel, configuration, folder_revision, no_configuration, positions
from pgmnemo.models.runtime import INPUTS, ONNX, Graph, demand, device, library, loading, silence
from pgmnemo.progress import QUIET, Progress
from runner.stages.rerankers import RerankOptions
from runner.stages.rerankers.cached import ScoringReranker

TOKENS = 512
ONE = "ForSequenceClassification"
MEND = "take another model"


class LocalCrossEncoder(ScoringReranker):
    """A cross-encoder in a local folder; its files are checked and hashed.

    `kind` is the reranker's name, `package` the Python package that it needs, `extra` the extra that installs
    it.
    """

    kind, package, note = "", "", ""
    extra = "embed"  # that brings the package
    weights: tuple[str, ...] = WEIGHTS

    def __init__(self, options: RerankOptions) -> None:
        super().__init__(options)
        if not options.rerank_model:
            raise UsageError(
                f"the reranker {self.kind} needs --rerank-model: a local folder, or ORG/NAME of the hub"
            )
        self._folder, self._snapshot = _place(options.rerank_model, self.weights)
        name, _, revision = options.rerank_model.partition("@")
        model = Path(name).name if self._folder else name
        self.identity = options.identity(self.kind, model, revision, max_tokens=TOKENS, note=self.note)
        if self._folder is not None:
            self._identify(self._folder)

    @property
    def who(self) -> str:
        """The reranker's name in messages about a missing library."""
        return f"the reranker {self.kind}"

    def to_download(self) -> int:
        demand(self.package, self.who, self.extra)
        with silence():  # before the first import, when the hub's client decides whether to show bars
            return self._snapshot.to_download(self.who) if self._snapshot else 0

    def load(self, progress: Progress = QUIET) -> None:
        demand(self.package, self.who, self.extra)
        with silence():
            if self._folder is None:
                assert self._snapshot is not None
                self._folder = self._snapshot.fetch(self.who, progress)
                self._identify(self._folder)
        with loading(self._folder, "a cross-encoder", MEND):
            self.open(self._folder)

    def open(self, folder: Path) -> None:
        """Load the model in a folder into memory."""
        raise NotImplementedError

    def _identify(self, folder: Path) -> None:
        """Set the digest of the files as revision; raise ModelError if the model is no cross-encoder."""
        digest, config = folder_revision(folder, weights=self.weights), configuration(folder)
        try:
            kinds = [*(config.get("architectures") or ["no architecture"])]
            labels = len(config["id2label"]) if "id2label" in config else config.get("num_labels", 2)
            most = positions(config) if "max_position_embeddings" in config else TOKENS
        except (TypeError, ValueError, OverflowError) as error:
            raise no_configuration(folder, repr(error)) from None
        if not any(str(kind).endswith(ONE) for kind in kinds):
            raise ModelError(
                f"{folder} is no cross-encoder but a {kinds[0]}: its architecture would end in {ONE}; take "
                "another model"
            )
        if labels != 1:
            raise ModelError(
                f"{folder} sorts into {labels} labels, and a reranker has one; take another model"
            )
        commit = f"{folder.name}, " if self._snapshot else ""
        self.identity = replace(self.identity, revision=f"{commit}{digest}", max_tokens=min(TOKENS, most))


class CrossEncoder(LocalCrossEncoder):
    """A model that sentence-transformers loads, such as cross-encoder/ms-marco-MiniLM-L6-v2.

    Scores are the model's own, after its activation (for one label the logistic function).
    """

    kind, package = "cross-encoder", "sentence_transformers"
    note = "sentence-transformers, float32"
    _model: Any

    def open(self, folder: Path) -> None:
        library("transformers", self.who)
        made = library("sentence_transformers", self.who).CrossEncoder
        self._model = made(
            str(folder), device=device(self.who), local_files_only=True, max_length=self.identity.max_tokens
        )

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        with silence():
            pairs = [(question, text) for text in texts]
            found = self._model.predict(pairs, batch_size=len(pairs), show_progress_bar=False)
        return [float(score) for score in found]


class Flag(LocalCrossEncoder):
    """A reranker of FlagEmbedding, such as BAAI/bge-reranker-v2-m3. Scores are logits.

    Float32 on every device.
    """

    kind, package = "flag", "FlagEmbedding"
    note = "FlagEmbedding, logits, float32"
    _model: Any

    def open(self, folder: Path) -> None:
        library("transformers", self.who)
        made = library("FlagEmbedding", self.who).FlagReranker
        self._model = made(
            str(folder), use_fp16=False, devices=[device(self.who)], max_length=self.identity.max_tokens
        )

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        with silence():
            # all in one pass: the library draws progress bars unless a batch is larger than the pairs
            found = self._model.compute_score(
                [(question, text) for text in texts], batch_size=len(texts) + 1, normalize=False
            )
        return [float(score) for score in (found if isinstance(found, list) else [found])]


class Onnx(LocalCrossEncoder):
    """A graph `model.onnx`, or `onnx/model.onnx`, with a tokenizer.json. Scores are logits."""

    kind, package, extra = "onnx", "onnxruntime", ONNX
    note = "onnxruntime, logits, as the graph computes them"
    weights = ("model.onnx", "onnx/model.onnx")
    _graph: Graph

    def open(self, folder: Path) -> None:
        graph = next(folder / name for name in self.weights if (folder / name).is_file())
        tokenizer = folder / "tokenizer.json"
        if not tokenizer.is_file():
            raise ModelError(
                f"{folder} has no tokenizer.json; take a folder that holds it beside {graph.name}"
            )
        made = Graph(graph, tokenizer, self.identity.max_tokens, self.who, MEND)
        if unknown := [name for name in made.inputs if name not in INPUTS]:
            raise ModelError(f"the graph {graph} wants {', '.join(unknown)}; {MEND}")
        self._graph = made

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        columns = self._graph.read([(question, text) for text in texts])
        logits = self._graph.run(columns).astype(np.float64)
        if logits.size != len(texts):
            raise ModelError(
                f"the graph answers {logits.shape} for {len(texts)} texts, not one score each; {MEND}"
            )
        return [float(score) for score in logits.reshape(-1)]


def _place(model: str, weights: Sequence[str]) -> tuple[Path | None, HubModel | None]:
    """Return the local folder, or the hub repository `ORG/NAME[@REVISION]`; UsageError if it is neither."""
    if (folder := Path(model).expanduser()).is_dir():
        return folder, None
    name, _, revision = model.partition("@")
    if name.count("/") != 1 or name.startswith(("/", ".", "~")) or not all(name.split("/")):
        raise UsageError(f"--rerank-model: {model} is no folder, and no ORG/NAME of the hub; name one")
    return None, HubModel(name, revision, files=("*.json", "*.txt", "*.model", *weights))
