"""Install pgmnemo into an existing database, next to other objects, by a method that its server permits."""

from pgmnemo.postgres.install.install import InstallResult, install_into_database
from pgmnemo.postgres.install.methods import METHODS, PG_TLE

__all__ = ["METHODS", "PG_TLE", "InstallResult", "install_into_database"]
