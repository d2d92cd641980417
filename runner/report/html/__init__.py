"""report.html, the report that people look at; report.md is the one that they read."""

from runner.report.html.page import PAGE, TEMPLATE, CorpusTexts, PageComparison, page_template, render_page

__all__ = ["PAGE", "TEMPLATE", "CorpusTexts", "PageComparison", "page_template", "render_page"]
