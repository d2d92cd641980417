"""plan.json: what an interrupted run was about, so that only the same run can go on in its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.errors import OutputError, UsageError
from runner.runs.canonical import pretty
from runner.runs.storage import write_file

PLAN = "plan.json"


def pin_plan(folder: Path, plan: Mapping[str, Any], started: str) -> str:
    """Write `plan` into a fresh partial folder, or hold it against the one that stands there.

    `plan` is all that decides the raw bytes (version, corpus hash, embedder identity, seed, options, …).
    Returns when the run was first started. Raises UsageError that names what differs.
    """
    path = folder / PLAN
    document = json.loads(json.dumps(dict(plan)))  # tuples become lists, as they will be read back
    if not path.exists():
        if any(folder.iterdir()):
            raise UsageError(f"--resume: {folder} has no {PLAN}, which says what run it was; start anew")
        write_file(path, pretty({"started": started, "plan": document}))
        return started
    earlier = _read(path)
    _compare(earlier["plan"], document)
    return str(earlier["started"])


def _read(path: Path) -> dict[str, Any]:
    try:
        earlier = json.loads(path.read_bytes())
        return {"started": earlier["started"], "plan": dict(earlier["plan"])}
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise OutputError(f"{path} cannot be read ({error}): start the run anew without --resume") from error


def _compare(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    for name in [*earlier, *(name for name in now if name not in earlier)]:
        if earlier.get(name) != now.get(name):
            raise UsageError(
                f"--resume: the interrupted run had {name} = {earlier.get(name)}, this one {now.get(name)}"
                "; give the same command as then"
            )
