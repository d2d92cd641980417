"""Writes the extension's scripts before a distribution is built or installed from a checkout.

An sdist holds the scripts, and not what they are made of.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Scripts(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Run assemble.py where there is one."""
        if (assemble := Path(self.root, "sql", "assemble.py")).is_file():
            subprocess.run([sys.executable, assemble, "write"], check=True, stdout=subprocess.DEVNULL)
