"""The commands over finished runs, corpora and databases, one package or file each."""
