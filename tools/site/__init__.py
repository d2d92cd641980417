"""Build the site: `layout` collects the pages, `reference` generates the reference, `links` checks links.

`python -m tools.site` writes build/pages, which mkdocs.yml names. `python -m tools.site llms FOLDER` writes
llms.txt and the pages' Markdown into a built site, and `check FOLDER` follows every link of it.
"""
