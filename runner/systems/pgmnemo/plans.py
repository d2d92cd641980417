"""plans.md: the cost of one recall, by PostgreSQL's own counters.

EXPLAIN sees a function as one node, and embedded servers have no auto_explain, which would see the statements
inside; so `track_functions` counts the time of each function of the extension in the same call.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from runner.markdown import table
from runner.systems.pgmnemo.session import Connection, LessonFormat, PgmnemoClient
from runner.systems.system import Query

NAME = "plans.md"
CALL = b"SELECT FROM pgmnemo.recall_lessons(embedding := %s::vector, k := %s, query_text := %s)"
EXPLAIN = b"EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) " + CALL
COUNTED = """
SELECT funcname, calls, total_time, self_time FROM pg_stat_xact_user_functions
WHERE schemaname = 'pgmnemo' ORDER BY self_time DESC, funcname
"""
HEAD = """
Of {asked} questions, the one of median time, {milliseconds:.1f} ms as its client saw it: “{words}”. The call
and each function of the extension in it, warm, as an ordinary role with the policies active; counting takes
some time itself.

```text
{plan}
```

"""


def typical_plans(
    client: PgmnemoClient, owner: Connection, role: str, queries: Sequence[Query], k: int, form: LessonFormat
) -> str:
    """Return the plan and the function times of the question of median time, as Markdown.

    `owner` is a superuser's session with the client's settings and tenant; only superusers may count
    functions.
    """
    timed = []
    for query in (*queries[:5], *queries):  # the first warm up
        began = time.perf_counter()
        client.ask(query, k)
        timed.append((1000 * (time.perf_counter() - began), query))
    milliseconds, query = sorted(timed[5:], key=lambda one: one[0])[len(queries) // 2]
    assert query.vector is not None, "what is planned has vectors"
    parameters = (form.vector(query.vector), k, query.text)
    with owner.transaction(force_rollback=True):
        owner.execute("SET LOCAL track_functions = 'all'")
        owner.execute(f"SET LOCAL ROLE {role}".encode())
        for _ in range(2):
            plan = "\n".join(row[0] for row in owner.execute(EXPLAIN, parameters))
        before = {name: counts for name, *counts in owner.execute(COUNTED)}
        owner.execute(CALL, parameters)
        after = owner.execute(COUNTED).fetchall()
    rows = []
    for name, *counts in after:
        former = before.get(name, (0, 0, 0))
        calls, total, own = (now - then for now, then in zip(counts, former, strict=True))
        if calls:
            rows.append((f"`{name}`", f"{calls:,}", f"{total:.2f}", f"{own:.2f}"))
    head = HEAD.format(asked=len(queries), milliseconds=milliseconds, words=query.text, plan=plan)
    return head + table(("function", "calls", "ms", "ms of its own"), rows, "lrrr") + "\n"
