"""Where the folder is committed: are its files those of the commit that added it?"""

from __future__ import annotations

import os
import subprocess
from hashlib import sha256

from runner.artefacts.manifest import MANIFEST
from runner.claims.verify.check import NotAsked, Wrong
from runner.claims.verify.evidence import Evidence

UNTRUSTED = "dubious ownership"


def commit(evidence: Evidence) -> str:
    """The manifest, which pins every other file, was committed once and never changed since."""
    commits = _asked(evidence, "log", "--format=%H", "--", MANIFEST).decode().split()
    if not commits:
        raise NotAsked("the folder is not committed to a git repository")
    if len(commits) > 1:
        raise Wrong(f"{MANIFEST} was changed after it had been committed, by {commits[0][:12]}")
    done = _git(evidence, "show", f"{commits[0]}:./{MANIFEST}")
    if done.returncode:
        raise Wrong(f"{MANIFEST} cannot be read from commit {commits[0][:12]}")
    if sha256(done.stdout).digest() != sha256(evidence.content(MANIFEST)).digest():
        raise Wrong(f"{MANIFEST} is not the one of commit {commits[0][:12]}")
    return f"{MANIFEST} is that of commit {commits[0][:12]}, which alone has touched it"


def _asked(evidence: Evidence, *arguments: str) -> bytes:
    """What git answers; NotAsked, with the reason, where it does not."""
    try:
        done = _git(evidence, *arguments)
    except OSError:
        raise NotAsked("git cannot be run: install it to hold the folder against its commit") from None
    if done.returncode and UNTRUSTED in done.stderr.decode(errors="replace"):
        raise NotAsked(
            "git refuses a repository of another user: if you trust it, "
            "`git config --global --add safe.directory <its folder>` and verify again"
        )
    return b"" if done.returncode else done.stdout


def _git(evidence: Evidence, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["LC_ALL"] = "C"
    return subprocess.run(
        ["git", *arguments], cwd=evidence.folder, env=environment, check=False, capture_output=True
    )
