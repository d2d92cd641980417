"""What may be published of a run, from its artefacts."""

from runner.commands.cite.citation import Citation, cite

__all__ = ["Citation", "cite"]
