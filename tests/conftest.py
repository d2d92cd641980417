"""Fixtures for every test: the real corpora and a real browser, if present.

Finished runs are in finished.py, hand-made records and results folders in records.py, PgBouncer in
pooling.py, a memory for every interface in interface_memory.py.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.errors import PgmnemoError
from pgmnemo.postgres import discovery
from runner.protocol.datasets import SUITES
from runner.records import Corpus
from runner.systems import memory_usage

pytest_plugins = (
    "tests.interface_memory",
    "tests.finished",
    "tests.pooling",
    "tests.records",
    "tests.watching",
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
REQUIRED = "PGMNEMO_REQUIRE_BROWSER"  # set in CI: there a missing browser is a failure
MEMORY = Path("/dev/shm")  # a file system in memory, on Linux
ASSEMBLE = Path(__file__).parents[1] / "sql" / "assemble.py"
NOWHERE = {"PGMNEMO_PORT": "1"}  # where no compose service answers


def pytest_configure(config: pytest.Config) -> None:
    """Write the extension's scripts from sql/src, once; let tests interrupt the processes that they start.

    A shell's background job ignores SIGINT, and its child processes inherit this.
    """
    _keep_servers_in_memory()
    if not hasattr(config, "workerinput"):
        subprocess.run([sys.executable, ASSEMBLE, "write"], check=True, stdout=subprocess.DEVNULL)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
    _find_nobodys_server()
    _hold_errors_to_one_line()
    _collect_no_garbage()


def _keep_servers_in_memory() -> None:
    """Put temporary folders in memory if it has room: a cluster has a thousand files. Leave pytest's own."""
    if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 4 << 30:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


def _collect_no_garbage() -> None:
    """Collect no garbage when an in-process system opens: of all tests' objects it takes half a second."""
    memory_usage.release_free_memory = lambda: None


def _hold_errors_to_one_line() -> None:
    """Fail where an error that a user can cause, and that a test expects, has more lines than one."""
    leave = pytest.RaisesExc.__exit__

    def checked(expected: Any, kind: Any, error: Any, trace: Any) -> bool:
        assert not (isinstance(error, PgmnemoError) and "\n" in str(error)), error
        return leave(expected, kind, error, trace)

    pytest.RaisesExc.__exit__ = checked  # type: ignore[method-assign]


def _find_nobodys_server() -> None:
    """Hide a server on this machine from tests, unless a test names it.

    Tests share lessons among workers and reset the sequence of lesson ids, so a run on such a server would
    fail.
    """
    os.environ.pop("PGMNEMO_DSN", None)
    os.environ.update(NOWHERE)
    compose = discovery._compose
    discovery._compose = lambda environ, env_file: compose({**NOWHERE, **environ}, env_file)


def corpus_file(variable: str, names: tuple[str, ...]) -> Path:
    """Return the corpus file in the folder (or the file) that `variable` names; skip without it, or fail if
    CI demands it.
    """
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
    """Return the file of the 246 development items of LongMemEval-S."""
    return corpus_file("LONGMEMEVAL_DATA_DIR", ("longmemeval_s_dev246.json.xz", "longmemeval_s_dev246.json"))


@pytest.fixture(scope="session")
def locomo_corpora(locomo_path: Path) -> dict[str, Corpus]:
    """Return LoCoMo by level, session and turn, read once."""
    return {level: SUITES["locomo"].load(locomo_path, level) for level in ("session", "turn")}


@pytest.fixture(scope="session")
def longmemeval_corpus(longmemeval_path: Path) -> Corpus:
    """Return the development items by sessions, read once."""
    return SUITES["longmemeval"].load(longmemeval_path)


def corpus_folder(variable: str) -> Path:
    """Return the folder that `variable` names; skip without it, or fail if CI demands it."""
    place = os.environ.get(variable)
    if place and Path(place).is_dir():
        return Path(place)
    sentence = f"no folder of files: set {variable} to it"
    if os.environ.get("PGMNEMO_REQUIRE_CORPORA") == "1":
        pytest.fail(sentence)
    pytest.skip(sentence)


@pytest.fixture(scope="session")
def realtalk_path() -> Path:
    """Return the folder of chats 1 to 3 of REALTALK's ten."""
    return corpus_folder("REALTALK_DATA_DIR")


@pytest.fixture(scope="session")
def beam_path() -> Path:
    """Return the folder with chats 1 to 6 of BEAM 100K's twenty, in its subfolder 100K."""
    return corpus_folder("BEAM_DATA_DIR")


def browser_path() -> str:
    """Return the path of Chromium; skip without it, or fail if CI demands it."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        sentence = "no Chromium: install Debian's package chromium"
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(sentence)
        pytest.skip(sentence)
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Yield a headless Chromium until the file ends: while it runs, its process can run no other loop."""
    path = browser_path()
    with pytest.importorskip("playwright.sync_api").sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(autouse=True)
def no_git_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove git's environment variables: a git hook that runs the tests sets them to its repository."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
