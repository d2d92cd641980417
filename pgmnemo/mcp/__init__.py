"""The memory over the Model Context Protocol."""
