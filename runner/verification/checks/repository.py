"""Checks of the folder against HISTORY.md and the repository's own history. (§1)"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from pgmnemo.escaping import escape_line
from runner.paths import ROOT
from runner.protocol.editions.load import DOCUMENT
from runner.runs.environment import git
from runner.runs.folder import KEPT, is_local, local_folder
from runner.runs.history import HISTORY, HistoryEntry, entries, entries_of_run, histories, parse_entries
from runner.runs.manifest import MANIFEST
from runner.runs.run import moment
from runner.verification.context import CheckFailed, CheckSkipped, RunContext

LATER = "; later it adds: "
UNTRUSTED = "dubious ownership"
# Every commit that touched a file, with a merge against each parent; no user setting can hide a commit.
WHOLE_LOG = (
    "-c", "log.follow=false", "-c", "log.showRoot=true", "-c", "log.diffMerges=separate",
    "-c", "log.showSignature=false",
    "log", "--full-history", "-m", "--raw", "--no-abbrev", "--no-renames", "--no-notes", "--format=%H",
)  # fmt: skip


DAY = 86_400  # maximum error of a run's clock, in seconds


def history(context: RunContext) -> str:
    """Check that HISTORY.md has the run's own entry, then any deviation that became known later."""
    run, digest = context.run, context.digest(MANIFEST)
    path, *others = [context.history_path] if context.history_path else _histories(context.folder)
    named = entries_of_run(entries(path), run.choice.suite, run.name, digest)
    exact = [one for one in named if (one.suite, one.name) == (run.choice.suite, run.name)]
    if not exact:
        _ask_kept(context)
        raise CheckFailed(f"{path.name} has no entry of the run {run.name} of {run.choice.suite}")
    own, found = exact[0], [exact[0], *(one for one in named if one is not exact[0])]
    elsewhere = [
        one for file in others for one in entries_of_run(entries(file), run.choice.suite, run.name, digest)
    ]
    later = [*found[1:], *(one for one in elsewhere if one not in found)]
    said = {
        "day": ([own.day], [str(moment(run.started))[:10]]),
        "verdict": (own.values("verdict"), [run.verdict.value]),
        "deviations": (own.values("deviation"), [escape_line(text) for text in run.deviations]),
        **{
            f"manifest sha256, entry {n}": (one.values("manifest sha256"), [digest])
            for n, one in enumerate([own, *later], 1)
        },
    }
    for what, (logged, wanted) in said.items():
        if logged != wanted:
            raise CheckFailed(f"{what}: {path.name} says {_short(logged)}, the artefacts {_short(wanted)}")
    told = {text for one in found for text in one.values("deviation")}
    if gone := [text for text in _ever(context, path, digest) if text not in told]:
        raise CheckFailed(
            f"{path.name} once gave the run the deviation {_short(gone)}, and entries stay for good"
        )
    return f"{path.name} has the entry, with this manifest's sha256 {digest[:12]}…{_later(later, path)}"


def _ever(context: RunContext, path: Path, digest: str) -> list[str]:
    """Return every deviation of the run that any version of HISTORY.md in git lists; empty without git."""
    try:
        blobs = _versions(path.parent, path.name)
        text = git(path.parent, "show", *blobs).stdout.decode(errors="replace") if blobs else ""
    except OSError:
        return []
    run = context.run
    found = entries_of_run(parse_entries(text), run.choice.suite, run.name, digest)
    return list(dict.fromkeys(text for one in found for text in one.values("deviation")))


def _ask_kept(context: RunContext) -> None:
    if is_local(context.folder):
        raise CheckSkipped("not kept: `history add` with the folder moves it to results/ and logs it")


def _later(found: list[HistoryEntry], path: Path) -> str:
    """Return the deviations that became known after the run; raise CheckFailed for an entry that has none."""
    if not all(entry.values("deviation") for entry in found):
        raise CheckFailed(f"{path.name} has the entry of the run twice")
    added = [deviation for entry in found for deviation in entry.values("deviation")]
    return LATER + "; ".join(added) if added else ""


def _histories(folder: Path) -> list[Path]:
    found = histories(folder)
    if not found:
        raise CheckFailed(f"there is no {HISTORY} beside or above the folder: name it with --history")
    return found


def _checkout(folder: Path) -> Path | None:
    """Return the top folder of the checkout that has the run in its benchmarks/; None for a run elsewhere."""
    if (local := local_folder(folder)) is not None:
        return local.parents[2]
    return folder.parents[3] if folder.match(f"benchmarks/*/{KEPT}/*") else None


def _short(values: list[str]) -> str:
    text = "; ".join(values) or "nothing"
    return text if len(text) <= 80 else f"{text[:79]}…"


def commit(context: RunContext) -> str:
    """Check that the manifest, which pins every other file, was committed once and never changed since.

    Every reachable commit is read, a merge against each of its parents, under any git configuration; a merge
    that was forged by hand appears as an additional blob.
    """
    top = _repository(context)
    blobs = _versions(context.folder, MANIFEST)
    if not blobs:
        _ask_kept(context)
        raise CheckSkipped(f"the folder is not committed to the git repository {top}")
    if len(blobs) > 1:
        raise CheckFailed(
            f"{MANIFEST} was changed after it had been committed to {top}: there are {len(blobs)} of it, "
            f"the last of commit {next(iter(blobs.values()))[:12]}"
        )
    [(blob, first)] = blobs.items()
    done = git(context.folder, "cat-file", "blob", blob)
    if done.returncode:
        raise CheckFailed(f"{MANIFEST} cannot be read from commit {first[:12]} of {top}")
    if sha256(done.stdout).hexdigest() != context.digest(MANIFEST):
        raise CheckFailed(f"{MANIFEST} is not the one of commit {first[:12]} of {top}")
    committed = int(git(context.folder, "show", "-s", "--format=%ct", first).stdout)
    if committed < context.run.started.timestamp() - DAY:
        raise CheckFailed(f"commit {first[:12]} of {top} brought the run before it is said to have begun")
    return f"{MANIFEST} is that of commit {first[:12]}, the only one in the history of {top}"


def _repository(context: RunContext) -> str:
    """Return the top folder of the repository with the run; raise CheckSkipped without a repository."""
    top = _asked(context.folder, "rev-parse", "--show-toplevel").decode(errors="replace").strip()
    if not top:
        _ask_kept(context)
        raise CheckSkipped("the folder is not in a git repository")
    checkout, place = _checkout(context.folder), context.folder
    while checkout is not None and place != checkout:
        if (place / ".git").exists():
            raise CheckFailed(
                f"a git repository of its own stands in {place}: that of {checkout} alone counts"
            )
        place = place.parent
    if _is_shallow(context.folder):
        raise CheckSkipped(
            f"{top} is a shallow clone, which lacks its history: `git fetch --unshallow`, then verify again"
        )
    return top


def _versions(folder: Path, name: str) -> dict[str, str]:
    """Return each distinct blob of a file in git's history, newest first, with the oldest commit that has
    it.
    """
    blobs: dict[str, str] = {}
    commit = ""
    for row in git(folder, *WHOLE_LOG, "--", name).stdout.decode(errors="replace").splitlines():
        if row.startswith(":"):
            _, _, _, blob, *_ = row.split()
            if blob.strip("0"):  # zeros: the commit deletes the file
                blobs[blob] = commit
        elif row:
            commit = row
    return blobs


def _is_shallow(folder: Path) -> bool:
    return _asked(folder, "rev-parse", "--is-shallow-repository").strip() != b"false"


def _asked(folder: Path, *arguments: str) -> bytes:
    """Return git's output, empty if git reports an error; raise CheckSkipped if git cannot be run."""
    try:
        done = git(folder, *arguments)
    except OSError:
        raise CheckSkipped("git cannot be run: install it to hold the run against its commits") from None
    if done.returncode and UNTRUSTED in done.stderr.decode(errors="replace"):
        raise CheckSkipped(
            "git refuses a repository of another user: if you trust it, "
            "`git config --global --add safe.directory <its folder>` and verify again"
        )
    return b"" if done.returncode else done.stdout


def code(context: RunContext) -> str:
    """Check that the run's commit is in this repository, is older than the run, and has the run's edition.

    The uncommitted changes of a `dirty` run are not known; the gate `tree` says so.
    """
    run = context.run
    commit = run.code.commit
    if commit is None:
        raise CheckSkipped("run.json names no commit: the gate tree says so")
    if not (ROOT / ".git").exists():
        raise CheckSkipped(
            "these tools do not stand in a checkout: the commit of the code cannot be looked up"
        )
    made = _asked(ROOT, "show", "-s", "--format=%ct", f"{commit}^{{commit}}")
    if not made:
        if _is_shallow(ROOT):
            raise CheckSkipped(
                "these tools stand in a shallow clone: `git fetch --unshallow`, then verify again"
            )
        raise CheckFailed(f"the code is said to be commit {commit[:12]}, which this repository does not have")
    if int(made) > run.started.timestamp() + DAY:
        raise CheckFailed(f"commit {commit[:12]} is younger than the run that it is said to have made")
    return f"commit {commit[:12]} stands in the history of this repository{_in_force(context, commit)}"


def _in_force(context: RunContext, commit: str) -> str:
    """Return a clause that the commit has the run's edition; raise CheckFailed if it has another.

    The result is empty for a dirty run.
    """
    run = context.run
    if run.code.dirty is not False:
        return ""
    text = git(ROOT, "cat-file", "blob", f"{commit}:{DOCUMENT.name}").stdout
    if sha256(text).hexdigest() != run.protocol.sha256:
        raise CheckFailed(
            f"the run is said to be under {run.protocol.version}, and {DOCUMENT.name} of commit "
            f"{commit[:12]} is another edition's"
        )
    return f", where {run.protocol.version} is in force"
