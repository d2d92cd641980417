"""The device, the threads and the silence in which the model libraries run."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from runner.errors import ModelError

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
    _limit_threads(torch)
    return "cpu"


def usable_cores() -> int:
    """Cores that this process may use: more threads than that slow each other down."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, allowed or 1)


def _limit_threads(torch: ModuleType) -> None:
    torch.set_num_threads(max(1, min(torch.get_num_threads(), usable_cores())))


def first_line(error: BaseException) -> str:
    """What an exception says, on one line; its type if it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
