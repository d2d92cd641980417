"""report.html, the report with plots; report.md is the report as text."""

from runner.report.html.page import PAGE, TEMPLATE, CorpusTexts, PageComparison, page_template, render_page

__all__ = ["PAGE", "TEMPLATE", "CorpusTexts", "PageComparison", "page_template", "render_page"]
