"""Is the protocol that is cited one that is known, by version and by the bytes of PROTOCOL.md? (§9)"""

from __future__ import annotations

from runner.claims.verify.check import Wrong
from runner.claims.verify.evidence import Evidence


def protocol(evidence: Evidence) -> str:
    """run.json and metrics.json name one version, and its own hash."""
    cited, metrics, known = evidence.run["protocol"], evidence.metrics, evidence.protocol
    if (metrics["protocol_version"], metrics["protocol_sha256"]) != (cited["version"], cited["sha256"]):
        raise Wrong("run.json and metrics.json cite two protocols")
    if cited["sha256"] != known.sha256:
        raise Wrong(
            f"the run cites PROTOCOL.md {cited['version']} with sha256 {cited['sha256'][:12]}…; "
            f"that of {known.version} here is {known.sha256[:12]}…"
        )
    return f"protocol {known.version}, sha256 {known.sha256[:12]}…"
