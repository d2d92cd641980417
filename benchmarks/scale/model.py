"""On paper: 10^6 tenants and 10^9 lessons, from measured constants; and a plot of the latencies.

python benchmarks/scale/model.py benchmarks/scale/figures.json benchmarks/scale/latency.svg
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

TENANTS, LESSONS = 10**6, 10**9
DISK = 10**12  # bytes of lessons and indexes that one shard is given
CLIENTS = 2000  # connections of applications to the router
MOVED = 0.1  # share of the tenants that a new shard takes over


def model(figures: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return rows of the table: what, how much, out of what."""
    made = figures["constants"]
    size = LESSONS * made["bytes_a_lesson"]
    shards = -(-size // DISK)
    directory = TENANTS * made["directory"]["bytes_a_tenant"]
    look = made["directory"]["look_ms"]
    connections = CLIENTS * shards
    router = CLIENTS * made["router_backend_bytes"]
    each = CLIENTS * made["shard_backend_bytes"]
    move = made["move"]
    rate = move["lessons"] / (move["copy_s"] + move["writers_held_s"])
    held = LESSONS / TENANTS / move["lessons"] * move["writers_held_s"]
    hours = LESSONS * MOVED / rate / 3600
    return [
        ("lessons on disk", f"{size / 1e12:,.1f} TB", f"{made['bytes_a_lesson']:,} bytes a lesson"),
        ("shards", f"{shards:,}", f"{DISK / 1e12:,.0f} TB each"),
        ("directory", f"{directory / 1e6:,.0f} MB", f"{made['directory']['bytes_a_tenant']} bytes a tenant"),
        ("finding a tenant", f"{look['p50']:.2f} ms (p95 {look['p95']:.2f})",
         f"measured with {made['directory']['tenants']:,} tenants, call and answer included"),
        ("connections to each shard", f"{CLIENTS:,}", "one for each router process that ever asked it"),
        ("connections from the router", f"{connections:,}", f"{CLIENTS:,} clients, each on every shard"),
        ("memory of the router's processes", f"{router / 1e9:,.0f} GB",
         f"{made['router_backend_bytes'] / 1e6:.1f} MB each, private, with three shards connected"),
        ("memory of one shard's processes", f"{each / 1e9:,.0f} GB",
         f"{made['shard_backend_bytes'] / 1e6:.1f} MB each, private"),
        ("moving a tenth of the tenants", f"{hours:,.0f} h by one mover", f"{rate:,.0f} lessons a second"),
        ("writers of a tenant held", f"{held:,.2f} s", f"{LESSONS // TENANTS:,} lessons a tenant"),
    ]  # fmt: skip


def plot(figures: dict[str, Any], output: Path) -> None:
    """p50 and p95 of recall and store, direct and routed, by number of shards."""
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), sharex=True)
    for panel, verb in zip(panels, ("recall", "store"), strict=True):
        for side, colour in (("direct", "#4c72b0"), ("routed", "#dd8452")):
            shards = sorted(map(int, figures["shards"]))
            rows = [figures["shards"][str(number)][verb][side] for number in shards]
            panel.plot(shards, [row["p50"] for row in rows], color=colour, marker="o", label=f"{side}, p50")
            panel.plot(shards, [row["p95"] for row in rows], color=colour, marker="^", linestyle=":",
                       label=f"{side}, p95")  # fmt: skip
        panel.set_title(f"{verb}, n = {rows[0]['n']} a point")
        panel.set_xticks(shards)
        panel.set_xlabel("shards")
        panel.set_ylabel("ms, one client")
        panel.set_ylim(bottom=0)
        panel.grid(alpha=0.3)
    panels[0].legend()
    figure.tight_layout()
    figure.savefig(output, metadata={"Date": None})


def table(figures: dict[str, Any]) -> str:
    """Return both tables in Markdown: what was measured, and the model."""
    lines = [
        "| Shards | | direct p50 / p95 | routed p50 / p95 | more by the router, p50 |",
        "|---|---|---:|---:|---:|",
    ]
    for number, found in figures["shards"].items():
        for verb in ("recall", "store"):
            direct, routed = found[verb]["direct"], found[verb]["routed"]
            lines.append(
                f"| {number} | {verb} | {direct['p50']:.1f} / {direct['p95']:.1f} ms "
                f"| {routed['p50']:.1f} / {routed['p95']:.1f} ms | {routed['p50'] - direct['p50']:+.1f} ms |"
            )
    lines += ["", "| Shards | recalls a second, direct | routed |", "|---|---:|---:|"]
    for number, found in figures["shards"].items():
        rate = found["recalls_a_second"]
        lines.append(f"| {number} | {rate['direct']:,.0f} | {rate['routed']:,.0f} |")
    lines += ["", "| 10^6 tenants, 10^9 lessons | On paper | From |", "|---|---:|---|"]
    lines += [f"| {what} | {much} | {why} |" for what, much, why in model(figures)]
    return "\n".join(lines)


if __name__ == "__main__":
    read = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    print(table(read))
    plot(read, Path(sys.argv[2]))
