"""What a release job runs: verify, compare, one exit code and a summary."""

from runner.claims.gate.gating import Gated, gate

__all__ = ["Gated", "gate"]
