"""Six sessions of a coding agent in two projects: what the hooks add to each prompt, for a reader to judge.

    python benchmarks/agents/day.py [--embedder NAME]

The sessions are made up: secrets in the output of tools, three corrections, a compaction. Each prompt goes
through `mnemo hook recall`, each session through `mnemo hook save`. Prints what is added to each prompt, with
what it needs, and a summary; ends with 1 if a secret is stored or a project reads another.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import indent
from uuid import uuid4

ROOT = Path(__file__).resolve().parents[2]
KEY, TOKEN, PASSWORD = "AKIA" + "Q3EGRXXYZ7T4UV2W", "ghp_" + "x8Qm2" * 7 + "Z", "hunter2-and-3"
SECRETS = (KEY, TOKEN, PASSWORD)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt, what the hook should add to it, and what it must not add."""

    text: str
    wanted: str = ""
    outdated: str = ""
    answer: str = "Done."
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    project: str
    foreign: tuple[str, ...]
    prompts: tuple[Prompt, ...]
    compacted: bool = False
    messages: list[dict[str, object]] = field(default_factory=list)


SHOP, BLOG = ("Hugo", "Netlify", "German"), ("8443", "9443", "vitest", "supplier")
DAY = (
    Session("shop", SHOP, (
        Prompt("Set up staging: the server is stage.shop.example and listens on port 8443.",
               answer="deploy.toml deploys to stage.shop.example, port 8443."),
        Prompt("We use pnpm here, never npm, and the tests run with pnpm vitest run.",
               answer="I use pnpm, and run the tests with vitest.",
               tool=f"$ cat .env\nAWS_ACCESS_KEY_ID={KEY}\nDATABASE_URL=postgres://app:{PASSWORD}@db/shop"),
        Prompt("The nightly import fails because the supplier's CSV is in Latin-1.",
               answer="The import decodes the supplier's CSV as Latin-1 now, with a test."),
    )),
    Session("blog", BLOG, (
        Prompt("The blog is built with Hugo, and Netlify deploys it from the branch live.",
               answer="A push to the branch live is deployed by Netlify.",
               tool=f"$ git remote -v\norigin https://ada:{TOKEN}@github.com/ada/blog.git (fetch)"),
        Prompt("Posts are in German, in an informal tone.", answer="I write posts in German, informally."),
    )),
    Session("shop", SHOP, (
        Prompt("Deploy the current branch to the staging server.", wanted="8443"),
        Prompt("Run the tests of the cart.", wanted="vitest"),
        Prompt("Thanks, that looks good."),
        Prompt("Correction: since Monday staging listens on port 9443, and 8443 is closed.",
               answer="deploy.toml says port 9443 now."),
    )),
    Session("blog", BLOG, (
        Prompt("How does a post get online?", wanted="live"),
        Prompt("Write a post about our holiday in Portugal.", wanted="German"),
        Prompt("Netlify is gone: Cloudflare Pages deploys the blog now, still from the branch live.",
               answer="A push to the branch live is deployed by Cloudflare Pages."),
    )),
    Session("shop", SHOP, (
        Prompt("Which port does the staging server listen on?", wanted="9443", outdated="8443"),
        Prompt("The supplier sends UTF-8 since last week, so the import must not decode Latin-1 any more.",
               answer="The import reads the supplier's CSV as UTF-8."),
        Prompt("Which encoding does the import of the supplier's CSV read?", wanted="UTF-8",
               outdated="as Latin-1"),
    ), compacted=True),
    Session("blog", BLOG, (
        Prompt("Who deploys the blog?", wanted="Cloudflare", outdated="Netlify deploys"),
        Prompt("ok"),
    )),
)  # fmt: skip


class Agent:
    """A coding agent with the hooks of mnemo, in a folder for its projects and its memory."""

    def __init__(self, folder: Path, embedder: str) -> None:
        self.folder, self.embedder, self.day = folder, embedder, 1

    def run(self, *words: str, event: object = None) -> str:
        """Run `mnemo` and return what it prints."""
        done = subprocess.run(
            [sys.executable, "-m", "pgmnemo", *words], input=json.dumps(event), capture_output=True,
            text=True, cwd=ROOT, timeout=300,
            env={**os.environ, "PGMNEMO_MEMORY": str(self.folder / "memory")},
        )  # fmt: skip
        print(indent(done.stderr.strip(), "! "), end="\n" if done.stderr.strip() else "")
        return done.stdout

    def hook(self, act: str, session: Session, *words: str, **told: str) -> str:
        project, transcript = self.folder / session.project, self.folder / f"{id(session)}.jsonl"
        project.mkdir(exist_ok=True)
        transcript.write_text("".join(json.dumps(one) + "\n" for one in session.messages))
        event = {
            "cwd": str(project),
            "transcript_path": str(transcript),
            "session_id": str(id(session)),
            **told,
        }
        return self.run("hook", act, "--embedder", self.embedder, "--seconds", "60", *words, event=event)

    def prompt(self, session: Session, prompt: Prompt) -> str:
        """Return what the hook adds to a prompt, and let the session go on."""
        added = self.hook("recall", session, prompt=prompt.text)
        at = f"2026-11-{self.day:02}T09:{len(session.messages):02}:00Z"
        session.messages.append(message("user", prompt.text, at))
        if prompt.tool:
            result = {"type": "tool_result", "tool_use_id": "t", "content": prompt.tool}
            session.messages.append(message("user", [result], at))
        session.messages.append(message("assistant", [{"type": "text", "text": prompt.answer}], at))
        if session.compacted:
            self.hook("save", session, "--tools")
        return added


def message(role: str, content: object, at: str) -> dict[str, object]:
    """Return a message as Claude Code writes it."""
    return {
        "type": role, "uuid": str(uuid4()), "sessionId": "day", "timestamp": at,
        "message": {"role": role, "content": content},
    }  # fmt: skip


def live(agent: Agent, day: Sequence[Session]) -> Iterator[tuple[Session, Prompt, str]]:
    """Yield each prompt of the day with what was added to it."""
    for number, session in enumerate(day, 1):
        print(f"\n## Session {number}, in {session.project}")
        agent.day = number
        for prompt in session.prompts:
            added = agent.prompt(session, prompt)
            print(
                f"\n{prompt.text}\n    needs: {prompt.wanted or 'nothing'}\n{indent(added.strip(), '    ')}"
            )
            yield session, prompt, added
        agent.hook("save", session, "--tools")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--embedder", default="local")
    given = parser.parse_args()
    needs = met = undisturbed = silent = newest = corrected = leaks = 0
    with TemporaryDirectory(prefix="mnemo-day-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # as root the server of the memory runs as another user
        agent = Agent(folder, given.embedder)
        for session, prompt, added in live(agent, DAY):
            needs, met = needs + bool(prompt.wanted), met + (prompt.wanted in added if prompt.wanted else 0)
            silent += prompt.text in ("ok", "Thanks, that looks good.")
            undisturbed += prompt.text in ("ok", "Thanks, that looks good.") and not added
            corrected += bool(prompt.outdated)
            newest += bool(prompt.outdated) and first(added, prompt.wanted) < first(added, prompt.outdated)
            leaks += any(word in added for word in session.foreign)
        stored = agent.run("list", "--all-projects", "--full", "--json")
        agent.run("export", str(folder / "all.jsonl"))
        stored += (folder / "all.jsonl").read_text()
    kept = sum(secret in stored for secret in SECRETS)
    print(f"\n{met} of {needs} needs are met; {undisturbed} of {silent} prompts without any are left alone;")
    print(f"{newest} of {corrected} corrections come first; {kept} of {len(SECRETS)} secrets are stored;")
    print(f"{leaks} prompts are given what belongs to the other project")
    return 1 if kept or leaks else 0


def first(text: str, part: str) -> float:
    place = text.find(part)
    return float("inf") if place < 0 else place


if __name__ == "__main__":
    sys.exit(main())
