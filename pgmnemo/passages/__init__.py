"""How a text is cut into passages (`windows`), and passages for lessons that have none (`adding`).

The second joins a database and an embedder (`python -m runner passages`), for lessons of an upgraded
database.
"""
