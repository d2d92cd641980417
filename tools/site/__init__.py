"""Build the site: `layout` collects the pages, `reference` generates the reference, `links` checks links.

`python -m tools.site` writes build/pages, which mkdocs.yml names; `python -m tools.site check FOLDER` follows
every link of a built site.
"""
