"""`python -m runner submit DIR --output FILE`: a finished run as one archive, which is verified first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from pgmnemo.errors import UsageError, os_errors
from pgmnemo.escaping import line
from pgmnemo.terminal import say
from runner.errors import RefusedError
from runner.options import Run
from runner.runs.archive import SUFFIX, pack
from runner.runs.folder import KEPT, LOCAL
from runner.runs.history import HEADER, HISTORY, Entry, entries, histories, of_run
from runner.runs.manifest import DERIVED, MANIFEST
from runner.runs.output import check_new
from runner.runs.reading import Results
from runner.runs.run import BLOCKED
from runner.verification import Verification, verify


def submit_command(folder: Run, /, *, output: Path) -> int:
    """Verify a run, then pack it with its entry in HISTORY.md into one archive, which others can verify.

    Args:
        output: new file that ends in .tar.gz
    """
    say(f"written: {submit(folder, output)}")
    return 0


def submit(folder: Path | str, output: Path | str, *, check: Callable[..., Verification] = verify) -> Path:
    """Pack the run in `folder` into the new file `output`, and return its path.

    With it goes what HISTORY.md says of the run, and nothing else of that file. The same run gives the same
    bytes. Raises UsageError for no run and an `output` that is there, lies in a run or has another ending,
    RefusedError for a blocked run and one in which `check` finds a fault, OutputError where nothing can be
    written.
    """
    target = Path(output).expanduser().absolute()
    if not target.name.endswith(SUFFIX):
        raise UsageError(f"--output takes a file that ends in {SUFFIX}, not {target}")
    check_new("--output", target, "file")
    results = Results(Path(folder))
    if results.blocked:
        raise RefusedError(f"{folder} is blocked and has no figure (protocol §5): read its {BLOCKED}")
    check(folder).demand_intact(folder)
    files = _files(results)
    told = f"{target} cannot be written ({{why}}); name another file with --output"
    with os_errors(told), target.open("xb") as file:
        try:
            pack(files, file)
        except BaseException:
            target.unlink()
            raise
    return target


def _files(results: Results) -> dict[str, bytes]:
    """Every file of the run but what is derived, and its HISTORY.md, each at its place in the archive."""
    said = list(_said(results))
    place = f"benchmarks/{results.run.choice.suite}/{KEPT if said else LOCAL}/{results.run.name}"
    names = (name for name in results.names if name not in DERIVED)
    history = HEADER + "".join(f"\n{_text(entry)}" for entry in said)
    return {HISTORY: history.encode(), **{f"{place}/{name}": results.content(name) for name in names}}


def _said(results: Results) -> Iterator[Entry]:
    """What every HISTORY.md above the run says of it, its own entry first; nothing of a run in local/."""
    seen: set[Entry] = set()
    for path in histories(results.folder):
        found = of_run(entries(path), results.run.choice.suite, results.run.name, results.digest(MANIFEST))
        yield from (entry for entry in found if entry not in seen)
        seen.update(found)


def _text(entry: Entry) -> str:
    heading = f"## {entry.day} · {line(entry.suite)} · {line(entry.name)}\n\n"
    return heading + "".join(f"- {name}: {value}\n" for name, value in entry.fields)
