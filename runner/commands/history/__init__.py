"""Runs and deviations are appended to HISTORY.md in its one form; what stands there is never rewritten."""

from runner.commands.history.log import keep_run, log_deviation, log_run

__all__ = ["keep_run", "log_deviation", "log_run"]
