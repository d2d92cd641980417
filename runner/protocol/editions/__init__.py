"""The editions of the protocol. Each run names its edition, and every reader of the run uses that edition."""

from runner.protocol.editions.edition import (
    CountingRule,
    Edition,
    EmbedderPins,
    EnginePins,
    MetricPins,
    PassagePins,
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
    list_digest,
    registered_files,
)

__all__ = [
    "DOCUMENT",
    "CountingRule",
    "Edition",
    "EmbedderPins",
    "EnginePins",
    "MetricPins",
    "OlderEdition",
    "PassagePins",
    "RetrievalPins",
    "SuitePins",
    "current",
    "demand_known",
    "edition",
    "known",
    "list_digest",
    "registered_files",
]
