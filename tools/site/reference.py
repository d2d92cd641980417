"""Generate the reference pages from the sources: docstrings, SQL comments, commands, settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from cyclopts import App

import pgmnemo
from pgmnemo.cli.commands import app as mnemo
from runner.cli import app as runner
from runner.protocol.datasets import SUITES

SQL = Path(__file__).resolve().parents[2] / "sql" / "src"
VERB = re.compile(
    r"CREATE (?P<kind>FUNCTION|PROCEDURE) pgmnemo\.(?P<name>[a-z]\w*)\s*\((?P<arguments>.*?)\n?\)\s*"
    r"(?P<answer>RETURNS .+?\s*\n)?LANGUAGE",
    re.DOTALL,
)
TOLD = re.compile(r"COMMENT ON (?P<kind>[A-Z]+) pgmnemo\.(?P<name>[\w.]+)[^']*? IS '(?P<words>(?:[^']|'')*)'")
TOKEN = re.compile(r"'(?:[^']|'')*'|NULL|-?[\d.]+|[(),]")
CALLER = re.compile(r",?\s*caller\s+pgmnemo\.caller DEFAULT pgmnemo\._caller\(\)")
NONE = "–"  # noqa: RUF001
SHORT = 60
SCHEMA = "@extschema:vector@."
SECTION = re.compile(r"^## ", re.MULTILINE)


def pages() -> dict[str, str]:
    """Return each page by its path in docs/."""
    return {
        "reference/python.md": _python("Python", "Memory", "Scope"),
        "reference/async.md": _python("Python, asynchronous", "AsyncMemory", "AsyncScope"),
        "reference/records.md": _python("Records", *pgmnemo._RECORDS, fields=True),
        "reference/errors.md": _python("Errors", *pgmnemo._ERRORS),
        "reference/verbs.md": verbs(),
        "reference/tables.md": tables(),
        "reference/settings.md": settings(),
        "reference/mnemo.md": _commands(mnemo()),
        "reference/runner.md": _commands(
            runner(), like={name: "sample" for name in SUITES if name != "sample"}
        ),
    }


def _python(title: str, *names: str, fields: bool = False) -> str:
    more = "    options:\n      merge_init_into_class: true\n" if fields else ""
    return f"# {title}\n\n" + "\n".join(f"::: pgmnemo.{name}\n{more}" for name in names)


def _commands(app: App, like: Mapping[str, str] | None = None) -> str:
    """Return the help of every command as Markdown.

    A command in `like` has the same options as another command, and only the other one is shown.
    """
    text = app.generate_docs(usage_name=app.name[0]).replace(":\n\n* `", ":\n\n* `")
    head, *sections = SECTION.split(text)
    kept = [one for one in sections if not one.startswith("Table of Contents")]
    top = next((one for one in sections if one.startswith("Table of Contents")), "")
    listed = top.partition("\n\n**")[2]
    for name, other in (like or {}).items():
        kept = [one for one in kept if one.split("\n", 1)[0].split()[-1] != name]
        listed = listed.replace(f"-runner-{name})", f"-runner-{other})")
    return "\n## ".join([f"{head.rstrip()}\n\n**{listed}".rstrip() + "\n", *kept])


def verbs() -> str:
    """Return a page with every verb of the extension, its arguments and its comment."""
    parts = ["# Verbs of the extension\n\nFrom `COMMENT ON` of each. What a role reads besides: views.\n"]
    for path in sorted((SQL / "verbs").glob("*.sql")):
        text = path.read_text(encoding="utf-8")
        told = _comments(text)
        for found in VERB.finditer(text):
            answer = (found["answer"] or "").rstrip()
            form = f"{found['name']}({_arguments(found['arguments'])})\n{answer}".rstrip()
            words = _prose(told.get(f"{found['kind']} {found['name']}", ""))
            parts.append(f"## {found['name']}\n\n```sql\n{form.replace(SCHEMA, '')}\n```\n\n{words}\n")
    views = [_comments(path.read_text(encoding="utf-8")) for path in sorted((SQL / "views").glob("*.sql"))]
    rows = [(name.split()[1], words) for told in views for name, words in told.items() if "VIEW" in name]
    return "\n".join([*parts, "## Views\n", _table(("View", "What it shows"), rows)])


def _arguments(text: str) -> str:
    """Return a verb's arguments on one line, or each on its own line if they are long."""
    each = [" ".join(one.split()) for one in CALLER.sub("", text).split(",") if one.strip()]
    return ", ".join(each) if len(", ".join(each)) < SHORT else "\n    " + ",\n    ".join(each) + "\n"


def tables() -> str:
    """Return the tables of the extension, column by column, as Markdown."""
    parts = ["# Tables\n\nFrom `COMMENT ON`. Roles read them by verbs and views alone.\n"]
    for path in sorted((SQL / "tables").glob("*.sql")):
        told = _comments(path.read_text(encoding="utf-8"))
        columns = [
            (name.rpartition(".")[2], words) for name, words in told.items() if name.startswith("COLUMN ")
        ]
        if columns:
            parts.append(f"## {path.stem}\n\n{_prose(told.get(f'TABLE {path.stem}', ''))}\n")
            parts.append(_table(("Column", "What it holds"), columns))
    return "\n".join(parts)


def settings() -> str:
    """Return every setting with its default and range."""
    text = (SQL / "settings" / "setting_catalogue.sql").read_text(encoding="utf-8")
    rows = []
    for row in _values(text.partition("VALUES")[2]):
        name, initial, kind, low, high, choices, meaning = row
        among = (
            choices.strip("{}").replace(",", ", ") if choices else f"{kind}, {low} to {high}" if low else kind
        )
        rows.append((f"`{name}`", f"`{initial}`" if initial else NONE, among, meaning))
    top = (
        "All begin with `pgmnemo.`; `pgmnemo.list_settings()` says what is in force. Any role may `SET` them."
    )
    return f"# Settings\n\n{top}\n\n{_table(('Setting', 'Default', 'Range', 'Meaning'), rows, marked=True)}"


def _values(text: str) -> Iterable[list[str]]:
    """Yield the rows of an SQL VALUES list as texts.

    NULL becomes an empty text; adjacent string literals are joined.
    """
    row: list[str] = []
    for token in TOKEN.findall(text.replace("::text[]", "").replace("::float8", "")):
        if token == "(":
            row = [""]
        elif token == ")":
            yield row
        elif token == ",":
            row.append("")
        elif token != "NULL" and row:
            row[-1] += token[1:-1].replace("''", "'") if token.startswith("'") else token


def _comments(text: str) -> dict[str, str]:
    return {f"{one['kind']} {one['name']}": one["words"].replace("''", "'") for one in TOLD.finditer(text)}


def _plain(words: str) -> str:
    """Return a text with Markdown escaped and the extension's names marked as code."""
    words = re.sub(r"([*<|\[\]])", r"\\\1", words)
    return re.sub(r"\bpgmnemo\.[\w]+(?:\\<\w+>\w*)?", lambda one: f"`{one[0]}`".replace("\\<", "<"), words)


def _prose(words: str) -> str:
    """Return a comment as Markdown: its first line is a paragraph, its other lines are a list."""
    first, *rest = (_plain(line) for line in words.split("\n"))
    return "\n".join([first, "", *(f"- {line}" for line in rest)]).rstrip()


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]], marked: bool = False) -> str:
    lines = [head, ("---",) * len(head)]
    for first, *rest in rows:
        lines.append(
            (
                first if marked else f"`{first}`",
                *(one if marked and i == 0 else _plain(one) for i, one in enumerate(rest)),
            )
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
