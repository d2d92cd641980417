"""What 0.3.1's tools said to each finding of the review: `python -m tests.verify.before.findings`.

Today's stand beside them. What rankings, views and run.json say (S1, S3, S4) are classes of forgeries.py;
what `lint` reads has tests/lint. Here is the rest: what the repository, a later entry of HISTORY.md or a
malformed file makes of `verify`, `cite`, `gate`, `report` and `rescore`. Each case lays out a copy of a
committed run of 0.3.1, and one command is asked of both.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from runner.report import render
from runner.runs.canonical import pretty
from runner.runs.manifest import write_manifest
from runner.runs.metrics import metrics_text
from runner.runs.reading import Results
from tests.repositories import git, merge_an_orphan
from tests.verify.before.former import HUNG, ROOT, Said, Tools, former, now

RUN = ROOT / "benchmarks/sample/results/v0.3.1_20261121_minilm"
REAL = ROOT / "benchmarks/locomo/results/v0.3.1_20261121_minilm"  # the sample is never cited
Words = list[str | Path]
Layout = Callable[[Path], Words]


@dataclass(frozen=True, slots=True)
class Case:
    """A finding, what is asked, how it is laid out (the words of the command), and what shows it closed."""

    finding: str
    words: str
    lay: Layout
    closed: Callable[[Said], bool]


CASES: dict[str, Case] = {}


def case(
    finding: str, words: str, closed: Callable[[Said], bool]
) -> Callable[[Callable[[Path], Words]], Any]:
    """A decorator that enters a layout into the table."""

    def enter(lay: Layout) -> Layout:
        CASES[f"{finding} {words}"] = Case(finding, words, lay, closed)
        return lay

    return enter


def refused(*codes: int) -> Callable[[Said], bool]:
    """The command ended with one of these codes, and without a traceback."""
    return lambda said: said.code in (codes or (1, 2, 3)) and "Traceback" not in said.output


def says(pattern: str) -> Callable[[Said], bool]:
    """The command printed this."""
    return lambda said: re.search(pattern, said.output) is not None


def lacks(text: str) -> Callable[[Said], bool]:
    """The command ended, and printed no such thing."""
    return lambda said: said.code != HUNG and "Traceback" not in said.output and text not in said.output


def checkout(home: Path, source: Path = RUN) -> Path:
    """The run in its place of a checkout of its own, with its HISTORY.md; the run's folder."""
    folder = home / source.relative_to(ROOT)
    shutil.copytree(source, folder)
    shutil.copy(ROOT / "HISTORY.md", home)
    return folder


def committed(home: Path) -> Path:
    folder = checkout(home)
    git(home, "init")
    git(home, "add", ".")
    git(home, "commit", "-m", "Added a run")
    return folder


def top(folder: Path) -> Path:
    return folder.parents[3]


def log(folder: Path) -> None:
    """HISTORY.md has the manifest's hash anew, in every entry of the run."""
    path, honest = top(folder) / "HISTORY.md", ROOT / folder.relative_to(top(folder)) / "manifest.json"
    former, digest = (sha256(file.read_bytes()).hexdigest() for file in (honest, folder / "manifest.json"))
    path.write_text(path.read_text().replace(former, digest))


def changed(folder: Path, name: str, change: Callable[[Any], object]) -> None:
    """A document changed, with report, manifest and HISTORY.md after it."""
    document = json.loads((folder / name).read_text())
    change(document)
    text = metrics_text(document) if name == "metrics.json" else pretty(document)
    (folder / name).write_text(text)
    left = Results(folder)
    (folder / "report.md").write_text(render(left.metrics, left.run))
    write_manifest(folder, left.edition.schemas)
    log(folder)


def another_processor(folder: Path) -> None:
    changed(folder, "run.json", lambda run: run["machine"].update(cpu="another"))


def resealed(folder: Path) -> None:
    """The manifest lists the files as they are now, whatever they hold."""
    manifest = json.loads((folder / "manifest.json").read_text())
    for entry in manifest["files"]:
        content = (folder / entry["name"]).read_bytes()
        entry.update(bytes=len(content), sha256=sha256(content).hexdigest())
    (folder / "manifest.json").write_text(pretty(manifest))
    log(folder)


def later(folder: Path, suite: str, deviation: str) -> None:
    digest = sha256((folder / "manifest.json").read_bytes()).hexdigest()
    with (top(folder) / "HISTORY.md").open("a") as file:
        file.write(f"\n## 2027-01-02 · {suite} · {folder.name}\n\n- manifest sha256: {digest}\n"
                   f"- deviation: {deviation}\n")  # fmt: skip


@case("S2", "a forged folder that a merge took from the other side", refused(1))
def _merge(home: Path) -> Words:
    folder = committed(home)
    merge_an_orphan(home, lambda: another_processor(folder))
    return ["verify", folder]


@case("S2", "a changed run in a shallow clone", says(r"not asked +commit .*shallow"))
def _shallow(home: Path) -> Words:
    folder = committed(home / "whole")
    another_processor(folder)
    git(home / "whole", "commit", "-a", "-m", "Changed the run")
    git(home, "clone", "--depth", "1", f"file://{home / 'whole'}", "clone")
    return ["verify", home / "clone" / folder.relative_to(home / "whole")]


@case("S2", "a forged run in a repository of its own within results/", refused(1))
def _nested(home: Path) -> Words:
    folder = committed(home)
    another_processor(folder)
    git(folder.parent, "init")
    git(folder.parent, "add", ".")
    git(folder.parent, "commit", "-m", "Added a run")
    return ["verify", folder]


@case("S2", "an honest run under log.follow=true, beside a copy of itself", refused(0))
def _follow(home: Path) -> Words:
    folder = committed(home)
    shutil.copytree(folder, folder.with_name("another"))
    git(home, "add", ".")
    git(home, "commit", "-m", "Copied it")
    shutil.rmtree(folder)
    git(home, "commit", "-a", "-m", "Took it away")
    shutil.copytree(folder.with_name("another"), folder)
    git(home, "add", ".")
    git(home, "commit", "-m", "Brought it back")
    git(home, "config", "log.follow", "true")
    return ["verify", folder]


@case("S5", "a nearer HISTORY.md has the forged entry, the repository's has not", refused(1))
def _nearer(home: Path) -> Words:
    folder = checkout(home)
    honest = (home / "HISTORY.md").read_text()
    another_processor(folder)
    shutil.copy(home / "HISTORY.md", folder.parent)
    (home / "HISTORY.md").write_text(honest)
    git(home, "init")
    return ["verify", folder]


@case("S5", "the entry stands in a comment alone", refused(1))
def _comment(home: Path) -> Words:
    folder = checkout(home)
    text = (home / "HISTORY.md").read_text()
    (home / "HISTORY.md").write_text(f"# History\n\n<!--\n{text}\n-->\n")
    return ["verify", folder]


@case("S5", "a later deviation under another spelling of the suite", says("later it adds: .*withdrawn"))
def _spelling(home: Path) -> Words:
    folder = checkout(home)
    later(folder, "SAMPLE", "withdrawn")
    return ["verify", folder]


@case("C1", "cite of a run that was withdrawn later", refused(1))
def _withdrawn(home: Path) -> Words:
    folder = checkout(home, REAL)
    later(folder, "locomo", "withdrawn")
    return ["cite", folder]


def _headline(value: Any) -> Layout:
    def lay(home: Path) -> Words:
        folder = checkout(home, REAL)
        path = folder / "metrics.json"
        document = json.loads(path.read_text())
        for row in document["results"]:
            if row["metric"] == "recall_any@10":
                row["value"] = value
        path.write_text(json.dumps(document, indent=1))
        resealed(folder)
        return ["cite", folder]

    return lay


for _value in (0.9999, 7.5, float("nan")):
    case("C2", f"cite of recall_any@10 = {_value}, sealed again", refused())(_headline(_value))


@case("C2", "cite of a verdict that its gates do not give, sealed again", refused())
def _verified(home: Path) -> Words:
    folder = checkout(home, REAL)
    for name in ("run.json", "metrics.json"):
        document = json.loads((folder / name).read_text()) | {"verdict": "verified", "deviations": []}
        if name == "metrics.json":
            del document["deviations"]
        (folder / name).write_text(pretty(document))
    resealed(folder)
    return ["cite", folder]


@case("C2", "cite of the sample as a citable corpus, sealed again", refused())
def _sample(home: Path) -> Words:
    folder = checkout(home)
    document = json.loads((folder / "run.json").read_text())
    document["corpus"]["citable"] = True
    (folder / "run.json").write_text(pretty(document))
    resealed(folder)
    return ["cite", folder]


BROKEN = {
    "null": b"null\n", "a text": b'"text"\n', "deep": b"[" * 100_000,
    "a lone surrogate": b'{"schema": "\\ud800"}\n', "1e999": b'{"schema": 1e999}\n',
}  # fmt: skip


def _broken(command: str, content: bytes) -> Layout:
    def lay(home: Path) -> Words:
        folder = checkout(home)
        (folder / "metrics.json").write_bytes(content)
        resealed(folder)
        return {"compare": ["compare", RUN, folder], "history": ["history", "add", folder]}.get(
            command, [command, folder]
        )

    return lay


for _command in ("cite", "compare", "report"):
    for _name, _content in BROKEN.items():
        case("C3", f"{_command} where metrics.json is {_name}", refused())(_broken(_command, _content))


@case("C4", "gate of a run against itself", refused(2))
def _itself(home: Path) -> Words:
    folder = checkout(home)
    return ["gate", "--baseline", folder, folder]


@case("C5", "rescore into the run itself, then verify", refused(0))
def _rescore(home: Path) -> Words:
    return ["verify", checkout(home)]


@case("C5", "verify where metrics.json is a named pipe", refused(1))
def _pipe(home: Path) -> Words:
    folder = checkout(home)
    (folder / "metrics.json").unlink()
    os.mkfifo(folder / "metrics.json")
    return ["verify", folder]


@case("C5", "verify with a corpus that is a bomb of gzip (300 MB)", refused(1, 2, 3))
def _bomb(home: Path) -> Words:
    path = home / "sample.json.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(300):
            file.write(b" " * 1_000_000)
    return ["verify", checkout(home), "--corpus", path]


@case("C5", "a folder named [a] is no pattern", refused(0))
def _pattern(home: Path) -> Words:
    return ["verify", checkout(home / "[a]")]


@case("C5", "history deviation with an escape sequence", lambda said: said.code in (0, 2))
def _escape(home: Path) -> Words:
    return ["history", "deviation", checkout(home), "\x1b[2Jgone"]


def _shown(text: str) -> Layout:
    """run.json names its corpus so, and the report is rendered by the tools that are asked."""

    def lay(home: Path) -> Words:
        folder = checkout(home)
        document = json.loads((folder / "run.json").read_text())
        document["arms"][0]["words"] = text
        (folder / "run.json").write_text(pretty(document))
        resealed(folder)
        return ["rescore", folder, "--output", home / "new"]

    return lay


for _text in ("<script>alert(1)</script>", "[x](javascript:alert(1))"):
    case("C5", f"report.md of an arm called {_text}", lacks(_text))(_shown(_text))


def asked(tools: Tools, one: Case) -> Said:
    """What the tools say to a case, laid out anew; a report that the command writes stands with it."""
    with TemporaryDirectory(prefix="case-") as home:
        place = Path(home)
        words = one.lay(place)
        if one.words.startswith("rescore into"):
            tools.command("rescore", words[1], "--output", Path(words[1]) / "new")
        said = tools.command(*words)
        written = [path for path in (place / "new" / "report.md",) if path.is_file()]
        if one.words.startswith("history deviation"):
            written, escaped = [], "\x1b" in (place / "HISTORY.md").read_text()
            return Said(9 if escaped else said.code, said.output)
        return Said(said.code, said.output + "".join(path.read_text() for path in written))


def ending(said: Said) -> str:
    """How a command ended, in a word or two."""
    if said.code == HUNG:
        return "hangs"
    return "traceback" if "Traceback" in said.output else f"exit {said.code}"


def main() -> None:
    """Print the table: a row a case, and whether each finding is closed before and now."""
    print("| Finding | Case | 0.3.1 | | Now | |\n|---|---|---|---|---|---|")
    closed = {"0.3.1": 0, "now": 0}
    with former() as tools:
        for one in CASES.values():
            cells = []
            for which in (tools, now()):
                said = asked(which, one)
                closed[which.name] += (held := one.closed(said))
                cells += [ending(said), "closed" if held else "open"]
            words = one.words.replace("<", "&lt;")
            print(f"| {one.finding} | {words} | {' | '.join(cells)} |", flush=True)
    print(f"\nclosed: {closed['0.3.1']} of {len(CASES)} by 0.3.1's tools, {closed['now']} now")


if __name__ == "__main__":
    main()
