"""The libraries that run models: torch with its device and threads, and onnxruntime, which needs no torch."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgmnemo.errors import ModelError

# Read by the libraries when they are first imported. Threads that spin while they wait make a model up to
# ten times slower beside any other busy process; asleep, they cost nothing measurable.
ENVIRONMENT = {
    "OMP_WAIT_POLICY": "PASSIVE",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_VERBOSITY": "error",
    "HF_HUB_ETAG_TIMEOUT": "5",
    "TRANSFORMERS_VERBOSITY": "error",
    "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
}

INPUTS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
ONNX = "onnx"  # the extra that brings it

Tokens = NDArray[np.int64]


@contextmanager
def silence() -> Iterator[None]:
    """Keep the libraries' warnings and progress bars from the user's terminal while they load or run."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def library(name: str, who: str, extra: str = "embed") -> ModuleType:
    """The imported module `name`; ModelError if the extra is not installed. `who` needs it."""
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        raise _lacking(name, who, f"cannot be imported ({first_line(error)})", extra) from None
    if name == "transformers":
        module.utils.logging.set_verbosity_error()
        module.utils.logging.disable_progress_bar()
    return module


def demand(name: str, who: str, extra: str = "embed") -> None:
    """ModelError if the module `name` is not installed; imports nothing, which would take seconds."""
    try:
        found = importlib.util.find_spec(name) is not None
    except ValueError:  # something without a spec stands in its place
        found = sys.modules.get(name) is not None
    if not found:
        raise _lacking(name, who, "is not installed", extra)


def _lacking(name: str, who: str, how: str, extra: str) -> ModelError:
    return ModelError(
        f"{who} needs {name}, which {how}; install the {extra} extra: "
        f"pip install -c constraints.txt -e .[{extra}]"
    )


def device(who: str) -> str:
    """`cuda`, `mps` or `cpu`, whichever is the first present. Not part of any identity."""
    torch = library("torch", who)
    if torch.cuda.is_available():
        return "cuda"
    if torch.backends.mps.is_available():
        return "mps"
    torch.set_num_threads(max(1, min(torch.get_num_threads(), usable_cores())))
    return "cpu"


def usable_cores() -> int:
    """Cores that this process may use: more threads than that slow each other down."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, allowed or 1)


def first_line(error: BaseException) -> str:
    """What an exception says, on one line; its type if it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


class Graph:
    """A loaded graph. `who` needs it, and reads at most so many `tokens` of a text.

    ModelError that ends in `mend` where the file is no graph, and where the tokenizer cannot be read.
    """

    def __init__(self, graph: Path, tokenizer: Path, tokens: int, who: str, mend: str) -> None:
        runtime, readers = library("onnxruntime", who, ONNX), library("tokenizers", who, ONNX)
        settings = runtime.SessionOptions()
        settings.intra_op_num_threads = usable_cores()
        settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
        settings.log_severity_level = 4  # what goes wrong is told by the error
        try:
            self._session = runtime.InferenceSession(str(graph), settings, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has a tree of its own
            raise ModelError(
                f"{graph} cannot be loaded by onnxruntime ({type(error).__name__}: {first_line(error)}); "
                f"{mend}"
            ) from error
        try:
            self._tokenizer = readers.Tokenizer.from_file(str(tokenizer))
        except Exception as error:  # a bare Exception, whatever is wrong with the file
            raise ModelError(f"{tokenizer} is no tokenizer ({first_line(error)}); {mend}") from None
        self._tokenizer.enable_truncation(tokens)
        self._tokenizer.enable_padding()

    @property
    def inputs(self) -> list[str]:
        """Names of what the graph takes."""
        return [one.name for one in self._session.get_inputs()]

    def read(self, texts: Sequence[Any]) -> dict[str, Tokens]:
        """The columns of texts, or of pairs of them: ids, mask and types, each (texts, longest)."""
        read = self._tokenizer.encode_batch(list(texts))
        return {
            name: np.array([getattr(one, attribute) for one in read], dtype=np.int64)
            for name, attribute in INPUTS.items()
        }

    def run(self, columns: Mapping[str, Tokens]) -> NDArray[Any]:
        """The first of the graph's answers."""
        wanted = {name: columns[name] for name in self.inputs if name in columns}
        return np.asarray(self._session.run(None, wanted)[0])
