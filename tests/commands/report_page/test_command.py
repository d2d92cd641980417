"""`report` as a command: where a page may be written, and what `verify` makes of it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import runner
from pgmnemo.errors import OutputError, UsageError
from runner.cli import main
from runner.commands.report_page import render_report
from runner.errors import UnusableRunError
from runner.report.html import PAGE, TEMPLATE
from runner.verification import CheckStatus
from tests.helping import answered, kept_run

ROOT = Path(__file__).parents[3]
CORPUS = ROOT / "benchmarks" / "sample" / "sample.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    source = kept_run("sample")
    return Path(shutil.copytree(source, tmp_path / "results" / source.name))


def answer(folder: Path) -> Any:
    return answered("page", folder, ROOT / "HISTORY.md")


def test_the_page_goes_beside_the_report_and_verifies(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer(folder).found is CheckStatus.NOT_ASKED
    assert main(["report", str(folder)]) == 0
    assert capsys.readouterr().out == f"{folder / PAGE}\n"
    assert answer(folder).found is CheckStatus.HOLDS
    assert not runner.verify(folder, history=ROOT / "HISTORY.md").faults


def test_a_page_that_says_another_thing_is_found(folder: Path) -> None:
    page = render_report(folder)
    page.write_text(page.read_text(encoding="utf-8").replace("</h1>", "!</h1>"), encoding="utf-8")
    assert answer(folder).found is CheckStatus.WRONG
    assert "render it anew with `python -m runner report`, or remove it" in answer(folder).sentence
    render_report(folder)
    assert answer(folder).found is CheckStatus.HOLDS


@pytest.mark.parametrize(
    ("other", "found"),
    [
        ("pgmnemo/page/99", CheckStatus.NOT_ASKED),
        ("", CheckStatus.WRONG),
        ("pgmnemo/page/2 or so", CheckStatus.WRONG),
    ],
)
def test_a_page_of_another_template_is_not_asked_and_one_of_none_is_not_of_the_run(
    folder: Path, other: str, found: CheckStatus
) -> None:
    page = render_report(folder)
    page.write_text(page.read_text(encoding="utf-8").replace(TEMPLATE, other), encoding="utf-8")
    told = answer(folder)
    assert told.found is found
    if found is CheckStatus.NOT_ASKED:
        assert told.sentence.startswith(f"{PAGE} is of {other}, and {TEMPLATE} is in use: ")


def test_no_page_is_committed() -> None:
    listed = subprocess.run(["git", "ls-files", "benchmarks"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("no git checkout")
    assert not [name for name in listed.stdout.splitlines() if Path(name).name == PAGE]


def test_a_page_with_text_is_never_written_where_it_could_be_committed(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a page with text of the corpus is no artefact"):
        render_report(folder, corpus=CORPUS)
    with pytest.raises(UsageError, match="is a results folder; name a file elsewhere"):
        render_report(folder, corpus=CORPUS, output=folder / PAGE)
    for place in (ROOT / "page.html", ROOT / "benchmarks" / "locomo" / "page.html"):
        with pytest.raises(UsageError, match="lies in a git checkout"):
            render_report(folder, corpus=CORPUS, output=place)
        assert not place.exists()
    link = tmp_path / "link"
    link.symlink_to(ROOT / "benchmarks")
    with pytest.raises(UsageError, match="lies in a git checkout"):
        render_report(folder, corpus=CORPUS, output=link / "page.html")
    page = render_report(folder, corpus=CORPUS, output=tmp_path / "mine" / "page.html")
    assert "is not to be committed or published" in page.read_text(encoding="utf-8")
    assert not (folder / PAGE).exists()


def test_a_comparison_needs_a_file_of_its_own(folder: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    (other / "manifest.json").write_bytes((other / "manifest.json").read_bytes() + b"\n")  # so, another run
    with pytest.raises(UsageError, match="a page with another run is no artefact"):
        render_report(folder, baseline=other)
    page = render_report(folder, baseline=other, output=tmp_path / "page.html").read_text(encoding="utf-8")
    assert "candidate minus baseline" in page.lower()
    assert '<span class="stamp same">equivalent</span>' in page


def test_wrong_folders_end_in_a_sentence(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no results folder"):
        render_report(tmp_path / "none", output=tmp_path / "page.html")
    with pytest.raises(UsageError, match="is a folder; name a file"):
        render_report(folder, output=tmp_path)
    (folder / "raw_retrievals.jsonl").write_text("{", encoding="utf-8")
    with pytest.raises(OutputError, match="cannot be rendered"):
        render_report(folder)
    (folder / "BLOCKED.md").write_text("blocked", encoding="utf-8")
    with pytest.raises(UnusableRunError, match="is blocked and has no report"):
        render_report(folder)
