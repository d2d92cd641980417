"""The record of a re-run: made after the check, believed by its signature alone, and never of the runner."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from runner.cli import main
from runner.commands.attest import attest
from runner.commands.leaderboard import leaderboard
from runner.commands.leaderboard.board import markdown
from runner.commands.submit import submit
from runner.errors import RefusedError
from runner.runs.archive import unpacked
from runner.runs.canonical import pretty
from runner.runs.manifest import USUAL
from runner.verification import Answer, Found, Verification, verify
from runner.verification.sign import NAMESPACE, RERUN_NAMESPACE, sign, signature_of
from tests.helping import answered, kept_run
from tests.verify.sign.conftest import Key, believed, new_key, run

__all__ = ["believed", "new_key", "run"]
New, Believed = Callable[..., Key], Callable[..., Path]
BOTH = f'namespaces="{NAMESPACE},{RERUN_NAMESPACE}"'
SAME = "the same ids and scores"
ARMS = ("pgmnemo", "bm25")


@cache
def sound() -> Verification:
    """What `verify` says of the run that the tests copy."""
    return verify(kept_run("sample"))


def recalled(folder: Path, *, rerun: int, **options: Any) -> Verification:
    """verify, where the recall itself came out the same: tests/verify/test_rerun.py has real ones."""
    found = sound()
    asked = tuple(
        Answer(one.check, Found.HOLDS, SAME) if one in found.unasked else one for one in found.answers
    )
    return Verification(folder, found.verdict, asked, arms=ARMS)


def reruns(run: Path, signers: Path | None = None) -> Answer:
    return answered("reruns", run, signers=signers)


def record(run: Path, key: Key | None = None, by: str = "ann@example.org", number: int = 5) -> Path:
    return attest(run, by, key=key and key.path, rerun=number, check=recalled)


def rewritten(place: Path, key: Key, **facts: Any) -> None:
    """The record with other facts, signed anew."""
    place.write_text(pretty({**json.loads(place.read_text()), **facts}))
    Path(f"{place}.sig").write_bytes(signature_of(place.read_bytes(), key.path, RERUN_NAMESPACE))


def test_a_signed_record_shows_who_recalled_the_run_again(
    run: Path, new_key: New, believed: Believed
) -> None:
    ann = new_key("ann")
    assert record(run, ann).name == "rerun-1.json"
    signers = believed(ann, options=BOTH)
    found = verify(run, allowed_signers=signers)
    assert found.intact
    assert found.attested == "self-run; re-run by ann@example.org"
    told = r"re-run by ann@example\.org; 5 of 36 questions by 2 of \d arms on 20"
    assert re.match(told, reruns(run, signers).sentence)
    assert "self-run; re-run by ann@example.org" in markdown(leaderboard([run], allowed_signers=signers))


def test_who_signed_the_run_is_told_beside_who_recalled_it(
    run: Path, new_key: New, believed: Believed
) -> None:
    ann, bob = new_key("ann"), new_key("bob")
    sign(run, bob.path)
    record(run, ann)
    found = verify(run, allowed_signers=believed(ann, bob, options=BOTH))
    assert found.attested == "signed by bob@example.org; re-run by ann@example.org"


def test_a_record_of_the_runner_is_no_re_run_by_others(run: Path, new_key: New, believed: Believed) -> None:
    ann = new_key("ann")
    sign(run, ann.path)
    record(run, ann)
    found = verify(run, allowed_signers=believed(ann, options=BOTH))
    assert found.attested == "signed by ann@example.org"
    assert "rerun-1.json is of the runner, ann@example.org" in reruns(run, found_signers(run)).sentence


def found_signers(run: Path) -> Path:
    return run.parent / "allowed_signers"


def test_an_unsigned_record_proves_nothing(run: Path, new_key: New, believed: Believed) -> None:
    record(run)
    signers = believed(new_key("ann"), options=BOTH)
    assert reruns(run, signers) == Answer(
        "reruns", Found.NOT_ASKED, "rerun-1.json is unsigned, so nobody vouches for it"
    )
    assert verify(run, allowed_signers=signers).attested == "self-run"


def test_a_record_of_a_stranger_neither_counts_nor_harms(run: Path, new_key: New, believed: Believed) -> None:
    record(run, new_key("mallory"), by="mallory@example.org")
    answer = reruns(run, believed(new_key("ann"), options=BOTH))
    assert (answer.found, "is of no signer of" in answer.sentence) == (Found.NOT_ASKED, True)
    assert "whose it is says --allowed-signers" in reruns(run).sentence


def test_a_key_that_may_sign_runs_alone_vouches_for_no_re_run(
    run: Path, new_key: New, believed: Believed
) -> None:
    ann = new_key("ann")
    record(run, ann)
    assert reruns(run, believed(ann)).found is Found.NOT_ASKED


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"manifest_sha256": "0" * 64}, "is of another run"),
        ({"of": 40}, "tells of 5 of 40 questions; 36 were asked"),
        ({"scopes": ["pool"]}, "tells of the scopes pool, which are not those of the run"),
        ({"when": "2027-13-01T00:00:00Z"}, "cannot be read as the record of a re-run"),
        ({"when": "2020-01-01T00:00:00Z"}, "is of 2020-01-01 00:00, before the run had ended"),
        ({"tolerance": {"score": 0.5, "component": 0}}, "holds score to 0.5, and no more"),
        ({"arms": ["bm25"]}, "tells of the arms bm25, which are not those of the run"),
        ({"by": "bob@example.org"}, "says that it is by bob@example.org; the key is of ann@example.org"),
        ({"by": "ann and bob"}, "is not of its schema"),
        ({"schema": "pgmnemo/rerun/9"}, "names the schema pgmnemo/rerun/9; known here: pgmnemo/rerun/2"),
    ],
)
def test_a_record_that_does_not_hold_is_a_fault(
    run: Path, new_key: New, believed: Believed, facts: dict[str, Any], sentence: str
) -> None:
    ann = new_key("ann")
    rewritten(record(run, ann), ann, **facts)
    answer = reruns(run, believed(ann, options=BOTH))
    assert answer.found is Found.WRONG
    assert sentence in answer.sentence


@pytest.mark.parametrize("change", ["content", "signature", "purpose"])
def test_a_signature_that_is_none_is_a_fault(
    run: Path, new_key: New, believed: Believed, change: str
) -> None:
    ann = new_key("ann")
    place = record(run, ann)
    if change == "content":
        place.write_text(place.read_text().replace('"questions": 5', '"questions": 36'))
    elif change == "signature":
        Path(f"{place}.sig").write_bytes(b"junk")
    else:
        Path(f"{place}.sig").write_bytes(signature_of(place.read_bytes(), ann.path, NAMESPACE))
    answer = reruns(run, believed(ann, options=BOTH))
    assert (answer.found, "does not hold" in answer.sentence) == (Found.WRONG, True)


def test_nothing_of_the_run_changes_and_an_archive_takes_the_record_along(
    run: Path, new_key: New, tmp_path: Path
) -> None:
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    record(run, new_key("ann"))
    record(run, new_key("bob"), by="bob@example.org")
    assert {name: (run / name).read_bytes() for name in before} == before
    more = {"rerun-1.json", "rerun-1.json.sig", "rerun-2.json", "rerun-2.json.sig"}
    assert {path.name for path in run.iterdir()} == {*before, *more}
    with unpacked(submit(run, tmp_path / "run.tar.gz")) as folder:
        assert more <= {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            Answer("rerun", Found.WRONG, "rank 1 is a, recalled is b"),
            "is not intact: rerun: rank 1 is a, rec",
        ),
        (
            Answer("questions", Found.NOT_ASKED, "give --corpus PATH"),
            "was not recalled again: give --corpus P",
        ),
    ],
)
def test_a_run_that_did_not_come_out_the_same_gets_no_record(
    run: Path, answer: Answer, sentence: str
) -> None:
    def check(folder: Path, **options: Any) -> Verification:
        return Verification(folder, "verified", (answer,))

    with pytest.raises(RefusedError, match=sentence):
        attest(run, "ann@example.org", check=check)
    assert not list(run.glob("rerun-*"))


def test_a_bare_rerun_is_of_the_usual_number(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int | None] = []

    def remembered(folder: Path, **options: Any) -> Verification:
        asked.append(options["rerun"])
        return recalled(folder, rerun=0)

    monkeypatch.setattr("runner.verification.verification.verify", remembered)
    for words in (["--rerun", str(run)], [str(run), "--rerun"], [str(run), "--rerun", "7"], [str(run)]):
        assert main(["verify", *words]) == 0
    assert asked == [USUAL, USUAL, 7, None]
