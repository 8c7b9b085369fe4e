"""Plots of the benchmarks, drawn from the raw files of the harness.

A plot comes below the paragraph that first links to its raw file. A raw file without the figures that a plot needs, and a
page without that link, are errors: a plot never disappears unnoticed.
"""

import html
import json
import re
from pathlib import Path
from statistics import median
from typing import NamedTuple, Optional

PAGE = "docs/BENCHMARKS.md"


class Bar(NamedTuple):
    name: str
    value: float
    low: Optional[float] = None
    high: Optional[float] = None


class Plot(NamedTuple):
    file: str  # the raw file, in docs/benchmarks
    title: str
    unit: str  # and what is better
    note: str
    groups: list[tuple[str, list[Bar]]]
    link: str = ""  # the file that the page links to, if it is not the raw file itself


def number(text: str) -> float:
    return float(text.replace(",", ""))


def laps(text: str, wanted: dict[str, str], stores: dict[str, str]) -> list[tuple[str, list[Bar]]]:
    """Figures of scripts/compare-stores laps, of the first run in a file: medians, first and last decile."""
    line = re.compile(r"^(\S.*?)\s+(\d+) ns \(\s*(\d+) to\s+(\d+)\)\s.*?  (\S.*)$", re.M)
    return first(line.findall(text), wanted, stores)


def duel(text: str, wanted: dict[str, str], stores: dict[str, str], records: str) -> list[tuple[str, list[Bar]]]:
    part = text.split(f"\n{records} records", 1)[1].split("ratios of rates", 1)[0]
    line = re.compile(r"^(\S.*?)  +(bsdb packed|bsdb blocked|sparkey|cdb) +([\d.]+) \(([\d.]+) to ([\d.]+)\)", re.M)
    found = [(what, value, low, high, store) for what, store, value, low, high in line.findall(part)]
    return first(found, wanted, stores)


def first(found, wanted, stores):
    groups = []
    for what, title in wanted.items():
        bars = {}
        for name, value, low, high, store in found:
            if name == what and store in stores and store not in bars:
                bars[store] = Bar(stores[store], number(value), number(low), number(high))
        groups.append((title, [bars[store] for store in stores if store in bars]))
    return groups


def rates(text: str, keys: dict[str, str], stores: dict[str, tuple[str, str]]) -> list[tuple[str, list[Bar]]]:
    """Thousands of lookups a second of processor time, of scripts/compare-stores."""
    by_name = {entry["store"]: entry for entry in json.loads(text)["stores"]}
    groups = []
    for key, title in keys.items():
        bars = []
        for shown, (store, reads) in stores.items():
            values = [value / 1000 for value in by_name[store][reads][key]]
            bars.append(Bar(shown, median(values), min(values), max(values)))
        groups.append((title, bars))
    return groups


def table(text: str, head: str, rows: dict[str, str]) -> list[Bar]:
    """Bars from a column of a table of scripts/compare-stores: **median** (least to most)."""
    bars = []
    place = 0
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if head in cells:
            place = cells.index(head)
        elif place and cells[0] in rows:
            figures = re.findall(r"[\d,.]*\d", cells[place])
            bars.append(Bar(rows[cells[0]], *[number(figure) for figure in figures]))
    return bars


def column(text: str, pattern: str, names: dict[str, str]) -> list[Bar]:
    """Bars from lines of a name and figures: the pattern has groups for a value and perhaps for its range."""
    bars = []
    for name, shown in names.items():
        found = re.search(rf"^{re.escape(name)}\s+{pattern}", text, re.M)
        if found:
            bars.append(Bar(shown, *[number(group) for group in found.groups() if group is not None]))
    return bars


def pairs(text: str, kinds: dict[str, str]) -> list[tuple[str, list[Bar]]]:
    """Commands per second of scripts/compare-redis, of the last run with processor times."""
    groups = []
    for kind, title in kinds.items():
        found = re.findall(rf"^{re.escape(kind)} +redis (\d+)/s .*?, bsdb (\d+)/s ", text, re.M)
        bars = []
        for name, values in zip(("bsdb", "Redis"), ([int(b) / 1000 for _, b in found], [int(a) / 1000 for a, _ in found])):
            if values:
                bars.append(Bar(name, median(values), min(values), max(values)))
        groups.append((title, bars))
    return groups


def values(text: str) -> list[tuple[str, list[Bar]]]:
    """Lookups per second of long values from the device: medians of the rounds."""
    part = text.split("present keys\n", 1)[1]
    found: dict[tuple[int, str], list[float]] = {}
    for line in part.strip().splitlines():
        match = re.fullmatch(r"\d+ (\d+) (blocked|packed) (\d+)", line.strip())
        if not match:
            break
        found.setdefault((int(match.group(1)), match.group(2)), []).append(int(match.group(3)))
    groups = []
    for length in sorted({length for length, _ in found}):
        bars = [Bar(name, median(found[length, name]), min(found[length, name]), max(found[length, name])) for name in ("packed", "blocked")]
        groups.append((f"values of {length:,} bytes", bars))
    return groups


def plots(root: Path) -> list[Plot]:
    def raw(name: str) -> str:
        return (root / "docs" / "benchmarks" / name).read_text(encoding="utf-8")

    lookups = {"single, present": "single, present keys", "single, half absent": "single, half absent"}
    deciles = "Lines: first to last decile."
    span = "Lines: least to most."
    parquet = raw("parquet-jdk25.txt")
    merge = raw("merge.txt")
    served = raw("http-jdk25.txt")
    native = raw("native.txt")
    ranged = r"(\d+)\s+\((\d+) to (\d+)\)"
    return [
        Plot(
            "10m-jdk25-huge-pages.json",
            "Lookups of 10 million records",
            "thousands per second of processor time; more is better",
            span,
            rates(
                raw("10m-jdk25-huge-pages.json"),
                {"present.cpu.rate": "present keys", "absent.cpu.rate": "absent keys", "present.2.cpu.rate": "present keys, two threads"},
                {
                    "bsdb, blocked": ("bsdb blocked", "read mapped"),
                    "bsdb, approximate": ("bsdb approximate", "read mapped"),
                    "Sparkey": ("sparkey", "read"),
                    "tinycdb (C)": ("tinycdb (C)", "read"),
                },
            ),
            "10m-jdk25-huge-pages.md",
        ),
        Plot(
            "packed-jdk25.txt",
            "The packed layout, 10 million records",
            "nanoseconds a key; less is better",
            deciles,
            laps(
                raw("packed-jdk25.txt"),
                {**lookups, "two threads, present": "two threads, present keys", "batches of 256": "batches of 256 keys"},
                {"mapped:./packed": "bsdb, packed", "mapped:./blocked": "bsdb, blocked", "sparkey:./sparkey": "Sparkey", "cdb:./cdb": "cdb"},
            ),
        ),
        Plot(
            "duel-jdk25.txt",
            "The duel, 10 million records",
            "nanoseconds a key; less is better",
            deciles,
            duel(
                raw("duel-jdk25.txt"),
                {**lookups, "in place, present": "in place, present keys", "batches of 256": "batches of 256 keys"},
                {"bsdb packed": "bsdb, packed", "bsdb blocked": "bsdb, blocked", "sparkey": "Sparkey", "cdb": "cdb"},
                "10,000,000",
            ),
        ),
        Plot(
            "long-values-jdk25.txt",
            "Long values from the device",
            "lookups per second; more is better",
            span,
            values(raw("long-values-jdk25.txt")),
        ),
        Plot(
            "shards-jdk25.txt",
            "8 shards beside one database, blocked",
            "nanoseconds a key; less is better",
            deciles,
            laps(
                raw("shards-jdk25.txt"),
                {**lookups, "batches of 256": "batches of 256 keys", "two threads, present": "two threads, present keys"},
                {"mapped:one": "undivided", "mapped:eight": "8 shards"},
            ),
        ),
        Plot(
            "http-jdk25.txt",
            "Over HTTP, one core",
            "thousands of requests per second; more is better",
            "",
            [
                (title, [bar._replace(value=bar.value / 1000) for bar in column(served, r"(\d+)", names)])
                for title, names in {
                    "plain": {"bsdb, one key": "bsdb, one key", "bsdb, random keys": "bsdb, random keys", "bare Netty, one answer": "bare Netty", "nginx, one file": "nginx, one file"},
                    "with TLS": {"bsdb with TLS, one key": "bsdb, one key", "bare Netty with TLS, one answer": "bare Netty", "nginx with TLS, one file": "nginx, one file"},
                }.items()
            ],
        ),
        Plot(
            "parquet-jdk25.txt",
            "From Parquet, 10 million rows",
            "seconds; less is better",
            span,
            [
                (
                    "the whole build, and reading the file alone",
                    column(
                        parquet,
                        r"([\d.]+)\s+([\d.]+)\s+([\d.]+)",
                        {
                            "bsdb build-parquet": "bsdb, build",
                            "pyarrow, into a table": "pyarrow, read",
                            "DuckDB, into Arrow": "DuckDB, read",
                        },
                    ),
                )
            ],
        ),
        Plot(
            "merge.txt",
            "1 % of 10 million records changed",
            "seconds; less is better",
            span,
            [
                (
                    "on Java 25",
                    column(
                        merge,
                        r"([\d.]+) s \(([\d.]+) to ([\d.]+)\)",
                        {"build": "build anew", "merge": "merge", "copy": "copy", "publish": "publish"},
                    ),
                )
            ],
        ),
        Plot(
            "ranges-jdk25.txt",
            "Ranges of 100 records",
            "nanoseconds a record; less is better",
            deciles,
            laps(
                raw("ranges-jdk25.txt"),
                {"ranges of 100": "keys and values", "keys of ranges of 100": "keys alone"},
                {"bsdb ordered": "bsdb, ordered", "bsdb packed ordered": "bsdb, packed", "lmdb": "LMDB", "rocksdb": "RocksDB"},
            ),
        ),
        Plot(
            "redis-jdk25.txt",
            "Beside Redis, a million records",
            "thousands of commands per second; more is better",
            span,
            pairs(
                raw("redis-jdk25.txt"),
                {"GET": "GET", "GET -P 16": "GET, 16 in a pipeline", "GET -P 64": "GET, 64 in a pipeline", "MGET 100": "MGET of 100 keys"},
            ),
        ),
        Plot(
            "native.txt",
            "From Rust, Java and Python",
            "nanoseconds a key; less is better",
            span,
            [
                (
                    "single lookups",
                    column(
                        native,
                        ranged,
                        {
                            "Rust find": "bsdb, Rust",
                            "Java SyncReader": "bsdb, Java",
                            "Python bsdb db[k]": "bsdb, Python",
                            "cdb": "cdb",
                            "Python lmdb get": "LMDB, Python",
                            "Python rocksdict db[k]": "RocksDB, Python",
                        },
                    ),
                ),
                (
                    "batches",
                    column(
                        native,
                        ranged,
                        {
                            "Rust find_many(256)": "bsdb, Rust",
                            "Java LookupBatch(256)": "bsdb, Java",
                            "Python bsdb get_many(1000)": "bsdb, Python",
                            "Python lmdb getmulti(1000)": "LMDB, Python",
                            "Python rocksdict db[1000 keys]": "RocksDB, Python",
                        },
                    ),
                ),
            ],
        ),
        Plot(
            "dictionary-jdk17.md",
            "ZSTD: definitions of a dictionary",
            "thousands of lookups per second; more is better",
            span,
            [
                (
                    "present keys, one thread",
                    table(
                        raw("dictionary-jdk17.md"),
                        "Present keys, 1 thread",
                        {
                            "bsdb zstd, mapped": "bsdb",
                            "rocksdb zstd, cache 4 GiB": "RocksDB, all cached",
                            "rocksdb zstd, cache 8 MiB": "RocksDB, 8 MiB",
                            "sparkey zstd": "Sparkey",
                        },
                    ),
                )
            ],
        ),
    ]


def insert(markdown: str, source: str, root: Path) -> str:
    """The page with its plots."""
    if source != PAGE:
        return markdown
    lines = markdown.split("\n")
    for plot in plots(root):
        for title, bars in plot.groups:
            if not bars:
                raise ValueError(f"docs/benchmarks/{plot.file} has no figures of: {title}")
        link = f"](benchmarks/{plot.link or plot.file})"
        at = next((place for place, line in enumerate(lines) if link in line), None)
        if at is None:
            raise ValueError(f"{PAGE} does not link to benchmarks/{plot.link or plot.file}")
        while at < len(lines) and lines[at].strip():
            at += 1
        lines[at:at] = ["", draw(plot), ""]
    return "\n".join(lines)


WIDTH, LABEL, VALUE, ROW, HEAD = 480, 150, 56, 24, 26


def shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 20 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def draw(plot: Plot) -> str:
    """A figure with a bar for each value, on one line, as Markdown needs it."""
    most = max(max(bar.value, bar.high or 0) for _, bars in plot.groups for bar in bars)
    scale = (WIDTH - LABEL - VALUE) / most
    several = len(plot.groups) > 1 or plot.groups[0][0]
    parts, y = [], 0
    for title, bars in plot.groups:
        if several:
            parts.append(f'<text class="group" x="0" y="{y + 18}">{html.escape(title)}</text>')
            y += HEAD
        for bar in bars:
            middle = y + ROW / 2
            own = "own" if bar.name.startswith(("bsdb", "packed", "8 shards", "merge")) else "other"
            parts.append(f'<text x="{LABEL - 8}" y="{middle + 5}" text-anchor="end">{html.escape(bar.name)}</text>')
            parts.append(f'<rect class="{own}" x="{LABEL}" y="{y + 4}" width="{bar.value * scale:.1f}" height="{ROW - 8}"/>')
            end = bar.value
            if bar.low is not None and bar.high is not None:
                parts.append(
                    f'<path class="range" d="M{LABEL + bar.low * scale:.1f} {middle}H{LABEL + bar.high * scale:.1f}"/>'
                )
                end = max(end, bar.high)
            parts.append(f'<text class="value" x="{LABEL + end * scale + 6:.1f}" y="{middle + 5}">{shown(bar.value)}</text>')
            y += ROW
        y += 6
    label = "; ".join(f"{title}: " + ", ".join(f"{bar.name} {shown(bar.value)}" for bar in bars) for title, bars in plot.groups)
    caption = f"<strong>{html.escape(plot.title)}</strong>, {html.escape(plot.unit)}. {plot.note}".strip()
    return (
        f'<figure class="bsdb-plot"><figcaption>{caption}</figcaption>'
        f'<svg viewBox="0 0 {WIDTH} {y}" role="img" aria-label="{html.escape(label)}">{"".join(parts)}</svg></figure>'
    )
