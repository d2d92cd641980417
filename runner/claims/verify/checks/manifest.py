"""Is every file the one whose size and SHA-256 the manifest lists?"""

from __future__ import annotations

from hashlib import sha256

from runner.artefacts.manifest import MANIFEST
from runner.claims.verify.check import Wrong
from runner.claims.verify.evidence import Evidence


def manifest(evidence: Evidence) -> str:
    """Every file of the manifest, each listed once and in order of name."""
    entries = evidence.manifest["files"]
    names = [entry["name"] for entry in entries]
    if names != sorted(set(names)) or MANIFEST in names or any("/" in name for name in names):
        raise Wrong(f"{MANIFEST} does not list each other file of the folder once, in order of name")
    for entry in entries:
        content = evidence.content(entry["name"])
        if len(content) != entry["bytes"]:
            raise Wrong(f"{entry['name']} has {len(content):,} bytes and not {entry['bytes']:,}")
        if (found := sha256(content).hexdigest()) != entry["sha256"]:
            raise Wrong(f"{entry['name']} has sha256 {found[:12]}… and not {entry['sha256'][:12]}…")
    return f"{len(names)} files have the size and the sha256 that {MANIFEST} lists"
