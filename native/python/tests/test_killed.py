"""Builds that are killed or interrupted at random moments: nothing half is ever there, and nothing stays.

BSDB_KILLS is the number of kills, by default a few.
"""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

import bsdbkv

KILLS = int(os.environ.get("BSDB_KILLS", "12"))
RECORDS = 3000

# Builds one generation after the other, each with the same value for all keys.
BUILDS = f"""
import random, sys
import bsdbkv
target, seed, layout = sys.argv[1], int(sys.argv[2]), sys.argv[3]
draw = random.Random(seed)
print("ready", flush=True)
for generation in range(seed * 1000, seed * 1000 + 1000):
    shards = draw.choice([1, 1, 3])
    records = ((str(key), str(generation)) for key in range({RECORDS}))
    bsdbkv.build(target, records, layout=layout, shards=shards, overwrite=True, threads=2, memory_bytes=1 << 20)
    print("built", flush=True)
"""


def check(target):
    """Asserts that a database is complete, and returns its generation."""
    with bsdbkv.open(target) as db:
        assert db.verify()["records"] == RECORDS == len(db)
        (value,) = set(db.values())
        return value


def left(directory):
    """The directories of builds below a directory."""
    return [path for path in directory.rglob("*") if path.is_dir() and ".bsdb-build-" in path.name]


@pytest.mark.skipif(sys.platform == "win32", reason="databases are built on Unix")
def test_kills(tmp_path):
    draw = random.Random(42)
    target = tmp_path / "db"
    serving = None
    generations = set()
    took = 0.1
    for kill in range(1, KILLS + 1):
        if draw.random() < 0.2:  # begin anew, without a database to replace
            serving = None
            for path in sorted(tmp_path.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
        layout = draw.choice(["packed", "compressed", "blocked"])
        words = [sys.executable, "-c", BUILDS, str(target), str(kill), layout]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as child:
            assert child.stdout.readline() == b"ready\n"
            for _ in range(draw.choice([0, 1, 2])):
                begun = time.monotonic()
                assert child.stdout.readline() == b"built\n"
                took = time.monotonic() - begun
            time.sleep(draw.random() * took)
            assert child.poll() is None
            child.kill()
        if serving is not None:
            assert set(serving.values()) == {value}, "what was open before serves on"
        if target.exists():
            value = check(target)
            generations.add(value)
            serving = bsdbkv.open(target)
    for path in left(tmp_path):  # what may belong to a build that is just beginning is left alone for a minute
        os.utime(path, (0, 0))
    bsdbkv.build(target, {"key": "value"}, overwrite=True)
    assert dict(bsdbkv.open(target)) == {b"key": b"value"}
    assert left(tmp_path) == [] and [path.name for path in tmp_path.iterdir()] == ["db"]
    assert generations
    print(f"{len(generations)} databases were seen after {KILLS} kills")


@pytest.mark.skipif(sys.platform == "win32", reason="databases are built on Unix")
@pytest.mark.parametrize("exists", [False, True])
def test_interrupts(tmp_path, exists):
    target = tmp_path / "db"
    if exists:
        bsdbkv.build(target, ((str(key), "old") for key in range(RECORDS)))
    draw = random.Random(7)
    interrupted = 0

    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(KILLS):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.001 + draw.random() * 0.1)
                records = ((str(key), "new") for key in range(RECORDS))
                bsdbkv.build(tmp_path / "other", records, shards=draw.choice([1, 3]), threads=2, memory_bytes=1 << 20)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupted += 1
            # An interrupt after the switch comes too late: the database is there, complete.
            if (tmp_path / "other").exists():
                assert check(tmp_path / "other") == b"new"
                for path in sorted((tmp_path / "other").rglob("*"), reverse=True):
                    path.rmdir() if path.is_dir() else path.unlink()
                (tmp_path / "other").rmdir()
            assert [path.name for path in tmp_path.iterdir()] == (["db"] if exists else [])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if exists:
        assert check(target) == b"old"
    print(f"{interrupted} of {KILLS} builds were interrupted")
