"""What counts, by edition of the protocol: every reader of a run asks the edition that the run names."""

from runner.editions.edition import (
    FIRST,
    SPREAD,
    Edition,
    EmbedderPins,
    EnginePins,
    MetricPins,
    PassagePins,
    Reading,
    RetrievalPins,
    SuitePins,
)
from runner.editions.files import listed, registered_files
from runner.editions.load import DOCUMENT, current, edition, known

__all__ = [
    "DOCUMENT",
    "FIRST",
    "SPREAD",
    "Edition",
    "EmbedderPins",
    "EnginePins",
    "MetricPins",
    "PassagePins",
    "Reading",
    "RetrievalPins",
    "SuitePins",
    "current",
    "edition",
    "known",
    "listed",
    "registered_files",
]
