"""The libraries that run models: torch with its device and threads, and onnxruntime."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgmnemo.errors import ModelError, PgmnemoError, os_errors

# The libraries read these variables when they are first imported. Threads that spin while they wait make a
# model up to ten times slower if another process is busy; sleeping threads cost nothing measurable.
ENVIRONMENT = {
    "OMP_WAIT_POLICY": "PASSIVE",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_VERBOSITY": "error",
    "ORT_DISABLE_TELEMETRY": "1",  # else onnxruntime sends telemetry, and writes a file .ses
    "HF_HUB_ETAG_TIMEOUT": "5",
    "TRANSFORMERS_VERBOSITY": "error",
    "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
}

INPUTS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
ONNX, LOCAL, MULTILINGUAL = "onnx", "local", "multilingual"  # extras that install onnxruntime
CHECKOUT = ("embed", ONNX)  # extras that exist only in a checkout
BERT = Path(__file__).parent / "bert" / "vocab.txt"  # WordPiece of BERT uncased; NOTICE names its source

Tokens = NDArray[np.int64]


@contextmanager
def silence() -> Iterator[None]:
    """Keep the libraries' warnings and progress bars from the user's terminal while they load or run."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def loading(
    folder: Path, what: str = "a model", mend: str = "fetch it again, or name another"
) -> Iterator[None]:
    """Convert an error of a library that loads `folder` in the block into a ModelError; silence its
    output.
    """
    try:
        with silence():
            yield
    except PgmnemoError:
        raise
    except Exception as error:  # any error of a model library on damaged files
        raise ModelError(
            f"{folder} cannot be loaded as {what} ({type(error).__name__}: {first_line(error)}); {mend}"
        ) from error


def library(name: str, who: str, extra: str = "embed") -> ModuleType:
    """Return the imported module `name`; raise ModelError if it cannot be imported.

    The message says that `who` needs it and names the `extra` to install.
    """
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        raise _lacking(name, who, f"cannot be imported ({first_line(error)})", extra) from None
    if name == "transformers":
        module.utils.logging.set_verbosity_error()
        module.utils.logging.disable_progress_bar()
    return module


def demand(name: str, who: str, extra: str = "embed") -> None:
    """Raise ModelError if the module `name` is not installed; importing it would take seconds."""
    try:
        found = importlib.util.find_spec(name) is not None
    except ValueError:  # a module without a spec replaces it
        found = sys.modules.get(name) is not None
    if not found:
        raise _lacking(name, who, "is not installed", extra)


def package_folder(name: str) -> Path | None:
    """Return the folder of an installed package, without an import; None if it is not installed."""
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def _lacking(name: str, who: str, how: str, extra: str) -> ModelError:
    # the extras in CHECKOUT are for developers, in the versions tested together
    pinned = f"-c constraints.txt -e '.[{extra}]'"
    what = pinned if extra in CHECKOUT else f"'.[{extra}]' in a checkout of pgmnemo"
    return ModelError(f"{who} needs {name}, which {how}; install the {extra} extra: pip install {what}")


def device(who: str) -> str:
    """Return `cuda`, `mps` or `cpu`, the first that is present. It is not part of any identity."""
    torch = library("torch", who)
    if torch.cuda.is_available():
        return "cuda"
    if torch.backends.mps.is_available():
        return "mps"
    torch.set_num_threads(max(1, min(torch.get_num_threads(), usable_cores())))
    return "cpu"


def usable_cores() -> int:
    """Return the number of cores that this process may use; more threads would slow each other down."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, allowed or 1)


def first_line(error: BaseException) -> str:
    """Return an exception's message on one line, or its type if the message is empty."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


class Graph:
    """An ONNX graph, loaded with its tokenizer, which reads at most `tokens` of a text; `who` needs it.

    `tokenizer` is a tokenizer.json, or BERT's vocab.txt. With `digest`, the SHA-256 of the loaded bytes is
    checked. Threads may share a graph. Raise ModelError, whose message ends with `mend`, for another or
    invalid graph, or an invalid tokenizer.
    """

    def __init__(
        self,
        graph: Path,
        tokenizer: Path,
        tokens: int,
        who: str,
        mend: str,
        *,
        digest: str = "",
        extra: str = ONNX,
    ) -> None:
        with silence():
            runtime = library("onnxruntime", who, extra)
        settings = runtime.SessionOptions()
        settings.intra_op_num_threads = usable_cores()
        settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
        settings.log_severity_level = 4  # the error has the message
        # a path without a pinned digest: a graph may have several files
        source = _checked_bytes(graph, digest, mend) if digest else str(graph)
        try:
            self._session = runtime.InferenceSession(source, settings, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has its own exception classes
            raise ModelError(
                f"{graph} cannot be loaded by onnxruntime ({type(error).__name__}: {first_line(error)}); "
                f"{mend}"
            ) from error
        readers = library("tokenizers", who, extra)
        try:
            self._tokenizer = tokenizer_of(readers, tokenizer)
            self.uncut = tokenizer_of(readers, tokenizer)  # a second tokenizer, because threads share both
        except Exception as error:  # the library raises a bare Exception for a bad file
            raise ModelError(f"{tokenizer} is no tokenizer ({first_line(error)}); {mend}") from None
        self.uncut.no_truncation()
        self.uncut.no_padding()
        self._tokenizer.enable_truncation(tokens)
        self._tokenizer.enable_padding()

    @property
    def inputs(self) -> list[str]:
        """Return the names of the graph's inputs."""
        return [one.name for one in self._session.get_inputs()]

    def read(self, texts: Sequence[Any]) -> dict[str, Tokens]:
        """Return the token columns of texts, or of pairs of texts: ids, mask and types, each (texts,
        longest).
        """
        read = self._tokenizer.encode_batch(list(texts))
        return {
            name: np.array([getattr(one, attribute) for one in read], dtype=np.int64)
            for name, attribute in INPUTS.items()
        }

    def run(self, columns: Mapping[str, Tokens]) -> NDArray[Any]:
        """Return the first output of the graph."""
        wanted = {name: columns[name] for name in self.inputs if name in columns}
        return np.asarray(self._session.run(None, wanted)[0])


def _checked_bytes(graph: Path, digest: str, mend: str) -> bytes:
    """Return the bytes of a graph; raise ModelError unless their SHA-256 is `digest`."""
    with os_errors(f"{graph} cannot be read: {{why}}; {mend}", ModelError):
        content = graph.read_bytes()
    if (found := sha256(content).hexdigest()) != digest:
        raise ModelError(f"{graph} is not the pinned model: its sha256 is {found}, expected {digest}; {mend}")
    return content


def tokenizer_of(readers: ModuleType, path: Path) -> Any:
    """Return the tokenizer of a tokenizer.json, or the tokenizer of BERT uncased over a vocab.txt."""
    if path.suffix == ".json":
        return readers.Tokenizer.from_file(str(path))
    vocabulary = readers.models.WordPiece.read_file(str(path))
    return readers.BertWordPieceTokenizer(vocabulary, lowercase=True)
