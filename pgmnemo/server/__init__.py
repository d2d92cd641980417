"""A PostgreSQL with the extension at one version, whichever way it is reached.

`open_database` gives it to a run; `plain.open_plain` gives systems
that others build a database without the extension. `fingerprint` tells builds of the extension apart.
"""

from pgmnemo.server.connections import Database, database_errors
from pgmnemo.server.extension import fingerprint
from pgmnemo.server.opening import open_database

__all__ = ["Database", "database_errors", "fingerprint", "open_database"]
