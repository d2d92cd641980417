"""What stands around a figure: its citation, its section, and what they say."""
