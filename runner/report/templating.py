"""How every template of the reports is read: nothing undefined, blocks leave no blank lines."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

SHARED = Path(__file__).parent / "html" / "templates"  # what pages of every kind may include


@cache
def template(path: Path) -> Template:
    """The template in a file; what it shows is escaped in HTML alone."""
    environment = Environment(
        loader=FileSystemLoader([path.parent, SHARED]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=".html" in path.suffixes,
    )
    return environment.get_template(path.name)
