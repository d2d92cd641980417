"""A run on disk: its record, its folder, its reader and its writer."""
