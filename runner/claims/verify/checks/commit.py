"""Where the folder is committed: are its files those of the commit that added it?"""

from __future__ import annotations

import os
import subprocess
from hashlib import sha256

from runner.artefacts.manifest import MANIFEST
from runner.claims.verify.check import NotAsked, Wrong
from runner.claims.verify.evidence import Evidence


def commit(evidence: Evidence) -> str:
    """The manifest, which pins every other file, was committed once and never changed since."""
    log = _git(evidence, "log", "--format=%H", "--", MANIFEST)
    commits = log.decode().split() if log else []
    if not commits:
        raise NotAsked("the folder is not committed to a git repository")
    if len(commits) > 1:
        raise Wrong(f"{MANIFEST} was changed after it had been committed, by {commits[0][:12]}")
    committed = _git(evidence, "show", f"{commits[0]}:./{MANIFEST}")
    if committed is None:
        raise Wrong(f"{MANIFEST} cannot be read from commit {commits[0][:12]}")
    if sha256(committed).digest() != sha256(evidence.content(MANIFEST)).digest():
        raise Wrong(f"{MANIFEST} is not the one of commit {commits[0][:12]}")
    return f"{MANIFEST} is that of commit {commits[0][:12]}, which alone has touched it"


def _git(evidence: Evidence, *arguments: str) -> bytes | None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=evidence.folder, env=environment, check=True, capture_output=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
