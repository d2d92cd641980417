"""Models of the Hugging Face hub and in local folders: files, location and identity."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from errno import ENOSPC
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from pgmnemo.errors import ModelError, OutputError
from pgmnemo.models.runtime import first_line, library
from pgmnemo.progress import QUIET, Progress

CHUNK = 1 << 22
HUB_TIMEOUT = 10.0  # seconds
WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
SETTINGS = ("config.json", "tokenizer*.json", "special_tokens_map.json", "vocab.txt", "*.model")


@dataclass(frozen=True, eq=False)  # compared and hashed by identity: each is a constant of its module
class HubModel:
    """A repository of the hub at a revision (empty: the newest), with its files, or patterns of them.

    A pinned model has a commit, the name of its `weights`, the sha256 of the files that determine a vector,
    and the vector's `width`. A commit never changes, so a complete cache needs no network.
    """

    repository: str
    revision: str = ""
    weights: str = ""
    files: tuple[str, ...] = ("*.json", "*.txt", "*.model", "*.safetensors")
    sha256: Mapping[str, str] = field(default_factory=dict)
    width: int = 0

    def known(self, folder: Path | None, max_tokens: int) -> tuple[str, int]:
        """Return the revision and the width: the pinned values, or the values of the model in a local
        folder.
        """
        if folder is None:
            return self.revision, self.width
        return folder_revision(folder, self), folder_width(folder, max_tokens)

    def fetch(self, who: str, progress: Progress = QUIET) -> Path:
        """Return the folder with the files: from the hub's cache on disk, else downloaded; weights are
        checked.
        """
        hub = library("huggingface_hub", who)
        folder = self._cached_folder(hub)
        if folder is None:
            with self._hub_errors():  # a quick request first, because the client retries a download for 20 s
                size = self._size(hub)
                progress.say(f"fetching {self.repository} ({size / 1e9:.1f} GB) from the Hugging Face hub")
                folder = self._folder(hub)
        if self.weights:
            self._check(folder / self.weights)
        return folder

    def to_download(self, who: str) -> int:
        """Return the bytes that `fetch` would download; raise ModelError if the hub cannot be asked."""
        hub = library("huggingface_hub", who)
        if self._cached_folder(hub):
            return 0
        with self._hub_errors():
            return self._size(hub)

    def _cached_folder(self, hub: ModuleType) -> Path | None:
        """Return the folder in the hub's cache on disk; None if it is missing, or a pinned model is
        incomplete.
        """
        try:
            folder = self._folder(hub, local_files_only=True)
        except (OSError, ValueError):  # the hub client's errors without a local snapshot
            return None
        whole = not self.weights or all((folder / name).is_file() for name in self.files)
        return folder if whole else None

    def _folder(self, hub: ModuleType, **options: Any) -> Path:
        wanted = {"revision": self.revision or None, "allow_patterns": list(self.files)}
        return Path(hub.snapshot_download(self.repository, **wanted, **options))

    def _size(self, hub: ModuleType) -> int:
        info = hub.HfApi().model_info(
            self.repository, revision=self.revision or None, timeout=HUB_TIMEOUT, files_metadata=True
        )
        wanted = [one for one in info.siblings if any(fnmatch(one.rfilename, name) for name in self.files)]
        return sum(one.size or 0 for one in wanted)

    @contextmanager
    def _hub_errors(self) -> Iterator[None]:
        """Convert an error between this machine and the hub into one sentence."""
        try:
            yield
        except Exception as error:  # the hub client's own tree, its HTTP library's, and OSError
            if isinstance(error, OSError) and error.errno == ENOSPC:
                raise OutputError(
                    f"no space left for {self.repository}; free some, or set HF_HOME to another disk"
                ) from None
            raise ModelError(
                f"the model {self.repository} is not on this machine and the Hugging Face hub could not be "
                f"reached ({first_line(error)}); connect once, or give a local folder that holds it (--model)"
            ) from None

    def _check(self, weights: Path) -> None:
        expected, found = self.sha256[self.weights], file_sha256(weights)
        if found != expected:
            raise ModelError(
                f"{weights} is not the pinned model: its sha256 is {found}, expected {expected}; "
                "delete that file and fetch the model again"
            )


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, read in pieces; raise ModelError if it cannot be read."""
    digest = sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(CHUNK):
                digest.update(piece)
    except OSError as error:
        raise ModelError(
            f"the model file {path} cannot be read ({error.strerror}); fetch the model again"
        ) from None
    return digest.hexdigest()


def folder_revision(folder: Path, model: HubModel | None = None, weights: Sequence[str] = WEIGHTS) -> str:
    """Return the identity of a model in a local folder, with weights found by patterns.

    It is the commit of the pinned `model` if weights and vocabulary are the pinned files (then the folder is
    the canonical model), else `sha256:` and a digest over weights, configuration and tokenizer. Raise
    ModelError if there are no weights.
    """
    held = {path for pattern in weights for path in folder.glob(pattern)}
    if not held:
        raise ModelError(
            f"{folder} holds no model weights ({', '.join(weights)}); give the folder that holds a model"
        )
    files = sorted(held | {path for pattern in SETTINGS for path in folder.glob(pattern)})
    found = {path.relative_to(folder).as_posix(): file_sha256(path) for path in files}
    # a second weight file may be loaded in place of the pinned file: transformers prefers safetensors
    alone = model is not None and {path.name for path in held} == {model.weights}
    if model and alone and all(found.get(name) == digest for name, digest in model.sha256.items()):
        return model.revision
    listing = "".join(f"{name} {digest}\n" for name, digest in found.items())
    return f"sha256:{sha256(listing.encode()).hexdigest()}"


def configuration(folder: Path) -> Mapping[str, Any]:
    """Return a model's config.json; raise ModelError if it is missing or invalid."""
    try:
        read = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise no_configuration(folder, repr(error)) from None
    if not isinstance(read, dict):
        raise no_configuration(folder, "it holds no object")
    return read


def folder_width(folder: Path, max_tokens: int) -> int:
    """Return the model's `hidden_size`; raise ModelError if it is unknown, or for too many `max_tokens`."""
    config = configuration(folder)
    try:
        width, most = int(config["hidden_size"]), positions(config)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise no_configuration(folder, repr(error)) from None
    if max_tokens > most:
        raise ModelError(
            f"the model in {folder} takes {most} tokens, not {max_tokens}; set max_tokens to {most}"
        )
    return width


def positions(config: Mapping[str, Any]) -> int:
    """Return the most tokens that a model reads; RoBERTa reserves two positions.

    Raise KeyError if the number is unknown.
    """
    held = int(config["max_position_embeddings"])
    return held - 2 if "roberta" in str(config.get("model_type")) else held


def no_configuration(folder: Path, why: str) -> ModelError:
    """Return the error for an invalid config.json."""
    return ModelError(
        f"{folder / 'config.json'} is not a model configuration ({why}); give the folder with the model"
    )
