"""plans.md: what one recall reads and how, for people."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import psycopg

from runner.markdown import table
from runner.records import Matrix
from runner.systems.pgmnemo.plans import Lists, Plan, explain

NAME = "plans.md"
PAGE = 8192  # bytes of a page of PostgreSQL
WIDEST = 160  # columns of a plan's line
RECALL = "SELECT FROM pgmnemo.recall_lessons(embedding := %s::vector, k := %s, query_text := %s)"
HEAD = """
Of {asked} questions, the one of median time, {milliseconds:.1f} ms as its client saw it: “{words}”.

Each statement is cut from the source of the function beside it, has that call's values as parameters, and was
explained warm, by the same ordinary role with the policies active (`InitPlan`: their check of the grant). The
times are those of EXPLAIN, which itself takes some.

{lists}

"""
HEADS = ("statement", "function", "ms", "pages read", "MB")
LISTS = """\
Of the question's {0.of_terms} terms the rarest {0.terms} are read whole before bounds decide about the
others: {0.postings:,} of {0.of_postings:,} postings, which name {0.lessons:,} lessons."""


def typical_plans(connection: psycopg.Connection, questions: Sequence[tuple[str, Matrix]], k: int) -> str:
    """The plans of the question of median time, as Markdown; vectors have the width of the verbs."""
    timed = []
    for words, vector in (*questions[:5], *questions):  # the first warm up
        began = time.perf_counter()
        connection.execute(RECALL, (vector, k, words))
        timed.append((1000 * (time.perf_counter() - began), words, vector))
    milliseconds, words, vector = sorted(timed[5:], key=lambda entry: entry[0])[len(questions) // 2]
    explain(connection, words, vector, k)
    plans, lists = explain(connection, words, vector, k)
    return "\n".join(_lines(len(questions), words, milliseconds, plans, lists))


def _lines(asked: int, words: str, milliseconds: float, plans: Sequence[Plan], lists: Lists) -> Iterator[str]:
    head = HEAD.format(asked=asked, milliseconds=milliseconds, words=words, lists=LISTS.format(lists))
    rows = [
        (p.title, f"`{p.function}`", f"{p.milliseconds:.2f}", f"{p.pages:,}", f"{p.pages * PAGE / 1e6:.2f}")
        for p in plans
    ]
    yield head + table(HEADS, rows, "llrrr")
    for plan in plans:
        yield f"\n## {plan.title}\n"
        yield f"From `pgmnemo.{plan.function}`:\n"
        yield f"```sql\n{plan.text}\n```\n"
        yield "```text"
        yield from map(_cut, plan.plan.split("\n"))
        yield "```"
    yield ""


def _cut(line: str) -> str:
    return line if len(line) <= WIDEST else f"{line[: WIDEST - 1]}…"
