"""The results folder: a name that is never reused, and a hidden partial folder until the run is done.

A run works in `<base>/.<name>.partial/`, which is renamed to `<base>/<name>/` at the end. The process that
creates the partial folder owns the name; the folder is locked while a run works. plan.json describes an
interrupted run, so that only the same run can resume in its folder. It is deleted after the manifest is
written, so a partial folder with a manifest and no plan only needs its final name.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
from collections.abc import Mapping
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from pgmnemo.errors import OutputError, UsageError
from runner.errors import ResumeFault
from runner.protocol.editions.edition import SchemaPins
from runner.runs.canonical import pretty
from runner.runs.manifest import MANIFEST, write_manifest
from runner.runs.packing import pack
from runner.runs.run import Run
from runner.runs.storage import DOCUMENT, output_errors, read_regular, sync_folder, write_file

PLAN = "plan.json"
OF_CODE = ("commit", "uncommitted changes", "extension")  # what identifies the code in a plan


def pin_plan(folder: Path, plan: Mapping[str, Any], started: str) -> str:
    """Write `plan` into a new partial folder, or compare it with the plan in the folder.

    `plan` is everything that decides the raw bytes (commit, version, corpus hash, embedder identity, seed,
    options, …). Returns when the run was first started. Raises UsageError with the first difference, and
    ResumeFault for a plan that cannot be read, or that another version of the runner wrote.
    """
    path = folder / PLAN
    document = json.loads(json.dumps(dict(plan)))  # tuples become lists, as after reading
    if not path.exists():
        if any(folder.iterdir()):
            raise ResumeFault(folder, f"has no {PLAN}, which says what run it was")
        write_file(path, pretty({"started": started, "plan": document}))
        return started
    earlier = _read(path)
    if earlier["plan"].keys() != document.keys():
        raise ResumeFault(path, "was written by another version of the runner")
    _compare(earlier["plan"], document)
    return str(earlier["started"])


def _read(path: Path) -> dict[str, Any]:
    try:
        earlier = json.loads(read_regular(path, DOCUMENT, OutputError))
        datetime.fromisoformat(earlier["started"])
        return {"started": earlier["started"], "plan": dict(earlier["plan"])}
    except (ValueError, KeyError, TypeError, RecursionError, OutputError) as error:
        raise ResumeFault(path, f"cannot be read ({error})") from error


def _compare(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    for name, value in earlier.items():
        if value != now[name]:
            code = "check out the code of then, or start anew without --resume"
            raise UsageError(
                f"--resume: the interrupted run had {name} = {value}, this one {now[name]}; "
                f"{code if name in OF_CODE else 'give the same command as then'}"
            )


PARTIAL = ".partial"
KEPT, LOCAL = "results", "local"  # folders of a suite: committed runs, and all others


def results_base(suite: str, output: Path | None, root: Path, kept: bool = True) -> Path:
    """Return the folder for the results of a suite: `output` if given, else below `benchmarks/<suite>` in
    `root`.

    There a kept run goes to `results`, any other run to `local`, which git ignores. Raises UsageError if
    neither exists, as in an installation without the repository, and if `output` is the repository's folder.
    """
    if output is not None:
        place = output.expanduser().absolute()
        if (place / "PROTOCOL.md").is_file() and (place / "HISTORY.md").is_file():
            raise UsageError(f"--output names {place}, the repository itself; name a folder for results")
        return place
    if not (root / "benchmarks").is_dir():
        raise UsageError("this installation has no benchmarks/ folder: name one for results with --output")
    return root / "benchmarks" / suite / (KEPT if kept else LOCAL)


def local_folder(folder: Path) -> Path | None:
    """Return the folder local/ that the run in `folder` is in, however deep; None if it is in none."""
    above = folder.absolute().parents
    return next((place for place in above if place.match(f"benchmarks/*/{LOCAL}")), None)


def is_local(folder: Path) -> bool:
    """Return whether the run in `folder` is in a local/."""
    return local_folder(folder) is not None


def move_to_kept(folder: Path) -> Path:
    """Move a run from local/ to results/ beside it, and pack its files; return its new folder.

    Raises OutputError if it cannot be moved, or if another run there has its name.
    """
    folder = folder.absolute()
    target = (local_folder(folder) or folder.parent).with_name(KEPT) / folder.name
    if target.exists():
        raise OutputError(f"{target} is another run of that name: make the run anew with --keep")
    with output_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(folder, target)
        sync_folder(target.parent)
    pack(target)
    return target


def interrupted(base: Path) -> list[Path]:
    """Return the partial folders that no running process uses, sorted by name."""
    return sorted(path for path in base.glob(f".*{PARTIAL}") if path.is_dir() and not _is_locked(path))


def result_bases(base: Path) -> tuple[Path, ...]:
    """Return the folder, and its counterpart of `local` and `results`: a name is unique in both."""
    other = {KEPT: LOCAL, LOCAL: KEPT}.get(base.name)
    return (base, base.with_name(other)) if other else (base,)


def folder_name(run: Run) -> str:
    """Return the name of the results folder: version, UTC day, embedder, labels.

    An example is `v0.2.1_20260509_minilm_turn_limit20`. If another system is under test, its name precedes
    its version: `sqlite-fts5_3.45_20261122_none`.
    """
    system = [f"v{run.version}"] if run.choice.ours else [run.system, run.version]
    parts = [*system, f"{run.started:%Y%m%d}", run.choice.embedder, *run.choice.labels(run.edition)]
    clean = (re.sub(r"[^A-Za-z0-9.+-]+", "-", part).strip("-.") for part in parts)
    return "_".join(part for part in clean if part)


class RunFolder:
    """The partial folder of a running run; a context manager that releases its lock.

    `path` is the partial folder, `name` the final name. After an error or a kill the folder stays for
    `resume`; an empty folder is removed.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self._finished = False  # after that another run may own `path`
        self._lock = _lock(path)

    @classmethod
    def start(cls, base: Path, name: str) -> RunFolder:
        """Make a partial folder for `name`, or for `name_2`, `name_3`, … if the name is taken.

        Raises OutputError if `base` cannot be written.
        """
        with output_errors(base):
            base.mkdir(parents=True, exist_ok=True)
            for number in count(1):
                candidate = name if number == 1 else f"{name}_{number}"
                if (partial := _reserve(base, candidate)) is not None:
                    return cls(partial, candidate)
        raise AssertionError("unreachable: there is always a next number")

    @classmethod
    def resume(cls, place: Path) -> RunFolder:
        """Resume in the partial folder `place`, or in the only partial folder inside it.

        Raises UsageError without exactly one partial folder, or if the run is finished or still working.
        """
        partial = partial_folder(place)
        return cls(partial, partial.name.removeprefix(".").removesuffix(PARTIAL))

    @property
    def target(self) -> Path:
        """The path of the finished folder."""
        return self.path.parent / self.name

    def finish(self, schemas: SchemaPins) -> Path:
        """Write the manifest, which names the `schemas`, flush everything to disk, rename.

        Returns the finished folder. Raises OutputError if the disk is full or the name was taken meanwhile.
        """
        with output_errors(self.path):
            write_manifest(self.path, schemas, without=PLAN)
            (self.path / PLAN).unlink(missing_ok=True)
            sync_folder(self.path)
        return self.named()

    def named(self) -> Path:
        """Rename the complete folder to its final name; raise OutputError as `finish` does."""
        if self.target.exists():
            raise OutputError(f"{self.target} appeared meanwhile: move it away, then --resume {self.path}")
        with output_errors(self.target):
            os.replace(self.path, self.target)
            self._finished = True
            sync_folder(self.target.parent)
        if self.target.match(f"benchmarks/*/{KEPT}/*"):
            pack(self.target)
        return self.target

    def close(self) -> None:
        """Release the lock; remove the partial folder if it is empty."""
        if self._lock is not None:
            if not self._finished and self.path.is_dir() and not any(self.path.iterdir()):
                self.path.rmdir()
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _reserve(base: Path, name: str) -> Path | None:
    """Return a new partial folder for `name`; None if the name is taken in results/ or local/."""
    partial, places = base / f".{name}{PARTIAL}", [place / name for place in result_bases(base)]
    if any(place.exists() for place in places):
        return None
    try:
        partial.mkdir()
    except FileExistsError:
        return None
    if any(place.exists() for place in places):  # another run finished between the check and the mkdir
        partial.rmdir()
        return None
    return partial


def partial_folder(place: Path) -> Path:
    """Return the partial folder of the interrupted run: `place`, or the only one inside it.

    Else raise UsageError.
    """
    place = place.expanduser().absolute()
    if (done := _finished(place)) is not None:
        raise UsageError(
            f"--resume: the run in {done} is finished; `history add` logs it where HISTORY.md has no entry "
            "of it, and without --resume a new one starts"
        )
    if not place.is_dir():
        raise UsageError(f"--resume: there is no folder {place}; name the .partial folder of the run")
    if place.name.endswith(PARTIAL):
        return place
    found = sorted(path for path in place.glob(f".*{PARTIAL}") if path.is_dir())
    if not found:
        raise UsageError(f"--resume: {place} holds no run that was interrupted")
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise UsageError(f"--resume: {place} holds several interrupted runs, name one of them: {names}")
    return partial_folder(found[0])


def _finished(place: Path) -> Path | None:
    """Return the folder of the finished run at `place`; None if it is not finished.

    If a kill prevented the final rename, the run gets its name here.
    """
    if not place.name.endswith(PARTIAL):
        return place if (place / MANIFEST).exists() else None
    name = place.name.removeprefix(".").removesuffix(PARTIAL)
    if (place / MANIFEST).exists() and not (place / PLAN).exists():
        with RunFolder(place, name) as folder:
            return folder.named()
    if place.exists():
        return None
    return next(
        (base / name for base in result_bases(place.parent) if (base / name / MANIFEST).exists()), None
    )


def _is_locked(path: Path) -> bool:
    try:
        descriptor = _lock(path)
    except (UsageError, OutputError):
        return True
    if descriptor is not None:
        os.close(descriptor)
    return False


def _lock(path: Path) -> int | None:
    with output_errors(path):
        descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN):
            os.close(descriptor)
            raise UsageError(f"another run is still working in {path}: wait for it or end it") from None
    return descriptor  # stays unlocked on a file system without locks
