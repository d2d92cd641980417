"""The Python client: `Memory`, and `AsyncMemory` with the same methods."""
