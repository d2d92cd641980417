"""Every ending of a command on finished runs is provoked, and is one sentence with its code: endings.tsv."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from runner.cli import main
from runner.runs.results import Results
from tests.helping import endings, is_sentence, kept_run, registering, unpacked_copy
from tests.spoiling import Change, instead, put, seal, swap

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
TABLE = endings("finished")
SAMPLE = kept_run("sample")
LOCOMO = kept_run("locomo")


RAW = "raw_retrievals.jsonl"


@dataclass(frozen=True)
class Stage:
    """What a case may use: a folder, and committed runs to copy into it."""

    base: Path
    patch: pytest.MonkeyPatch

    def sample(self, *changes: Change, sealed: bool = False) -> Path:
        """The whole committed run of the sample, changed; where it is sealed, its manifest follows."""
        return changed(unpacked_copy(SAMPLE, self.base / "a"), changes, sealed)

    def locomo(self, *changes: Change, name: str = "a", sealed: bool = True) -> Path:
        """As much of the committed LoCoMo run as a citation reads."""
        place = self.base / name
        place.mkdir()
        for file in ("run.json", "metrics.json", "manifest.json"):
            (place / file).write_bytes(Results(LOCOMO).content(file))
        return changed(place, changes, sealed)

    def blocked(self) -> Path:
        (self.base / "blocked").mkdir()
        (self.base / "blocked" / "BLOCKED.md").write_text("# BLOCKED")
        return self.base / "blocked"

    def file(self, content: bytes) -> Path:
        (self.base / "notes.md").write_bytes(content)
        return self.base / "notes.md"


def edit(name: str, **changes: Any) -> Change:
    """Change entries of a JSON file; a mapping is merged into the one that is there."""

    def change(place: Path) -> None:
        document = json.loads((place / name).read_text())
        for key, value in changes.items():
            document[key] = document[key] | value if isinstance(value, dict) else value
        (place / name).write_text(json.dumps(document))

    return change


def changed(place: Path, changes: tuple[Change, ...], sealed: bool) -> Path:
    for change in changes:
        change(place)
    if sealed:
        seal(place)
    return place


Case = Callable[[Stage], list[Any]]
READER = ("--reader-url", "http://127.0.0.1:1/v1", "--reader-model", "m")
TORN = "`answer` by a reader that fails too often"  # provoked in tests/stages/answers
CASES: dict[str, Case] = {}
ending = registering(CASES)


for cause, words in {
    "`--repeat 0`": ["sample", "--embedder", "hash", "--repeat", "0"],
    "`verify` without a folder": ["verify"],
    "`verify` or `rescore` of nothing": ["verify", "/nonsense"],
    "`verify` of a folder without a run": ["verify", ROOT / "sql"],
    "`verify` with a corpus or history that is not there": ["verify", SAMPLE, "--corpus", "/nonsense"],
    "`verify --rerun -1`": ["verify", SAMPLE, "--rerun", "-1"],
    "`report` over another file": ["report", LOCOMO, "--output", ROOT / "pgmnemo/http/page/index.html"],
    "`report` into a run": ["report", LOCOMO, "--output", LOCOMO / "page.html"],
    "`report` into another kind of file": ["report", LOCOMO, "--output", "page.png"],
    "`cite` of documents, or of several runs": ["cite", SAMPLE, LOCOMO],
    "`cite --write --check`": ["cite", "--write", "--check", ROOT / "README.md"],
    "`cite --check` with what is for one run": ["cite", "--check", ROOT / "README.md", "--bibtex"],
    "`cite --check` with a root that is not there": ["cite", "--check", ROOT / "README.md", "--root", "/no"],
    "`rescore` by an unknown metric code": ["rescore", SAMPLE, "--metric-code", "7"],
    "`rescore` into a folder that exists": ["rescore", SAMPLE, "--output", ROOT],
    "`rescore` into the run itself": ["rescore", SAMPLE, "--output", SAMPLE / "anew"],
    "`compare` of one folder": ["compare", SAMPLE],
    "`compare` of folders and versions": ["compare", SAMPLE, "--versions", "0.2.1", "0.6.1"],
    "`compare` of versions of no suite": ["compare", "--versions", "0.2.1", "0.6.1"],
    "`compare` of what is no run": ["compare", SAMPLE, "/nonsense"],
    "`compare` despite what is no condition": ["compare", SAMPLE, SAMPLE, "--despite", "weather"],
    "`--max-drop` that cannot be read": ["compare", SAMPLE, SAMPLE, "--max-drop", "MRR@50"],
    "`--max-drop` of an unknown metric": ["compare", SAMPLE, SAMPLE, "--max-drop", "x=0.1"],
    "`--max-drop` above 1": ["compare", SAMPLE, SAMPLE, "--max-drop", "MRR@50=2"],
    "`compare` of a run with itself": ["compare", SAMPLE, SAMPLE],
    "`gate` of a run against itself": ["gate", "--baseline", SAMPLE, SAMPLE],
    "`gate` of nothing": ["gate", "--baseline", "/nonsense", SAMPLE],
    "`cite` of nothing": ["cite", "/nonsense"],
    "`cite` of the sample": ["cite", SAMPLE],
    "`answer` of what is no run": ["answer", "/nonsense", *READER],
    "`answer` of a run whose corpus gives no answers": ["answer", SAMPLE, *READER],
    "`answer` for an arm that is not there": ["answer", SAMPLE, *READER, "--arm", "x"],
    "`answer --k 0`": ["answer", SAMPLE, *READER, "--k", "0"],
    "`answer --judge-again -1`": ["answer", SAMPLE, *READER, "--judge-again=-1"],
    "`answer` with a price that cannot be read": ["answer", SAMPLE, *READER, "--price", "m=x"],
    "`answer` with prompts of another form": ["answer", SAMPLE, *READER, "--judge-prompts", README],
    "`answer` at an address that is none": ["answer", SAMPLE, *READER, "--judge-url", "host"],
    "`cite --check` without a file": ["cite", "--check"],
    "`cite --check` of nothing": ["cite", "--check", "/nonsense.md"],
    "`leaderboard` without a folder": ["leaderboard"],
    "`leaderboard` of nothing": ["leaderboard", "/nonsense"],
    "`verify` or `leaderboard` with a list of signers that cannot be read": [
        "verify", SAMPLE, "--allowed-signers", "/nonsense",
    ],
    "`sign` of what is no run": ["sign", ROOT / "sql", "--key", "key"],
    "`sign` with a key that is not there": ["sign", SAMPLE, "--key", "/nonsense"],
}.items():  # fmt: skip
    CASES[cause] = lambda stage, words=words: words  # type: ignore[misc]


CASES |= {
    "`answer` of a changed run": lambda s: ["answer", s.sample(swap(RAW, "0", "1")), *READER],
    "`answer` from another corpus": lambda s: [
        "answer", LOCOMO, *READER, "--data", s.file(b'[{"sample_id": "c", "qa": []}]'),
    ],
    "`answer` with prompts by an unknown rule": lambda s: [
        "answer", SAMPLE, *READER, "--judge-prompts", s.file(b'{"x": "y"}'),
    ],
    "`rescore` of a damaged run": lambda s: ["rescore", s.sample(put(RAW, "{"), sealed=True)],
    "`rescore` into another run": lambda s: ["rescore", SAMPLE, "--output", s.sample() / "anew"],
    "`compare` without the raw rankings": lambda s: [
        "compare", SAMPLE, s.sample(instead(RAW, lambda place: None)),
    ],
    "`compare` of unlike runs": lambda s: [
        "compare", SAMPLE, s.sample(edit("run.json", choice={"mode": "vector"}), sealed=True),
    ],
    "`compare` of a changed file": lambda s: ["compare", SAMPLE, s.sample(edit("run.json", seed=7))],
    "`compare` of runs without a shared scope": lambda s: [
        "compare", SAMPLE, "--despite", "scopes,questions,gold",
        s.sample(swap(RAW, '"conversation"', '"talk"'), swap(RAW, '"pool"', '"lake"'), sealed=True),
    ],
    "`compare` of runs without a shared cutoff": lambda s: [
        "compare", SAMPLE, "--despite", "metrics",
        s.sample(swap("metrics.json", "recall_any@", "recall_some@"), sealed=True),
    ],
    "`compare` of runs without a shared question": lambda s: [
        "compare", SAMPLE, "--despite", "questions",
        s.sample(swap(RAW, '"question":"', '"question":"another '), sealed=True),
    ],
    "`compare` of a blocked run": lambda s: ["compare", SAMPLE, s.blocked()],
    "`compare` of a file that is not JSON": lambda s: [
        "compare", SAMPLE, s.sample(put("run.json", "{"), sealed=True),
    ],
    "`compare` of a file that is another JSON": lambda s: [
        "compare", SAMPLE, s.sample(put("run.json", "[]"), sealed=True),
    ],
    "`gate` of a folder without a run": lambda s: ["gate", "--baseline", s.base, SAMPLE],
    "`gate --legs` of a run without legs": lambda s: [
        "gate", "--baseline", SAMPLE, SAMPLE.with_name("v0.2.1_20261130_minilm"), "--legs",
    ],
    "`gate` of a blocked run": lambda s: ["gate", "--baseline", SAMPLE, s.blocked()],
    "`cite` of what is no run": lambda s: ["cite", s.base],
    "`cite` of a blocked run": lambda s: ["cite", s.blocked()],
    "`cite` of an unverified run": lambda s: [
        "cite", s.locomo(*(edit(name, verdict="unverified") for name in ("run.json", "metrics.json"))),
    ],
    "`cite` of a trivial recall": lambda s: [
        "cite", s.locomo(swap("metrics.json", '"trivial": 0', '"trivial": 1')),
    ],
    "`cite` of a changed file": lambda s: ["cite", s.locomo(edit("run.json", seed=7), sealed=False)],
    "`cite` of another manifest": lambda s: [
        "cite", s.locomo(edit("manifest.json", files=None), sealed=False),
    ],
    "`cite` of two runs in one folder": lambda s: ["cite", s.locomo(edit("run.json", verdict="verified"))],
    "`cite` of a file that is not JSON": lambda s: ["cite", s.locomo(put("run.json", "{"))],
    "`cite` of a file that is another JSON": lambda s: ["cite", s.locomo(put("run.json", "[]"))],
    "`cite` of a run that does not verify": lambda s: ["cite", s.locomo()],
    "`cite` of a file that is a named pipe": lambda s: [
        "cite", s.locomo(instead("run.json", os.mkfifo), sealed=False),
    ],
    "`cite` of a file that leads out of the folder": lambda s: [
        "cite",
        s.locomo(instead("run.json", lambda place: place.symlink_to(LOCOMO / "run.json")), sealed=False),
    ],
    "`cite` of a text with a control character": lambda s: [
        "cite", s.locomo(edit("run.json", python="3\x1b[2J")),
    ],
    "`cite --previous` of an unlike run": lambda s: [
        "cite", s.locomo(), "--previous", s.locomo(edit("run.json", choice={"mode": "vector"}), name="b"),
    ],
    "`cite --check` of what is no text": lambda s: ["cite", "--check", s.file(b"\xff\xfe")],
    "`history` far from any HISTORY.md": lambda s: ["history", "add", s.sample()],
    "`history deviation` without words": lambda s: [
        "history", "deviation", s.sample(), " ", "--history", s.file(b"\n"),
    ],
    "`history deviation` of a run that is not logged": lambda s: [
        "history", "deviation", s.sample(), "late", "--history", s.file(b"\n"),
    ],
    "`sign` of a blocked run": lambda s: ["sign", s.blocked(), "--key", "key"],
    "`sign` of a changed file": lambda s: ["sign", s.sample(edit("run.json", seed=7)), "--key", "key"],
    "`sign` where a signature is": lambda s: ["sign", s.sample(put("manifest.json.sig", "")), "--key", "key"],
}  # fmt: skip


@ending("`gate` with a summary that cannot be written")
def _(stage: Stage) -> list[Any]:
    stage.patch.setenv("GITHUB_STEP_SUMMARY", str(stage.base))
    return ["gate", "--baseline", SAMPLE, stage.sample()]


@ending("`cite` of a run that was withdrawn")
def _(stage: Stage) -> list[Any]:
    place = stage.locomo(name="v0.2.1_20261121_minilm")
    digest = sha256((place / "manifest.json").read_bytes()).hexdigest()
    entry = f"## 2026-12-01 · locomo · late\n\n- manifest sha256: {digest}\n- deviation: withdrawn\n"
    (stage.base / "HISTORY.md").write_text(f"# History\n\n{entry}")
    return ["cite", place]


@ending("`history` of a run that was changed")
def _(stage: Stage) -> list[Any]:
    place, history = stage.sample(), stage.file(b"\n")
    assert main(["history", "add", str(place), "--history", str(history)]) == 0
    changed(place, (edit("run.json", seed=7),), sealed=True)
    return ["history", "add", place, "--history", history]


def keygen(place: Path, passphrase: str = "") -> Path:
    """A new private key."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("there is no ssh-keygen: install openssh-client")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", place], check=True)
    return place


@ending("`sign` with what is no key")
def _(stage: Stage) -> list[Any]:
    keygen(stage.base / "key")  # where there is none, nothing can be said of a key
    return ["sign", stage.sample(), "--key", stage.file(b"no key")]


@ending("`sign` with a locked key that no agent has")
def _(stage: Stage) -> list[Any]:
    stage.patch.delenv("SSH_AUTH_SOCK", raising=False)
    return ["sign", stage.sample(), "--key", keygen(stage.base / "key", "a passphrase")]


@ending("`sign` without ssh-keygen")
def _(stage: Stage) -> list[Any]:
    stage.patch.setenv("PATH", str(stage.base))
    return ["sign", stage.sample(), "--key", stage.file(b"a key")]


@pytest.mark.parametrize("cause", CASES)
def test_an_ending_is_its_sentence(
    cause: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = CASES[cause](Stage(tmp_path, monkeypatch))
    capsys.readouterr()
    code = main([str(word) for word in words])
    said = capsys.readouterr().err.strip().splitlines()
    row = TABLE[cause]
    assert is_sentence(row, said[-1]), said
    assert (len(said), code) == (1, int(row["code"]))


def test_rescore_says_of_nothing_what_verify_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rescore", "/nonsense"]) == main(["verify", "/nonsense"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first == second


def test_every_ending_is_provoked() -> None:
    assert set(TABLE) == set(CASES) | {TORN}


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_fault_that_nobody_read_is_no_success(tmp_path: Path, closed: str) -> None:
    (tmp_path / "notes.md").write_text("recall_any@10 98.4 %")
    reader, writer = os.pipe()
    os.close(reader)
    streams: dict[str, int] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, closed: writer}
    command = [sys.executable, "-m", "runner", "cite", "--check", str(tmp_path / "notes.md")]
    done = subprocess.run(command, cwd=ROOT, check=False, **streams)  # type: ignore[call-overload]
    os.close(writer)
    assert done.returncode == 141
    assert b"Traceback" not in (done.stdout or b"") + (done.stderr or b"")


def test_a_terminal_without_arrows_and_a_user_without_a_home_get_sentences() -> None:
    plain = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "runner", "verify"]
    done = subprocess.run(
        [*command, str(SAMPLE), "--rerun", "0"], env=plain, cwd=ROOT, check=False, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")
    done = subprocess.run(
        [*command, "~nobody-of-this-name/run"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert done.returncode == 3
    assert done.stderr.startswith("error: this user has no home folder")
