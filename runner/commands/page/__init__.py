"""`report`: the page of a finished run, rendered anew."""

from runner.commands.page.rendering import render_report

__all__ = ["render_report"]
