"""pgmnemo as a system: stored and recalled through its verbs, as a role under its policies."""

from runner.systems.pgmnemo.system import PGMNEMO, Pgmnemo

__all__ = ["PGMNEMO", "Pgmnemo"]
