"""`python -m tools.site.score` draws docs/explanation/score.svg from the table of lessons beside it."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "score.md"
PICTURE = PAGE.with_suffix(".svg")
LIGHT = ("#3b6ea5", "#1d7268", "#b8862b", "#8a6fa8", "#a85d4a", "#7b8786")
DARK = ("#7fa8d6", "#79c7bb", "#dcb266", "#bba3d6", "#d99684", "#9aa5a4")
LEFT, WIDTH, ROW, BAR = 86, 640, 46, 26


def bars(text: str) -> tuple[list[str], dict[str, list[float]]]:
    """Return the components of the score in the table of lessons, and their values for each lesson."""
    head, _, *rows = text.partition("| Lesson |")[2].partition("\n\n")[0].strip().splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    parts = [cell.strip() for cell in head.strip("|").split("|")]
    return parts, {row[0]: [*map(float, row[1:])] for row in cells}


def drawn(text: str) -> str:
    """Return the SVG picture of a page's table of lessons."""
    parts, lessons = bars(text)
    unit = WIDTH / max(map(sum, lessons.values()))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 {ROW * len(lessons) + 62}" role="img">',
        "<title>What each lesson's score is made of</title>",
        "<style>text { font: 14px system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #23292c; }",
        ".small { font-size: 12.5px; fill: #56605f; } .end { text-anchor: end; }",
        *(f".p{place} {{ fill: {colour}; }}" for place, colour in enumerate(LIGHT)),
        "@media (prefers-color-scheme: dark) { text { fill: #dde3e2; } .small { fill: #a3adac; }",
        *(f".p{place} {{ fill: {colour}; }}" for place, colour in enumerate(DARK)),
        "}</style>",
    ]
    for row, (name, shares) in enumerate(lessons.items()):
        top, start = 10 + row * ROW, float(LEFT)
        lines.append(f'<text class="end" x="{LEFT - 12}" y="{top + 18}">{name}</text>')
        for place, share in enumerate(shares):
            if share:
                box = f'x="{start:.1f}" y="{top}" width="{share * unit - 1:.1f}" height="{BAR}"'
                lines.append(f'<rect class="p{place}" {box}/>')
                start += share * unit
        lines.append(f'<text x="{start + 8:.1f}" y="{top + 18}">{sum(shares):.1f}</text>')
    at, top = float(LEFT), ROW * len(lessons) + 36
    for place, part in enumerate(parts):
        lines.append(f'<rect class="p{place}" x="{at:.0f}" y="{top - 11}" width="12" height="12"/>')
        lines.append(f'<text class="small" x="{at + 18:.0f}" y="{top}">{part.lower()}</text>')
        at += 44 + 6.7 * len(part)
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(drawn(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
