#!/usr/bin/env python3
"""Writes Parquet files with several writers, and conditions with the rows for which DuckDB says that they are true.

    pip install pyarrow==26.0.1 duckdb==2.0.1 polars==2.1.0
    build-support/where-fixtures.py

Each file bsdb-tools/src/test/resources/where/*.parquet, and the folder of DuckDB's files, has the same rows, whose ids
count from 0, in row groups of 40 rows; conditions.jsonl.gz has one condition a line: {"where": CONDITION, "ids": ROWS}, where bit i of the hexadecimal
ROWS is row i. DuckDB evaluates them on a table in memory, so that no file and none of its statistics matter.
"""

import datetime
import decimal
import gzip
import json
import math
import os
import random

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bsdb-tools/src/test/resources/where")
ROWS = 400
GROUP = 40
CONDITIONS = 1500
D = decimal.Decimal
UTC = datetime.timezone.utc
R = random.Random(20260101)

LONG = "a common prefix that is longer than statistics are, since writers cut them after 64 bytes or so: "


def maybe(value, share=0.1):
    return None if R.random() < share else value


def real(i):
    return R.choice([0.0, -0.0, math.nan, math.inf, -math.inf, 0.1, -1.5, 2.0**53]) if R.random() < 0.3 else float(i) / 4


def clustered(i):
    return i // 7 - 20


WORDS = ["", "fr", "de", "en", "es", "Fr", "é", "\uff5e", "\U0001f600", "zz", "a%b", "a_b", "it's"]


def rows():
    for i in range(ROWS):
        no_nan = i % 80 < 40
        f = real(i)
        if no_nan and math.isnan(f):
            f = float(i)
        yield {
            "id": i,
            "b": maybe(R.random() < 0.5 if i % 120 < 60 else i % 240 < 120),
            "i8": maybe(R.randrange(-128, 128)),
            "u8": maybe(R.randrange(256)),
            "i32": maybe(clustered(i)),
            "u32": maybe(R.choice([0, 1, 2**31 - 1, 2**31, 2**32 - 1, i * 10_000_000])),
            "i64": maybe(R.choice([0, -1, 2**53 + 1, 2**53, 2**63 - 1, -(2**63), clustered(i) * 10**12])),
            "u64": maybe(R.choice([0, 1, 2**63 - 1, 2**63, 2**64 - 1, i * 10**16])),
            "f32": maybe(f),
            "f64": maybe(f),
            "d9": maybe(D(clustered(i)).scaleb(-2)),
            "d18": maybe(D(R.randrange(-(10**17), 10**17)).scaleb(-4)),
            "d38": maybe(D(clustered(i) * 10**30 + R.randrange(10)).scaleb(-6)),
            "word": maybe(WORDS[(i // 40) % len(WORDS)] if R.random() < 0.8 else R.choice(WORDS)),
            "text": maybe(LONG + f"{clustered(i) + 20:03}" + R.choice(["", "x", "é"])),
            "bin": maybe(bytes([i // 2 % 256, R.randrange(3)])),
            "day": maybe(datetime.date(1969, 12, 1) + datetime.timedelta(clustered(i))),
            "at_ms": maybe(datetime.datetime(1969, 12, 31, 23, 59, 59, 999000) + datetime.timedelta(milliseconds=i - 200)),
            "at_us": maybe(datetime.datetime(2026, 1, 1) + datetime.timedelta(microseconds=i * 500)),
            "zoned": maybe(datetime.datetime(2026, 1, 1, tzinfo=UTC) + datetime.timedelta(hours=clustered(i))),
            "time": maybe((datetime.datetime(2026, 1, 1) + datetime.timedelta(minutes=3 * i)).time()),
            "sparse": i if i % 160 == 0 else None,
            "s": None if i % 11 == 0 else {"n": maybe(i % 50), "t": maybe(WORDS[i % len(WORDS)])},
            "tags": [i, i + 1][: i % 3],
        }


TYPES = {
    "id": pa.int64(),
    "b": pa.bool_(),
    "i8": pa.int8(),
    "u8": pa.uint8(),
    "i32": pa.int32(),
    "u32": pa.uint32(),
    "i64": pa.int64(),
    "u64": pa.uint64(),
    "f32": pa.float32(),
    "f64": pa.float64(),
    "d9": pa.decimal128(9, 2),
    "d18": pa.decimal128(18, 4),
    "d38": pa.decimal128(38, 6),
    "word": pa.string(),
    "text": pa.string(),
    "bin": pa.binary(),
    "day": pa.date32(),
    "at_ms": pa.timestamp("ms"),
    "at_us": pa.timestamp("us"),
    "zoned": pa.timestamp("us", tz="UTC"),
    "time": pa.time64("us"),
    "sparse": pa.int64(),
    "s": pa.struct([("n", pa.int32()), ("t", pa.string())]),
    "tags": pa.list_(pa.int64()),
}

# ---- conditions: each is a pair of texts, as bsdb and as DuckDB read them ----------------------------------------------

COLUMNS = [c for c in TYPES if c not in ("id", "s", "tags")] + ["s.n", "s.t"]
OPERATORS = ["=", "<>", "<", "<=", ">", ">=", "!=", "=="]
REALS = {"f32": "FLOAT", "f64": "DOUBLE"}
EXACT = {"i8", "u8", "i32", "u32", "i64", "u64", "d9", "d18", "d38", "sparse", "s.n"}


def value(table, column):
    """A value of the column, or one near it."""
    values = [
        (row[column] if "." not in column else (row["s"] or {}).get(column[2:]))
        for row in table
    ]
    return R.choice([v for v in values if v is not None])


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def literal(table, column):
    v = value(table, column)
    if column in EXACT:
        v = D(v) + R.choice([0, 0, 0, 1, -1, D("0.5"), D("-0.001")])
        return format(v, "f"), f"CAST('{format(v, 'f')}' AS DECIMAL(38,6))"
    if column in REALS:
        if math.isnan(v) or math.isinf(v):
            name = "NaN" if math.isnan(v) else "Infinity" if v > 0 else "-Infinity"
            return quoted(name), f"'{name}'::{REALS[column]}"
        v = v + R.choice([0, 0, 0.25])
        return repr(v), f"'{v!r}'::{REALS[column]}"
    if column == "b":
        return str(v).upper(), str(v).upper()
    if column == "bin":
        v = v + R.choice([b"", b"", b"\0"])
        return f"X'{v.hex()}'", f"from_hex('{v.hex()}')"
    if column == "day":
        v = v + datetime.timedelta(R.choice([0, 0, 1]))
        return f"DATE '{v}'", f"DATE '{v}'"
    if column == "time":
        return f"TIME '{v}'", f"TIME '{v}'"
    if column == "zoned":
        v = v + datetime.timedelta(minutes=R.choice([0, 0, 30]))
        here = v.astimezone(datetime.timezone(datetime.timedelta(hours=R.choice([0, 2, -5]))))
        text = here.isoformat(sep=" ")
        return f"TIMESTAMP '{text}'", f"TIMESTAMPTZ '{text}'"
    if column.startswith("at_"):
        v = v + datetime.timedelta(microseconds=R.choice([0, 0, 1]))
        text = v.isoformat(sep=R.choice(" T"))
        return f"TIMESTAMP '{text}'", f"TIMESTAMP '{text}'"
    v = R.choice([v, v, v[:-1], v + "a"])
    return quoted(v), quoted(v)


def name(column):
    theirs = column
    if column in EXACT:
        theirs = f"CAST({column} AS DECIMAL(38,6))"
    ours = R.choice([column, column, ".".join(f'"{part}"' for part in column.split("."))])
    return ours, theirs


def pattern(table, column):
    text = list(value(table, column))
    for _ in range(R.randrange(1, 4)):
        if text:
            text[R.randrange(len(text))] = R.choice("%_")
    text = text + R.choice([[], ["%"]])
    if R.random() < 0.4:
        cut = R.randrange(len(text) + 1)
        text = text[:cut] + ["%"]
    return quoted("".join(text))


def leaf(table):
    column = R.choice(COLUMNS)
    ours, theirs = name(column)
    kind = R.random()
    if column == "b" and kind < 0.3:
        return column, column
    if kind < 0.15:
        test = R.choice([" IS NULL", " IS NOT NULL", " is not null"])
        return ours + test, column + test
    if kind < 0.3:
        constants = [literal(table, column) for _ in range(R.randrange(1, 5))]
        word = R.choice([" IN ", " NOT IN "])
        return (
            ours + word + "(" + ", ".join(c[0] for c in constants) + ")",
            theirs + word + "(" + ", ".join(c[1] for c in constants) + ")",
        )
    if kind < 0.45 and column in ("word", "text", "s.t"):
        test = R.choice([" LIKE ", " NOT LIKE "]) + pattern(table, column)
        return ours + test, theirs + test
    if kind < 0.55:
        a, b = literal(table, column), literal(table, column)
        word = R.choice([" BETWEEN ", " NOT BETWEEN "])
        return ours + word + a[0] + " AND " + b[0], theirs + word + a[1] + " AND " + b[1]
    constant = literal(table, column)
    operator = R.choice(OPERATORS)
    if R.random() < 0.1:
        return f"{constant[0]} {operator} {ours}", f"{constant[1]} {operator} {theirs}"
    return f"{ours} {operator} {constant[0]}", f"{theirs} {operator} {constant[1]}"


def condition(table, depth):
    if depth == 0 or R.random() < 0.3:
        return leaf(table)
    kind = R.random()
    if kind < 0.2:
        ours, theirs = condition(table, depth - 1)
        return f"NOT ({ours})", f"NOT ({theirs})"
    parts = [condition(table, depth - 1) for _ in range(R.randrange(2, 4))]
    word = " AND " if kind < 0.65 else " OR "
    return word.join(f"({p[0]})" for p in parts), word.join(f"({p[1]})" for p in parts)


def main():
    os.makedirs(HERE, exist_ok=True)
    table = list(rows())
    arrow = pa.table({c: pa.array([row[c] for row in table], t) for c, t in TYPES.items()})

    def path(file):
        return os.path.join(HERE, file + ".parquet")

    pq.write_table(arrow, path("pyarrow"), row_group_size=GROUP, data_page_size=512, store_decimal_as_integer=True)
    pq.write_table(
        arrow, path("pyarrow-plain"), row_group_size=GROUP, use_dictionary=False, data_page_version="2.0",
        compression="zstd", column_encoding={"i64": "BYTE_STREAM_SPLIT", "f64": "BYTE_STREAM_SPLIT",
                                             "i32": "DELTA_BINARY_PACKED", "text": "DELTA_BYTE_ARRAY"},
    )  # fmt: skip
    polars.from_arrow(arrow).write_parquet(path("polars"), row_group_size=GROUP, statistics="full")
    database = duckdb.connect()
    database.execute("SET TimeZone = 'UTC'")
    database.execute("CREATE TABLE t AS FROM arrow ORDER BY id")
    os.makedirs(os.path.join(HERE, "duckdb"), exist_ok=True)
    for i in range(ROWS // GROUP):  # its row groups have 2048 rows or more
        some = f"SELECT * FROM t WHERE id >= {i * GROUP} AND id < {(i + 1) * GROUP}"
        database.execute(f"COPY ({some}) TO '{path(f'duckdb/{i}')}' (FORMAT parquet)")
    lines = []
    while len(lines) < CONDITIONS:
        ours, theirs = condition(table, R.randrange(4))
        found = {row[0] for row in database.execute(f"SELECT id FROM t WHERE {theirs}").fetchall()}
        if lines and (not found or len(found) == ROWS) and R.random() < 0.8:
            continue  # more of these would say little
        lines.append(json.dumps({"where": ours, "ids": hex(sum(1 << i for i in found))[2:]}, ensure_ascii=False))
    with gzip.GzipFile(os.path.join(HERE, "conditions.jsonl.gz"), "wb", mtime=0) as out:
        out.write(("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    main()
