"""Pinned models of the Hugging Face hub: their files, where they lie, and what identifies them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from errno import ENOSPC
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from runner.errors import ModelError, OutputError
from runner.models.torch_runtime import first_line, library
from runner.progress import QUIET, Progress

CHUNK = 1 << 22
HUB_TIMEOUT = 10.0  # seconds
WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
SETTINGS = ("config.json", "tokenizer*.json", "special_tokens_map.json", "vocab.txt", "*.model")


@dataclass(frozen=True, eq=False)  # compared and hashed by identity: each is a constant of its module
class HubModel:
    """One repository at one commit: the files we load, and the sha256 of those that decide a vector."""

    repository: str
    revision: str
    weights: str
    files: tuple[str, ...]
    sha256: Mapping[str, str]


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, read in pieces; ModelError if it cannot be read."""
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


def fetch(model: HubModel, who: str, progress: Progress = QUIET) -> Path:
    """The folder with the model's files: from the hub's cache on disk, else downloaded, then checked.

    A commit never changes, so a complete cache needs no network at all.
    """
    hub = library("huggingface_hub", who)
    paths = _cached(model, hub) or _download(model, hub, progress)
    folder = Path(paths[model.files.index(model.weights)]).parent
    _check(model, folder / model.weights)
    return folder


def to_download(model: HubModel, who: str) -> int:
    """Bytes that `fetch` would download; ModelError if the hub cannot be asked."""
    hub = library("huggingface_hub", who)
    if _cached(model, hub):
        return 0
    with _reached(model):
        return _size(model, hub)


def _cached(model: HubModel, hub: ModuleType) -> list[str]:
    """Paths of the model's files in the hub's cache; empty unless all are there."""
    look_up = hub.try_to_load_from_cache
    paths = [look_up(model.repository, name, revision=model.revision) for name in model.files]
    return paths if all(isinstance(path, str) for path in paths) else []


def _size(model: HubModel, hub: ModuleType) -> int:
    info = hub.HfApi().model_info(
        model.repository, revision=model.revision, timeout=HUB_TIMEOUT, files_metadata=True
    )
    return sum(file.size or 0 for file in info.siblings if file.rfilename in model.files)


def _download(model: HubModel, hub: ModuleType, progress: Progress) -> list[str]:
    """Paths of the model's files. One quick question first: the hub client retries a download for 20 s."""
    with _reached(model):
        size = _size(model, hub)
        progress.say(f"fetching {model.repository} ({size / 1e9:.1f} GB) from the Hugging Face hub")
        get = hub.hf_hub_download
        return [str(get(model.repository, name, revision=model.revision)) for name in model.files]


@contextmanager
def _reached(model: HubModel | Snapshot) -> Iterator[None]:
    """What goes wrong between here and the hub, in one sentence."""
    try:
        yield
    except Exception as error:  # the hub client's own tree, its HTTP library's, and OSError
        if isinstance(error, OSError) and error.errno == ENOSPC:
            raise OutputError(
                f"no space left for {model.repository}; free some, or set HF_HOME to another disk"
            ) from None
        raise ModelError(
            f"the model {model.repository} is not on this machine and the Hugging Face hub could not be "
            f"reached ({first_line(error)}); connect once, or give a local folder that holds it (--model)"
        ) from None


def _check(model: HubModel, weights: Path) -> None:
    expected, found = model.sha256[model.weights], file_sha256(weights)
    if found != expected:
        raise ModelError(
            f"{weights} is not the pinned model: its sha256 is {found}, expected {expected}; "
            "delete that file and fetch the model again"
        )


def folder_revision(folder: Path, model: HubModel) -> str:
    """What identifies a model in a local folder.

    The pinned commit if the weights and the vocabulary are the pinned ones (then the folder is the
    canonical model), else `sha256:` and a digest over the weights, the configuration and the tokenizer.
    """
    weights = {path.name for pattern in WEIGHTS for path in folder.glob(pattern)}
    if not weights:
        raise ModelError(
            f"{folder} holds no model weights (model.safetensors or pytorch_model.bin); "
            f"give the folder that {model.repository} was downloaded to"
        )
    settings = {path.name for pattern in SETTINGS for path in folder.glob(pattern)}
    found = {name: file_sha256(folder / name) for name in sorted(weights | settings)}
    # a second weight file might be loaded in the pinned one's stead: transformers prefers safetensors
    if weights == {model.weights} and all(found.get(name) == digest for name, digest in model.sha256.items()):
        return model.revision
    return _digest(found)


def folder_digest(folder: Path, weights: Sequence[str]) -> str:
    """`sha256:` and a digest over a model's weights, found by patterns, its configuration and tokenizer.

    ModelError where there are no weights.
    """
    held = {path for pattern in weights for path in folder.glob(pattern)}
    if not held:
        raise ModelError(
            f"{folder} holds no model weights ({', '.join(weights)}); give the folder that holds a model"
        )
    files = sorted(held | {path for pattern in SETTINGS for path in folder.glob(pattern)})
    return _digest({path.relative_to(folder).as_posix(): file_sha256(path) for path in files})


def _digest(found: Mapping[str, str]) -> str:
    listing = "".join(f"{name} {digest}\n" for name, digest in found.items())
    return f"sha256:{sha256(listing.encode()).hexdigest()}"


def configuration(folder: Path) -> Mapping[str, Any]:
    """config.json of a model; ModelError where there is none."""
    path = folder / "config.json"
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(read, dict):
            return read
        why = "it holds no object"
    except (OSError, ValueError) as error:
        why = repr(error)
    raise ModelError(f"{path} is not a model configuration ({why}); give the folder with the model")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A repository of the hub that no edition pins, under a revision (empty: the newest)."""

    repository: str
    revision: str = ""
    patterns: tuple[str, ...] = ("*.json", "*.txt", "*.model", "*.safetensors")

    def cached(self, who: str) -> Path | None:
        """The folder in the hub's cache on disk; None where it is not there."""
        try:
            return Path(self._get(library("huggingface_hub", who), local_files_only=True))
        except (OSError, ValueError):  # what the hub's client raises where a snapshot is not at hand
            return None

    def fetch(self, who: str, progress: Progress = QUIET) -> Path:
        """The folder, downloaded where it is not there. Its name is the commit."""
        if folder := self.cached(who):
            return folder
        with _reached(self):
            progress.say(f"fetching {self.repository} from the Hugging Face hub")
            return Path(self._get(library("huggingface_hub", who)))

    def to_download(self, who: str) -> int:
        """Bytes that `fetch` would download; ModelError if the hub cannot be asked."""
        if self.cached(who):
            return 0
        hub = library("huggingface_hub", who)
        with _reached(self):
            info = hub.HfApi().model_info(
                self.repository, revision=self.revision or None, timeout=HUB_TIMEOUT, files_metadata=True
            )
            wanted = [one for one in info.siblings if any(fnmatch(one.rfilename, p) for p in self.patterns)]
            return sum(one.size or 0 for one in wanted)

    def _get(self, hub: ModuleType, **options: Any) -> str:
        return str(
            hub.snapshot_download(
                self.repository, revision=self.revision or None, allow_patterns=list(self.patterns), **options
            )
        )


def folder_width(folder: Path, max_tokens: int) -> int:
    """The model's `hidden_size`; ModelError if it cannot be read or has no room for `max_tokens`."""
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        width, positions = int(config["hidden_size"]), int(config["max_position_embeddings"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"{path} is not a model configuration ({error!r}); give the folder with the model"
        ) from None
    room = positions - 2 if config.get("model_type") == "xlm-roberta" else positions
    if max_tokens > room:
        raise ModelError(
            f"the model in {folder} takes {room} tokens, not {max_tokens}; set max_tokens to {room}"
        )
    return width
