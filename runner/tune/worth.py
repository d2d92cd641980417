"""What the extension itself says of each lesson of a question's scope, asked of its own functions.

`pgmnemo._candidates` says what a lesson is made of, and `pgmnemo._contributions` under weights of 1 what each
component adds to the score for one unit of its weight. Who stands with whom is asked for by lone relevances:
one lesson of the scope is made worth 1 and all others 0, and `pgmnemo._neighbours` and `pgmnemo._ranked` say
whom that reaches, and how much of it. So nothing here knows the formula.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import psycopg

from runner.systems.pgmnemo import Pgmnemo
from runner.systems.pgmnemo.client import padded
from runner.systems.system import Query
from runner.tune.layout import Floats
from runner.tune.weights import COMPONENTS

ONES: Final = json.dumps(dict.fromkeys((*(f"{name}_weight" for name in COMPONENTS), "assistant_weight"), 1))
LESSONS = """
ARRAY(SELECT l.id FROM pgmnemo.lesson l WHERE l.tenant_id = %(tenant)s AND l.project_id = %(project)s)
"""
WORTH = f"""
SELECT (SELECT array_agg(pgmnemo._contributions(c, u.unit) ORDER BY c.external_id COLLATE "C")
          FROM unnest(pgmnemo._candidates(w.scope, {LESSONS}, '{{}}', a.asked, h.s, true, m.moment)) c)
FROM (SELECT coalesce(%(as_of)s::timestamptz, now()) AS moment OFFSET 0) m
CROSS JOIN (SELECT pgmnemo._settings() AS s OFFSET 0) g
CROSS JOIN (SELECT pgmnemo._scope(%(tenant)s, %(project)s, 'off') AS scope OFFSET 0) w
CROSS JOIN LATERAL (SELECT jsonb_populate_record(g.s, %(ones)s::jsonb) AS unit OFFSET 0) u
CROSS JOIN unnest(%(changes)s::jsonb[]) WITH ORDINALITY AS v (change, place)
CROSS JOIN LATERAL (SELECT jsonb_populate_record(g.s, v.change) AS s OFFSET 0) h
CROSS JOIN LATERAL (
    SELECT pgmnemo._ask(w.scope, %(text)s, pgmnemo._embedding(%(vector)s::vector), m.moment, h.s) AS asked
    OFFSET 0) a
ORDER BY v.place
"""
COMPANY = f"""
WITH settings AS MATERIALIZED (
    SELECT pgmnemo._scope(%(tenant)s, %(project)s, 'off') AS scope, s,
           jsonb_populate_record(s, %(ones)s::jsonb) AS unit,
           jsonb_populate_record(s, '{{"assistant_weight": 0}}') AS deaf
      FROM (SELECT pgmnemo._settings() AS s OFFSET 0) g
), held AS MATERIALIZED (
    SELECT c.lesson_id, c.external_id, row_number() OVER (ORDER BY c.external_id COLLATE "C") AS place,
           c AS silent, jsonb_populate_record(c, '{{"temporal": 1}}') AS loud,
           pgmnemo._share(c, g.deaf) AS share
      FROM settings g
     CROSS JOIN unnest(pgmnemo._candidates(
            g.scope, {LESSONS}, '{{}}', pgmnemo._ask(g.scope, NULL, NULL, now(), g.s), g.s, false, now())) c
), everybody AS MATERIALIZED (
    SELECT array_agg(h.silent ORDER BY h.place) AS silent FROM held h
)
SELECT h.external_id, h.share, x.company, x.reached, x.parts
  FROM held h
 CROSS JOIN everybody e
 CROSS JOIN settings g
 CROSS JOIN LATERAL (
        SELECT e.silent[:h.place - 1] || h.loud || e.silent[h.place + 1:] AS candidates OFFSET 0) p
 CROSS JOIN LATERAL (
        SELECT array_agg(n.lesson_id) AS near, array_agg(n.neighbours) AS nears
          FROM pgmnemo._neighbours(p.candidates, g.unit) n OFFSET 0) n
 CROSS JOIN LATERAL (
        SELECT array_agg(o.place - 1 ORDER BY o.place) FILTER (WHERE (r.own).context > 0) AS company,
               array_agg(o.place - 1 ORDER BY o.place) FILTER (WHERE (r.own).neighbours > 0) AS reached,
               array_agg((r.own).neighbours ORDER BY o.place) FILTER (WHERE (r.own).neighbours > 0) AS parts
          FROM pgmnemo._ranked(p.candidates, n.near, n.nears, '{{}}', '{{}}', g.unit) r
          JOIN held o ON o.lesson_id = (r.own).lesson_id) x
 ORDER BY h.place
"""
Row = tuple[str, float, list[int], list[int] | None, list[float] | None]


class Teller:
    """One connection as the extension's owner, with the settings of a run."""

    def __init__(self, system: Pgmnemo, connection: psycopg.Connection[Any]) -> None:
        self._system, self._connection = system, connection

    def worth(self, query: Query, changes: Sequence[Mapping[str, object]] = ({},)) -> Floats:
        """What each component adds for one unit of its weight, (changes, components, lessons).

        `changes` are settings besides those in force, one after the other. Lessons are in C order of their
        external ids. What comes from others, context, neighbours and graph, is 0 here.
        """
        vector = None if query.vector is None else padded(query.vector, self._system.width)
        given = {
            **self._place(query.project), "text": query.text, "vector": vector, "as_of": query.as_of,
            "changes": [json.dumps(change) for change in changes],
        }  # fmt: skip
        found = self._connection.execute(WORTH.encode(), given, binary=True).fetchall()
        return np.array([row[0] for row in found], float).transpose(0, 2, 1)

    def company(self, project: str) -> list[Row]:
        """For each lesson of a project in the same order: its external id, the share of its relevance that
        stays at an assistant_weight of 0, the places of those of its moment, of those that its relevance
        reaches as neighbours, and what part of it reaches each."""
        return self._connection.execute(COMPANY.encode(), self._place(project)).fetchall()

    def _place(self, project: str | None) -> dict[str, object]:
        assert project is not None, "tune asks within projects"
        system = self._system
        return {"tenant": system.tenant(project), "project": system.project_id(project), "ones": ONES}


@contextmanager
def teller(system: Pgmnemo) -> Iterator[Teller]:
    """A connection of its own, closed at the end."""
    with system.owner() as owner:
        yield Teller(system, owner)
