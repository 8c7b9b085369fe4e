"""Embeddings beside lmdb, rocksdict and dbm: builds, and batches of lookups that become one array.

Builds databases of COUNT vectors of WIDTH float32, 10^6 of 384 by default, below DIR (those of others once), then prints the
rates of builds beside that at which the disk takes the same bytes, and nanoseconds per vector in batches of 256 random keys,
the best of several runs:

    pip install lmdb rocksdict numpy
    python bench/vectors.py DIR [COUNT [WIDTH]]
"""

import dbm
import os
import random
import shutil
import subprocess
import sys
import time

import lmdb
import numpy
import rocksdict

import bsdbkv

BATCH, LOOKUPS, RUNS = 256, 50_000, 5


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def write_rate(source):
    """Bytes per second of writes that bypass the page cache."""
    words = ["dd", f"if={source}", f"of={source}.copy", "bs=4M", "oflag=direct", "conv=fsync", "status=none"]
    seconds = timed(lambda: subprocess.run(words, check=True))
    os.remove(f"{source}.copy")
    return os.path.getsize(source) / seconds


def build(directory, keys, vectors):
    """Builds what is not there."""

    def others(name, make):
        path = os.path.join(directory, name)
        if not os.path.exists(path):
            print(f"build {name:<12}{timed(lambda: make(path)):8.1f} s")

    def build_lmdb(path):
        with lmdb.open(path, map_size=4 * vectors.nbytes + (1 << 28)) as environment:
            for start in range(0, len(keys), 10_000):
                with environment.begin(write=True) as transaction:
                    for i in range(start, min(start + 10_000, len(keys))):
                        transaction.put(keys[i], vectors[i].tobytes())

    def build_rocksdict(path):
        rocks = rocksdict.Rdict(path, rocksdict.Options(raw_mode=True))
        for key, vector in zip(keys, vectors):
            rocks[key] = vector.tobytes()
        rocks.flush()
        rocks.compact_range(None, None)
        rocks.close()

    def build_dbm(path):
        os.mkdir(path)
        with dbm.open(os.path.join(path, "db"), "n") as file:
            for key, vector in zip(keys, vectors):
                file[key] = vector.tobytes()

    others("lmdb", build_lmdb)
    others("rocksdict", build_rocksdict)
    others("dbm", build_dbm)


def main(directory, count, width):
    directory = os.path.join(directory, f"{count}x{width}")
    os.makedirs(directory, exist_ok=True)
    source = os.path.join(directory, "vectors.npy")
    if not os.path.exists(source):
        numpy.save(source, numpy.random.default_rng(1).standard_normal((count, width), numpy.float32))
    vectors = numpy.load(source)
    keys = [b"item%09d" % (i * 7919) for i in range(count)]
    target = os.path.join(directory, "bsdb")

    for layout in ("blocked", "packed") * 3:
        shutil.rmtree(target, ignore_errors=True)
        disk = write_rate(source)
        rate = vectors.nbytes / timed(lambda: bsdbkv.build(target, keys, vectors, layout=layout))
        print(f"build bsdb, {layout}: {rate / 1e6:.0f} MB/s, {rate / disk:.2f} of the disk's {disk / 1e6:.0f} MB/s")
    build(directory, keys, vectors)

    order = random.Random(2).choices(range(count), k=LOOKUPS // BATCH * BATCH)
    batches = [[bytes(bytearray(keys[i])) for i in order[k : k + BATCH]] for k in range(0, len(order), BATCH)]
    expected = vectors[order[:BATCH]]

    def measure(name, get):
        assert (get(batches[0]) == expected).all()
        best = min(timed(lambda: [None for batch in batches if len(get(batch)) != BATCH]) for _ in range(RUNS))
        print(f"get {name:<40}{best / len(order) * 1e9:8.0f} ns per vector")

    def joined(values):
        return numpy.frombuffer(b"".join(values), "<f4").reshape(-1, width)

    db = bsdbkv.open(target)
    out = numpy.empty((BATCH, width), "<f4")
    measure("bsdb: get_many_numpy", db.get_many_numpy)
    measure("bsdb: get_many_numpy, out", lambda batch: db.get_many_numpy(batch, out=out))
    environment = lmdb.open(os.path.join(directory, "lmdb"), readonly=True, lock=False)
    with environment.begin() as transaction:
        cursor = transaction.cursor()
        measure("lmdb: get", lambda batch: joined([transaction.get(key) for key in batch]))
        measure("lmdb: getmulti", lambda batch: joined([value for _, value in cursor.getmulti(batch)]))
    rocks = rocksdict.Rdict(
        os.path.join(directory, "rocksdict"),
        rocksdict.Options(raw_mode=True),
        access_type=rocksdict.AccessType.read_only(),
    )
    measure("rocksdict: list of keys", lambda batch: joined(rocks[batch]))
    with dbm.open(os.path.join(directory, "dbm", "db"), "r") as file:
        kind = type(file).__module__
        measure(f"{kind}: db[key]", lambda batch: joined([file[key] for key in batch]))


if __name__ == "__main__":
    main(sys.argv[1], *(int(word) for word in (sys.argv[2:] + ["1000000", "384"][len(sys.argv[2:]) :])))
