"""The laboratory: commands for maintainers, in no wheel (`python -m lab`)."""
