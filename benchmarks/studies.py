#!/usr/bin/env python3
"""Puts the pages of studies that were run into docs/studies.

    benchmarks/studies.py results/commit-logs-20261122T140200Z-1f2e3d4c …

takes study.md and the charts of each directory, and writes the table of all pages
that are there, docs/studies/README.md, from what the pages say of themselves. A study
with trials that were not made is refused.
"""

import os
import re
import shutil
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGES = os.path.join(ROOT, "docs", "studies")
# The pages are a showcase, and part of each clone.
MOST = 2 << 20

HEAD = """# Studies that were run

What the [studies](../studies.md) came to on one machine, as the command wrote it:
tables and charts with the originals' figures beside them, and each conclusion with
what it rests on. Raw results are not kept here: each page ends with the versions and
the machine, and its command makes another.

**On two processors, which the broker and the generator share**: the figures are of
both together, and another machine has others.

| study | question | when | trials | agrees | disagrees | undecided | command | changed since |
|---|---|---|--:|--:|--:|--:|---|---|
"""

TAIL = """
A conclusion that is *undecided* is so for a reason that its page gives: too few rounds
of one mind, a figure that its sample does not support, or a run that was overloaded.
Where a study has changed since its page was made, the page and the last column say what of it no longer stands.

`benchmarks/studies.py` writes this table, and takes the pages from the directories of
runs.
"""


def take(directory):
    """Copies the page of one study."""
    name = re.sub(r"-\d{8}T\d{6}Z-[0-9a-f]+$", "", os.path.basename(os.path.normpath(directory)))
    with open(os.path.join(directory, "study.md"), encoding="utf-8") as f:
        page = f.read()
    # A trial that failed is told: some of what the originals did, no broker of today does.
    if re.search(r"^> \*\*INCOMPLETE\*\*: .*not made yet", page, re.M):
        sys.exit(f"{directory}: trials are missing; go on with --resume first")
    charts = os.path.join(PAGES, name)
    shutil.rmtree(charts, ignore_errors=True)
    os.makedirs(charts)
    for chart in re.findall(r"\]\(charts/([^)]+)\)", page):
        shutil.copy(os.path.join(directory, "charts", chart), charts)
    with open(os.path.join(PAGES, name + ".md"), "w", encoding="utf-8") as f:
        f.write(page.replace("](charts/", f"]({name}/"))


def row(name):
    """The row of one page in the table."""
    with open(os.path.join(PAGES, name + ".md"), encoding="utf-8") as f:
        page = f.read()

    def find(pattern):
        found = re.search(pattern, page, re.M)
        if not found:
            sys.exit(f"docs/studies/{name}.md: nothing in it is like {pattern}")
        return found.groups()

    (title,) = find(r"^# (.+)$")
    (question,) = find(r"^\*\*(.+\?)\*\*$")
    length, made, day = find(r"^length (\w+) · (\d+) of \d+ trials(?: · [\d,]+ more not needed)? · (\d{4}-\d{2}-\d{2}) ")
    agrees, disagrees, open_ = find(r"^\d+ conclusions: (\d+) agreed with, (\d+) disagreed with, (\d+) not decidable here")
    decided = f"{agrees} | {disagrees} | {open_}"
    if void := re.search(r"^> \*\*VERDICTS DO NOT STAND\*\*: (.+)$", page, re.M):
        decided = f"– | – | verdicts do not stand: {void.group(1)}"
    since = re.search(r"^> \*\*DESIGN CHANGED SINCE\*\*: (.+)$", page, re.M)
    (command,) = find(r"^## How to repeat it\n(?:.*\n)*?```\w*\n(.+)\n```")
    return f"| [{title}]({name}.md) | {question} | {day} | {made} | {decided} | `{command}` | {since.group(1) if since else ''} |\n"


def main():
    os.makedirs(PAGES, exist_ok=True)
    for directory in sys.argv[1:]:
        take(directory)
    names = sorted(p[:-3] for p in os.listdir(PAGES) if p.endswith(".md") and p != "README.md")
    table = "".join(map(row, names))
    with open(os.path.join(PAGES, "README.md"), "w", encoding="utf-8") as f:
        f.write(HEAD + table + TAIL)
    size = sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(PAGES) for f in files)
    print(f"{len(names)} pages, {size >> 10} KiB")
    if size > MOST:
        sys.exit(f"that is more than {MOST >> 20} MiB")


if __name__ == "__main__":
    main()
