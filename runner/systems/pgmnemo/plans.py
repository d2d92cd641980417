"""How PostgreSQL carries out one recall: the hot statements, taken from the functions' own source, explained.

EXPLAIN sees a function as one node. So each statement is cut out of `pg_proc.prosrc`, its variables become
parameters with the values that a real question gives them, and it is planned once, as within the function.
From 0.4.0 on scope, question and settings are composites, and the owner alone reaches the helpers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from runner.records import Matrix

Connection = psycopg.Connection[Any]
Values = Mapping[str, tuple[str, str | None]]  # by name: type, and value as text


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a function: the one that begins with `opening`, or all of a function in SQL."""

    title: str
    function: str
    opening: str = ""


STATEMENTS = (
    Statement("The terms' statistics and bounds", "_ask", "WITH counts AS"),
    Statement("The posting lists that are read whole", "_list_parts"),
    Statement("The best of them, summed anew from the lessons", "_best_sums"),
    Statement("The nearest vectors through the graph", "_graph_rows", "RETURN QUERY"),
    Statement("The vectors that stand in no graph, exactly", "_vector_rows", "RETURN QUERY"),
    Statement("What each candidate is worth", "_candidates", "RETURN ARRAY"),
)
FORMER = "SELECT to_regtype('pgmnemo.scope') IS NULL"  # up to 0.3.1
BEGUN = "jsonb_populate_record(NULL::pgmnemo.question, jsonb_build_object('pivot', (s).length_pivot))"
SOURCE = "SELECT prosrc, coalesce(proconfig, '{}') FROM pg_proc WHERE oid = %s::regproc"
ARGUMENTS = "SELECT unnest(proargnames[:pronargs]) FROM pg_proc WHERE oid = %s::regproc"
DECLARATION = re.compile(r"^    (\w+) (?:constant )?([\w.\[\] ]+?) := (.+?);$", re.MULTILINE)
INTO = re.compile(r"\n\s+INTO asked\..+?(?=\n\s+FROM)", re.DOTALL)
STARTS = (("RETURN QUERY", ""), ("RETURN ARRAY", "SELECT ARRAY"))  # of PL/pgSQL, and what SQL has instead
UNKNOWN = {  # what recall passes for a question to a whole tenant, where it is no expression
    "by_words": ("boolean", "true"),
    "flags": ("boolean[]", "{f}"),
    "first": ("integer", "1"),
}
FORMER_UNKNOWN = {  # up to 0.3.1 besides
    "first_project": ("uuid", "00000000-0000-0000-0000-000000000000"),
    "last_project": ("uuid", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
    "asked_role": ("text", None),
    "valid_time": ("timestamptz", None),
}
SUMS = """
ARRAY(SELECT x.{} FROM (SELECT u.lesson_id, sum(u.part) AS total
                          FROM pgmnemo._list_parts(scope, asked, 1, last) u GROUP BY u.lesson_id) x
       ORDER BY x.lesson_id)
"""
LAST = """
(SELECT CASE WHEN count(*) > 100 OR sum(l.postings) <= 3000 THEN count(*)
             ELSE min(l.place) FILTER (WHERE l.so_far >= 4 * depth OR l.rest = 0) END
   FROM (SELECT x.place, x.postings, sum(x.postings) OVER (ORDER BY x.place) AS so_far,
                count(*) OVER () - x.place AS rest
           FROM unnest((asked).postings) WITH ORDINALITY AS x (postings, place)) l)
"""
EXPRESSIONS = (  # each over those before it
    ("tenant", "uuid", "current_setting('pgmnemo.tenant_id')"),
    ("moment", "timestamptz", "now()"),
    ("s", "pgmnemo.settings", "pgmnemo._settings()"),
    ("scope", "pgmnemo.scope", "pgmnemo._scope(tenant, NULL, (s).gate_strict)"),
    ("ef_search", "integer", "(s).ef_search"),
    ("depth", "integer", "greatest((s).pool_depth, wanted)"),
    ("most", "integer", "4 * depth"),  # vectors asked for at first
    ("asked", "pgmnemo.question", "pgmnemo._ask(scope, words, embedding, moment, s)"),
    ("direction", "public.halfvec", "(asked).direction"),
    ("last", "integer", LAST),
    ("read", "integer", "last"),
    ("ids", "bigint[]", SUMS.format("lesson_id")),
    ("totals", "float8[]", SUMS.format("total")),
    ("of_terms", "integer", "cardinality((asked).terms)"),
    ("postings", "bigint", "(SELECT sum(x.n) FROM unnest((asked).postings[:read]) AS x (n))"),
    ("of_postings", "bigint", "(SELECT sum(x.n) FROM unnest((asked).postings) AS x (n))"),
    ("named", "integer", "cardinality(ids)"),
)
FORMER_SUMS = """
ARRAY(SELECT x.{} FROM (SELECT u.lesson_id, sum(u.part) AS total
                          FROM pgmnemo._list_parts(tenant, first_project, last_project, terms, scales, flat, per_token) u
                         GROUP BY u.lesson_id) x ORDER BY x.lesson_id)
"""  # noqa: E501
FORMER_READ = """
(SELECT coalesce(min(l.place), cardinality(asked.terms))
   FROM (SELECT x.place, sum(x.postings) OVER (ORDER BY x.place) AS so_far
           FROM unnest(asked.postings) WITH ORDINALITY AS x (postings, place)) l WHERE l.so_far >= 4 * depth)
"""
FORMER_EXPRESSIONS = (
    ("tenant", "uuid", "pgmnemo._tenant()"),
    ("moment", "timestamptz", "now()"),
    ("s", "jsonb", "pgmnemo._settings()"),
    ("w", "pgmnemo.weights", "jsonb_populate_record(NULL::pgmnemo.weights, s)"),
    ("gate", "text", "s ->> 'gate_strict'"),
    ("ef_search", "integer", "(s ->> 'ef_search')::float8"),
    ("depth", "integer", "greatest((s ->> 'pool_depth')::float8, wanted)"),
    ("most", "integer", "4 * depth"),  # vectors asked for at first
    ("asked", "pgmnemo.question",
     "pgmnemo._ask(tenant, first_project, last_project, words, embedding, moment, s)"),
    ("direction", "public.halfvec", "asked.direction"),
    ("queries", "tsquery[]", "asked.queries"),
    ("flat", "float8", "asked.flat"),
    ("per_token", "float8", "asked.per_token"),
    ("read", "integer", FORMER_READ),
    ("terms", "text[]", "asked.terms[:read]"),
    ("scales", "float8[]", "asked.scales[:read]"),
    ("ids", "bigint[]", FORMER_SUMS.format("lesson_id")),
    ("totals", "float8[]", FORMER_SUMS.format("total")),
    ("of_terms", "integer", "cardinality(asked.terms)"),
    ("postings", "bigint", "(SELECT sum(x.n) FROM unnest(asked.postings[:read]) AS x (n))"),
    ("of_postings", "bigint", "(SELECT sum(x.n) FROM unnest(asked.postings) AS x (n))"),
    ("named", "integer", "cardinality(ids)"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plan:
    """A statement with its plan: milliseconds of its execution, pages of shared buffers that it looked at."""

    title: str
    function: str
    text: str
    plan: str
    milliseconds: float
    pages: int


@dataclass(frozen=True, slots=True)
class Lists:
    """Of how many terms, of all, the lists are read before bounds decide about the rest; what they hold."""

    terms: int
    of_terms: int
    postings: int
    of_postings: int
    lessons: int


def explain(connection: Connection, words: str, embedding: Matrix, k: int) -> tuple[list[Plan], Lists]:
    """The plans of one question by a session whose tenant is set; `embedding` has the width of the verbs.

    From 0.4.0 on the session is of the extension's owner, before of any role with a grant. Everything happens
    in a transaction that is rolled back.
    """
    given = {
        "words": ("text", words),
        "embedding": ("public.vector", f"[{','.join(repr(float(number)) for number in embedding)}]"),
        "wanted": ("integer", str(k)),
    }
    with connection.transaction(force_rollback=True):
        former = _row(connection, FORMER)[0]
        _configure(connection, "pgmnemo.recall_lessons" if former else "pgmnemo.recall")
        values: dict[str, tuple[str, str | None]] = {**UNKNOWN, **(FORMER_UNKNOWN if former else {}), **given}
        for name, type_, expression in FORMER_EXPRESSIONS if former else EXPRESSIONS:
            values[name] = (type_, _evaluated(connection, type_, expression, values))
        plans = [_plan(connection, statement, values) for statement in STATEMENTS]
    counts = ("read", "of_terms", "postings", "of_postings", "named")
    return plans, Lists(*(int(values[name][1] or 0) for name in counts))


def _plan(connection: Connection, statement: Statement, values: Values) -> Plan:
    name = f"pgmnemo.{statement.function}"
    _configure(connection, name)
    source = _row(connection, SOURCE, name)[0]
    passed = {**values, **_passed(connection, statement.function, values)}
    known = {row[0]: passed[row[0]] for row in connection.execute(ARGUMENTS, (name,))}
    if statement.function == "_ask" and "scope" in known:
        known["asked"] = ("pgmnemo.question", _evaluated(connection, "pgmnemo.question", BEGUN, known))
    for variable, type_, expression in DECLARATION.findall(source.partition("BEGIN")[0]):
        if not expression.startswith("current_setting"):
            known[variable] = (type_, _evaluated(connection, type_, expression, known))
    text = cut(source, statement.opening)
    used = {variable: value for variable, value in known.items() if _place(variable).search(text)}
    numbered = _replaced(text, {variable: f"(${n})" for n, variable in enumerate(used, start=1)})
    types = ", ".join(type_ for type_, _ in used.values())
    connection.execute(f"PREPARE hot ({types}) AS {numbered}".encode())
    bound = sql.SQL(", ").join(sql.Literal(value) for _, value in used.values())
    explained = sql.SQL("EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) EXECUTE hot ({})").format(bound)
    plan = "\n".join(row[0] for row in connection.execute(explained))
    connection.execute("DEALLOCATE hot")
    return Plan(statement.title, statement.function, text, plan, *figures(plan))


def _passed(connection: Connection, function: str, values: Values) -> Values:
    """What one function is passed that the others are not."""
    if function == "_best_sums":  # as it is called while lists are read
        scales = _evaluated(connection, "float8[]", "(asked).scales", values)
        return {"most": values["depth"], "scales": ("float8[]", scales)}
    if function == "_candidates":  # as many as both legs can give
        best = "ARRAY(SELECT t.id FROM unnest(ids, totals) t (id, sum) ORDER BY t.sum DESC LIMIT 2 * depth)"
        return {
            "ids": ("bigint[]", _evaluated(connection, "bigint[]", best, values)),
            "totals": ("float8[]", "{}"),
        }
    if function == "_graph_rows":  # it sets these by itself
        for setting, value in (("ef_search", values["ef_search"][1]), ("iterative_scan", "relaxed_order")):
            connection.execute("SELECT set_config(%s, %s, true)", (f"hnsw.{setting}", value))
    return {}


def cut(source: str, opening: str) -> str:
    """The statement of a PL/pgSQL source that begins with `opening`, as SQL; without it, the whole source."""
    if not opening:
        return source.strip()
    found = opening + source.partition(opening)[2].partition(";\n")[0]
    for words, instead in STARTS:
        found = found.replace(words, instead, 1)
    return INTO.sub("", found).strip()


def figures(plan: str) -> tuple[float, int]:
    """Milliseconds of the execution, and pages of shared buffers looked at."""
    taken = re.search(r"Execution Time: ([\d.]+)", plan)
    pages = re.search(r"Buffers: shared ([^\n]*)", plan.partition("Planning")[0])
    counted = re.findall(r"(?:hit|read)=(\d+)", pages[1]) if pages else []
    return float(taken[1]) if taken else 0.0, sum(map(int, counted))


def _evaluated(connection: Connection, type_: str, expression: str, values: Values) -> str | None:
    """The value of an expression over `values`, as text."""
    literals = {
        name: f"({sql.Literal(value).as_string(connection)}::{kind})"
        for name, (kind, value) in values.items()
    }
    value = _row(connection, f"SELECT ({_replaced(expression, literals)})::{type_}::text")[0]
    return None if value is None else str(value)


def _replaced(text: str, by_name: Mapping[str, str]) -> str:
    """The text with something else for every variable, all at once."""
    names = sorted((name for name in by_name if _place(name).search(text)), key=len, reverse=True)
    if not names:
        return text
    anywhere = re.compile("|".join(_place(name).pattern for name in names))
    return anywhere.sub(lambda found: by_name[found[0]], text)


def _place(variable: str) -> re.Pattern[str]:
    """Where a variable stands: not a column, not a name given, not a part of a longer word or of a string."""
    return re.compile(rf"(?<![\w.'$])(?<!AS ){variable}(?![\w'(])")


def _configure(connection: Connection, function: str) -> None:
    """Set what the function sets for itself."""
    for setting in _row(connection, SOURCE, function)[1]:
        name, _, value = setting.partition("=")
        connection.execute("SELECT set_config(%s, %s, true)", (name, value.strip('"')))


def _row(connection: Connection, query: str, *parameters: Any) -> Sequence[Any]:
    row: Sequence[Any] = connection.execute(query.encode(), parameters or None).fetchone() or ()
    return row
