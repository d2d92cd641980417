"""Are all artefacts there, and nothing besides? (§5, §7)"""

from __future__ import annotations

from runner.artefacts.blocked import BLOCKED
from runner.artefacts.manifest import COMPLETE, DERIVED, MANIFEST
from runner.claims.verify.check import Wrong
from runner.claims.verify.evidence import Evidence


def complete(evidence: Evidence) -> str:
    """The files of §7; one besides is right if derived or listed by the manifest, each with its check."""
    present = sorted(path.name for path in evidence.folder.iterdir())
    if BLOCKED in present:
        raise Wrong(f"{BLOCKED} is there: a blocked run has no number that could be verified")
    missing = [name for name in (*COMPLETE, MANIFEST) if name not in present]
    if missing:
        raise Wrong(f"there is no {', no '.join(missing)}")
    strange = [name for name in present if name not in (MANIFEST, *DERIVED, *evidence.schemas)]
    if strange:
        raise Wrong(f"{', '.join(strange)} stands in the folder and not in {MANIFEST}")
    return f"{len(set(present) - set(DERIVED))} files, none missing and none besides"
