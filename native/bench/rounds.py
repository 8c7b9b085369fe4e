"""Lets the contestants of scripts/compare-native take turns, and prints what they take.

rounds.py DIRECTORY ROUNDS PROGRAM CDB JAVA...   the directory of the data, and how to start each program

Each contestant is a process that lives through all rounds. It says how long opening took, then looks up as many keys as
a line asks for: it reads "WAY FIRST COUNT", and answers with the nanoseconds of processor time, how many keys it found,
and the sum of the first and last byte of all values. All contestants look up the same keys in a round, and other keys
in the next round.
"""

import os
import statistics
import subprocess
import sys

KEY = 13
LAP = 500_000

# Names of figures, and the process and way of each.
SINGLE = {
    "Rust find": ("rust", "find"),
    "Rust get_ref": ("rust", "get_ref"),
    "Rust get_into": ("rust", "get_into"),
    "Rust get": ("rust", "get"),
    "cdb": ("cdb", "get"),
    "cdb in huge pages": ("cdb in huge pages", "get"),
    "Java SyncReader": ("java", "get"),
}
BATCHES = {
    "Rust find_many(256)": ("rust", "find_many"),
    "Rust get_many(256)": ("rust", "get_many"),
    "Java LookupBatch(256)": ("java", "LookupBatch"),
    "Java getAll(256)": ("java", "getAll"),
}
PYTHON = {
    "Python bsdb db[k]": ("bsdb", "single"),
    "Python lmdb get": ("lmdb", "single"),
    "Python rocksdict db[k]": ("rocksdict", "single"),
    "Python bsdb get_many(1000)": ("bsdb", "many"),
    "Python lmdb getmulti(1000)": ("lmdb", "many"),
    "Python rocksdict db[1000 keys]": ("rocksdict", "many"),
}

# A figure, the figures with the quickest of which it is compared, and the rate it should have at least.
GOALS = [
    *[(name, ["cdb"], 1.1) for name in list(SINGLE)[:3]],
    ("Rust get", ["cdb"], None),  # allocates and copies the value, which cdb does not
    *[(name, ["cdb in huge pages"], None) for name in list(SINGLE)[:1]],
    *[(name, ["Java SyncReader"], 1.2) for name in list(SINGLE)[:4]],
    ("Rust find_many(256)", ["Java getAll(256)"], 1.2),
    ("Rust get_many(256)", ["Java getAll(256)"], 1.2),
    ("Rust find_many(256)", ["Java LookupBatch(256)"], None),
    ("Python bsdb db[k]", ["Python lmdb get", "Python rocksdict db[k]"], 1.0),
    (
        "Python bsdb get_many(1000)",
        ["Python lmdb get", "Python rocksdict db[k]", "Python lmdb getmulti(1000)", "Python rocksdict db[1000 keys]"],
        3.0,
    ),
]


class Contestant:
    """A process that takes laps."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.open_millis = float(self.line().split()[1])

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"compare-native: {' '.join(map(str, self.process.args))} has ended")
        return line

    def lap(self, way, first, count):
        """Nanoseconds a key, and the sum of the bytes."""
        print(way, first, count, file=self.process.stdin, flush=True)
        nanos, found, total = self.line().split()
        if int(found) != count:
            sys.exit(f"compare-native: {self.process.args} {way} found {found} of {count} keys")
        return int(nanos) / count, int(total)

    def mapped(self, directory):
        """Bytes of mapped files of the directory that are in memory, and how many of them are in huge pages."""
        resident = huge = 0
        counts = False
        with open(f"/proc/{self.process.pid}/smaps") as lines:
            for line in lines:
                words = line.split()
                if "-" in words[0]:
                    counts = words[-1].startswith(directory)
                elif counts and words[0] == "Rss:":
                    resident += int(words[1]) << 10
                elif counts and words[0] == "FilePmdMapped:":
                    huge += int(words[1]) << 10
        return resident, huge

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def start(directory, program, cdb, java):
    database = os.path.join(directory, "rdb")
    queries = os.path.join(directory, "queries")
    here = os.path.dirname(os.path.abspath(__file__))
    python = [sys.executable, os.path.join(here, "stores.py"), "lookups"]
    commands = {
        "rust": [program, "lookups", database, directory],
        "cdb": [cdb, "lookups", os.path.join(directory, "store.cdb"), queries],
        "cdb in huge pages": [cdb, "lookups", os.path.join(directory, "huge.cdb"), queries],
        "java": [*java, os.path.join(here, "Lookups.java"), database, queries],
        "bsdb": [*python, "bsdb", database, queries],
        "lmdb": [*python, "lmdb", os.path.join(directory, "lmdb"), queries],
        "rocksdict": [*python, "rocksdict", os.path.join(directory, "rocksdict"), queries],
    }
    contestants = {}
    for name, command in commands.items():
        package = name in ("bsdb", "lmdb", "rocksdict")
        if package and subprocess.run([sys.executable, "-c", f"import {name}"], stderr=subprocess.DEVNULL).returncode:
            print(f"Python's {name} is skipped: it is not installed")
        else:
            contestants[name] = Contestant(command)
    return contestants


def measure(contestants, figures, rounds, queries):
    """Nanoseconds a key of each figure in each round, after two passes over all keys."""
    lap = min(LAP, queries)
    laps = queries // lap
    taken = {name: [] for name in figures}
    for number in range(-2 * laps, rounds):
        sums = set()
        for name, (contestant, way) in figures.items():
            nanos, total = contestants[contestant].lap(way, number % laps * lap, lap)
            sums.add(total)
            if number >= 0:
                taken[name].append(nanos)
        if len(sums) > 1:
            sys.exit(f"compare-native: the values differ: {sums}")
    return taken


def summary(values, format):
    return f"{statistics.median(values):{format}}  ({min(values):{format}} to {max(values):{format}})"


def compare(taken, name, others, goal):
    """Prints the ratio of rates within each round."""
    others = [other for other in others if other in taken]
    if name not in taken or not others:
        return
    other = min(others, key=lambda other: statistics.median(taken[other]))
    ratios = [theirs / own for own, theirs in zip(taken[name], taken[other])]
    wanted = "" if goal is None else f"  wanted {goal}: {'yes' if statistics.median(ratios) >= goal else 'NO'}"
    print(f"{name + ' / ' + other:58} {summary(ratios, '.2f'):24}{wanted}")


def main(directory, rounds, program, cdb, *java):
    queries = os.path.getsize(os.path.join(directory, "queries")) // KEY
    contestants = start(os.path.abspath(directory), program, cdb, java)
    taken = {}
    # The groups in turn, so that the programs of one group stay in the caches of the processor.
    for figures in SINGLE, BATCHES, PYTHON:
        figures = {name: figure for name, figure in figures.items() if figure[0] in contestants}
        taken.update(measure(contestants, figures, int(rounds), queries))
    print("\nNanoseconds of processor time a key: median (range)")
    for name, values in taken.items():
        print(f"{name:58} {summary(values, '.0f')}")
    print("\nRatios of rates within each round: median (range)")
    for goal in GOALS:
        compare(taken, *goal)
    print("\nOpening, and mapped files after the laps")
    for name, contestant in contestants.items():
        resident, huge = contestant.mapped(os.path.abspath(directory))
        print(f"{name:20} {contestant.open_millis:8.2f} ms {resident >> 20:6} MiB, {huge >> 20} MiB of them in huge pages")
        contestant.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
