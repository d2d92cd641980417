"""Checks of a tenant's index, and of causes of a slow recall."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from pgmnemo.postgres.doctor.access import reachable_tenants
from pgmnemo.postgres.doctor.finding import FAULT, OK, WARNING, Check, DoctorFinding, DoctorTarget

# Below these limits maintenance is not worthwhile: 58,000 surplus blocks of 2,000 lessons slow recall by a
# quarter.
SURPLUS = 50_000
ROWS = 10_000
TAIL = 1_000  # vectors outside an HNSW index, above which writers insert them
PROBLEMS = "SELECT problem, count(*) FROM pgmnemo.check(%s) GROUP BY 1 ORDER BY 1"
BLOCKS = """
SELECT coalesce(sum(n - 1), 0)::bigint, coalesce(sum(n), 0)::bigint
  FROM (SELECT count(*) AS n FROM pgmnemo.list_postings(%s) WHERE lesson_count BETWEEN 1 AND 127
         GROUP BY project_id, lexeme) AS small
"""
LIMIT = "SELECT value::bigint FROM pgmnemo.list_settings() WHERE name = 'pgmnemo.hnsw_min_vectors'"
OUTSIDE = f"""
SELECT coalesce(sum(outside), 0)::bigint
  FROM (SELECT count(*) FILTER (WHERE NOT indexed) AS outside FROM pgmnemo.list_vectors(%s)
         GROUP BY generation HAVING count(*) > ({LIMIT})) AS large
"""
WITHOUT = """
SELECT count(*) FROM pgmnemo.list_lessons(%s) l
 WHERE l.active AND EXISTS (SELECT FROM pgmnemo.list_vectors(%s))
   AND l.id NOT IN (SELECT v.lesson_id FROM pgmnemo.list_vectors(%s) v)
"""
CUT = 2_000  # most lessons that are checked
OTHERWISE = """
SELECT r.changed, c.lessons, pgmnemo.language(%s)
  FROM pgmnemo.count(%s, everything => true) c, pgmnemo.recut(%s, most => %s, dry_run => true) r
"""
TABLES = """
SELECT relname::text, n_live_tup, n_dead_tup, coalesce(last_analyze, last_autoanalyze) IS NULL
  FROM pg_stat_user_tables WHERE schemaname = 'pgmnemo' ORDER BY 1
"""


def tenant_check(check: Check) -> Check:
    """Wrap a check so that it runs only for a given tenant accessible to the login."""

    def asked(examined: DoctorTarget) -> Iterator[DoctorFinding]:
        if examined.tenant in reachable_tenants(examined, examined.target.role):
            yield from check(examined)

    return asked


def _remedy(examined: DoctorTarget, statement: str) -> str:
    """Return the command that does what a statement does, if the memory is in a folder."""
    return f"mnemo upgrade {shlex.quote(str(examined.folder))}" if examined.folder else statement


@tenant_check
def index(examined: DoctorTarget) -> Iterator[DoctorFinding]:
    problems = examined.target.session.execute(PROBLEMS, (examined.tenant,)).fetchall()
    for problem, number in problems:
        mend = _remedy(examined, f"SELECT pgmnemo.repair('{examined.tenant}')")
        yield DoctorFinding("index", FAULT, f"{problem}: {number}", mend)
    if not problems:
        yield DoctorFinding("index", OK, "every lesson is found by its words, vectors and metadata")


@tenant_check
def postings(examined: DoctorTarget) -> Iterator[DoctorFinding]:
    """Yield a warning if single writes left too many small blocks of postings."""
    surplus, small = examined.target.session.execute(BLOCKS, (examined.tenant,)).fetchall()[0]
    if surplus > SURPLUS and 2 * surplus > small:
        mend = f"SELECT pgmnemo.merge_postings('{examined.tenant}'), then VACUUM pgmnemo.posting as its owner"
        told = f"{surplus:,} small blocks of postings slow recall down"
        yield DoctorFinding("postings", WARNING, told, _remedy(examined, mend))


@tenant_check
def vectors(examined: DoctorTarget) -> Iterator[DoctorFinding]:
    """Yield a warning if many vectors of a large tenant are in no HNSW index."""
    target, tenant = examined.target, examined.tenant
    outside = target.fetch_value(OUTSIDE, tenant)
    if outside > TAIL:
        told = f"{outside:,} vectors are outside the HNSW index and read one by one"
        mend = _remedy(examined, f"SELECT pgmnemo.index('{tenant}')")
        yield DoctorFinding("vectors", WARNING, told, mend)


@tenant_check
def meaning(examined: DoctorTarget) -> Iterator[DoctorFinding]:
    """Yield a warning if some lessons of a tenant have vectors and others do not."""
    target, tenant = examined.target, examined.tenant
    without = target.fetch_value(WITHOUT, tenant, tenant, tenant)
    if without:
        told = (
            f"lessons without a vector: {without:,}; they are found by their words alone, for the embedder "
            "does not know their script, or they were stored without one"
        )
        mend = "reembed by 'multilingual-e5-small-4bit', of a hundred languages (docs/howto/languages.md)"
        yield DoctorFinding("meaning", WARNING, told, mend)


@tenant_check
def language(examined: DoctorTarget) -> Iterator[DoctorFinding]:
    """Yield a warning for lessons that were cut into words by another language than new texts would be."""
    target, tenant = examined.target, examined.tenant
    given = (tenant, tenant, tenant, CUT)
    [(otherwise, lessons, usual)] = target.session.execute(OTHERWISE, given).fetchall()
    if otherwise:
        of = f"the oldest {CUT:,} of {lessons:,}" if lessons > CUT else f"{lessons:,}"
        told = (
            f"lessons cut into words by another language than a new text would be ({usual}): {otherwise:,} "
            f"of {of}; they are older than that, or their writers named it"
        )
        mend = f"mnemo recut --tenant {shlex.quote(examined.name)}, for all lessons"
        yield DoctorFinding("language", WARNING, told, mend)


def tables(examined: DoctorTarget) -> Iterator[DoctorFinding]:
    for name, live, dead, unknown in examined.target.session.execute(TABLES):
        if (dead > ROWS and 2 * dead > live) or (unknown and live > ROWS):
            told = f"pgmnemo.{name} has {live:,} rows, {dead:,} dead ones" + ", no statistics" * unknown
            mend = _remedy(examined, f"VACUUM (ANALYZE) pgmnemo.{name}, as its owner")
            yield DoctorFinding("tables", WARNING, told, mend)
