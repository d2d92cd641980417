"""A process behind a pipe: what it answers; whatever goes wrong on its side is one sentence."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from runner.errors import SystemFault
from runner.systems import SYSTEMS, Place, open_system
from runner.systems.asking import Judge, answers
from runner.systems.piped import WORKERS, Piped
from runner.systems.worker import Worker

TOY = f"""
import os, sys, time
sys.path.insert(0, {str(WORKERS)!r})
from pipe import floats, serve

class Toy:
    def hello(self):
        print("to the log")
        return {{"version": "1.0"}}
    def begin(self, folder, width):
        self.rows = []
        open(os.path.join(folder, "rows"), "w").write("x" * 10)
        return {{"width": str(width)}}
    def store(self, rows):
        self.rows += [(number, project, floats(vector)) for number, project, text, vector in rows]
    def ask(self, text, vector, project, k):
        if text in WRONG:
            exec(WRONG[text])
        asked = floats(vector)
        found = [(number, sum(a * b for a, b in zip(asked, row)))
                 for number, of, row in self.rows if project in (None, of)]
        return sorted(found, key=lambda one: -one[1])[:k]
    def environment(self):
        return dict(os.environ)

WRONG = {{
    "die": "os._exit(3)",
    "shout": "print('the library gave up', file=sys.stderr, flush=True); os._exit(1)",
    "kill": "os.kill(os.getpid(), 9)",
    "hang": "time.sleep(60)",
    "raise": "raise ValueError('first line\\\\nsecond')",
    "garbage": "os.write(PIPE, b'no JSON at all\\\\n')",
    "list": "os.write(PIPE, b'[1]\\\\n')",
}}
PIPE = os.dup(1)
serve(Toy())
"""
STARTED = Path(sys.executable)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    place = tmp_path / "toy.py"
    place.write_text(TOY)
    return place


@pytest.fixture
def toy(script: Path, monkeypatch: pytest.MonkeyPatch, tools: Any) -> None:
    """A system of this name."""

    def made(place: Place) -> Piped:
        return Piped("toy", place, STARTED, script)

    monkeypatch.setitem(SYSTEMS._members, "toy", tools.kind(made, needs_vectors=True))


@pytest.fixture
def worker(script: Path, tmp_path: Path) -> Iterator[Worker]:
    made = Worker("toy", STARTED, script, tmp_path)
    yield made
    made.close()


def test_it_answers_as_a_system_does(toy: None, place: Place, tiny: Any) -> None:
    with open_system("toy", place) as system:
        assert set(system.load(tiny)) == {"store"}
        assert system.facts() == {"version": "1.0", "width": str(tiny.width)}
        assert system.sizes() == {"rows": 10}
        assert (system.memory() or 1) > 0
        for project in (*tiny.projects, None):
            pairs = tiny.queries(project)
            judge = Judge("toy", tiny)
            found = answers(system, "toy", [query for query, _ in pairs], 3, judge)
            assert [one.matches[0].number for one in found] == [lesson.number for _, lesson in pairs]
        [query, *_] = [query for query, _ in tiny.queries()]
        lesson = tiny[0]
        assert system.ask(query, 50)[0].score == pytest.approx(float(np.dot(query.vector, lesson.vector)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("die", r"^toy failed: its process ended with exit code 3(: .*)?$"),
        ("shout", r"^toy failed: its process ended with exit code 1: the library gave up$"),
        ("kill", r"^toy failed: its process ended by signal 9(: .*)?$"),
        ("raise", r"^toy failed: ValueError: first line$"),
        ("garbage", r"^toy failed: its process answered with what is no answer: 'no JSON at all'$"),
        ("list", r"^toy failed: its process answered with what is no answer: '\[1\]'$"),
        ("hang", r"^toy did not answer in time \(no answer after 0\.3 s; --time-limit gives it longer\)$"),
    ],
)
def test_what_goes_wrong_is_one_sentence_and_ends_the_process(
    toy: None, place: Place, tiny: Any, text: str, words: str
) -> None:
    began = time.monotonic()
    pids = []

    def asked() -> None:
        with open_system("toy", place) as system:
            pids.append(system._worker.pid)  # type: ignore[attr-defined]
            system.load(tiny)
            queries = [tiny.query(text), tiny.query("and one more")]
            limit = 0.3 if text == "hang" else 20
            list(answers(system, "toy", queries, 3, Judge("toy", tiny), limit=limit))

    with pytest.raises(SystemFault, match=words):
        asked()
    assert not psutil.pid_exists(pids[0])
    assert time.monotonic() - began < 15


def test_a_fault_of_its_library_leaves_it_in_order(worker: Worker, tmp_path: Path) -> None:
    worker.call("begin", str(tmp_path), 1)
    for _ in range(2):
        with pytest.raises(SystemFault, match="ValueError"):
            worker.call("ask", "raise", "", None, 1)
        assert worker.call("ask", "a question", "", None, 1) == []


def test_a_step_without_a_question_has_its_own_limit(worker: Worker, tmp_path: Path) -> None:
    worker.call("begin", str(tmp_path), 1, limit=20)
    with pytest.raises(SystemFault, match=r"^toy did not answer in time \('ask' took more than 0\.2 s\)$"):
        worker.call("ask", "hang", "", None, 1, limit=0.2)
    with pytest.raises(SystemFault, match="toy did not answer in time"):
        worker.call("hello", limit=0.2)


def test_neither_keys_nor_the_users_home_are_given_to_it(script: Path, tmp_path: Path) -> None:
    environ = {**os.environ, "OPENAI_API_KEY": "secret", "HTTPS_PROXY": "http://proxy", "PYTHONPATH": "."}
    worker = Worker("toy", STARTED, script, tmp_path, environ)
    try:
        seen = worker.call("environment")
    finally:
        worker.close()
    assert seen["HOME"] == str(tmp_path)
    assert not {"OPENAI_API_KEY", "HTTPS_PROXY", "PYTHONPATH"} & set(seen)


def test_it_ends_when_its_pipe_does(worker: Worker) -> None:
    """As it does where the runner is killed."""
    worker.call("hello")
    process = psutil.Process(worker.pid)
    assert worker._process.stdin is not None
    worker._process.stdin.close()
    process.wait(10)
    with pytest.raises(SystemFault, match="its process ended with exit code 0"):
        worker.call("hello")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import no_such_library", "its process ended with exit code 1: ModuleNotFoundError"),
        ("print('hello')", "answered with what is no answer: 'hello'"),
        ("", "its process ended with exit code 0"),
    ],
)
def test_a_worker_that_does_not_start_is_one_sentence(
    toy: None, script: Path, place: Place, text: str, words: str
) -> None:
    script.write_text(text)
    with pytest.raises(SystemFault, match=f"^toy failed: .*{words}"), open_system("toy", place):
        raise AssertionError("it cannot be opened")


def test_a_python_that_is_not_there_is_one_sentence(script: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemFault, match=r"toy: .*/nowhere cannot be started"):
        Worker("toy", tmp_path / "nowhere", script, tmp_path)


def test_a_runner_that_is_killed_leaves_no_process(script: Path, tmp_path: Path, spawn: Any) -> None:
    """A parent that ends without a word closes the pipe, too."""
    pid = spawn(
        f"""
        import os
        from pathlib import Path
        from runner.systems.worker import Worker
        worker = Worker("toy", Path({str(STARTED)!r}), Path({str(script)!r}), Path({str(tmp_path)!r}))
        worker.call("hello")
        print(worker.pid, flush=True)
        os.kill(os.getpid(), 9)
        """
    )
    until = time.monotonic() + 10
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.fixture
def spawn() -> Callable[[str], int]:
    """What a program of its own prints as a number."""
    import subprocess
    import textwrap

    def spawned(code: str) -> int:
        command = [sys.executable, "-c", textwrap.dedent(code)]
        root = Path(__file__).parents[2]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=60)
        return int(done.stdout)

    return spawned
