"""A toy suite: two short conversations, one question each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runner.protocol.datasets.corpus import CONVERSATION, POOL, suite_of
from runner.protocol.datasets.corpus_file import CorpusFile
from runner.protocol.templates import Session, Turn
from runner.records import Evidence, Question, Segment


def parts(source: CorpusFile, level: str) -> Iterator[Any]:
    for item in source.items():
        project = item["project"]
        gold = f"{project}/{item['gold']}"
        yield (
            [
                (Segment(project, f"{project}/{name}", ""), session(said))
                for name, said in item["sessions"].items()
            ],
            [Question(f"{project}/q1", project, item["question"], "toy", (Evidence(gold, gold),))],
        )


def session(said: list[str]) -> Session:
    return Session("1 May 2024", tuple(Turn("Ada", words) for words in said))


TOY = suite_of(
    parts, "toy", "the toy suite", ("session",), ("toy",), corpus={"scopes": (*CONVERSATION, POOL)}
)
