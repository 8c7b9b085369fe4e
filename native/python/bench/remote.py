#!/usr/bin/env python3
"""Lookups a second in a database behind an object store: bench/remote.py [OBJECTS]

OBJECTS is the built example `objects` of the crate bsdb, ../target/release/examples/objects by default, which serves
the database from this machine, with 0 and 20 ms until each answer. No pages are kept: each lookup is a request, but
those of a batch are joined if their pages are near each other. If obstore is installed, shows how many such ranges that
reads.
"""

import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import bsdbkv

RECORDS = 1_000_000
LOOKUPS = 10_000
AT_ONCE = 1_000
REQUESTS = 64


def measured(name: str, lookups: int, work) -> None:
    """Prints how many lookups a second some work makes."""
    start, processor = time.perf_counter(), time.process_time()
    work()
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    print(f"  {name:<32} {lookups / seconds:>9,.0f}/s, {processor / lookups * 1e6:>6.0f} us of processor each")


def bench(url: str, latency: str) -> None:
    """Measures with one latency."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.open(f"{url}/_fault?latency={latency}").close()
    print(f"latency {latency}")
    keys = [f"key{random.randrange(RECORDS)}" for _ in range(LOOKUPS)]
    few = keys if latency == "0ms" else keys[:100]
    options = {"key": "k", "secret": "s", "endpoint_url": url}
    db = bsdbkv.open("s3://bucket/db", memory=0, requests=REQUESTS, storage_options=options)
    db.get_many(keys[:200])

    async def at_once() -> None:
        for start in range(0, len(keys), AT_ONCE):
            found = await asyncio.gather(*(db.aget(key) for key in keys[start : start + AT_ONCE]))
            assert None not in found

    async def many() -> None:
        for start in range(0, len(keys), AT_ONCE):
            assert None not in await db.aget_many(keys[start : start + AT_ONCE])

    measured("get", len(few), lambda: [db[key] for key in few])
    batches = [keys[start : start + AT_ONCE] for start in range(0, len(keys), AT_ONCE)]
    measured("get_many of 1,000", len(keys), lambda: [db.get_many(batch) for batch in batches])
    measured("aget, 1,000 at once", len(keys), lambda: asyncio.run(at_once()))
    measured("aget_many of 1,000", len(keys), lambda: asyncio.run(many()))
    try:
        import obstore
        from obstore.store import S3Store
    except ImportError:
        return
    store = S3Store(
        "bucket",
        endpoint=url,
        access_key_id="k",
        secret_access_key="s",
        region="us-east-1",
        client_options={"allow_http": True},
    )
    (data,) = (Path(file).name for file in DIRECTORY.glob("db/data-*"))
    pages = (DIRECTORY / "db" / data).stat().st_size // 4096
    starts = [4096 * random.randrange(1, pages - 1) for _ in keys]

    async def ranges() -> None:
        limit = asyncio.Semaphore(REQUESTS)

        async def one(start: int) -> bytes:
            async with limit:
                return bytes(await obstore.get_range_async(store, f"db/{data}", start=start, length=4096))

        for i in range(0, len(starts), AT_ONCE):
            await asyncio.gather(*(one(start) for start in starts[i : i + AT_ONCE]))

    def each() -> None:
        for start in starts[: len(few)]:
            obstore.get_range(store, f"db/{data}", start=start, length=4096)

    measured("obstore, get_range", len(few), each)
    measured("obstore, get_range_async", len(starts), lambda: asyncio.run(ranges()))


if __name__ == "__main__":
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
    server = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2] / "target/release/examples/objects"
    with tempfile.TemporaryDirectory() as directory:
        DIRECTORY = Path(directory)
        bsdbkv.build(DIRECTORY / "db", ((f"key{i}", f"the value of {i}") for i in range(RECORDS)))
        words, pipe = [server, directory, "--stdin", "1"], subprocess.PIPE
        with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as process:
            url = process.stdout.readline().strip()
            for latency in ("0ms", "20ms"):
                bench(url, latency)
            process.stdin.close()
