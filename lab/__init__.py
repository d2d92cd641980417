"""The laboratory: what maintainers run, in no wheel (`python -m lab`)."""
