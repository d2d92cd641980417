"""Faults on purpose: of servers, connections, inputs and runs, and what came of them."""
