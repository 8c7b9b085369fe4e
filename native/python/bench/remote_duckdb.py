"""Lookups in a database that lies on an object store, beside DuckDB over Parquet on the same server.

Builds COUNT records, 10^6 by default, with keys of 13 bytes and values of 32 below DIR (once), serves them on this machine with a
latency (20 ms by default), and prints requests, bytes and milliseconds of each lookup, as the server counts them:

    pip install duckdb duckdb-extension-httpfs pyarrow
    cargo build --release -p bsdb --example objects
    python bench/remote_duckdb.py DIR [COUNT [LATENCY]]
"""

import asyncio
import glob
import json
import os
import random
import subprocess
import sys
import time
import urllib.request

import duckdb
import duckdb_extension_httpfs
import pyarrow
import pyarrow.parquet

import bsdbkv

SERVER = os.path.join(os.path.dirname(__file__), "../../target/release/examples/objects")


def key_of(number):
    return f"user{number:09d}"


def value_of(number):
    return f"{number * 2654435761 % 2**64:032d}"


def build(directory, count):
    """Builds what is not there."""
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, "rdb")
    numbers = list(range(count))
    random.Random(1).shuffle(numbers)
    if not os.path.exists(path):
        bsdbkv.build(path, ((key_of(n).encode(), value_of(n).encode()) for n in numbers))
    for name, order in (("sorted.parquet", sorted), ("shuffled.parquet", list)):
        path = os.path.join(directory, name)
        if not os.path.exists(path):
            keys = [key_of(n) for n in order(numbers)]
            table = pyarrow.table({"key": keys, "value": [value_of(int(key[4:])) for key in keys]})
            pyarrow.parquet.write_table(table, path, row_group_size=122_880, write_page_index=True)


class Server:
    def __init__(self, directory, latency):
        words = [SERVER, directory, "--latency", latency, "--stdin", "1"]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip().rstrip("/")

    def ask(self, path):
        with urllib.request.urlopen(f"{self.url}/{path}") as answer:
            return answer.read()

    def measured(self, name, lookups, work):
        """Runs the work, and prints what each of its lookups cost."""
        self.ask("_reset")
        start = time.perf_counter()
        work()
        seconds = time.perf_counter() - start
        counts = json.loads(self.ask("_counts"))
        print(
            f"{name:<38}{lookups:>8}{counts['requests'] / lookups:>10.2f}{counts['bytes'] / lookups:>12,.0f}"
            f"{1000 * seconds / lookups:>11.2f}",
            flush=True,
        )


def main(directory, count=1_000_000, latency="20ms"):
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
    build(directory, count)
    server = Server(directory, latency)
    chance = random.Random(2)
    print(f"{count:,} records of 13 + 32 bytes, latency {latency}")
    print(f"{'':<38}{'lookups':>8}{'requests':>10}{'bytes':>12}{'ms':>11}   each")

    def keys(lookups):
        return [chance.randrange(count) for _ in range(lookups)]

    def check(number, value):
        assert value == value_of(number).encode(), (number, value)

    def bsdb_once():
        with bsdbkv.open(f"{server.url}/rdb") as database:
            check(7, database.get(key_of(7)))

    server.measured("bsdb: open, the first value", 1, bsdb_once)
    database = bsdbkv.open(f"{server.url}/rdb")

    def one_by_one():
        for number in keys(200):
            check(number, database.get(key_of(number)))

    def together():
        for _ in range(20):
            numbers = keys(256)
            for number, value in zip(numbers, database.get_many([key_of(n) for n in numbers])):
                check(number, value)

    def asynchronous():
        numbers = iter(keys(10_000))

        async def worker():
            for number in numbers:
                check(number, await database.aget(key_of(number)))

        async def workers():
            await asyncio.gather(*(worker() for _ in range(64)))

        asyncio.run(workers())

    server.measured("bsdb: get, one after another", 200, one_by_one)
    server.measured("bsdb: get_many of 256", 20 * 256, together)
    server.measured("bsdb: aget, 64 in flight", 10_000, asynchronous)

    extension = glob.glob(os.path.dirname(duckdb_extension_httpfs.__file__) + "/extensions/*/httpfs.duckdb_extension")
    for name in ("sorted", "shuffled"):
        sql = duckdb.connect()
        sql.execute(f"INSTALL '{extension[0]}'")
        sql.execute("LOAD httpfs")
        url = f"{server.url}/{name}.parquet"
        query = f"SELECT value FROM read_parquet('{url}') WHERE key = ?"

        def first(sql=sql, query=query):
            check(7, sql.execute(query, [key_of(7)]).fetchone()[0].encode())

        def further(sql=sql, query=query):
            for number in keys(20):
                check(number, sql.execute(query, [key_of(number)]).fetchone()[0].encode())

        def joined(sql=sql, url=url):
            numbers = keys(256)
            wanted = pyarrow.table({"key": [key_of(n) for n in numbers]})
            found = dict(sql.execute(f"SELECT key, value FROM read_parquet('{url}') JOIN wanted USING (key)").fetchall())
            for number in numbers:
                check(number, found[key_of(number)].encode())

        server.measured(f"duckdb, {name}: the first value", 1, first)
        server.measured(f"duckdb, {name}: one after another", 20, further)
        server.measured(f"duckdb, {name}: a join with 256 keys", 256, joined)


if __name__ == "__main__":
    main(sys.argv[1], *(int(word) for word in sys.argv[2:3]), *sys.argv[3:4])
