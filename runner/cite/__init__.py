"""What may be published of a run, from its artefacts."""

from runner.cite.citation import Citation, cite
from runner.verb import verb

__all__ = ["Citation", "cite"]

verb(__name__)
