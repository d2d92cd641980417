"""The memory as programs open it: `Memory`, and `AsyncMemory` with the same verbs."""
