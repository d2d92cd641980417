"""Provide PostgreSQL databases with the extension at a given version.

`open_database` provides a database to a run; `pgvector_only.open_pgvector_database` provides a database
without the extension to external systems. `fingerprint` distinguishes builds of the extension.
"""

from pgmnemo.postgres.connections import Database, database_errors
from pgmnemo.postgres.extension import fingerprint
from pgmnemo.postgres.servers import open_database

__all__ = ["Database", "database_errors", "fingerprint", "open_database"]
