"""Peers that run in their own process: scripts that need nothing of the runner, and their requirements.

A script is started by the Python of the peer's environment (runner/systems/peers.py). Requests and answers
are lines of JSON (pipe.py).
"""
