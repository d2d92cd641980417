"""The syntax of system names: `NAME@VERSION:setting=value,setting=value+wrapper`.

Every part but the name is optional. systems/ checks whether the system, setting or wrapper exists.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pgmnemo.errors import UsageError

FORM = re.compile(
    r"(?P<system>[^@:+=,\s]*)(@(?P<version>[^:+,\s]*))?(:(?P<settings>[^+]*))?(?P<wrappers>(\+[^+]*)*)"
)
SHAPE = "NAME@VERSION:setting=value,setting=value+wrapper"


@dataclass(frozen=True, slots=True)
class SystemName:
    """The parts of a system name.

    `version` is empty if none was given, `wrappers` are applied from left to right.
    """

    system: str
    version: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    wrappers: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str) -> SystemName:
        """Return the parts of a name; raise UsageError if its syntax is wrong."""
        found = FORM.fullmatch(text.strip())
        if found is None:
            raise UsageError(f"{text!r} is no name of a system; write it as {SHAPE}")
        if found["version"] == "":
            raise UsageError(f"the system {found['system']} lacks the version behind its @: {text!r}")
        settings = parse_settings(found["settings"].split(","), text) if found["settings"] is not None else {}
        wrappers = tuple(found["wrappers"].split("+")[1:])
        if "" in wrappers:
            raise UsageError(f"{text!r} lacks the wrapper behind its +; write it as {SHAPE}")
        return cls(found["system"], found["version"] or "", tuple(settings.items()), wrappers)

    def __str__(self) -> str:
        settings = ",".join(f"{name}={value}" for name, value in self.settings)
        return "".join((
            self.system, f"@{self.version}" if self.version else "", f":{settings}" if settings else "",
            *(f"+{wrapper}" for wrapper in self.wrappers),
        ))  # fmt: skip

    @property
    def bare(self) -> SystemName:
        """The same name without wrappers."""
        return replace(self, wrappers=())

    def with_settings(self, settings: Mapping[str, str]) -> SystemName:
        """Return the same name with `settings` added; a setting in both has the added value."""
        return replace(self, settings=tuple({**dict(self.settings), **settings}.items()))


def parse_settings(parts: Iterable[str], text: str) -> dict[str, str]:
    """Return the value of each `setting=value` part by its setting.

    `text` names the source in errors. Raises UsageError for a part of another form or a repeated setting.
    """
    settings: dict[str, str] = {}
    for part in parts:
        name, sign, value = (piece.strip() for piece in part.partition("="))
        if not (name and sign and value):
            raise UsageError(f"{part!r} in {text!r} is no setting; write it as setting=value")
        if name in settings:
            raise UsageError(f"{text!r} gives {name} twice; give it once")
        settings[name] = value
    return settings


def split_names(text: str) -> tuple[str, ...]:
    """Split a list of system names at its commas.

    A part that begins with a setting belongs to the name before. `a,b:x=1,y=2,c` are three names.
    """
    found: list[str] = []
    for part in filter(None, map(str.strip, text.split(","))):
        if found and ":" in found[-1] and "=" in part and ":" not in part.partition("=")[0]:
            found[-1] += f",{part}"
        else:
            found.append(part)
    return tuple(found)
