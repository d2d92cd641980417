"""`submit`: a finished run as one archive, which whoever gets it can verify."""

from runner.submit.submitting import submit
from runner.verb import verb

__all__ = ["submit"]

verb(__name__)
