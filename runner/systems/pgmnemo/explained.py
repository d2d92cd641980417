"""plans.md: what one recall reads and how, for people."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import psycopg

from runner.markdown import table
from runner.records import Matrix
from runner.systems.pgmnemo.plans import Plan, explain

NAME = "plans.md"
PAGE = 8192  # bytes of a page of PostgreSQL
WIDEST = 160  # columns of a plan's line
RECALL = "SELECT FROM pgmnemo.recall_lessons(embedding := %s::vector, k := %s, query_text := %s)"
HEAD = """
Of {asked} questions, the one of median time, {milliseconds:.1f} ms as its client saw it: “{words}”.

Each statement is cut from the source of the function beside it, has that call's values as parameters, and was
explained warm, {role}. The
times are those of EXPLAIN, which itself takes some.

{lists}

"""
CALLER = "by the same ordinary role with the policies active (`InitPlan`: their check of the grant)"
OWNER = "by the extension's owner, who alone reaches the helpers, and in whose name the verbs work"
HEADS = ("statement", "function", "ms", "pages read", "MB")
LISTS = """\
Of the question's {0.of_terms} terms the rarest {0.terms} are read whole before bounds decide about the
others: {0.postings:,} of {0.of_postings:,} postings, which name {0.lessons:,} lessons."""


def typical_plans(
    connection: psycopg.Connection,
    questions: Sequence[tuple[str, Matrix]],
    k: int,
    owner: psycopg.Connection | None = None,
) -> str:
    """The plans of the question of median time, as Markdown; vectors have the width of the verbs.

    `connection` asks as clients do; `owner`, a session of the extension's owner for the same tenant, explains
    where the helpers are reached by nobody else.
    """
    timed = []
    for words, vector in (*questions[:5], *questions):  # the first warm up
        began = time.perf_counter()
        connection.execute(RECALL, (vector, k, words))
        timed.append((1000 * (time.perf_counter() - began), words, vector))
    milliseconds, words, vector = sorted(timed[5:], key=lambda entry: entry[0])[len(questions) // 2]
    explain(owner or connection, words, vector, k)
    plans, lists = explain(owner or connection, words, vector, k)
    head = HEAD.format(
        asked=len(questions), milliseconds=milliseconds, words=words, lists=LISTS.format(lists),
        role=OWNER if owner else CALLER,
    )  # fmt: skip
    return "\n".join(_lines(head, plans))


def _lines(head: str, plans: Sequence[Plan]) -> Iterator[str]:
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
