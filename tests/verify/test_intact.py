"""What `verify` says of a run that nobody touched."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runner.commands.history import log_deviation
from runner.verification import CHECKS, CheckStatus

CORPUS_CHECKS = {"corpus", "questions", "ranked", "controls"}


def test_a_run_is_intact_as_its_runner_left_it(copy: Callable[[], Any]) -> None:
    verification = copy().verify()
    assert verification.faults == ()
    assert verification.intact
    assert verification.verdict == "deviation"
    not_asked = {answer.check for answer in verification.answers if answer.found is CheckStatus.NOT_ASKED}
    assert not_asked == CORPUS_CHECKS | {"commit", "signature", "reranks", "rewrites", "rerun"}
    assert [answer.check for answer in verification.answers] == list(CHECKS)


def test_a_run_agrees_with_its_corpus(copy: Callable[[], Any]) -> None:
    verification = copy().verify(corpus=True)
    assert verification.faults == ()
    holding = {answer.check for answer in verification.answers if answer.found is CheckStatus.HOLDS}
    assert holding >= CORPUS_CHECKS


def test_a_corpus_may_be_named_from_where_one_stands(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(run.corpus.parents[1])
    near = replace(run, corpus=run.corpus.relative_to(run.corpus.parents[1]))
    assert len(near.corpus.parts) == 2
    assert near.verify(corpus=True).faults == ()


def test_a_deviation_that_became_known_later_is_told(run: Any) -> None:
    log_deviation(run.folder, "the clock was wrong")
    answer = next(answer for answer in run.verify().answers if answer.check == "history")
    assert answer.found is CheckStatus.HOLDS
    assert answer.sentence.endswith("; later it adds: the clock was wrong")


def test_the_documentation_names_every_check_in_order() -> None:
    document = Path(__file__).parents[2] / "docs" / "howto" / "verify.md"
    section = document.read_text(encoding="utf-8").split("## The checks")[1].split("\n## ")[0]
    assert re.findall(r"`(\w+)`", section) == list(CHECKS)
