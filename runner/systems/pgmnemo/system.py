"""The extension at one version in a database: the rows that a run writes, recalls and deletes.

The runner works as an ordinary role with every policy active; only granting tenants, building indexes and
updating the planner's statistics is done as the owner of the extension.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import replace
from functools import cached_property, partial
from uuid import UUID

from pgmnemo import calls
from pgmnemo.calls import execute
from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.paths import SQL_FOLDER, release_numbers
from pgmnemo.postgres import Database, database_errors, open_database
from pgmnemo.postgres.server_process import durable_settings
from pgmnemo.progress import QUIET, Progress
from runner.protocol.editions import current
from runner.systems import MODES
from runner.systems.pgmnemo.plans import typical_plans
from runner.systems.pgmnemo.session import (
    MODE,
    Connection,
    LessonFormat,
    PgmnemoClient,
    TenantNames,
    ask_yes_no,
)
from runner.systems.postgres import DatabaseSystem
from runner.systems.system import Lesson, Lessons, Query, SystemContext, SystemSpec

LOCK = 0x7FFF_FFFF_FFFF_FFFF  # mask of a uuid's bits for an advisory lock
WRITERS = 2  # number of writers if data is durable, as in the load of a service
STRIPE = 5_000  # lessons that one connection stores at a time, at most
SHARDS = 4  # least number of stripes for each worker
FORMER_NAMES = {  # older names of verbs, and whether each takes a tenant
    "index": {"index_lessons": False}, "forget_all": {"forget_tenant": False},
    "merge_postings": {"compact": True, "compact_postings": False},
}  # fmt: skip
COVERAGE = "1.0.0"  # since this version words count by coverage, and short questions count less
EXACT, FORMER_EXACT = {"hnsw_min_vectors": "10000000"}, {"exact_scan_limit": "10000000"}
LATER = "text_config"  # may name a text configuration that is created after the database is open
SILENT = ("cosine", "passage_cosine", "pair_cosine")  # components that mode keyword lacks
TABLES = """
SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = 'pgmnemo' ORDER BY 1
"""
PARTS = """
SELECT c.relname, pg_table_size(c.oid) FROM pg_class c
WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relkind IN ('r', 'm')
UNION ALL
SELECT i.relname, pg_relation_size(i.oid) FROM pg_class i
WHERE i.relnamespace = 'pgmnemo'::regnamespace AND i.relkind = 'i'
ORDER BY 1
"""


class Pgmnemo(DatabaseSystem[PgmnemoClient]):
    """All lessons in one tenant or, with `tenant_per_project`, each project in a tenant of its own."""

    def __init__(self, database: Database, context: SystemContext, stack: ExitStack) -> None:
        super().__init__(stack)
        self.database: Database = database
        self.place = context
        edition = current()
        self.engine, self.width = edition.engine(database.facts.pgmnemo), edition.embedding.width
        self.settings = dict(context.settings)
        self.names = TenantNames(context.label, context.tenant_per_project)
        self._lessons: Lessons | None = None

    # Identity

    def description(self) -> str:
        passages = "passages with their vectors, " if self.engine.passages else ""
        order = "speakers, positions, " if self.engine.passages else ""
        return (
            f"given text, vector, {passages}{order}times, importance and links; one call of recall_lessons a "
            "question, as an ordinary role, policies active"
        )

    @property
    def components(self) -> tuple[str, ...]:
        """Return the components of the score, in the order of recall_lessons.

        The result is empty if the context wants none.
        """
        return self.engine.components if self.place.with_components else ()

    @property
    def retrievers(self) -> Mapping[str, tuple[Mapping[str, str], str]]:
        """Return the other modes and BM25 as retrievers: settings and description by name."""
        components = self.engine.components
        idle = {f"{name}_weight": "0" for name in components if name not in ("bm25", *SILENT)}
        if "neighbours" in components:
            idle["assistant_weight"] = "1"  # BM25 as a retriever ignores the speaker
        if release_numbers(self.place.version) >= release_numbers(COVERAGE):
            # and ignores questions and coverage
            idle |= {"question_weight": "1", "full_coverage": "0"}
        modes = ("keyword", "vector") if self.engine.passages else ()
        return {
            "bm25": ({MODE: "keyword", **idle}, "the BM25 leg of the same extension alone"),
            **{mode: ({MODE: mode}, f"the same extension in mode {mode}") for mode in modes
               if mode != self.settings.get(MODE, "hybrid")},
        }  # fmt: skip

    @property
    def exact(self) -> Mapping[str, str] | None:
        """Return the settings of an exact scan if lessons have passages; else None.

        With passages the vector retriever is not a plain cosine: it weighs three cosines.
        """
        lessons, renamed = self._lessons, release_numbers(self.place.version) >= release_numbers(COVERAGE)
        if lessons and self.engine.passages and lessons[0].passages:
            return EXACT if renamed else FORMER_EXACT
        return None

    def facts(self) -> Mapping[str, str]:
        facts = self.database.facts
        return {"version": facts.pgmnemo, "fingerprint": facts.fingerprint, "pgvector": facts.pgvector}

    @cached_property
    def recognised(self) -> bool | None:
        """Return whether the installed extension is a version of pgmnemo, modified or not.

        Returns None if nothing is installed.
        """
        return self.has("_setting_catalogue") if self.database.exists else None

    def state(self) -> dict[str, str]:
        """Return the current value of every setting of the extension (`guc_state`)."""
        return self._listed("value")

    def defaults(self) -> dict[str, str]:
        """Return the default of every setting of the extension that has one."""
        return self._listed("initial")

    def _listed(self, column: str) -> dict[str, str]:
        rows = self._settings("name", column, "meaning")
        return {name: value for name, value, meaning in rows if meaning is not None and value is not None}

    def _settings(self, *columns: str) -> calls.Rows:
        with closing(self.client()) as client:
            return client.call(calls.list_settings(*columns))

    def check_settings(self) -> None:
        """Raise UsageError if a setting of the context is unknown to this version or out of range."""
        given = dict(self.settings)
        if (mode := given.pop(MODE, MODES[0])) not in MODES:
            modes = ", ".join(MODES)
            raise UsageError(f"the setting mode of pgmnemo is {mode!r}, but must be one of {modes}")
        if given == {name: str(value) for name, value in current().settings.items()}:
            return  # no setting was changed
        rows = self._settings("name", "range", "warning", "initial")
        known = {row[0].removeprefix("pgmnemo."): row[1:3] for row in rows if row[3] is not None}
        for name, value in given.items():
            if name not in known:
                listed = ", ".join((*known, MODE))
                raise UsageError(f"pgmnemo {self.database.facts.pgmnemo} has no setting {name!r}; "
                                 f"choose one of: {listed}")  # fmt: skip
            span, warning = known[name]
            if warning and name != LATER:
                raise UsageError(f"the setting {name} of pgmnemo is {value!r}, but must be {span}")

    def named(self) -> AbstractContextManager[None]:
        """Return a context that turns a server error into a sentence with the name of the database."""
        return database_errors(f"the database {self.database.facts.database}")

    def has(self, function: str) -> bool:
        """Return whether this version has the function."""
        with self.database.admin() as owner:
            return ask_yes_no(owner, "SELECT to_regproc(%s) IS NOT NULL", f"pgmnemo.{function}")

    @cached_property
    def form(self) -> LessonFormat:
        """Return the format of lessons and results in this version."""
        return LessonFormat.of(self.engine, self.width)

    # Loading

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        with self.named():
            return self._load(lessons, progress)

    def _load(self, lessons: Lessons, progress: Progress) -> Mapping[str, float]:
        self._lessons = lessons
        self.names.hold(lessons)
        self._claim()
        steps: dict[str, Callable[[], None]] = {"store": partial(self._store, lessons, progress)}
        if self.place.durable:
            steps["index"] = self._index
        steps["vacuum"] = self._vacuum
        seconds = {}
        for name, step in steps.items():
            began = time.perf_counter()
            step()
            seconds[name] = time.perf_counter() - began
        return seconds

    def _claim(self) -> None:
        """Reserve the tenants for this run, empty at the start and deleted at the end."""
        owner = self._stack.enter_context(self.database.admin())
        where = self.database.facts.database
        if not ask_yes_no(owner, "SELECT pg_try_advisory_lock(%s::bigint)", str(self.names.basis.int & LOCK)):
            raise DatabaseError(
                f"another run works on the same corpus and embedder in the database {where}; "
                "wait for it to end, or name another server with --dsn"
            )
        for project in self.names.work:
            execute(owner, calls.grant_tenant(self.names.tenant(project), self.database.facts.role))
        if self.database.facts.origin != "embedded":  # an embedded database is deleted as a whole
            self._each_tenant("forget_all")  # deletes rows of a killed run
            self._stack.callback(self._leave, owner)

    def _each_tenant(self, *verbs: str) -> None:
        """Call the existing verbs for every tenant; a verb of 0.2.1 acts on the session's tenant."""
        named = {}
        for verb in verbs:
            for spelling, by_name in {verb: True, **FORMER_NAMES[verb]}.items():
                if self.has(spelling):
                    named[spelling] = by_name
                    break
        with closing(self.client()) as client:
            for project in self.names.work:
                client.work_for(project)
                for verb, by_name in named.items():
                    given = {"tenant": self.names.tenant(project)} if by_name else {}
                    client.call(calls.verb_call(verb, **given))

    def _leave(self, owner: Connection) -> None:
        self._each_tenant("forget_all")
        for project in self.names.work:
            execute(owner, calls.revoke_tenant(self.names.tenant(project), self.database.facts.role))

    def _store(self, lessons: Lessons, progress: Progress) -> None:
        """Store every lesson and link through the extension's own verbs, several stripes of lessons at
        once.
        """
        workers = min(WRITERS, self.place.jobs) if self.place.durable else self.place.jobs
        size = max(1, min(STRIPE, -(-len(lessons) // (SHARDS * workers))))
        stripes = range(0, len(lessons), size)
        with ThreadPoolExecutor(workers) as pool:
            done = pool.map(partial(self._store_stripe, lessons, size), stripes)
            for _ in progress.track(done, "ingest", len(stripes)):
                pass
        with closing(self.client()) as client, client.connection.transaction():
            for link in lessons.links:
                client.link(link)

    def _store_stripe(self, lessons: Lessons, size: int, start: int) -> None:
        groups: dict[UUID, list[Lesson]] = {}
        for lesson in lessons[start : start + size]:
            groups.setdefault(self.names.tenant(lesson.project), []).append(lesson)
        with closing(self.client()) as client:
            for group in groups.values():
                client.store(group)

    def _index(self) -> None:
        """Index the new rows and merge small blocks, as the documents advise after a bulk load."""
        self._each_tenant("index", "merge_postings")

    def _vacuum(self) -> None:
        with self.database.admin() as owner:
            tables = ", ".join(str(name) for (name,) in owner.execute(TABLES))
            owner.execute(f"VACUUM (ANALYZE) {tables}".encode())
            if self.place.durable:
                owner.execute("CHECKPOINT")

    # Asking

    def client(self, settings: Mapping[str, str] | None = None) -> PgmnemoClient:
        """Return one more connection; `mode` in the settings is the mode of its recalls."""
        given = {**self.settings, **(settings or {})}
        return PgmnemoClient(self.database.connect(), self.names, self._asked, given, self.named)

    @property
    def _asked(self) -> LessonFormat:
        """The lesson format, without components if the context wants none."""
        return replace(self.form, components=self.components)

    @contextmanager
    def owner(self, project: str = "") -> Iterator[Connection]:
        """Yield a connection as the extension's owner with the clients' settings, inside a project's tenant.

        Only the owner can access the helpers and the tables.
        """
        tenant = str(self.names.tenant(project))
        given = {name: value for name, value in self.settings.items() if name != MODE}
        with self.database.admin() as connection:
            for name, value in {**given, "tenant_id": tenant, "acting_tenant": tenant}.items():
                execute(connection, calls.set_setting(name, value))
            yield connection

    # Costs

    def sizes(self) -> Mapping[str, int]:
        with self.database.admin() as owner:
            return {str(name): int(size) for name, size in owner.execute(PARTS) if size}

    def plans(self, queries: Sequence[Query], k: int) -> str:
        """Return the cost of the call of a typical question, as Markdown.

        The result is empty if no question has a vector.
        """
        asked = [query for query in queries if query.vector is not None]
        if not asked:
            return ""
        project = asked[0].project or ""
        with closing(self.client()) as client, self.owner(project) as owner:
            return typical_plans(client, owner, self.database.facts.role, asked, k, self.form)

    def close(self) -> None:
        with self.named():
            super().close()


def open_pgmnemo(context: SystemContext) -> Pgmnemo:
    """Return the extension at the context's version, in the database that the context names."""
    stack = ExitStack()
    database = stack.enter_context(
        open_database(
            context.version, dsn=context.dsn, environ=context.environ, progress=context.progress,
            sql=context.sql or SQL_FOLDER, check_only=context.dry_run,
            settings=durable_settings() if context.durable else None,
            fresh=context.durable or context.embedded,
        )
    )  # fmt: skip
    system = Pgmnemo(database, context, stack)
    try:
        if database.exists:
            system.check_settings()
    except BaseException:
        stack.close()
        raise
    return system


PGMNEMO = SystemSpec(
    "pgmnemo",
    "our extension in a PostgreSQL with pgvector, one call of recall_lessons a question, policies active",
    open_pgmnemo,
    separates_projects=True,
    versions=True,
    postgres=True,
    settings=None,
)
