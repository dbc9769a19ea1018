#!/usr/bin/env python3
"""Draws docs/suite.svg: issue slots and power of the suite, from `warpwatt run NAME --json` outputs.

Usage: for w in backprop bfs …; do warpwatt run $w --json > $w.json; done; suite-picture.py *.json > docs/suite.svg
"""
import json
import sys

GROUPS = {
    "execution units": ["int", "fp", "sfu", "ldst"],
    "register file, collectors": ["register-file", "collectors", "pipeline"],
    "front end": ["fetch", "decode", "instruction-buffer", "scheduler"],
    "shared memory, L1s": ["shared", "l1-data", "constant-texture"],
    "L2, crossbar": ["l2", "noc"],
    "controllers, DRAM": ["memory-controllers", "dram"],
    "other": ["undifferentiated", "other", "clock"],
}
SLOTS = [
    ("issued", "#3b7a57"), ("arithmetic_dependency", "#e0b040"), ("execution_port_busy", "#c98a2b"),
    ("load_store_port_busy", "#b4532a"), ("memory_dependency", "#8c2f39"), ("instruction_fetch", "#5b6aa8"),
    ("barrier", "#8d6fb0"), ("fence_or_atomic_order", "#5a3e7a"), ("draining", "#9aa5ad"), ("no_warp", "#d5dade"),
]
POWER = ["#8c2f39", "#c98a2b", "#5b6aa8", "#3b7a57", "#6fa8a0", "#8d6fb0", "#9aa5ad"]
LEFT, BAR, ROW, TOP = 112, 320, 19, 46

runs = []
for path in sys.argv[1:]:
    with open(path) as f:
        d = json.load(f)
    runs.append((d["inputs"]["program"]["name"], d["totals"], d["power"]["total"]))
runs.sort(key=lambda r: r[0].lower())
height = TOP + ROW * len(runs) + 86
out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 {height}" font-family="sans-serif" font-size="12">',
       f'<rect width="960" height="{height}" fill="white"/>',
       f'<text x="{LEFT}" y="22" font-size="14">Where the issue slots went</text>',
       '<text x="560" y="22" font-size="14">Average power, W</text>']
most = max(r[2]["watts"]["average"] for r in runs) if runs else 1


def bars(x, y, parts, scale):
    for value, colour, title in parts:
        if value * scale > 0.2:
            out.append(f'<rect x="{x:.1f}" y="{y}" width="{value * scale:.1f}" height="13" fill="{colour}">'
                       f'<title>{title}</title></rect>')
        x += value * scale
    return x


for i, (name, totals, power) in enumerate(runs):
    y = TOP + ROW * i
    out.append(f'<text x="{LEFT - 8}" y="{y + 11}" text-anchor="end">{name}</text>')
    total = sum(v for k, v in totals.items() if k.startswith("slots_") and k != "slots_total")
    bars(LEFT, y, [(totals["slots_" + k] / total, c, k.replace("_", " ")) for k, c in SLOTS], BAR)
    watts = {c["component"]: c["watts"]["average"] for c in power["components"]}
    parts = [(sum(watts.get(c, 0) for c in members), colour, group)
             for (group, members), colour in zip(GROUPS.items(), POWER)]
    end = bars(560, y, parts, BAR / most)
    out.append(f'<text x="{end + 5:.1f}" y="{y + 11}">{power["watts"]["average"]:.0f}</text>')
for x, items in ((20, [(k.replace("_", " "), c) for k, c in SLOTS]), (560, list(zip(GROUPS, POWER)))):
    for i, (label, colour) in enumerate(items):
        column, row = i % 3, i // 3
        px, py = x + column * (165 if x == 20 else 138), TOP + ROW * len(runs) + 14 + row * 17
        out.append(f'<rect x="{px}" y="{py}" width="10" height="10" fill="{colour}"/>'
                   f'<text x="{px + 14}" y="{py + 9}" font-size="10.5">{label}</text>')
print("\n".join(out + ["</svg>"]))
