"""`python -m runner verify` and `runner.verify`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import runner
from pgmnemo.errors import UsageError
from runner.cli import main
from runner.verification import CHECKS, VerificationOutcome, verification


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch, finished: Any) -> None:
    """The list of releases of the test stands for the repository's."""
    monkeypatch.setitem(verification.verify.__kwdefaults__ or {}, "sql", finished.sql)


@pytest.mark.usefixtures("released")
def test_one_line_a_check_and_the_files_alone_where_that_is_asked(
    run: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(run.folder), "--corpus", str(run.corpus), "--rerun", "0"]) == 0
    *checks, end, why = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in checks].count("holds") == len(checks) - 5
    assert end == f"intact: {len(checks) - 5} checks hold; the run's verdict is deviation"
    assert why == "the files alone were held, as --rerun 0 asks"


RANKINGS = "its rankings were not recalled again (give --rerun, or --rerun N for other than 25 questions)"
CORPUS = (
    "its questions and gold were not held against the corpus (give --corpus PATH, or --rerun, which looks "
    "where a run does)"
)
SERVICE = (
    "(the vectors are of a service (endpoint), whose address no run records: nothing here can prove them)"
)


@pytest.mark.usefixtures("released")
@pytest.mark.parametrize(
    ("more", "embedder", "said"),
    [
        ([], "hash", f"consistent, and no more: {CORPUS}; {RANKINGS}"),
        (["--corpus"], "hash", f"consistent, and no more: {RANKINGS}"),
        (["--rerun", "2"], "endpoint", SERVICE),
        (["--rerun", "2"], "minilm", "(could not be recalled again here: the embedder minilm that is here"),
    ],
)  # fmt: skip
def test_what_a_headline_stands_on_and_was_not_asked_is_exit_code_4(
    run: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    more: list[str],
    embedder: str,
    said: str,
) -> None:
    """Whatever the files say: a run whose vectors are claimed to be a service's had exit code 0 before."""
    if embedder != "hash":
        record = run.read("run.json")
        record["choice"]["embedder"] = embedder
        run.write("run.json", record)
        alone = {name: CHECKS[name] for name in ("questions", "raw", "rerun")}
        monkeypatch.setattr(verification, "CHECKS", alone)  # others find that the two names differ
    more = [*more, str(run.corpus)] if more == ["--corpus"] else more
    assert main(["verify", str(run.folder), *more]) == 4
    assert said in capsys.readouterr().out.splitlines()[-1]
    assert main(["verify", "--json", str(run.folder), *more]) == 4
    [told] = json.loads(capsys.readouterr().out)["runs"]
    assert (told["intact"], told["outcome"], told["unasked"][-1]) == (True, "not asked", "rerun")


@pytest.mark.usefixtures("released")
def test_a_fault_goes_before_what_was_not_asked(run: Any, finished: Any) -> None:
    run.edit("report.md", "n = 4", "n = 5")
    assert main(["verify", str(run.folder), str(finished.folder)]) == 1
    assert runner.verify(run.folder, rerun=0, sql=run.sql).outcome is VerificationOutcome.FAULT


@pytest.mark.usefixtures("released")
def test_one_fault_in_one_of_several_folders_is_exit_code_1(
    run: Any, finished: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    run.edit("report.md", "n = 4", "n = 5")
    assert main(["verify", str(finished.folder), str(run.folder)]) == 1
    out = capsys.readouterr().out
    assert f"{finished.folder}:\n" in out
    assert re.search(r"not intact: 2 of \d\d checks found a fault\n", out)


@pytest.mark.usefixtures("released")
def test_json_for_machines(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--json", "--rerun", "0", str(run.folder)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "pgmnemo/verification/1"
    [told] = document["runs"]
    assert (told["folder"], told["intact"], told["verdict"]) == (run.folder.name, True, "deviation")
    assert (told["outcome"], told["arms_recalled"]) == ("files alone", [])
    assert told["unasked"] == ["corpus", "questions", "rerun"]
    assert told["checks"][0] == {
        "check": "complete", "found": "holds", "sentence": "6 files, none missing and none besides",
    }  # fmt: skip


def test_history_can_be_named(run: Any, tmp_path: Path) -> None:
    elsewhere = tmp_path / "log.md"
    run.path("HISTORY.md").rename(elsewhere)
    assert runner.verify(run.folder, history=elsewhere, sql=run.sql).intact


def test_a_folder_of_runs_is_told_from_a_run() -> None:
    with pytest.raises(UsageError, match=r"is no results folder; it holds \d+: name them"):
        runner.verify(Path(runner.__file__).parents[1] / "benchmarks" / "sample" / "results")
