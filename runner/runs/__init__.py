"""A run on the disk: one record, one folder, one reader, one writer."""
