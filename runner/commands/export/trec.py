"""TREC: a run file for each arm in each scope, and the qrels of the scope.

The score of a rank is made of the rank alone, so that no two are equal: trec_eval orders by score, and breaks
ties by id where the protocol has another rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from pgmnemo.errors import OutputError
from runner.records import Retrieval
from runner.report.render import template
from runner.verification.evidence import Evidence

QRELS = "qrels.txt"
README = Path(__file__).parent / "templates" / "trec.md.j2"


def trec(results: Evidence) -> Iterator[tuple[str, str]]:
    """Path and text of each file: README.md, then by scope the qrels and one run for each arm."""
    run, depth = results.run, results.edition.retrieval.depth
    first, arm = run.scopes[0].name, file_name(run.system)
    yield "README.md", template(README).render(run=run, qrels=QRELS, scope=first, arm=arm)
    for scope in dict.fromkeys(row.scope for row in results.rows):
        rows = [row for row in results.rows if row.scope == scope]
        yield f"{file_name(scope)}/{QRELS}", qrels(rows)
        for name in dict.fromkeys(row.arm for row in rows):
            ranked = (row for row in rows if row.arm == name)
            yield f"{file_name(scope)}/{file_name(name)}.run", "".join(lines(ranked, depth))


def qrels(rows: Iterable[Retrieval]) -> str:
    """`question 0 lesson 1` for each gold lesson, each question once."""
    gold = {row.question: row.gold for row in rows}
    return "".join(f"{_id(key)} 0 {_id(one)} 1\n" for key, ids in gold.items() for one in ids)


def lines(rows: Iterable[Retrieval], depth: int) -> Iterator[str]:
    """`question Q0 lesson rank score arm` for each rank."""
    for row in rows:
        tag, question = "_".join(row.arm.split()), _id(row.question)
        for rank, hit in enumerate(row.ranking, start=1):
            yield f"{question} Q0 {_id(hit.id)} {rank} {depth + 1 - rank} {tag}\n"


def file_name(text: str) -> str:
    """A name for a file: what no file system minds stays, anything else is a dash."""
    return re.sub(r"[^A-Za-z0-9._+@=-]+", "-", text).lstrip(".") or "-"


def _id(text: str) -> str:
    if text.split() != [text]:
        raise OutputError(
            f"the id {text!r} has a blank in it or is empty, which no TREC run can hold: measure with ids "
            "without blanks"
        )
    return text
