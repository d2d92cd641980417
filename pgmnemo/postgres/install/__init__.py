"""Install pgmnemo into an existing database, in the way that its server permits, next to other objects."""

from pgmnemo.postgres.install.install import InstallResult, install_into_database
from pgmnemo.postgres.install.methods import METHODS, PG_TLE

__all__ = ["METHODS", "PG_TLE", "InstallResult", "install_into_database"]
