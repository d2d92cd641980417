"""The citation of a run, made from its artefacts."""

from runner.commands.cite.citation import Citation, cite

__all__ = ["Citation", "cite"]
