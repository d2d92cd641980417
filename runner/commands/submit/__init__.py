"""`submit`: a finished run as one archive, which whoever gets it can verify."""

from runner.commands.submit.submitting import submit

__all__ = ["submit"]
