"""Values that do not fit in memory: MemoryError, and the database lives on."""

import subprocess
import sys

import pytest
from conftest import bsdb_command

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process by its maps")

LONG = 70 << 20
PRESSED = 60 << 20

LAYOUTS = {
    "blocked": ["--layout", "blocked"],
    "compact": ["--layout", "compact", "--ordered"],
    "compressed": ["--layout", "compressed", "--ordered"],
    "packed": ["--layout", "packed", "--ordered"],
    "packed-compressed": ["--layout", "packed-compressed"],
}

CHILD = f"""
import resource, sys
import bsdbkv

db = bsdbkv.open(sys.argv[1], access=sys.argv[2])
LONG, PRESSED = {LONG}, {PRESSED}
assert db["small"] == b"value" and db.get_many(["small"]) == [b"value"]
hard = resource.getrlimit(resource.RLIMIT_AS)[1]

def limit(more):
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (hard if more is None else size + more, hard))

def records(iterator):
    return sum(1 for _ in iterator)

uses = dict(
    item=lambda: db["long"],
    get=lambda: db.get("long"),
    pressed=lambda: db.get("pressed"),
    get_many=lambda: db.get_many(["small", "long", "small"]),
    items=lambda: records(db.items()),
    values=lambda: records(db.values()),
)
try:
    import numpy
    uses.update(numpy=lambda: db.get_many_numpy(["long"], f"V{LONG}"))
except ImportError:
    pass
if db.ordered:
    uses.update(range=lambda: records(db.range()), reverse=lambda: records(db.range(prefix="l", reverse=True)))
for room in (10 << 20, 100 << 20, 180 << 20):
    for name, use in uses.items():
        limit(room)
        try:
            use()
            failed = False
        except MemoryError:
            failed = True
        assert failed or room > LONG, (name, room)
        limit(None)
        assert db["small"] == b"value" and "nix" not in db and db.get_many(["small", "nix"]) == [b"value", None]
limit(10 << 20)
scan, found = iter(db.items()), []
try:
    for item in scan:
        found.append(item[0])
    raise AssertionError("there was memory for it")
except MemoryError:
    pass
try:
    next(scan)
    raise AssertionError("the scan lost a record")
except MemoryError:
    pass
try:
    db.verify()
except MemoryError:
    pass
limit(None)
assert len(db["long"]) == LONG and len(db["pressed"]) == PRESSED
assert [len(value) for value in db.get_many(["long", "small", "pressed"])] == [LONG, 5, PRESSED]
assert db.verify()["records"] == 3 and sorted(map(len, db.values())) == [5, PRESSED, LONG]
print("well")
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    file = tmp_path_factory.mktemp("long") / "records.txt"
    with open(file, "wb") as out:
        for key, value in [(b"small", b"value"), (b"long", b"l" * LONG), (b"pressed", b"p" * PRESSED)]:
            out.write(key + b" " + value + b"\n")
    return file


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_value_that_does_not_fit(layout, source, tmp_path):
    bsdb_command("build", "-i", source, "-o", tmp_path / "db", "-q", *LAYOUTS[layout])
    for access in ("mapped", "read", "direct"):
        words = [sys.executable, "-c", CHILD, tmp_path / "db", access]
        done = subprocess.run([*map(str, words)], capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, "well\n", ""), (access, done.stderr[-3000:])


def test_a_batch_that_does_not_fit(build):
    numpy = pytest.importorskip("numpy")
    child = """
import resource, sys
import numpy, bsdbkv
db = bsdbkv.open(sys.argv[1])
keys = numpy.zeros(3_000_000, "V4")
db.get_many(keys[:10])
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
for room in range(0, 100, 5):
    resource.setrlimit(resource.RLIMIT_AS, (size + (room << 20), hard))
    for use in (db.get_many, lambda keys: db.get_many_numpy(keys, "V4", b"")):
        try:
            use(keys)
        except MemoryError:
            pass
    assert db["k"] == b"v"
print("well")
"""
    assert numpy
    words = [sys.executable, "-c", child, str(build({"k": "v"}))]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "well\n", "")


def test_a_row_that_does_not_fit(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    rows = {"id": ["small", "long"], "text": ["t", "x" * LONG], "list": [[1], list(range(1000))]}
    pq.write_table(pa.table(rows), tmp_path / "rows.parquet")
    bsdb_command("build-parquet", "-i", tmp_path / "rows.parquet", "-kf", "id", "-o", tmp_path / "db", "-q")
    child = f"""
import resource, sys
import pyarrow, bsdbkv
db = bsdbkv.open(sys.argv[1])
assert db.get_row("small")["text"] == "t"
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
for room in (10, 100, 200, 300, 500):
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (room << 20), hard))
    for use in (lambda: db.get_row("long"), lambda: db.get_many_arrow(["small", "long"])):
        try:
            use()
            assert room > 70
        except MemoryError:
            pass
    assert db.get_row("small")["text"] == "t"
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
assert len(db.get_row("long")["text"]) == {LONG}
print("well")
"""
    done = subprocess.run([sys.executable, "-c", child, str(tmp_path / "db")], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "well\n", "")
