"""Metric families: each is one record in FAMILIES of a file here, and one line of an edition."""
