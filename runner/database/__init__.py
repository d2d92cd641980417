"""A PostgreSQL with the extension at one version, whichever way it is reached.

`open_database` gives it to a run, `open_lessons` to the command `passages`; `plain.open_plain` gives systems
that others build a database without the extension. `fingerprint` tells builds of the extension apart.
"""

from runner.database.fingerprint import fingerprint
from runner.database.handle import Database
from runner.database.lessons import open_lessons
from runner.database.opening import open_database
from runner.database.sentences import database_errors

__all__ = ["Database", "database_errors", "fingerprint", "open_database", "open_lessons"]
