"""Deliberate faults of servers, connections, inputs and runs, and their effects."""
