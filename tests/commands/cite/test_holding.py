"""A run is held against itself, its corpus left out, before anything of it is published."""

from __future__ import annotations

import json
import re
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from runner.commands.cite import cite
from runner.commands.cite.citation import check_sound, read_cited
from runner.errors import UnusableRunError
from runner.report import render
from runner.runs.canonical import pretty
from runner.runs.manifest import write_manifest
from runner.runs.results import Results
from runner.runs.run import metrics_text
from tests.helping import kept_run, unpacked_copy

ROOT = Path(__file__).parents[3]
COMMITTED = kept_run("sample", "1.0.0")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The committed run of the sample with its entry of HISTORY.md beside."""
    place = unpacked_copy(COMMITTED, tmp_path_factory.mktemp("made") / COMMITTED.name)
    entries = (ROOT / "HISTORY.md").read_text().split("\n## ")
    [entry] = [one for one in entries if one.partition("\n")[0].endswith(f"sample · {COMMITTED.name}")]
    (place.parent / "HISTORY.md").write_text(f"# History\n\n## {entry}\n")
    return place


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made.parent, tmp_path / "runs")) / made.name


@pytest.fixture
def citable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the sample pass for evidence, which its report denies: these tests are about HISTORY.md alone."""
    monkeypatch.setattr("runner.commands.cite.citation.check_citable", lambda cited: cited)
    monkeypatch.setattr("runner.commands.cite.citation.check_sound", lambda cited: None)
    monkeypatch.setattr("runner.report.citation.refusal", lambda figures, run: None)


def reseal(folder: Path) -> None:
    """As a forger does who has this code: report, manifest and the hash in HISTORY.md follow."""
    results = Results(folder)
    (folder / "report.md").write_text(render(results.metrics, results.run))
    write_manifest(folder, results.edition.schemas)
    history = folder.parent / "HISTORY.md"
    digest = sha256((folder / "manifest.json").read_bytes()).hexdigest()
    history.write_text(re.sub("(?<=sha256: )[0-9a-f]{64}", digest, history.read_text()))


def later(folder: Path, suite: str, deviation: str, where: Path | None = None) -> None:
    digest = sha256((folder / "manifest.json").read_bytes()).hexdigest()
    file = where or folder.parent / "HISTORY.md"
    entry = (
        f"## 2027-01-02 · {suite} · {folder.name}\n\n- manifest sha256: {digest}\n- deviation: {deviation}\n"
    )
    file.write_text((file.read_text() if file.exists() else "# History\n") + "\n" + entry)


def test_an_honest_run_is_sound(folder: Path) -> None:
    check_sound(read_cited(folder))


def test_a_headline_that_follows_from_no_ranking_is_refused(folder: Path) -> None:
    metrics = json.loads((folder / "metrics.json").read_text())
    row = next(one for one in metrics["results"] if one["metric"] == "recall_any@10")
    row["value"] = 0.9999
    (folder / "metrics.json").write_text(metrics_text(metrics))
    reseal(folder)
    with pytest.raises(UnusableRunError, match=r"metrics: recall_any@10 does not follow from raw_retrievals"):
        check_sound(read_cited(folder))


def test_rankings_that_are_gone_or_hidden_from_a_reader_are_refused(folder: Path) -> None:
    raw = folder / "raw_retrievals.jsonl"
    raw.write_text(raw.read_text().replace('"arm":"pgmnemo"', '"arm": "pgmnemo"', 1))
    reseal(folder)
    with pytest.raises(UnusableRunError, match="does not follow from raw_retrievals"):
        check_sound(read_cited(folder))
    raw.unlink()
    with pytest.raises(UnusableRunError, match="does not verify: complete: there is no raw_retrievals"):
        check_sound(read_cited(folder))


def test_a_manifest_that_history_does_not_have_is_refused(folder: Path) -> None:
    run = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(pretty(run | {"python": "3.99"}))
    write_manifest(folder, Results(folder).edition.schemas)
    with pytest.raises(UnusableRunError, match="does not verify: history: manifest sha256"):
        check_sound(read_cited(folder))


@pytest.mark.usefixtures("citable")
@pytest.mark.parametrize("suite", ["SAMPLE", "elsewhere"])
def test_a_later_deviation_is_a_label_of_the_citation(folder: Path, suite: str) -> None:
    later(folder, suite, "clock: it was wrong")
    cited = cite(folder)
    assert "clock: it was wrong. Artefacts" in cited.text
    assert "clock: it was wrong" in cited.bibtex


@pytest.mark.usefixtures("citable")
def test_a_run_that_was_withdrawn_is_refused_also_by_a_history_further_up(folder: Path) -> None:
    later(folder, "sample", "withdrawn: the gold was read wrongly", folder.parents[1] / "HISTORY.md")
    with pytest.raises(
        UnusableRunError, match=r"was withdrawn: HISTORY\.md says: withdrawn: the gold was read wro"
    ):
        cite(folder)


@pytest.mark.usefixtures("citable")
def test_an_entry_in_a_comment_withdraws_nothing(folder: Path) -> None:
    history = folder.parent / "HISTORY.md"
    later(folder, "sample", "withdrawn")
    start = history.read_text().index("## 2027")
    history.write_text(history.read_text()[:start] + "<!--\n" + history.read_text()[start:] + "-->\n")
    assert cite(folder).text


def test_a_run_whose_own_words_do_not_agree_is_not_published(folder: Path) -> None:
    run = json.loads((folder / "run.json").read_text())
    run["gates"][0].update(status="deviation")
    (folder / "run.json").write_text(pretty(run))
    reseal(folder)
    with pytest.raises(UnusableRunError, match=r"record: run.json: gates\[dataset\].status is"):
        check_sound(read_cited(folder))
