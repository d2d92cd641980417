"""`attest`: what of a finished run was recalled again, in a record that stands beside it."""

from runner.attest.attesting import attest
from runner.verb import verb

__all__ = ["attest"]

verb(__name__)
