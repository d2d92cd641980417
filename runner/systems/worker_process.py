"""A system in its own process, with one line of JSON for each request and answer (see
runner/systems/workers).

Texts and vectors are sent over the pipe, numbers and scores come back, one question at a time. A fault of the
process (it dies, hangs or answers wrongly) is a SystemFault of one sentence. An abandoned process ends by
itself, because its pipe is closed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from pgmnemo.escaping import escape_control_chars
from pgmnemo.progress import QUIET, Progress
from pgmnemo.records import Matrix
from runner.errors import SystemFault
from runner.systems.memory_usage import file_sizes, process_memory
from runner.systems.system import Lessons, Match, Query, System, SystemContext

WORKERS = Path(__file__).parent / "workers"
BATCH = 64  # lessons in one request
START, STORE = 120.0, 600.0  # time limits in seconds of the start and of a batch
STORED = "stored"  # name of its stored data in the place's folder
LINE = 1 << 26  # maximum bytes of an answer
SAID = 120  # characters of a wrong answer that are repeated
PATIENCE = 5.0  # seconds allowed for its end
LOG = "worker.log"
KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONHASHSEED",
        "OMP_NUM_THREADS")  # fmt: skip
"""Variables that it is given: no key, no proxy and no setting of the user's own."""


class WorkerProcess:
    """The process of `script`, run by `python` in `folder`, which is also its home.

    `name` is used in errors.
    """

    def __init__(
        self, name: str, python: Path, script: Path, folder: Path, environ: Mapping[str, str] = os.environ
    ) -> None:
        self._name, self._log = name, folder / LOG
        self._lock = threading.Lock()
        self._late = False
        kept = {variable: environ[variable] for variable in KEPT if variable in environ}
        try:
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(
                    [str(python), str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                    cwd=folder, env={**kept, "HOME": str(folder), "HF_HUB_OFFLINE": "1"},
                    start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            raise SystemFault(f"{name}: {python} cannot be started ({error.strerror})") from None

    @property
    def pid(self) -> int:
        return self._process.pid

    def call(self, do: str, *arguments: Any, limit: float | None = None) -> Any:
        """Return the result of the worker's method `do`; kill the worker after `limit` seconds or a fault.

        Raises SystemFault. `limit` None: no limit.
        """
        line = json.dumps({"do": do, "with": arguments}).encode() + b"\n"
        with self._lock:
            timer = threading.Timer(limit, self._expire) if limit is not None else None
            try:
                if timer:
                    timer.daemon = True
                    timer.start()
                answer = self._exchanged(line)
            finally:
                if timer:
                    timer.cancel()
        if not answer.endswith(b"\n"):
            raise SystemFault(self._ended(do, limit))
        return self._result(answer)

    def _exchanged(self, line: bytes) -> bytes:
        """Send a line and return the answer; an incomplete answer has no newline at its end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
            return self._process.stdout.readline(LINE)
        except (OSError, ValueError):  # it has ended, or its pipe is closed
            return b""

    def _expire(self) -> None:
        self._late = True
        self._kill()

    def _ended(self, do: str, limit: float | None) -> str:
        if self._late:
            return f"{self._name} did not answer in time ({do!r} took more than {limit:g} s)"
        self._kill()
        code = self._process.wait()
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        last = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
        return f"{self._name} failed: its process ended {how}" + (
            f": {escape_control_chars(last[0][:SAID])}" if last else ""
        )

    def _result(self, answer: bytes) -> Any:
        try:
            known = json.loads(answer)
            if isinstance(known, dict) and len(known) == 1:
                if "error" in known:
                    raise SystemFault(f"{self._name} failed: {escape_control_chars(str(known['error']))}")
                return known["result"]
        except (ValueError, KeyError):
            pass
        self._kill()
        text = answer.decode(errors="replace").strip()[:SAID]
        raise SystemFault(f"{self._name} failed: its process answered with what is no answer: {text!r}")

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Stop the process: close its pipe, or kill it if it is still at work."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if self._lock.locked():
            self._kill()
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.wait()
        self._process.stdout.close()


class WorkerSystem(System):
    """A system in the process of `script`, run by `python`. `name` is used in errors."""

    def __init__(self, name: str, context: SystemContext, python: Path, script: Path) -> None:
        self._name, self._folder = name, context.folder / STORED
        self._folder.mkdir()
        self._projects: dict[str, int] = {}
        self._worker = WorkerProcess(name, python, script, context.folder, context.environ)
        try:
            self._facts = {**self._worker.call("hello", limit=START)}
        except BaseException:
            self._worker.close()
            raise

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        self._projects = {name: number for number, name in enumerate(lessons.projects)}
        self._facts |= self._worker.call("begin", str(self._folder), lessons.width, limit=START)
        began = time.perf_counter()
        for start in progress.track(range(0, len(lessons), BATCH), f"{self._name}: batches"):
            rows = [
                (one.number, self._projects[one.project], one.text, _encoded(one.vector))
                for one in lessons[start : start + BATCH]
            ]
            self._worker.call("store", rows, limit=STORE)
        return {"store": time.perf_counter() - began}

    def ask(self, query: Query, k: int) -> list[Match]:
        project = None
        if query.project is not None:
            project = self._projects.get(query.project)
            if project is None:  # nothing was stored there
                return []
        found = self._worker.call("ask", query.text, _encoded(query.vector), project, k)
        return [Match(int(number), score) for number, score in found]

    def facts(self) -> Mapping[str, str]:
        return self._facts

    def sizes(self) -> Mapping[str, int]:
        return file_sizes(self._folder)

    def memory(self) -> int | None:
        return process_memory(self._worker.pid)

    def close(self) -> None:
        self._worker.close()


def _encoded(vector: Matrix | None) -> str:
    """Return the vector as Base64 of float32, little-endian."""
    assert vector is not None, "it can do nothing without vectors"
    return b64encode(np.ascontiguousarray(vector, dtype="<f4").tobytes()).decode()
