"""The site: pages are laid out (`layout`), the reference is made (`reference`), links followed (`links`).

`python -m tools.site` writes build/pages, which mkdocs.yml names; `python -m tools.site check FOLDER` follows
every link of a site that was built.
"""
