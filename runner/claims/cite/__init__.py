"""A citation is generated from the artefacts of a run, never typed: paragraph, BibTeX and badge."""

from runner.claims.cite.citation import Citation, cite
from runner.claims.cite.results import Results, read_results

__all__ = ["Citation", "Results", "cite", "read_results"]
