"""Install pgmnemo into an existing database, in the way that its server permits, next to other objects."""

from pgmnemo.server.installing.installing import InstalledHow, install_into
from pgmnemo.server.installing.ways import PG_TLE, WAYS

__all__ = ["PG_TLE", "WAYS", "InstalledHow", "install_into"]
