"""The document: its blocks, lists and tables, and the figures that stand in them."""
