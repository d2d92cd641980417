"""An embedded PostgreSQL in a folder that stays: opened by any number of processes, stopped by the last.

What a server needs to be trusted with somebody's memory: it is never deleted or made anew, and every doubt
about a folder is one sentence (folder.py).
"""

from pgmnemo.local.local_server import LocalServer
from pgmnemo.local.upgrading import upgrade

__all__ = ["LocalServer", "upgrade"]
