"""Lookups beside lmdb and rocksdict, on the same records in the same process.

Builds the databases below DIR with the command in the variable BSDB (once), then prints nanoseconds per key, the
best of several runs over keys in random order:

    pip install lmdb rocksdict numpy
    BSDB='java -jar bsdb-jar-with-dependencies.jar' python bench/compare.py DIR
"""

import os
import random
import shlex
import subprocess
import sys
import time

import lmdb
import rocksdict

import bsdbkv

RECORDS, LOOKUPS, RUNS = 1_000_000, 300_000, 5


def records():
    source = random.Random(1)
    for i in range(RECORDS):
        yield b"key%010d" % (i * 7919), b"%016x" % source.getrandbits(64) * 2


def build(directory):
    text = os.path.join(directory, "records.txt")
    with open(text, "wb") as file:
        file.writelines(b"%b %b\n" % record for record in records())
    for layout in ["packed", "blocked"]:
        words = ["build", "-i", text, "-o", os.path.join(directory, layout), "--layout", layout, "-q"]
        subprocess.run([*shlex.split(os.environ["BSDB"]), *words], check=True)
    with lmdb.open(os.path.join(directory, "lmdb"), map_size=1 << 30) as environment:
        with environment.begin(write=True) as transaction:
            for key, value in sorted(records()):
                transaction.put(key, value)
    rocks = rocksdict.Rdict(os.path.join(directory, "rocks"), rocksdict.Options(raw_mode=True))
    for key, value in records():
        rocks[key] = value
    rocks.flush()
    rocks.compact_range(None, None)
    rocks.close()


def measure(name, work):
    best = min(timed(work) for _ in range(RUNS))
    print(f"{name:<40}{best / LOOKUPS * 1e9:8.0f} ns per key")


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(directory):
    os.makedirs(directory, exist_ok=True)
    if not os.path.exists(os.path.join(directory, "rocks")):
        build(directory)
    keys = [key for key, _ in records()]
    random.Random(2).shuffle(keys)
    keys = [bytes(bytearray(key)) for key in keys[:LOOKUPS]]  # so that they lie in the order of use
    batches = [keys[i : i + 1000] for i in range(0, LOOKUPS, 1000)]

    def each(get):
        return lambda: [None for key in keys if get(key) is None]

    for layout in ["packed", "blocked"]:
        db = bsdbkv.open(os.path.join(directory, layout))
        measure(f"bsdb {layout}: db[key]", lambda db=db: [None for key in keys if db[key] is None])
        measure(f"bsdb {layout}: db.get(key)", each(db.get))
        measure(f"bsdb {layout}: get_many of 1,000", lambda db=db: [db.get_many(batch) for batch in batches])
        measure(
            f"bsdb {layout}: get_many_numpy of 1,000",
            lambda db=db: [db.get_many_numpy(batch, "S32") for batch in batches],
        )
    environment = lmdb.open(os.path.join(directory, "lmdb"), readonly=True, lock=False)
    with environment.begin() as transaction:
        measure("lmdb: transaction.get(key)", each(transaction.get))
        cursor = transaction.cursor()
        measure("lmdb: cursor.getmulti of 1,000", lambda: [cursor.getmulti(batch) for batch in batches])
    rocks = rocksdict.Rdict(
        os.path.join(directory, "rocks"),
        rocksdict.Options(raw_mode=True),
        access_type=rocksdict.AccessType.read_only(),
    )
    measure("rocksdict: db[key]", lambda: [None for key in keys if rocks[key] is None])
    measure("rocksdict: db[list of 1,000]", lambda: [rocks[batch] for batch in batches])


if __name__ == "__main__":
    main(sys.argv[1])
