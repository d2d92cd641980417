"""Peers that run in a process of their own: scripts that need nothing of the runner, and what they require.

A script is started by the Python of the peer's environment (runner/systems/peers.py) and is spoken to by a
line of JSON for a line of JSON (pipe.py).
"""
