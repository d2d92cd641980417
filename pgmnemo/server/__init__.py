"""A PostgreSQL with the extension at one version, by any access path.

`open_database` provides it to a run; `plain.open_plain` provides external systems a database without the
extension. `fingerprint` distinguishes builds of the extension.
"""

from pgmnemo.server.connections import Database, database_errors
from pgmnemo.server.extension import fingerprint
from pgmnemo.server.servers import open_database

__all__ = ["Database", "database_errors", "fingerprint", "open_database"]
