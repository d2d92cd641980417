"""Generate the types of the TypeScript client, clients/typescript/src/openapi.ts, from the OpenAPI document.

`python -m tools.typescript_types` writes the file; `npm ci --prefix clients/typescript` installs the
generator.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pgmnemo.http.openapi import openapi_document

CLIENT = Path(__file__).resolve().parents[1] / "clients" / "typescript"
TARGET = CLIENT / "src" / "openapi.ts"


def types_of(document: Mapping[str, Any]) -> str:
    """Return the types of an OpenAPI document; raise CalledProcessError if the generator fails."""
    command = ["npm", "run", "--silent", "generate"]
    given = json.dumps(document)
    return subprocess.run(
        command, cwd=CLIENT, input=given, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


if __name__ == "__main__":
    TARGET.write_text(types_of(openapi_document()), encoding="utf-8")
