"""The database into which pgmnemo is installed, as the current role."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from psycopg import sql

from pgmnemo.postgres.extension import VECTOR_SCHEMA
from pgmnemo.postgres.server_checks import Session, value
from pgmnemo.probe import CATALOG_QUERY, CatalogRow


@dataclass(frozen=True, slots=True)
class InstallTarget:
    """A database to install into; messages call it `where`, and `version` is the version to install."""

    session: Session
    where: str
    version: str

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Open a transaction with only pg_catalog and pg_temp in the search path.

        So planted objects cannot shadow the objects of pg_catalog.
        """
        with self.session.transaction():
            self.execute("SET LOCAL search_path = pg_catalog, pg_temp")
            yield

    def fetch_value(self, query: str, *parameters: object) -> Any:
        """Return the single value of a query."""
        return value(self.session, query, *parameters)

    def execute(self, statement: str, *names: str) -> None:
        """Run statements; each of `names` replaces a pair of braces, as a quoted identifier."""
        if not names:
            self.session.execute(statement.encode())
            return
        self.session.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))

    @property
    def role(self) -> str:
        return str(self.fetch_value("SELECT current_user::text"))

    @property
    def owner(self) -> str:
        """Return the owner of the schema pgmnemo."""
        return str(
            self.fetch_value(
                "SELECT pg_get_userbyid(nspowner)::text FROM pg_namespace WHERE nspname = 'pgmnemo'"
            )
        )

    @property
    def vector_schema(self) -> str:
        """Return pgvector's schema, quoted if needed."""
        return str(self.fetch_value(VECTOR_SCHEMA))

    def catalog_row(self) -> CatalogRow:
        return CatalogRow(*self.session.execute(CATALOG_QUERY).fetchall()[0])
