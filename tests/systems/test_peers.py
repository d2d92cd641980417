"""Peers in processes of their own: the environment of one, the pipe to each, and what they rank."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from runner.cli import main
from runner.errors import SystemFault
from runner.paths import ROOT
from runner.systems import SYSTEMS, SystemContext, missing_parts, open_system, spec_of
from runner.systems import peers as module
from runner.systems.controls import ExactCosine
from runner.systems.peers import ENVIRONMENTS, Environment
from runner.systems.query_runner import AnswerValidator, ask_all
from runner.systems.worker_process import WORKERS, WorkerProcess, WorkerSystem
from tests.helping import ranked, until

INSTALL = "python -m runner peers install"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"PGMNEMO_CACHE_DIR": str(tmp_path / "cache")}


@pytest.fixture
def peer(tmp_path: Path) -> Environment:
    """A package that is nowhere."""
    requirements = tmp_path / "toy.txt"
    requirements.write_text("toy-peer==1.5\n")
    return Environment("toy", "toy-peer", "1.5", requirements, "nothing")


def laid(peer: Environment, environ: dict[str, str], version: str | None) -> None:
    """The environment as pip leaves it, with the package at a version."""
    place = peer.folder(environ) / "lib" / "python3.11" / "site-packages"
    place.mkdir(parents=True)
    peer.python(environ).parent.mkdir()
    peer.python(environ).symlink_to(sys.executable)
    described(place, version)


def described(place: Path, version: str | None) -> None:
    """What pip leaves of a package."""
    if version:
        facts = place / f"toy_peer-{version}.dist-info"
        facts.mkdir()
        (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: toy-peer\nVersion: {version}\n")


def test_what_is_not_installed_is_told_with_the_command_that_installs_it(
    peer: Environment, environ: dict[str, str], tmp_path: Path
) -> None:
    words = f"not installed: toy-peer 1.5, which needs an environment of its own; {INSTALL} toy"
    assert peer.missing(environ) == words
    laid(peer, environ, None)
    assert peer.missing(environ) == words
    other, right = ({"PGMNEMO_CACHE_DIR": str(tmp_path / name)} for name in ("other", "right"))
    laid(peer, other, "0.1.115")
    assert peer.missing(other) == f"of another version: toy-peer 0.1.115 instead of 1.5; {INSTALL} toy"
    laid(peer, right, "1.5")
    assert peer.missing(right) == ""
    peer.python(right).unlink()
    peer.python(right).symlink_to("/nowhere/python")
    assert peer.missing(right) == words


def test_it_is_made_by_pip_and_made_anew(
    peer: Environment, environ: dict[str, str], piped: Callable[..., None]
) -> None:
    piped("1.5")
    assert peer.install(environ) == peer.folder(environ)
    assert peer.missing(environ) == ""
    (peer.folder(environ) / "left").write_text("")
    peer.install(environ)
    assert not (peer.folder(environ) / "left").exists()


def test_pip_that_fails_or_takes_another_version_is_one_sentence(
    peer: Environment, environ: dict[str, str], piped: Callable[..., None]
) -> None:
    piped(None)
    with pytest.raises(SystemFault, match=r"^pip could not install toy-peer 1\.5"):
        peer.install(environ)
    assert not peer.folder(environ).exists()
    piped("0.1.115")
    with pytest.raises(SystemFault, match=r"^toy is still of another version: toy-peer 0\.1\.115"):
        peer.install(environ)


@pytest.fixture
def piped(environ: dict[str, str], peer: Environment, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """What pip installs; None: it fails. The environment itself is made in truth, but for pip."""
    builder, run = module.venv.EnvBuilder, subprocess.run
    monkeypatch.setattr(module.venv, "EnvBuilder", lambda **given: builder(**{**given, "with_pip": False}))

    def installs(version: str | None) -> None:
        def pip(command: Any, **given: Any) -> Any:
            if "pip" not in command:
                return run(command, **given)
            assert command[-2:] == ["-r", str(peer.requirements)]
            [place] = peer.folder(environ).glob("lib/python*/site-packages")
            described(place, version)
            return subprocess.CompletedProcess(command, int(version is None))

        monkeypatch.setattr(module.subprocess, "run", pip)

    return installs


def test_the_command_names_the_peers_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["peers", "install", "chroma"]) == 2
    assert capsys.readouterr().err == (
        "wrong use: no peer named 'chroma' has an environment of its own; choose one of: mem0\n"
    )


def test_the_requirements_of_mem0_name_its_version_and_pin_everything() -> None:
    mem0 = ENVIRONMENTS["mem0"]
    lines = mem0.requirements.read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert f"{ENVIRONMENTS['mem0'].package}=={ENVIRONMENTS['mem0'].version}" in pins
    assert all("==" in pin for pin in pins)


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
    "shout": "print('the library gave up', file=sys.stderr, flush=True); os._exit(1)",
    "kill": "os.kill(os.getpid(), 9)",
    "hang": "time.sleep(60)",
    "raise": "raise ValueError('first line\\\\nsecond')",
    "garbage": "os.write(PIPE, b'no JSON at all\\\\n')",
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

    def made(place: SystemContext) -> WorkerSystem:
        return WorkerSystem("toy", place, STARTED, script)

    monkeypatch.setitem(SYSTEMS._members, "toy", tools.kind(made, needs_vectors=True))


@pytest.fixture
def worker(script: Path, tmp_path: Path) -> Iterator[WorkerProcess]:
    made = WorkerProcess("toy", STARTED, script, tmp_path)
    yield made
    made.close()


def test_it_answers_as_a_system_does(toy: None, place: SystemContext, tiny: Any) -> None:
    with open_system("toy", place) as system:
        assert set(system.load(tiny)) == {"store"}
        assert system.facts() == {"version": "1.0", "width": str(tiny.width)}
        assert system.sizes() == {"rows": 10}
        assert (system.memory() or 1) > 0
        for project in (*tiny.projects, None):
            pairs = tiny.queries(project)
            judge = AnswerValidator("toy", tiny)
            found = ask_all(system, "toy", [query for query, _ in pairs], 3, judge)
            assert [one.matches[0].number for one in found] == [lesson.number for _, lesson in pairs]
        [query, *_] = [query for query, _ in tiny.queries()]
        lesson = tiny[0]
        assert system.ask(query, 50)[0].score == pytest.approx(float(np.dot(query.vector, lesson.vector)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("shout", r"^toy failed: its process ended with exit code 1: the library gave up$"),
        ("kill", r"^toy failed: its process ended by signal 9(: .*)?$"),
        ("raise", r"^toy failed: ValueError: first line$"),
        ("garbage", r"^toy failed: its process answered with what is no answer: 'no JSON at all'$"),
        ("hang", r"^toy did not answer in time \(no answer after 0\.3 s; --time-limit gives it longer\)$"),
    ],
)
def test_what_goes_wrong_is_one_sentence_and_ends_the_process(
    toy: None, place: SystemContext, tiny: Any, text: str, words: str
) -> None:
    began = time.monotonic()
    pids = []

    def asked() -> None:
        with open_system("toy", place) as system:
            pids.append(system._worker.pid)  # type: ignore[attr-defined]
            system.load(tiny)
            queries = [tiny.query(text), tiny.query("and one more")]
            limit = 0.3 if text == "hang" else 20
            list(ask_all(system, "toy", queries, 3, AnswerValidator("toy", tiny), limit=limit))

    with pytest.raises(SystemFault, match=words):
        asked()
    assert not psutil.pid_exists(pids[0])
    assert time.monotonic() - began < 15


def test_a_fault_of_its_library_leaves_it_in_order(worker: WorkerProcess, tmp_path: Path) -> None:
    worker.call("begin", str(tmp_path), 1)
    for _ in range(2):
        with pytest.raises(SystemFault, match="ValueError"):
            worker.call("ask", "raise", "", None, 1)
        assert worker.call("ask", "a question", "", None, 1) == []


def test_a_step_without_a_question_has_its_own_limit(worker: WorkerProcess, tmp_path: Path) -> None:
    worker.call("begin", str(tmp_path), 1, limit=20)
    with pytest.raises(SystemFault, match=r"^toy did not answer in time \('ask' took more than 0\.2 s\)$"):
        worker.call("ask", "hang", "", None, 1, limit=0.2)
    with pytest.raises(SystemFault, match="toy did not answer in time"):
        worker.call("hello", limit=0.2)


def test_neither_keys_nor_the_users_home_are_given_to_it(script: Path, tmp_path: Path) -> None:
    environ = {**os.environ, "OPENAI_API_KEY": "secret", "HTTPS_PROXY": "http://proxy", "PYTHONPATH": "."}
    worker = WorkerProcess("toy", STARTED, script, tmp_path, environ)
    try:
        seen = worker.call("environment")
    finally:
        worker.close()
    assert seen["HOME"] == str(tmp_path)
    assert not {"OPENAI_API_KEY", "HTTPS_PROXY", "PYTHONPATH"} & set(seen)


def test_it_ends_when_its_pipe_does(worker: WorkerProcess) -> None:
    """As it does where the runner is killed."""
    worker.call("hello")
    process = psutil.Process(worker.pid)
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
    toy: None, script: Path, place: SystemContext, text: str, words: str
) -> None:
    script.write_text(text)
    with pytest.raises(SystemFault, match=f"^toy failed: .*{words}"), open_system("toy", place):
        raise AssertionError("it cannot be opened")


def test_a_python_that_is_not_there_is_one_sentence(script: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemFault, match=r"toy: .*/nowhere cannot be started"):
        WorkerProcess("toy", tmp_path / "nowhere", script, tmp_path)


def test_a_runner_that_is_killed_leaves_no_process(script: Path, tmp_path: Path) -> None:
    """A parent that ends without a word closes the pipe, too."""
    code = f"""
import os
from pathlib import Path
from runner.systems.worker_process import WorkerProcess
worker = WorkerProcess("toy", Path({str(STARTED)!r}), Path({str(script)!r}), Path({str(tmp_path)!r}))
worker.call("hello")
print(worker.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    pid = int(done.stdout)
    until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


@pytest.fixture(scope="module")
def mem0(tiny: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    if sentence := missing_parts(spec_of("mem0")):
        pytest.skip(sentence)
    with open_system("mem0", SystemContext(tmp_path_factory.mktemp("mem0"), environ=os.environ)) as system:
        system.load(tiny)
        yield system


def test_its_ranking_is_the_cosine_of_our_vectors_above_its_least_similarity(mem0: Any, tiny: Any) -> None:
    """So it has the vectors that it was given, and no keyword leg."""
    facts = mem0.facts()
    assert facts["keyword leg"].startswith("off: ")
    assert facts["version"] == ENVIRONMENTS["mem0"].version
    assert (facts["infer"], facts["threshold"]) == ("False", "0.0")
    assert set(mem0.sizes()) >= {"qdrant", "history.db"}
    cosine, rows = ExactCosine(), {lesson.number: lesson.vector for lesson in tiny}
    cosine.load(tiny)
    for project in (*tiny.projects, None):
        queries = [query for query, _ in tiny.queries(project)]
        wanted = [
            [match.number for match in cosine.ask(query, 50) if rows[match.number] @ query.vector >= 0]
            for query in queries
        ]
        assert ranked("mem0", mem0, tiny, queries, 50) == wanted


@pytest.fixture(scope="module")
def mempalace(tiny: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    if sentence := missing_parts(spec_of("mempalace")):
        pytest.skip(sentence)
    with open_system(
        "mempalace", SystemContext(tmp_path_factory.mktemp("palace"), environ=os.environ)
    ) as system:
        system.load(tiny)
        yield system


def test_the_lesson_of_a_questions_words_comes_first_wherever_it_is_asked(mempalace: Any, tiny: Any) -> None:
    for project in (*tiny.projects, None):
        pairs = tiny.queries(project)
        found = ranked("mempalace", mempalace, tiny, [query for query, _ in pairs], 50)
        assert [numbers[0] for numbers in found] == [lesson.number for _, lesson in pairs]
        sizes = {len(numbers) for numbers in found}
        assert sizes == {sum(project in (None, one.project) for one in tiny)}


def test_it_has_our_vectors_and_its_words_rank_anew(mempalace: Any, tiny: Any) -> None:
    """With words of no lesson the cosine alone ranks; with the words of one, that one comes first."""
    cosine = ExactCosine()
    cosine.load(tiny)
    query, lesson = tiny.queries()[0]
    wordless = replace(query, text="zzz")
    wanted = [match.number for match in cosine.ask(wordless, 3)]
    assert ranked("mempalace", mempalace, tiny, [wordless], 3) == [wanted]
    other = next(one for one in tiny if one.number not in wanted)
    thing = other.text.partition("the ")[2].partition(" ")[0]
    worded = replace(query, text=f"{thing} {thing}")
    assert ranked("mempalace", mempalace, tiny, [worded], 3)[0][0] == other.number != lesson.number


def test_version_weights_and_sizes_are_told(mempalace: Any) -> None:
    facts = mempalace.facts()
    assert facts["version"] == metadata.version("mempalace")
    assert facts["weights"] == "0.6 similarity, 0.4 BM25 among the candidates"
    assert mempalace.sizes()["palace"] > 1000


def test_lessons_of_one_text_all_come_back(mempalace: Any, tiny: Any, place: SystemContext) -> None:
    """It folds them into one result that lists the others."""

    class Twins(type(tiny)):  # type: ignore[misc]
        def lesson(self, position: int) -> Any:
            lesson = super().lesson(position)
            return replace(lesson, text="The same long text, again and again. " * 5)

    lessons = Twins()
    with open_system("mempalace", place) as system:
        system.load(lessons)
        [numbers] = ranked("mempalace", system, lessons, [tiny.query("The same text?")], 50)
    assert sorted(numbers) == sorted(lesson.number for lesson in tiny)
