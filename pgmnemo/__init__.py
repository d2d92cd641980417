"""Agent memory in PostgreSQL: what the client, the benchmark and the shards share.

`server` finds, starts and prepares a PostgreSQL with the extension, `embedders` and `models` turn texts into
vectors, `passages` cuts texts, `calls` holds each verb of the extension once. Nothing here imports the runner
or the shards; importing the package is cheap.
"""
