"""An embedded PostgreSQL in a permanent folder: any number of processes open it, the last stops it.

The folder holds a user's memory: its cluster is never deleted or recreated, and a folder in doubt is refused
with one sentence (folder.py).
"""

from pgmnemo.local.local_server import LocalServer
from pgmnemo.local.upgrading import upgrade

__all__ = ["LocalServer", "upgrade"]
