"""The editions of the protocol: every reader of a run asks the edition that the run names."""

from runner.protocol.editions.edition import (
    Edition,
    EmbedderPins,
    EnginePins,
    MetricPins,
    PassagePins,
    Reading,
    RetrievalPins,
    SuitePins,
)
from runner.protocol.editions.load import (
    DOCUMENT,
    OlderEdition,
    current,
    demand_known,
    edition,
    known,
    listed,
    registered_files,
)

__all__ = [
    "DOCUMENT",
    "Edition",
    "EmbedderPins",
    "EnginePins",
    "MetricPins",
    "OlderEdition",
    "PassagePins",
    "Reading",
    "RetrievalPins",
    "SuitePins",
    "current",
    "demand_known",
    "edition",
    "known",
    "listed",
    "registered_files",
]
