"""Fixtures that every test may use: the real corpora, where they are present."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest


def pytest_configure() -> None:
    """A shell's background job ignores SIGINT, and so would all that a test starts and interrupts."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


def corpus_file(variable: str, names: tuple[str, ...]) -> Path:
    """The corpus under the folder (or the file) that `variable` names; skip, or fail when CI demands it."""
    place = os.environ.get(variable) or os.environ.get("PGMNEMO_CORPORA_DIR")
    candidates = [Path(place)] + [Path(place) / name for name in names] if place else []
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    sentence = f"no {names[0]}: set {variable} to its folder"
    if os.environ.get("PGMNEMO_REQUIRE_CORPORA") == "1":
        pytest.fail(sentence)
    pytest.skip(sentence)


@pytest.fixture(scope="session")
def locomo_path() -> Path:
    return corpus_file("LOCOMO_DATA_DIR", ("locomo10.json",))


@pytest.fixture(scope="session")
def longmemeval_path() -> Path:
    """The 246 development items of LongMemEval-S."""
    return corpus_file("LONGMEMEVAL_DATA_DIR", ("longmemeval_s_dev246.json.xz", "longmemeval_s_dev246.json"))
