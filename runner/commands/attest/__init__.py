"""`attest`: what of a finished run was recalled again, in a record that stands beside it."""

from runner.commands.attest.attesting import attest

__all__ = ["attest"]
