"""Doors of agent frameworks, each of an extra of its own: the memory under an interface that they know."""
