"""The extension's scripts as statements, for servers without access to their extension files.

They are for pg_tle (https://github.com/aws/pg_tle), and for plain SQL without an extension. This module needs
only Python and no other module of the package, because sql/assemble.py loads it by its path.
"""

from __future__ import annotations

import re

VECTOR = "@extschema:vector@"  # known to CREATE EXTENSION, but not to pg_tle
BODY = "$pgmnemo$"
DUMPED = re.compile(r"^SELECT pg_catalog\.pg_extension_config_dump\(.*?\);\n", re.MULTILINE | re.DOTALL)
MEMBERS = re.compile(r"^ALTER EXTENSION pgmnemo (?:ADD|DROP) .*;\n", re.MULTILINE)
# CREATE EXTENSION sets these for its script, because functions call later functions. An update
# runs as the extension's owner and then returns to its caller's role; here the owner is the current role.
AS_A_SCRIPT = """\
SET LOCAL check_function_bodies = off;
SET LOCAL client_min_messages = warning;
SET LOCAL standard_conforming_strings = on;
SELECT pg_catalog.set_config('pgmnemo.upgrading_role', pg_catalog.current_setting('role'), true);
"""
MANAGED = f"""\
-- pgmnemo {{version}} for servers without access to files, by pg_tle (https://github.com/aws/pg_tle).
-- Run this as a role that has pgtle_admin, and then, as the ordinary role that shall own the extension:
--   CREATE SCHEMA pgmnemo;
--   CREATE EXTENSION pgmnemo SCHEMA pgmnemo;
-- pgvector is expected in the schema {{schema}}; for another: python3 sql/assemble.py managed SCHEMA.
SELECT pgtle.install_extension('pgmnemo', '{{version}}', '{{comment}}', {BODY}
{{script}}{BODY}, '{{{{vector}}}}');
"""
MANAGED_UPDATE = f"""\
-- pgmnemo {{former}} to {{version}} for servers without access to files, by pg_tle (https://github.com/aws/pg_tle).
-- Run this as a role that has pgtle_admin, and then, as the role that owns the extension:
--   ALTER EXTENSION pgmnemo UPDATE TO '{{version}}';
-- pgvector is expected in the schema {{schema}}; for another: python3 sql/assemble.py managed SCHEMA.
SELECT pgtle.install_update_path('pgmnemo', '{{former}}', '{{version}}', {BODY}
{{script}}{BODY});
SELECT pgtle.set_default_version('pgmnemo', '{{version}}');
"""


def extension_script(script: str, schema: str) -> str:
    """Return a script without its first line, which is for psql.

    pgvector is in `schema`, which is quoted if needed.
    """
    return script.replace(VECTOR, schema).partition("\n")[2]


def tle_install_statement(script: str, version: str, schema: str, comment: str) -> str:
    """Return the statement that registers the full script of `version` with pg_tle."""
    return MANAGED.format(
        version=version, schema=schema, comment=comment, script=extension_script(script, schema)
    )


def tle_update_statement(script: str, former: str, version: str, schema: str) -> str:
    """Return the statement that registers the script from `former` to `version` with pg_tle."""
    return MANAGED_UPDATE.format(
        former=former, version=version, schema=schema, script=extension_script(script, schema)
    )


def plain_statements(script: str, schema: str) -> str:
    """Return a script as statements for one transaction, without the parts that need an extension.

    These parts are the extension's members and its configuration for dumps. The schema pgmnemo must exist and
    belong to the role that runs the script.
    """
    return AS_A_SCRIPT + MEMBERS.sub("", DUMPED.sub("", extension_script(script, schema)))
