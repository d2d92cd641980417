"""The protocol as the runner reads it: pins from `protocol.toml`, the hash from PROTOCOL.md."""

from runner.protocol.load import DOCUMENT, PINS, load_protocol
from runner.protocol.pins import EmbedderPins, Protocol, SuitePins

__all__ = ["DOCUMENT", "PINS", "EmbedderPins", "Protocol", "SuitePins", "load_protocol"]
