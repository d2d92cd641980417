"""The protocol as the runner reads it: pins from `protocol.toml`, the hash from PROTOCOL.md."""

from runner.protocol.engines import engine
from runner.protocol.load import DOCUMENT, PINS, load_protocol
from runner.protocol.pins import EmbedderPins, EnginePins, PassagePins, Protocol, SuitePins

__all__ = [
    "DOCUMENT",
    "PINS",
    "EmbedderPins",
    "EnginePins",
    "PassagePins",
    "Protocol",
    "SuitePins",
    "engine",
    "load_protocol",
]
