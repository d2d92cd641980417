"""A run in the forms that other programs read: TREC runs and qrels, and folders of BEIR."""

from runner.commands.export.exporting import FORMATS, export

__all__ = ["FORMATS", "export"]
