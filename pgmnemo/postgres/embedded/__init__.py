"""An embedded PostgreSQL in a permanent folder: any number of processes open it, and the last stops it.

The folder holds a user's memory: its cluster is never deleted or recreated, and a folder in doubt is refused
with one sentence (memory_folder.py).
"""

from pgmnemo.postgres.embedded.embedded_server import EmbeddedServer
from pgmnemo.postgres.embedded.pg_upgrade import upgrade

__all__ = ["EmbeddedServer", "upgrade"]
