"""Every ending of a command on finished runs is provoked, and is one sentence with its code: endings.tsv."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from runner.cli import main
from tests.helping import endings, is_sentence, kept_run, registering

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
TABLE = endings("finished")
SAMPLE = kept_run("sample")
[LOCOMO] = (ROOT / "benchmarks" / "locomo" / "results").glob("v0.2.1_20261124_minilm")
RUN = "benchmarks/sample/results/v1"  # the place of a run in an archive


@dataclass(frozen=True)
class Stage:
    """What a case may use: a folder, and committed runs to copy into it."""

    base: Path
    patch: pytest.MonkeyPatch

    def sample(self, name: str = "a") -> Path:
        """The whole committed run of the sample, under another name."""
        return Path(shutil.copytree(SAMPLE, self.base / name))

    def locomo(self, name: str = "a", **run: Any) -> Path:
        """As much of the committed LoCoMo run as a citation reads, with a changed run.json."""
        place = self.base / name
        place.mkdir()
        for file in ("run.json", "metrics.json", "manifest.json"):
            shutil.copy(LOCOMO / file, place / file)
        edit(place / "run.json", **run)
        seal(place)
        return place

    def blocked(self) -> Path:
        place = self.base / "blocked"
        place.mkdir()
        (place / "BLOCKED.md").write_text("# BLOCKED")
        return place

    def archive(self, content: bytes) -> Path:
        (self.base / "run.tar.gz").write_bytes(content)
        return self.base / "run.tar.gz"

    def members(self, *names: str, kind: bytes = tarfile.REGTYPE) -> Path:
        """An archive of empty members of these names."""
        with tarfile.open(self.base / "run.tar.gz", "w:gz") as archive:
            for name in names:
                member = tarfile.TarInfo(name)
                member.type = kind
                archive.addfile(member)
        return self.base / "run.tar.gz"

    def file(self, content: bytes) -> Path:
        (self.base / "notes.md").write_bytes(content)
        return self.base / "notes.md"


def edit(file: Path, **changes: Any) -> None:
    """Change entries of a JSON file; a mapping is merged into the one that is there."""
    document = json.loads(file.read_text())
    for name, value in changes.items():
        document[name] = document[name] | value if isinstance(value, dict) else value
    file.write_text(json.dumps(document))


def seal(place: Path) -> None:
    """Let the manifest list the files as they are now."""
    manifest = json.loads((place / "manifest.json").read_text())
    for entry in manifest["files"]:
        if (place / entry["name"]).exists():
            content = (place / entry["name"]).read_bytes()
            entry.update(bytes=len(content), sha256=sha256(content).hexdigest())
    (place / "manifest.json").write_text(json.dumps(manifest))


def rewrite(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text().replace(old, new))


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
    "`report`, `cite` or `leaderboard` over another file": [
        "leaderboard",
        SAMPLE,
        "--output",
        ROOT / "README.md",
    ],
    "`report`, `cite` or `leaderboard` into a run": ["cite", LOCOMO, "--badge", LOCOMO / "badge.svg"],
    "`cite` or `report` into another kind of file": ["cite", LOCOMO, "--badge", "badge.png"],
    "`cite` of documents, or of several runs": ["cite", SAMPLE, LOCOMO],
    "`cite --write --check`": ["cite", "--write", "--check", ROOT / "README.md"],
    "`cite --check` with what is for one run": ["cite", "--check", ROOT / "README.md", "--bibtex"],
    "`cite --check` with a root that is not there": ["cite", "--check", ROOT / "README.md", "--root", "/no"],
    "`rescore` by an unknown metric code": ["rescore", SAMPLE, "--metric-code", "7"],
    "`rescore` into a folder that exists": ["rescore", SAMPLE, "--output", ROOT],
    "`rescore` into the run itself": ["rescore", SAMPLE, "--output", SAMPLE / "anew"],
    "`compare` of one folder": ["compare", SAMPLE],
    "`compare` of folders and versions": ["compare", SAMPLE, "--versions", "0.2.1", "0.3.0"],
    "`compare` of versions of no suite": ["compare", "--versions", "0.2.1", "0.3.0"],
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
    "`submit` of nothing": ["submit", "/nonsense", "--output", "/nonsense/run.tar.gz"],
    "`submit` into another kind of file": ["submit", SAMPLE, "--output", "run.zip"],
    "`submit` into a run": ["submit", SAMPLE, "--output", SAMPLE / "run.tar.gz"],
    "`submit` that cannot be written": ["submit", SAMPLE, "--output", "/nonsense/run.tar.gz"],
    "`leaderboard` without a folder": ["leaderboard"],
    "`leaderboard` in two forms": ["leaderboard", SAMPLE, "--json", "--markdown"],
    "`leaderboard` of nothing": ["leaderboard", "/nonsense"],
    "`leaderboard` into another kind of file": ["leaderboard", SAMPLE, "--output", "board.pdf"],
    "`verify` or `leaderboard` with a list of signers that cannot be read": [
        "verify",
        SAMPLE,
        "--allowed-signers",
        "/nonsense",
    ],
    "`attest` of nothing": ["attest", "/nonsense", "--by", "ann@example.org"],
    "`attest` under what is no name": ["attest", SAMPLE, "--by", "Ann and Bob"],
    "`sign` of what is no run": ["sign", ROOT / "sql", "--key", "key"],
    "`sign` with a key that is not there": ["sign", SAMPLE, "--key", "/nonsense"],
    "`leaderboard` that cannot be written": ["leaderboard", SAMPLE, "--output", "/nonsense/board.svg"],
}.items():
    CASES[cause] = lambda stage, words=words: words  # type: ignore[misc]


@ending("`answer` of a changed run")
def _(stage: Stage) -> list[Any]:
    place = stage.sample()
    rewrite(place / "raw_retrievals.jsonl", "0", "1")
    return ["answer", place, *READER]


@ending("`answer` from another corpus")
def _(stage: Stage) -> list[Any]:
    place = stage.base / "locomo.json"
    place.write_text('[{"sample_id": "c", "qa": []}]')
    return ["answer", LOCOMO, *READER, "--data", place]


@ending("`answer` with prompts by an unknown rule")
def _(stage: Stage) -> list[Any]:
    return ["answer", SAMPLE, *READER, "--judge-prompts", stage.file(b'{"x": "y"}')]


@ending("`submit` over a file")
def _(stage: Stage) -> list[Any]:
    return ["submit", SAMPLE, "--output", stage.archive(b"")]


@ending("`submit` of a blocked run")
def _(stage: Stage) -> list[Any]:
    return ["submit", stage.blocked(), "--output", stage.base / "run.tar.gz"]


@ending("`submit` of a run that is not intact")
def _(stage: Stage) -> list[Any]:
    place = stage.sample()
    rewrite(place / "report.md", "0", "1")
    return ["submit", place, "--output", stage.base / "run.tar.gz"]


@ending("an archive with a changed byte")
def _(stage: Stage) -> list[Any]:
    whole = gzip.compress(b"a run" * 99)
    return ["verify", stage.archive(whole[:-6] + b"?" + whole[-5:])]


@ending("an archive that is none")
def _(stage: Stage) -> list[Any]:
    return ["verify", stage.archive(b"a run")]


@ending("an archive that is a bomb")
def _(stage: Stage) -> list[Any]:
    return ["verify", stage.archive(gzip.compress(bytes(9 << 20)))]


@ending("an archive of many members")
def _(stage: Stage) -> list[Any]:
    return ["verify", stage.members(*(f"{RUN}/{number}" for number in range(33)))]


@ending("an archive of two runs")
def _(stage: Stage) -> list[Any]:
    return ["verify", stage.members(f"{RUN}/run.json", f"{RUN}_2/run.json")]


@ending("a member that leads outside")
def _(stage: Stage) -> list[Any]:
    return ["verify", stage.members("../run.json")]


@ending("a member that is a link or a device")
def _(stage: Stage) -> list[Any]:
    return ["verify", stage.members(f"{RUN}/run.json", kind=tarfile.SYMTYPE)]


@ending("`rescore` of a damaged run")
def _(stage: Stage) -> list[Any]:
    place = stage.sample()
    (place / "raw_retrievals.jsonl").write_text("{")
    return ["rescore", place]


@ending("`compare` without the raw rankings")
def _(stage: Stage) -> list[Any]:
    place = stage.sample()
    (place / "raw_retrievals.jsonl").unlink()
    return ["compare", SAMPLE, place]


@ending("`compare` of unlike runs")
def _(stage: Stage) -> list[Any]:
    place = stage.sample()
    edit(place / "run.json", choice={"mode": "vector"})
    seal(place)
    return ["compare", SAMPLE, place]


@ending("`compare` of a changed file")
def _(stage: Stage) -> list[Any]:
    place = stage.sample()
    edit(place / "run.json", seed=7)
    return ["compare", SAMPLE, place]


@ending("`compare` of runs without a shared scope")
def _(stage: Stage) -> list[Any]:
    place = stage.sample()
    rewrite(place / "raw_retrievals.jsonl", '"conversation"', '"talk"')
    rewrite(place / "raw_retrievals.jsonl", '"pool"', '"lake"')
    seal(place)
    return ["compare", SAMPLE, place, "--despite", "scopes,questions,gold"]


@ending("`compare` of runs without a shared cutoff")
def _(stage: Stage) -> list[Any]:
    place = stage.sample()
    rewrite(place / "metrics.json", "recall_any@", "recall_some@")
    seal(place)
    return ["compare", SAMPLE, place, "--despite", "metrics"]


@ending("`compare` of runs without a shared question")
def _(stage: Stage) -> list[Any]:
    place = stage.sample()
    rewrite(place / "raw_retrievals.jsonl", '"question":"', '"question":"another ')
    seal(place)
    return ["compare", SAMPLE, place, "--despite", "questions"]


@ending("`compare` of a blocked run")
def _(stage: Stage) -> list[Any]:
    return ["compare", SAMPLE, stage.blocked()]


@ending("`compare` of a file that is not JSON")
def _(stage: Stage) -> list[Any]:
    place = stage.sample()
    (place / "run.json").write_text("{")
    seal(place)
    return ["compare", SAMPLE, place]


@ending("`compare` of a file that is another JSON")
def _(stage: Stage) -> list[Any]:
    place = stage.sample()
    (place / "run.json").write_text("[]")
    seal(place)
    return ["compare", SAMPLE, place]


@ending("`gate` of a folder without a run")
def _(stage: Stage) -> list[Any]:
    return ["gate", "--baseline", stage.base, SAMPLE]


@ending("`gate --legs` of a run without legs")
def _(stage: Stage) -> list[Any]:
    return ["gate", "--baseline", SAMPLE, SAMPLE.with_name("v0.2.1_20261124_minilm"), "--legs"]


@ending("`gate` of a blocked run")
def _(stage: Stage) -> list[Any]:
    return ["gate", "--baseline", SAMPLE, stage.blocked()]


@ending("`gate` with a summary that cannot be written")
def _(stage: Stage) -> list[Any]:
    stage.patch.setenv("GITHUB_STEP_SUMMARY", str(stage.base))
    return ["gate", "--baseline", SAMPLE, stage.sample()]


@ending("`cite` of what is no run")
def _(stage: Stage) -> list[Any]:
    return ["cite", stage.base]


@ending("`cite` of a blocked run")
def _(stage: Stage) -> list[Any]:
    return ["cite", stage.blocked()]


@ending("`cite` of an unverified run")
def _(stage: Stage) -> list[Any]:
    place = stage.locomo(verdict="unverified")
    edit(place / "metrics.json", verdict="unverified")
    seal(place)
    return ["cite", place]


@ending("`cite` of a trivial recall")
def _(stage: Stage) -> list[Any]:
    place = stage.locomo()
    rewrite(place / "metrics.json", '"trivial": 0', '"trivial": 1')
    seal(place)
    return ["cite", place]


@ending("`cite` of a changed file")
def _(stage: Stage) -> list[Any]:
    place = stage.locomo()
    edit(place / "run.json", seed=7)
    return ["cite", place]


@ending("`cite` of another manifest")
def _(stage: Stage) -> list[Any]:
    place = stage.locomo()
    edit(place / "manifest.json", files=None)
    return ["cite", place]


@ending("`cite` of two runs in one folder")
def _(stage: Stage) -> list[Any]:
    return ["cite", stage.locomo(verdict="verified")]


@ending("`cite` of a file that is not JSON")
def _(stage: Stage) -> list[Any]:
    place = stage.locomo()
    (place / "run.json").write_text("{")
    seal(place)
    return ["cite", place]


@ending("`cite` of a file that is another JSON")
def _(stage: Stage) -> list[Any]:
    place = stage.locomo()
    (place / "run.json").write_text("[]")
    seal(place)
    return ["cite", place]


@ending("`rescore` into another run")
def _(stage: Stage) -> list[Any]:
    return ["rescore", SAMPLE, "--output", stage.sample() / "anew"]


@ending("`cite` of a run that does not verify")
def _(stage: Stage) -> list[Any]:
    return ["cite", stage.locomo()]


@ending("`cite` of a run that was withdrawn")
def _(stage: Stage) -> list[Any]:
    place = stage.locomo("v0.2.1_20261121_minilm")
    digest = sha256((place / "manifest.json").read_bytes()).hexdigest()
    entry = f"## 2026-12-01 · locomo · late\n\n- manifest sha256: {digest}\n- deviation: withdrawn\n"
    (stage.base / "HISTORY.md").write_text(f"# History\n\n{entry}")
    return ["cite", place]


@ending("`cite` of a file that is a named pipe")
def _(stage: Stage) -> list[Any]:
    place = stage.locomo()
    (place / "run.json").unlink()
    os.mkfifo(place / "run.json")
    return ["cite", place]


@ending("`cite` of a file that leads out of the folder")
def _(stage: Stage) -> list[Any]:
    place = stage.locomo()
    (place / "run.json").unlink()
    (place / "run.json").symlink_to(LOCOMO / "run.json")
    return ["cite", place]


@ending("`cite` of a text with a control character")
def _(stage: Stage) -> list[Any]:
    place = stage.locomo(python="3\x1b[2J")
    seal(place)
    return ["cite", place]


@ending("`cite --previous` of an unlike run")
def _(stage: Stage) -> list[Any]:
    return ["cite", stage.locomo(), "--previous", stage.locomo("b", choice={"mode": "vector"})]


@ending("`cite --badge` that cannot be written")
def _(stage: Stage) -> list[Any]:
    return ["cite", LOCOMO, "--badge", stage.base / "no" / "badge.svg"]


@ending("`cite --check` of what is no text")
def _(stage: Stage) -> list[Any]:
    return ["cite", "--check", stage.file(b"\xff\xfe")]


@ending("`history` far from any HISTORY.md")
def _(stage: Stage) -> list[Any]:
    return ["history", "add", stage.sample()]


@ending("`history deviation` without words")
def _(stage: Stage) -> list[Any]:
    return ["history", "deviation", stage.sample(), " ", "--history", stage.file(b"# HISTORY\n")]


@ending("`history deviation` of a run that is not logged")
def _(stage: Stage) -> list[Any]:
    return ["history", "deviation", stage.sample(), "late", "--history", stage.file(b"# HISTORY\n")]


@ending("`history` of a run that was changed")
def _(stage: Stage) -> list[Any]:
    place, history = stage.sample(), stage.file(b"# HISTORY\n")
    assert main(["history", "add", str(place), "--history", str(history)]) == 0
    edit(place / "run.json", seed=7)
    seal(place)
    return ["history", "add", place, "--history", history]


def keygen(place: Path, passphrase: str = "") -> Path:
    """A new private key."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("there is no ssh-keygen: install openssh-client")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", place], check=True)
    return place


@ending("`sign` of a blocked run")
def _(stage: Stage) -> list[Any]:
    return ["sign", stage.blocked(), "--key", "key"]


@ending("`sign` of a changed file")
def _(stage: Stage) -> list[Any]:
    place = stage.sample()
    edit(place / "run.json", seed=7)
    return ["sign", place, "--key", "key"]


@ending("`sign` where a signature is")
def _(stage: Stage) -> list[Any]:
    place = stage.sample()
    (place / "manifest.json.sig").touch()
    return ["sign", place, "--key", "key"]


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


@ending("`attest` of a changed file")
def _(stage: Stage) -> list[Any]:
    place = stage.sample()
    edit(place / "run.json", seed=7)
    return ["attest", place, "--by", "ann@example.org"]


def unrecalled(stage: Stage) -> None:
    """Nothing is recalled again, which would take a model."""
    stage.patch.setattr(sys.modules["runner.verification.checks.rerun"], "SERVICES", ("minilm",))


@ending("`attest` of a run that does not hold")
def _(stage: Stage) -> list[Any]:
    unrecalled(stage)
    place = stage.sample()
    (place / "notes.txt").touch()
    return ["attest", place, "--by", "ann@example.org"]


@ending("`attest` of what cannot be recalled again")
def _(stage: Stage) -> list[Any]:
    unrecalled(stage)
    return ["attest", SAMPLE, "--by", "ann@example.org"]


@ending("`attest` where nine records are")
def _(stage: Stage) -> list[Any]:
    place = stage.sample()
    for number in range(1, 10):
        (place / f"rerun-{number}.json").touch()
    return ["attest", place, "--by", "ann@example.org"]


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
