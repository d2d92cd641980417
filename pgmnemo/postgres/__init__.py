"""A PostgreSQL with the extension at one version, by any access path.

`open_database` provides it to a run; `pgvector_only.open_pgvector_database` provides external systems a
database without the extension. `fingerprint` distinguishes builds of the extension.
"""

from pgmnemo.postgres.connections import Database, database_errors
from pgmnemo.postgres.extension import fingerprint
from pgmnemo.postgres.servers import open_database

__all__ = ["Database", "database_errors", "fingerprint", "open_database"]
