"""Compares bsdb in DuckDB with DuckDB's own tables, and prints a table of medians and ratios.

The same records, 13-byte keys and 32-byte values, are in a bsdb database, in a table of DuckDB with and without an index, and in
a Parquet file. Each query runs once to warm up and then in turn with the others. All answers are compared with each other.

    compare.py EXTENSION [--records 1000000] [--keys 1000000] [--rounds 5] [--threads 2]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import bsdbkv
import duckdb


def timed(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[float, object]:
    begin = time.perf_counter()
    answer = connection.execute(query).fetchall()
    return time.perf_counter() - begin, answer


def compare(connection: duckdb.DuckDBPyConnection, title: str, unit: float, queries: dict[str, str], rounds: int) -> None:
    times: dict[str, list[float]] = {name: [] for name in queries}
    expected = None
    for round_number in range(rounds + 1):
        for name, query in queries.items():
            taken, answer = timed(connection, query)
            expected = expected or answer
            if answer != expected:
                raise SystemExit(f"{title}: {name} answers {answer}, and the first {expected}")
            if round_number > 0:
                times[name].append(taken)
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    first = next(iter(medians.values()))
    print(f"\n{title}")
    for name, median in medians.items():
        print(f"  {name:52} {median * 1000:8.1f} ms {median / unit * 1e9:8.0f} ns each   ratio {median / first:5.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares bsdb in DuckDB with DuckDB's own tables.")
    parser.add_argument("extension", type=Path)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    records, keys = options.records, options.keys
    with tempfile.TemporaryDirectory(prefix="bsdb-duckdb-") as place:
        connection = duckdb.connect(f"{place}/tables.duckdb", config={"allow_unsigned_extensions": "true"})
        connection.execute(f"LOAD '{options.extension.resolve()}'")
        connection.execute(f"SET threads = {options.threads}")
        print(f"DuckDB {duckdb.__version__}, {options.threads} threads, {records} records, {keys} random keys, medians of {options.rounds}")
        connection.execute(f"""
            CREATE TABLE plain AS SELECT printf('key%010d', i) AS key, md5(i::VARCHAR) AS value FROM range({records}) t(i);
            CREATE TABLE indexed (key VARCHAR PRIMARY KEY, value VARCHAR);
            INSERT INTO indexed FROM plain;
            SELECT setseed(0.5);
            CREATE TABLE q AS
              SELECT printf('key%010d', (random() * {records})::BIGINT % {records}) AS k FROM range({keys});
            COPY plain TO '{place}/plain.parquet' (FORMAT parquet);
        """)
        bsdbkv.build(f"{place}/values", connection.execute("SELECT key, value FROM plain").fetchall())
        connection.execute("CREATE TABLE rows AS SELECT key, value, rowid AS number, rowid / 7.0 AS share FROM plain")
        bsdbkv.build(f"{place}/rows", connection.sql("FROM rows").to_arrow_table(), key="key")
        connection.execute(f"COPY rows TO '{place}/rows.parquet' (FORMAT parquet)")
        compare(
            connection,
            "Values of random keys",
            keys,
            {
                "bsdb_get(path, k)": f"SELECT sum(octet_length(bsdb_get('{place}/values', k))) FROM q",
                "bsdb_text(path, k)": f"SELECT sum(strlen(bsdb_text('{place}/values', k))) FROM q",
                "join with a table (hash join)": "SELECT sum(strlen(value)) FROM q JOIN plain ON k = key",
                "join with Parquet (hash join)": f"SELECT sum(strlen(value)) FROM q JOIN '{place}/plain.parquet' ON k = key",
                "join with bsdb_scan (hash join)":
                    f"SELECT sum(strlen(value)) FROM q JOIN bsdb_scan('{place}/values', text := true) ON k = key",
            },
            options.rounds,
        )
        compare(
            connection,
            "A field of the rows of random keys",
            keys,
            {
                "bsdb_field(path, k, 'number', 0)": f"SELECT sum(bsdb_field('{place}/rows', k, 'number', 0)) FROM q",
                "join with a table (hash join)": "SELECT sum(number) FROM q JOIN rows ON k = key",
                "join with Parquet (hash join)": f"SELECT sum(number) FROM q JOIN '{place}/rows.parquet' ON k = key",
            },
            options.rounds,
        )
        few = 1000
        connection.execute(f"CREATE TABLE few AS FROM q LIMIT {few}")
        [[one]] = connection.execute("SELECT k FROM q LIMIT 1").fetchall()
        compare(
            connection,
            f"Values of {few} keys",
            few,
            {
                "bsdb_get(path, k)": f"SELECT sum(octet_length(bsdb_get('{place}/values', k))) FROM few",
                "join with a table (hash join)": "SELECT sum(strlen(value)) FROM few JOIN plain ON k = key",
                "join with an indexed table": "SELECT sum(strlen(value)) FROM few JOIN indexed ON k = key",
            },
            4 * options.rounds,
        )
        compare(
            connection,
            "Value of one key",
            1,
            {
                "bsdb_get(path, k)": f"SELECT octet_length(bsdb_get('{place}/values', '{one}'))",
                "index lookup": f"SELECT strlen(value) FROM indexed WHERE key = '{one}'",
                "table without an index": f"SELECT strlen(value) FROM plain WHERE key = '{one}'",
            },
            20 * options.rounds,
        )
        compare(
            connection,
            "All records, keys and values",
            records,
            {
                "bsdb_scan": f"SELECT count(key), sum(strlen(value)) FROM bsdb_scan('{place}/values', text := true)",
                "Parquet": f"SELECT count(key), sum(strlen(value)) FROM '{place}/plain.parquet'",
                "table": "SELECT count(key), sum(strlen(value)) FROM plain",
            },
            options.rounds,
        )
        sums = "sum(strlen(key)), sum(strlen(value)), sum(number), max(share)"
        compare(
            connection,
            "All typed rows, four columns",
            records,
            {
                "bsdb_scan": f"SELECT {sums} FROM bsdb_scan('{place}/rows')",
                "Parquet": f"SELECT {sums} FROM '{place}/rows.parquet'",
                "table": f"SELECT {sums} FROM rows",
            },
            options.rounds,
        )
        compare(
            connection,
            "All typed rows, one column",
            records,
            {
                "bsdb_scan": f"SELECT sum(number) FROM bsdb_scan('{place}/rows')",
                "Parquet": f"SELECT sum(number) FROM '{place}/rows.parquet'",
            },
            options.rounds,
        )


if __name__ == "__main__":
    main()
