"""A build hook that packs the sample: outside this folder in a checkout, inside it in an sdist."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

OUTSIDE, INSIDE = "../benchmarks/sample/sample.json", "protocol/datasets/sample.json"


class Sample(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the sample to the wheel; an editable installation reads the checkout's sample."""
        if version != "editable" and not Path(self.root, INSIDE).exists():
            build_data["force_include"][OUTSIDE] = INSIDE
