"""Builds from a Polars frame beside builds of the same records from text with the Java command.

Makes COUNT records of 13 and 32 bytes below DIR (once), then takes turns; prints records per second of each round and the
ratio, the processor time, and how much the memory of the process grew over that of the frame:

    pip install polars
    BSDB='java -jar bsdb-jar-with-dependencies.jar' python bench/frames.py DIR [COUNT [ROUNDS]]
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time

import polars

import bsdbkv


def frame(directory, count):
    """The records, which are in two files as well."""
    path = os.path.join(directory, f"{count}.parquet")
    if not os.path.exists(path):
        number = polars.arange(count, eager=True, dtype=polars.UInt64)
        made = polars.DataFrame({"number": number, "hash": number.hash(1)}).select(
            ("key" + (polars.col("number") * 7919 % 10**10).cast(polars.String).str.zfill(10)).alias("key"),
            polars.col("hash").cast(polars.String).str.zfill(32).alias("value"),
        )
        made.write_csv(text(directory, count), include_header=False, separator=" ")
        made.write_parquet(path)
    return polars.read_parquet(path).rechunk()


def text(directory, count):
    return os.path.join(directory, f"{count}.txt")


def resident():
    with open("/proc/self/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) / 1024


class Peak:
    """The most memory of the process while a block runs, in MiB."""

    def __enter__(self):
        self.most, self.ended = resident(), threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        while not self.ended.wait(0.005):
            self.most = max(self.most, resident())

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


def measured(build):
    """Seconds of time and of processors."""
    start, before = time.perf_counter(), os.times()
    build()
    seconds, after = time.perf_counter() - start, os.times()
    return seconds, sum(after[:4]) - sum(before[:4])


def main(directory, count, rounds):
    os.makedirs(directory, exist_ok=True)
    records = frame(directory, count)
    command = [*shlex.split(os.environ["BSDB"]), "build", "-i", text(directory, count), "-q"]
    ours, theirs = os.path.join(directory, "python"), os.path.join(directory, "java")
    for number in range(rounds):
        for target in (ours, theirs):
            shutil.rmtree(target, ignore_errors=True)
        held = resident()
        with Peak() as peak:
            here = measured(lambda: bsdbkv.build(ours, records, key="key", value="value", memory_bytes=256 << 20))
        java = measured(lambda: subprocess.run([*command, "-o", theirs], check=True))
        assert bsdbkv.open(ours).id == bsdbkv.open(theirs).id
        print(
            f"round {number + 1}: Polars {count / here[0] / 1e6:.2f} M/s, {here[1]:.1f} s of processors, "
            f"{peak.most - held:.0f} MiB of 256; Java {count / java[0] / 1e6:.2f} M/s, {java[1]:.1f} s; "
            f"ratio {java[0] / here[0]:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1], *(int(word) for word in (sys.argv[2:] + ["10000000", "5"][len(sys.argv[2:]) :])))
