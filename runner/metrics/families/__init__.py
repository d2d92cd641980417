"""Metric families: each is one file here, and one line of an edition."""
