"""Who vouches for a run, and who recalled its questions again? A record counts by its signature alone."""

from __future__ import annotations

from runner.errors import SigningError
from runner.runs.manifest import MANIFEST, SIGNATURE, SIGNED, Rerun, reruns_of
from runner.verification.evidence import Evidence, NotAsked, Wrong
from runner.verification.sameness import BOUNDS
from runner.verification.sign.keygen import RERUN_NAMESPACE, Forged, Signed, signed_by


def signature(evidence: Evidence) -> str:
    """The signature beside the manifest, by a key of the list of signers; a run may have none."""
    if not (evidence.folder / SIGNATURE).is_symlink() and not (evidence.folder / SIGNATURE).exists():
        raise NotAsked(f"unsigned: there is no {SIGNATURE}")
    try:
        found = signed_by(evidence.content(MANIFEST), evidence.content(SIGNATURE), evidence.allowed_signers)
    except Forged as end:
        raise Wrong(f"{SIGNATURE} does not hold: {end}") from None
    except SigningError as end:
        raise NotAsked(f"who signed is not known: {end}") from None
    if not found.names:
        raise NotAsked(
            f"{SIGNATURE} is of the key {found.fingerprint}; whose it is says --allowed-signers with a list"
        )
    return f"signed by {', '.join(found.names)}; the key is {found.fingerprint}"


def reruns(evidence: Evidence) -> str:
    """Each record is of this run; by whom is told of those that somebody of the list of signers signed."""
    told, unproven = [], []
    for name in reruns_of(evidence.folder):
        record = evidence.rerun_record(name)
        _demand_of_this_run(evidence, name, record)
        why = _unproven(evidence, name, record)
        told += [] if why else [record]
        unproven += [why] if why else []
    if not told:
        raise NotAsked("; ".join(unproven) or "there is no record of a re-run")
    names = ", ".join(dict.fromkeys(record.by for record in told))
    said = [
        f"{one.questions:,} of {one.of:,} questions by {len(one.arms)} of "
        f"{len(evidence.by_arm)} arms on {one.when:%Y-%m-%d}" for one in told
    ]  # fmt: skip
    return "; ".join([f"re-run by {names}", *said, *unproven])


def _demand_of_this_run(evidence: Evidence, name: str, record: Rerun) -> None:
    run, asked = evidence.run, len({line["question"] for line in evidence.raw})
    if record.manifest_sha256 != evidence.digest(MANIFEST):
        raise Wrong(f"{name} is of another run: its manifest has sha256 {record.manifest_sha256[:12]}…")
    if record.of != asked or record.questions > asked:
        raise Wrong(f"{name} tells of {record.questions:,} of {record.of:,} questions; {asked:,} were asked")
    if record.scopes != tuple(scope.name for scope in run.scopes):
        raise Wrong(f"{name} tells of the scopes {', '.join(record.scopes)}, which are not those of the run")
    if record.arms and not {run.system} <= set(record.arms) <= set(evidence.by_arm):
        raise Wrong(f"{name} tells of the arms {', '.join(record.arms)}, which are not those of the run")
    if run.finished is not None and record.when < run.finished:
        raise Wrong(f"{name} is of {record.when:%Y-%m-%d %H:%M}, before the run had ended")
    for what, bound in BOUNDS.items() if record.arms else ():
        if record.tolerance[what] > bound:
            raise Wrong(
                f"{name} holds {what} to {record.tolerance[what]:g}, and no more than {bound:g} counts"
            )


def _unproven(evidence: Evidence, name: str, record: Rerun) -> str:
    """Why the record shows no re-run by others; empty where it does. Wrong for a signature that is none."""
    if not record.arms:
        return f"{name} is of a former form, which let an id pass that was not recalled"
    place = evidence.folder / f"{name}{SIGNED}"
    if not place.is_symlink() and not place.exists():
        return f"{name} is unsigned, so nobody vouches for it"
    content, signature = evidence.content(name), evidence.content(place.name)
    try:
        signer = signed_by(content, signature, None, RERUN_NAMESPACE)
    except Forged as end:
        raise Wrong(f"{place.name} does not hold: {end}") from None
    except SigningError as end:
        return f"who signed {name} is not known: {end}"
    if evidence.allowed_signers is None:
        return f"{name} is of the key {signer.fingerprint}; whose it is says --allowed-signers with a list"
    try:
        signer = signed_by(content, signature, evidence.allowed_signers, RERUN_NAMESPACE)
    except Forged as end:
        return f"{name}: {end}"
    if record.by not in signer.names:
        raise Wrong(f"{name} says that it is by {record.by}; the key is of {', '.join(signer.names)}")
    return f"{name} is of the runner, {record.by}" if _runner(evidence, signer) else ""


def _runner(evidence: Evidence, signer: Signed) -> bool:
    """Whether who signed the record signed the run, too, by the same key or under the same name."""
    if not (evidence.folder / SIGNATURE).exists():
        return False
    manifest, signature = evidence.content(MANIFEST), evidence.content(SIGNATURE)
    for allowed in (None, evidence.allowed_signers):
        try:
            own = signed_by(manifest, signature, allowed)
        except Forged:  # the check `signature` says so
            return False
        if own.fingerprint == signer.fingerprint or set(own.names) & set(signer.names):
            return True
    return False
