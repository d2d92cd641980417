"""An answer run is held against itself, the run that it read, and the corpus; each forgery is found."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import runner
from runner.cli import main
from runner.runs.canonical import compact, pretty
from runner.stages.answers.document import markdown
from runner.verification import CheckStatus
from tests.service import serving
from tests.stages.answers.conftest import locomo, sensible

Made = Callable[[str], tuple[Path, Path]]
NONE = "0" * 64


@pytest.fixture(scope="module")
def answered(made_run: Made, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """(answers, run, corpus) of a small LoCoMo; the answers stand beside the results of a suite."""
    run, corpus = made_run("locomo")
    base = tmp_path_factory.mktemp("answered") / "locomo"
    kept = Path(shutil.copytree(run, base / "results" / run.name))
    errors = base / "errors.txt"
    errors.write_text("conv-1/q2\n")
    with serving(sensible) as server:
        options = runner.AnswerOptions(
            reader_url=server.url, reader_model="reader", judge_model="judge", data=corpus,
            output=base / "answers", workers=1, key_errors=errors, price=["reader=1,2"],
        )  # fmt: skip
        return runner.answer(kept, options).folder, kept, corpus


def found(folder: Path, **options: Any) -> dict[str, Any]:
    return {one.check: one for one in runner.verify(folder, **options).answers}


def test_an_answer_run_is_intact_and_says_what_it_needs(answered: tuple[Path, Path, Path]) -> None:
    folder, _, corpus = answered
    whole = found(folder, corpus=corpus)
    assert {one.found for one in whole.values()} == {CheckStatus.HOLDS}, whole
    assert found(folder)["corpus"].sentence == "give --corpus PATH"
    assert "; F1 needs --corpus" in found(folder)["figures"].sentence


def test_away_from_its_run_it_says_so_and_takes_it_by_name(
    answered: tuple[Path, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, run, corpus = answered
    alone = Path(shutil.copytree(folder, tmp_path / folder.name))
    checks = found(alone)
    assert checks["run"].found is CheckStatus.NOT_ASKED
    assert checks["run"].sentence == f"the run {run.name} is not beside this folder; name it with --run"
    assert "F1 and intervals need the run" in checks["figures"].sentence
    assert main(["verify", str(alone), "--run", str(run), "--corpus", str(corpus)]) == 0
    assert "intact: 9 checks hold" in capsys.readouterr().out
    assert main(["verify", str(alone), "--run", str(tmp_path / "no")]) == 2


@pytest.fixture
def forged(answered: tuple[Path, Path, Path], tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """What the checks say once a file was changed by a function, and the manifest made to fit."""
    folder, run, corpus = answered
    copy = Path(shutil.copytree(folder, tmp_path / folder.name))

    def forge(name: str, change: Callable[[Any], Any]) -> dict[str, Any]:
        path = copy / name
        if name.endswith(".jsonl"):
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            change(lines)
            path.write_text("".join(f"{compact(line)}\n" for line in lines))
        else:
            document = json.loads(path.read_text())
            change(document)
            path.write_text(pretty(document))
            (copy / "answers.md").write_text(markdown(document))
        manifest = json.loads((copy / "manifest.json").read_text())
        for entry in manifest["files"]:
            content = (copy / entry["name"]).read_bytes()
            entry.update(bytes=len(content), sha256=sha256(content).hexdigest())
        (copy / "manifest.json").write_text(pretty(manifest))
        return found(copy, run=run, corpus=corpus)

    return forge


def first(name: str, value: Any) -> Callable[[Any], None]:
    return lambda lines: lines[0].update({name: value})


def other(**changes: Any) -> Callable[[Any], None]:
    return lambda lines: lines[1].update(changes)


def of(part: str, **changes: Any) -> Callable[[Any], None]:
    return lambda made: made[part].update(changes)


@pytest.mark.parametrize(
    ("file", "change", "check", "sentence"),
    [
        ("judgements.jsonl", other(right=True), "verdicts", "right is True"),
        ("judgements.jsonl", other(reply="yes", right=True), "figures", "judge of all"),
        ("judgements.jsonl", first("rule", "adversarial"), "corpus", "in the corpus it is single-hop"),
        ("answers.jsonl", first("answer", "a red kayak"), "figures", "F1 of all"),
        ("answers.jsonl", first("retrieved", []), "run", "what was read is not what bm25s ranks first"),
        ("answers.jsonl", first("prompt_tokens", 5), "counts", "the reader's tokens are not the sum"),
        ("answers.json", lambda made: made["figures"][0].update(value=0.9), "figures", "judge of all"),
        ("answers.json", lambda made: made["known_key_errors"].clear(), "figures", "and the lines give"),
        ("answers.json", of("reader", prompt_sha256=NONE), "prompts", "reader's prompt"),
        ("answers.json", of("run", manifest_sha256=NONE), "run", "has sha256"),
        ("answers.json", of("agreement", same=0.5), "counts", "agreement is"),
        ("answers.json", lambda made: made.update(more=1), "schema", "answers.json is not of its schema"),
    ],
)  # fmt: skip
def test_a_forgery_is_found(
    forged: Callable[..., dict[str, Any]], file: str, change: Callable[[Any], Any], check: str, sentence: str
) -> None:
    said = forged(file, change)[check]
    assert said.found is CheckStatus.WRONG
    assert sentence in said.sentence


def test_a_byte_a_file_and_another_corpus_are_told(answered: tuple[Path, Path, Path], tmp_path: Path) -> None:
    folder, run, _ = answered
    copy = Path(shutil.copytree(folder, tmp_path / folder.name))
    other = tmp_path / "locomo.json"
    items = locomo()
    items[0]["qa"][0]["question"] = "What is the cat called?"
    other.write_text(json.dumps(items))
    assert "is not the corpus of the run" in found(copy, run=run, corpus=other)["corpus"].sentence
    (copy / "notes.txt").write_text("x")
    (copy / "answers.md").write_text("# Answers")
    checks = found(copy, run=run)
    assert [checks[name].found for name in ("complete", "manifest", "schema")] == [CheckStatus.WRONG] * 3
