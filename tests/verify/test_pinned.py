"""What an edition or a release decides, changed by a forger with all that follows from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def changed(run: Any, change: Callable[[Any], None]) -> dict[str, str]:
    """Change run.json, compute everything anew, and rewrite HISTORY.md."""
    record = run.read("run.json")
    change(record)
    run.write("run.json", record)
    run.recompute()
    run.seal()
    run.log()
    faults: dict[str, str] = run.faults(corpus=True)
    return faults


def test_a_view_leaves_no_question_out_that_the_edition_counts(copy: Callable[[], Any]) -> None:
    def leave_out(record: Any) -> None:
        record["views"][0]["without_types"] = [copy().read("raw_retrievals.jsonl")[0]["type"]]

    faults = changed(copy(), leave_out)
    assert list(faults) == ["views"]
    assert faults["views"].startswith("views: run.json has all (without ")


@pytest.mark.parametrize(
    ("where", "value", "sentence"),
    [
        ("headline", ["recall_any@50"], "headline: run.json has recall_any@50, protocol"),
        ("disclosures", ["Everything is well."], "disclosures: run.json has Everything is well., protocol"),
    ],
)
def test_what_is_said_of_a_figure_is_the_editions(
    copy: Callable[[], Any], where: str, value: Any, sentence: str
) -> None:
    assert sentence in changed(copy(), lambda record: record.update({where: value}))["views"]


@pytest.mark.parametrize(("what", "value"), [("clustered", True), ("citable", True), ("title", "LoCoMo")])
def test_a_corpus_is_taken_as_the_edition_takes_it(copy: Callable[[], Any], what: str, value: Any) -> None:
    assert changed(copy(), lambda record: record["corpus"].update({what: value}))["views"].startswith(what)
