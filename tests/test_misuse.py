"""Every command that reads a run, on folders that are none, and every option that takes what is none: a
sentence, its code, nothing to steer by, and nothing of a user's own written over."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.errors import OutputError, UsageError
from runner.cli import main
from runner.runs.output import write_output
from runner.stages.answers.source_run import read_errors
from tests.helping import kept_run
from tests.spoiling import Change, instead, put, seal, swap

DAMAGES: dict[str, Change] = {}
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def edit(name: str, *path: Any, to: Any) -> Change:
    """Another value in a JSON document, or in the first line of a file of lines."""

    def change(folder: Path) -> None:
        file = folder / name
        first, *rest = file.read_text().split("\n") if name.endswith("jsonl") else [file.read_text()]
        document = json.loads(first)
        inner = document
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = to
        file.write_text("\n".join([json.dumps(document), *rest]))

    return change


def sparse(file: Path) -> None:
    with file.open("wb") as opened:
        opened.truncate(65 << 20)


DEEP = b"[" * 100_000
for file in ("run.json", "metrics.json", "manifest.json", "raw_retrievals.jsonl"):
    for cause, content in {
        "null": b"null\n", "a text": b'"text"\n', "deep": DEEP, "empty": b"", "cut": b'{"schema": ',
        "not UTF-8": b"\xff\xfe\n", "a mark of byte order": b"\xef\xbb\xbf{}\n",
        "half a surrogate pair": b'{"schema": "\\ud800"}\n', "not finite": b'{"schema": 1e999}\n',
    }.items():  # fmt: skip
        DAMAGES[f"{file} is {cause}"] = put(file, content)
    DAMAGES[f"{file} is a named pipe"] = instead(file, os.mkfifo)
    DAMAGES[f"{file} is a device"] = instead(file, lambda place: place.symlink_to("/dev/zero"))
    DAMAGES[f"{file} is a folder"] = instead(file, Path.mkdir)
    DAMAGES[f"{file} leads out"] = instead(file, lambda place: place.symlink_to("/etc/passwd"))
    DAMAGES[f"{file} is missing"] = instead(file, lambda place: None)
DAMAGES |= {
    "run.json is too large": instead("run.json", sparse),
    "run.json has an escape sequence": edit("run.json", "corpus", "title", to="\x1b[2J\x1b]0;owned\x07"),
    "run.json has a script": edit("run.json", "corpus", "title", to="<script>alert(1)</script>"),
    "run.json has a link": edit("run.json", "deviations", to=["[x](javascript:alert(1))"]),
    "run.json turns the direction": edit("run.json", "corpus", "title", to="\u202eLoCoMo"),
    "run.json has another edition": edit("run.json", "protocol", "version", to="9.9.9"),
    "run.json has no arms": edit("run.json", "arms", to=[]),
    "run.json has no scopes": edit("run.json", "scopes", to=[]),
    "run.json has no views": edit("run.json", "views", to=[]),
    "run.json has no date": edit("run.json", "started", to="yesterday"),
    "run.json has another verdict": edit("run.json", "verdict", to="verified"),
    "run.json has a huge count": edit("run.json", "corpus", "segments", to=10**400),
    "run.json has 1e308 seconds": edit("run.json", "resources", "wall_seconds", to=1e308),
    "run.json is nested in a map": edit("run.json", "guc_state", to={"a": {"b": {"c": {}}}}),
    "metrics.json has 7.5": edit("metrics.json", "results", 0, "value", to=7.5),
    "metrics.json has NaN": swap("metrics.json", '"value": ', '"value": NaN, "other": ', 1),
    "metrics.json has no figure": edit("metrics.json", "results", to=[]),
    "metrics.json has another arm": edit("metrics.json", "results", 0, "arm", to="<script>"),
    "manifest.json leads up": edit("manifest.json", "files", 0, "name", to="../../secret"),
    "manifest.json leads away": edit("manifest.json", "files", 0, "name", to="/etc/passwd"),
    "manifest.json lists nothing": edit("manifest.json", "files", to=[]),
    "a ranking is deep": edit("raw_retrievals.jsonl", "ranking", to=[[[[["a"]]]]]),
    "a ranking has an escape sequence": edit("raw_retrievals.jsonl", "ranking", to=["\x1b[2J"]),
    "a size is negative": edit("raw_retrievals.jsonl", "size", to=-1),
    "a gold is null": edit("raw_retrievals.jsonl", "gold", to=None),
    "a line stands twice": lambda folder: (folder / "raw_retrievals.jsonl").write_text(
        (text := (folder / "raw_retrievals.jsonl").read_text()) + text.split("\n")[0] + "\n"
    ),
    "a time is negative": edit("timings.jsonl", "seconds", to=-1.0),
    "HISTORY.md is a named pipe": lambda folder: os.mkfifo(folder.parent / "HISTORY.md"),
    "HISTORY.md is no text": lambda folder: (folder.parent / "HISTORY.md").write_bytes(b"\xff"),
}  # fmt: skip

Words = Callable[[Path, Path, Path], list[Any]]
COMMANDS: dict[str, tuple[Words, set[int]]] = {
    "verify": (lambda bad, good, base: ["verify", bad], {1}),
    "verify as JSON": (lambda bad, good, base: ["verify", bad, "--json"], {1}),
    "rescore": (lambda bad, good, base: ["rescore", bad, "--output", base / "anew"], {0, 1, 2, 3}),
    "report": (lambda bad, good, base: ["report", bad, "--output", base / "page.html"], {0, 1, 2, 3}),
    "compare": (lambda bad, good, base: ["compare", good, bad], {0, 1, 2, 3}),
    "gate": (lambda bad, good, base: ["gate", "--baseline", bad, good], {1, 2, 3}),
    "cite": (lambda bad, good, base: ["cite", bad], {1, 2, 3}),
    "leaderboard": (lambda bad, good, base: ["leaderboard", bad, good, "--markdown"], {0, 2}),
    "history add": (lambda bad, good, base: ["history", "add", bad], {0, 1, 2, 3}),
    "history deviation": (lambda bad, good, base: ["history", "deviation", bad, "\x1b[2J"], {0, 1, 2, 3}),
    "cite --check": (lambda bad, good, base: ["cite", "--check", base / "notes.md", "--root", base], {1}),
}
CALLS = list(product(COMMANDS, DAMAGES))[::7]  # every damage meets some of the commands


@pytest.fixture(scope="module")
def small(finish: Callable[..., Any]) -> tuple[Path, Path]:
    """Two runs of two questions."""
    return finish(limit=2).folder, finish(limit=2, minimum=3).folder


@pytest.mark.parametrize(("command", "cause"), CALLS)
def test_a_careless_or_hostile_folder_ends_in_a_sentence(
    command: str, cause: str, small: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = tmp_path / "benchmarks" / "sample" / "results"
    bad = Path(shutil.copytree(small[0], suite / small[0].name))
    good = Path(shutil.copytree(small[1], suite / f"{small[1].name}_2"))
    (tmp_path / "notes.md").write_text(
        f"recall_any@10 is <!-- cite: {bad.name} pgmnemo conversation recall_any@10 -->0.900<!-- /cite -->"
    )
    DAMAGES[cause](bad)
    if (bad / "manifest.json").is_file() and not cause.startswith(("manifest.json", "HISTORY.md")):
        seal(bad)
    words, codes = COMMANDS[command]
    kept = {path: path.read_bytes() for path in good.iterdir()}
    code = main([str(word) for word in words(bad, good, tmp_path)])
    out, err = capsys.readouterr()
    assert code in codes, (code, err)
    assert "Traceback" not in out + err
    assert not STEERING.search(out.replace("\n", "")), out
    assert not STEERING.search(err.replace("\n", "")), err
    assert command != "leaderboard" or "<script" not in out
    if code in (2, 3):
        assert len(err.strip().splitlines()) == 1, err
    assert {path: path.read_bytes() for path in good.iterdir()} == kept
    for made in (tmp_path / "page.html", tmp_path / "board.svg"):
        assert not made.exists() or "<script>alert" not in made.read_text()


SAMPLE = kept_run("sample")
LONG = f'[{{"a": {"1" * 5000}}}]'  # a number of more digits than Python reads
ANSWER = ("answer", SAMPLE, "--reader-url", "http://127.0.0.1:1/v1", "--reader-model", "m")


def own(name: str) -> Callable[[Path], Path]:
    """A folder with a file of the user's own, of that name."""
    return lambda base: (base / name).write_text("my notes\n") and base


def corpus(base: Path) -> Path:
    (base / "corpus.json").write_text(LONG)
    return base / "corpus.json"


def pipe(base: Path) -> Path:
    os.mkfifo(base / "pipe")
    return base / "pipe"


def run(base: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, base / "run"))


def loop(base: Path) -> Path:
    (base / "loop").symlink_to(base / "loop")
    return base / "loop" / "anew"


Made = Callable[[Path], Any]
WRONG: dict[str, tuple[tuple[Any, ...], Made, int, str]] = {
    "answers in no time": ((*ANSWER, "--timeout"), lambda _: "nan", 2, "--timeout takes seconds above 0"),
    "answers at any time": ((*ANSWER, "--timeout"), lambda _: "inf", 2, "up to 3,600, not inf"),
    "too many workers": ((*ANSWER, "--workers"), lambda _: 10**9, 2, "--workers takes 1 to 256 questions"),
    "a price without end": ((*ANSWER, "--price"), lambda _: "m=inf,1", 2, "--price takes MODEL=IN,OUT"),
    "too many jobs": (("sample", "--jobs"), lambda _: 10**9, 2, "--jobs takes 1 to 256 calls at once"),
    "prompts from a pipe": ((*ANSWER, "--judge-prompts"), pipe, 2, "pipe is a named pipe and no regular"),
    "weights from a pipe": (
        ("sample", "--embedder", "none", "--rerank", "linear", "--rerank-model"), pipe, 3,
        "the weights pipe is a named pipe and no regular file",
    ),
    "digits in LoCoMo": (("locomo", "--embedder", "none", "--data"), corpus, 3, "number of too many digits"),
    "digits in the sample": (("sample", "--embedder", "none", "--data"), corpus, 3, "too many digits: byte"),
    "a reader in brackets": (
        ("answer", SAMPLE, "--reader-model", "m", "--reader-url"), lambda _: "http://[::1", 2,
        "'http://[::1' is not an http or https address",
    ),
    "a port of letters": (
        ("answer", SAMPLE, "--reader-model", "m", "--reader-url"), lambda _: "http://here:http/v1", 2,
        "'http://here:http/v1' is not an http or https address",
    ),
    "a system in brackets": (
        ("sample", "--embedder", "none", "--system", "http", "--system-url"), lambda _: "http://[::1", 2,
        "'http://[::1'",
    ),
    "a link to itself": (("rescore", SAMPLE, "--output"), loop, 3, "in that path leads back to itself"),
}  # fmt: skip


@pytest.mark.parametrize("cause", WRONG)
def test_wrong_use_ends_in_a_sentence_and_writes_nothing(
    cause: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "42")
    words, make, code, sentence = WRONG[cause]
    last = make(tmp_path)
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.iterdir()}
    ended = main([str(word) for word in (*words, last)])
    err = capsys.readouterr().err
    assert sentence in err
    assert (ended, len(err.strip().splitlines())) == (code, 1)
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.iterdir()} == before


def test_questions_with_a_wrong_key_are_not_waited_for(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="--key-errors: pipe is a named pipe and no regular file; name a text"
    ):
        read_errors(pipe(tmp_path), {})


def test_what_cannot_be_written_whole_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (board := tmp_path / "board.html").symlink_to(tmp_path / "kept.html")
    write_output("the page", board, "before")
    with pytest.raises(UnicodeEncodeError):
        write_output("the page", board, "after \ud800")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match=r"the page cannot be written to .*board\.html"):
        write_output("the page", board, "after")
    assert (tmp_path / "kept.html").read_text() == "before"
    assert {path.name for path in tmp_path.iterdir()} == {"board.html", "kept.html"}
    assert board.is_symlink()
