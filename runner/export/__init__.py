"""A run in the forms that other programs read: TREC runs and qrels, and folders of BEIR."""

from runner.export.exporting import FORMATS, export
from runner.verb import verb

__all__ = ["FORMATS", "export"]

verb(__name__)
