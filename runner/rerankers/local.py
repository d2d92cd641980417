"""A cross-encoder in this process: where it lies, what identifies it, and whether it is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from runner.errors import ModelError, UsageError
from runner.models.hub import Snapshot, configuration, folder_digest
from runner.models.torch_runtime import demand, first_line, silence
from runner.progress import QUIET, Progress
from runner.records import RerankerIdentity
from runner.rerankers.options import RerankOptions
from runner.rerankers.scoring import Scoring

TOKENS = 512
ONE = "ForSequenceClassification"


class Local(Scoring):
    """Question and text go through the model together. `kind` is its name, `package` what it needs."""

    kind, package, note = "", "", ""
    extra = "embed"  # that brings the package
    weights: tuple[str, ...] = ("*.safetensors", "pytorch_model*.bin")

    def __init__(self, options: RerankOptions) -> None:
        super().__init__(options)
        if not options.rerank_model:
            raise UsageError(
                f"the reranker {self.kind} needs --rerank-model: a local folder, or ORG/NAME of the hub"
            )
        self._folder, self._snapshot = _place(options.rerank_model, self.weights)
        name, _, revision = options.rerank_model.partition("@")
        self.identity = RerankerIdentity(
            name=self.kind,
            model=Path(name).name if self._folder else name,
            revision=revision,
            depth=options.rerank_depth,
            characters=options.rerank_chars,
            max_tokens=TOKENS,
            note=self.note,
        )
        if self._folder is not None:
            self._identify(self._folder)

    @property
    def who(self) -> str:
        """Whoever needs a library, in words."""
        return f"the reranker {self.kind}"

    def to_download(self) -> int:
        demand(self.package, self.who, self.extra)
        with silence():  # from the first import on, for the hub's client reads then whether it shows bars
            return self._snapshot.to_download(self.who) if self._snapshot else 0

    def load(self, progress: Progress = QUIET) -> None:
        demand(self.package, self.who, self.extra)
        with silence():
            if self._folder is None:
                assert self._snapshot is not None
                self._folder = self._snapshot.fetch(self.who, progress)
                self._identify(self._folder)
            try:
                self.open(self._folder)
            except ModelError:
                raise
            except Exception as error:  # whatever a model library throws
                raise ModelError(
                    f"{self._folder} cannot be loaded as a cross-encoder ({type(error).__name__}: "
                    f"{first_line(error)}); take another model"
                ) from error

    def open(self, folder: Path) -> None:
        """Bring the model in a folder into memory."""
        raise NotImplementedError

    def _identify(self, folder: Path) -> None:
        """The digest of its files as its revision; ModelError where it is no cross-encoder."""
        digest, config = folder_digest(folder, self.weights), configuration(folder)
        kinds = config.get("architectures") or ["no architecture"]
        labels = len(config["id2label"]) if "id2label" in config else config.get("num_labels", 2)
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
        room = int(config.get("max_position_embeddings", TOKENS + 2))
        room -= 2 if "roberta" in str(config.get("model_type")) else 0
        self.identity = replace(self.identity, revision=f"{commit}{digest}", max_tokens=min(TOKENS, room))


def _place(model: str, weights: Sequence[str]) -> tuple[Path | None, Snapshot | None]:
    """The local folder, or the repository that `ORG/NAME[@REVISION]` means; UsageError for neither."""
    if (folder := Path(model).expanduser()).is_dir():
        return folder, None
    name, _, revision = model.partition("@")
    if name.count("/") != 1 or name.startswith(("/", ".", "~")) or not all(name.split("/")):
        raise UsageError(f"--rerank-model: {model} is no folder, and no ORG/NAME of the hub; name one")
    return None, Snapshot(name, revision, ("*.json", "*.txt", "*.model", *weights))
