"""``python -m bsdbkv build`` makes the files that ``bsdb build`` makes, byte for byte, and reports the same. The variable
BSDB names that command."""

import gzip
import io
import json
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from test_cli_same import java, same

from bsdbkv import _cli

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TEXT = b"".join(b"key%d value %d of\ta record\n" % (i, i * i % 997) for i in range(3000))
CSV = b'id,name,"a b"\r\n' + b"".join(b'%d,"name, %d",x%d\r\n' % (i, i % 50, i) for i in range(500))
JSON = b"".join(b'{"id": %d, "name": "n\\u00e9 %d", "x": [1, {"y": null}]}\n' % (i, i % 9) for i in range(500))
TWICE = b"a 1\nb 2\na 3\nc 4\nb 5\n"
DIRTY = b"a 1\n\nnone\n\xff 2\n" + b" empty\n" + b"k" * 65_536 + b" long\nlast 1"


def zstd(content):
    return pa.Codec("zstd").compress(content, asbytes=True)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A directory of inputs."""
    folder = tmp_path_factory.mktemp("inputs")
    files = {
        "a.txt": TEXT,
        "a.txt.gz": gzip.compress(TEXT),
        "a.zst": zstd(TEXT),
        "a.csv": CSV,
        "a.jsonl": JSON,
        "twice.txt": TWICE,
        "dirty.txt": DIRTY,
        "hex.txt": b"6161 YWI=\n62 YQ==\n",
        "latin1.txt": "é à\nü ö\n".encode("latin1"),
        "empty.txt": b"",
        "dir/one.txt": b"one 1\n",
        "dir/sub/two.gz": gzip.compress(b"two 2\n"),
        "dir/.hidden": b"hidden 0\n",
        "long.txt": b"".join(b"k%d %s\n" % (i, b"x" * (i * 37 % 9000)) for i in range(300)),
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    table = pa.table(
        {
            "id": pa.array(range(400)),
            "name": [f"name {i % 7}" if i % 5 else None for i in range(400)],
            "raw": pa.array([b"%d" % (i * i) for i in range(400)]),
            "at": pa.array(range(400), pa.timestamp("us", "UTC")),
            "in": pa.array([{"x": i / 3, "y": [i, None]} for i in range(400)]),
        }
    )
    (folder / "pq").mkdir()
    parquet.write_table(table.slice(0, 150), folder / "pq/1.parquet", row_group_size=40)
    parquet.write_table(table.slice(150), folder / "pq/2.parquet", store_schema=False)
    parquet.write_table(pa.concat_tables([table, table.slice(7, 1)]), folder / "twice.parquet")
    nulls = pa.table({"id": ["a", None, "", "b", "c"], "v": pa.array([1, 2, 3, None, 5])})
    parquet.write_table(nulls, folder / "nulls.parquet")
    return folder


def content(directory):
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


SKIP = ["--on-bad-line", "skip"]
BUILDS = {
    "layouts": [
        ["-i", "a.txt"],
        ["-i", "a.txt", "--layout", "blocked", "-cb", "9"],
        ["-i", "long.txt", "-c"],
        ["-i", "a.txt", "-z"],
        ["-i", "a.txt", "-z", "--layout", "packed", "-bs", "4096", "--level", "3", "-ds", "2000", "-sc", "700"],
        ["-i", "long.txt", "--layout", "packed-compressed", "--filter-bits", "7"],
        ["-i", "a.txt", "-z", "-sc", "0"],
    ],
    "options": [
        ["-i", "a.txt", "--ordered"],
        ["-i", "a.txt", "--ordered", "--layout", "packed", "--filter-bits", "3"],
        ["-i", "a.txt", "--shards", "5", "--seed", "-77"],
        ["-i", "a.txt", "-z", "--shards", "3", "--data-files", "2"],
        ["-i", "a.txt", "--data-files", "3", "--layout", "compact", "-ps", "1", "--threads", "1"],
        ["-i", "twice.txt", "--on-duplicate", "first"],
        ["-i", "twice.txt", "--on-duplicate", "last", "-cb", "0"],
        ["-i", "empty.txt"],
    ],
    "inputs": [
        ["-i", "a.txt.gz", "-z"],
        ["-i", "a.zst", "-s", r"\t", "-v"],
        ["-i", "dir", "-i", "twice.txt", "--on-duplicate", "last"],
        ["-i", "dirty.txt", *SKIP, "--rejects", "OUT/rejects"],
        ["-i", "dirty.txt", *SKIP, "--allow-empty-key"],
        ["-i", "hex.txt", "--key-encoding", "hex", "--value-encoding", "base64"],
        ["-i", "latin1.txt", "-e", "ISO-8859-1"],
    ],
    "fields": [
        ["-i", "a.csv", "--csv", "-z"],
        ["-i", "a.csv", "--csv", "--key-column", "a b", "--value-column", "name"],
        ["-i", "a.csv", "--csv", "--csv-values", "delimited", "--ordered"],
        ["-i", "a.jsonl", "--jsonl", "--key-field", "id"],
        ["-i", "a.jsonl", "--jsonl", "--key-field", "name", "--on-duplicate", "first", "-z"],
    ],
    "errors": [
        ["-i", "twice.txt"],
        ["-i", "dirty.txt"],
        ["-i", "a.csv", "--csv", "--key-column", "nix"],
        ["-i", "nix.txt"],
        ["-i", "a.txt", "-i", "a.txt.gz", "--shards", "2"],
    ],
}
BUILDS["parquet"] = [
    ["-i", "pq/1.parquet", "-kf", "id"],
    ["-i", "pq", "--format", "parquet", "-kf", "id", "-z", "--shards", "2"],
    ["-i", "pq/*.parquet", "-kf", "in.x", "--ordered", "--layout", "compressed"],
    ["-i", "pq/2.parquet", "-kf", "id,at", "--key-join", "|", "--value-fields", "name,in"],
    ["-i", "pq/{2,1}.parquet", "-kf", "id", "--value-raw", "raw", "-z", "-sc", "100"],
    ["-i", "twice.parquet", "-kf", "id", "--on-duplicate", "last"],
    ["-i", "nulls.parquet", "-kf", "id", *SKIP],
    ["-i", "nulls.parquet", "-kf", "id", *SKIP, "--allow-empty-key"],
    ["-i", "twice.parquet", "-kf", "id"],
]


def report(out):
    """What the report for programs says, without times and memory."""
    figures = json.loads(out)
    for name in ("directory", "seconds", "stageSeconds", "recordsPerSecond", "peakMemoryBytes", "peakHeapBytes"):
        figures.pop(name, None)
    return figures


@pytest.mark.parametrize("kind", BUILDS)
def test_the_same_files(kind, inputs, tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(inputs)
    cases = list(enumerate(BUILDS[kind]))

    def line(who, number, words):
        target = tmp_path / who / str(number)
        target.mkdir(parents=True)
        return ["build", *(str(word).replace("OUT", str(target)) for word in words), "-o", target / "db", "--json"]

    with ThreadPoolExecutor(2) as threads:
        theirs = list(threads.map(lambda case: java(line("java", *case)), cases))
    for (number, words), expected in zip(cases, theirs):
        code = _cli.main([*map(str, line("python", number, words))])
        streams = capfdbinary.readouterr()
        made = same((code, streams.out, streams.err.decode().replace(f"{tmp_path}/python", f"{tmp_path}/java")))
        expected = same(expected)
        assert (made[0], made[2]) == (expected[0], expected[2]), words
        if code == 0:
            assert report(made[1]) == report(expected[1]), words
        ours, others = (content(tmp_path / who / str(number)) for who in ("python", "java"))
        assert ours.keys() == others.keys(), words
        assert [name for name in ours if ours[name] != others[name]] == [], words


def test_standard_input(tmp_path):
    words = ["build", "-i", "-", "-q", "-z", "-o"]
    for name, content_of in [("plain", TEXT), ("gzip", gzip.compress(TEXT)), ("zstd", zstd(TEXT))]:
        done = subprocess.run(
            [sys.executable, "-m", "bsdbkv", *words, tmp_path / name], input=content_of, capture_output=True
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    source = tmp_path / "a.gz"
    source.write_bytes(gzip.compress(TEXT))
    code, _, err = java(["build", "-i", source, "-q", "-z", "-o", tmp_path / "java"])
    assert code == 0, err
    for name in ("plain", "gzip", "zstd"):
        assert content(tmp_path / name) == content(tmp_path / "java"), name


def many_types(rows):
    """A table of all kinds of types."""
    dice = random.Random(7)

    def some(values):
        return [None if dice.random() < 0.1 else value for value in values]

    n = range(rows)
    return {
        "id": pa.array([i * 7919 % rows for i in n]),
        "i8": pa.array(some(i % 256 - 128 for i in n), pa.int8()),
        "i32": pa.array(some(i * 65_537 % 2**32 - 2**31 for i in n), pa.int32()),
        "u32": pa.array(some(i * 65_537 % 2**32 for i in n), pa.uint32()),
        "u64": pa.array(some(2**64 - 1 - i for i in n), pa.uint64()),
        "f32": pa.array(some(dice.gauss(0, 1) for _ in n), pa.float32()),
        "f64": pa.array(some(dice.gauss(0, 1) for _ in n), pa.float64()),
        "b": pa.array(some(i % 3 == 0 for i in n)),
        "s": pa.array(some(f"näme {i % 977}" for i in n)),
        "bin": pa.array(some(bytes([i % 256]) * (i % 9) for i in n)),
        "fix": pa.array(some(i.to_bytes(16, "big") for i in n), pa.binary(16)),
        "dec": pa.array(some(i * 997 - 10**5 for i in n), pa.int64()).cast(pa.decimal128(19, 0)),
        "date": pa.array(some(i - 10_000 for i in n), pa.int32()).cast(pa.date32()),
        "t32": pa.array((i * 863 % 86_400_000 for i in n), pa.time32("ms")),
        "t64": pa.array((i * 863_999 for i in n), pa.time64("us")),
        "ms": pa.array((i * 10**8 - 10**12 for i in n), pa.timestamp("ms")),
        "us": pa.array(some(i * 10**11 - 10**15 for i in n), pa.timestamp("us", "UTC")),
        "ns": pa.array((i * 10**13 - 10**17 for i in n), pa.timestamp("ns")),
        "list": pa.array(some(list(range(i % 4)) or [None] for i in n), pa.list_(pa.int32())),
        "struct": pa.array(some({"a": i, "b": str(i)} for i in n)),
        "map": pa.array(some([(f"k{j}", j) for j in range(i % 3)] for i in n), pa.map_(pa.string(), pa.int32())),
        "dict": pa.array([f"c{i % 20}" for i in n]).dictionary_encode(),
        "u8": pa.array((i % 256 for i in n), pa.uint8()),
        "u16": pa.array((i for i in n), pa.uint16()),
        "dec256": pa.array(n, pa.int64()).cast(pa.decimal256(50, 3)),
        "t32s": pa.array((i % 86_400 for i in n), pa.time32("s")),
        "t64n": pa.array(n, pa.time64("ns")),
        "s!": pa.array(n, pa.timestamp("s")),
        "ms tz": pa.array(n, pa.timestamp("ms", "Europe/Berlin")),
        "null": pa.nulls(rows),
        "duration": pa.array(n, pa.duration("us")),
        "large": pa.array([str(i) for i in n], pa.large_string()),
        "pair": pa.array([[i, None] for i in n], pa.list_(pa.float32(), 2)),
        "large list": pa.array([[i] for i in n], pa.large_list(pa.int16())),
        "nested": pa.array([[{"x": 1.5 * i, "y": [str(i)]}] for i in n]),
    }


@pytest.mark.parametrize("stored", [True, False])
def test_types_of_parquet(stored, tmp_path):
    source = tmp_path / "types.parquet"
    parquet.write_table(pa.table(many_types(2000)), source, row_group_size=300, store_schema=stored)
    code, _, err = java(["build", "-i", source, "-kf", "id", "-z", "-q", "-o", tmp_path / "java"])
    assert code == 0, err
    assert _cli.main(["build", "-i", str(source), "-kf", "id", "-z", "-q", "-o", str(tmp_path / "python")]) == 0
    assert content(tmp_path / "python") == content(tmp_path / "java")


def run(capfd, *words):
    code = _cli.main([*map(str, words)])
    streams = capfd.readouterr()
    return code, streams.out, streams.err


def test_rows_that_are_left_out(inputs, tmp_path, capfd):
    words = ["build", "-i", inputs / "nulls.parquet", "-kf", "id", "-o", tmp_path / "db"]
    code, _, err = run(capfd, *words)
    assert code == 2 and 'nulls.parquet: row 2: the key column "id" is null (--on-bad-line skip leaves' in err
    assert not (tmp_path / "db").exists()
    code, out, err = run(capfd, *words, *SKIP, "--rejects", tmp_path / "rejects", "--json")
    assert code == 0 and json.loads(out)["rejectedByReason"] == {"empty key": 1, "null key": 1}
    assert [line.partition("nulls.parquet: ")[2] for line in (tmp_path / "rejects").read_text().splitlines()] == [
        'row 2: the key column "id" is null',
        "row 3: the key is empty",
    ]


@pytest.mark.parametrize(
    "words, message",
    [
        (["-i", "pq/1.parquet", "--format", "text"], "pq/1.parquet: is a Parquet file, not text"),
        (["-i", "pq", "--format", "parquet"], "no key column given (-kf)"),
        (["-i", "x.parquet", "-kf", "id"], "x.parquet: no such file or directory"),
        (["-i", "nix*.parquet", "-kf", "id"], "nix*.parquet: no file matches the pattern"),
        (["-i", "a.txt", "--format", "parquet", "-kf", "id"], "a.txt: cannot be read as Parquet: "),
        (["-i", "twice.parquet", "-kf", "ident"], 'there is no column "ident"; the columns are "id", "name"'),
        (["-i", "twice.parquet", "-kf", "in"], 'the column "in" cannot be a key: it is a struct; name one of its'),
        (["-i", "twice.parquet", "-kf", "id", "--value-raw", "at"], 'the column "at" is Timestamp'),
        (["-i", "twice.parquet", "-kf", "id", "--value-fields", "nix"], "has no column nix (it has id, name, raw"),
        (["-i", "twice.parquet", "-kf", "id", "--value-fields", "id,id"], "--value-fields names id twice"),
        (["-i", "twice.parquet", "-kf", "a\\b"], "-kf a\\b has a backslash before neither a comma nor"),
        (["-i", "twice.parquet", "-kf", "id", "--widen"], "--widen is not covered by python -m bsdbkv"),
        (["-i", "twice.parquet", "-kf", "id", "--csv"], "--csv is for text (--format text)"),
        (["-i", "x.avro", "-kf", "id"], "-i x.avro is, by its name, in a format that python -m bsdbkv does not cover"),
        (["-i", "pq", "--format", "orc", "-kf", "id"], "--format orc is not covered by python -m bsdbkv"),
        (["-i", "hdfs://host/x.parquet", "-kf", "id"], "a URI is not covered by python -m bsdbkv"),
        (["-i", "pq/1.parquet", "-i", "nulls.parquet", "-kf", "id"], "its columns differ from those of pq/1.parquet"),
    ],
)
def test_mistakes_with_parquet(words, message, inputs, monkeypatch, capfd, tmp_path):
    monkeypatch.chdir(inputs)
    code, out, err = run(capfd, "build", *words, "-o", tmp_path / "db")
    assert code == 2 and out == "" and message in err and "Traceback" not in err
    assert not (tmp_path / "db").exists()


def test_tables_and_partitions(tmp_path, capfd):
    file = tmp_path / "day=1" / "x.parquet"
    file.parent.mkdir()
    parquet.write_table(pa.table({"id": ["a"]}), file)
    words = ["build", "-i", tmp_path, "--format", "parquet", "-kf", "id", "-o", tmp_path / "db", "-q"]
    code, _, err = run(capfd, *words)
    assert code == 2 and "the directory day=1 stands for a column" in err
    assert run(capfd, *words, "--partitions", "ignore") == (0, "", "")
    (tmp_path / "_delta_log").mkdir()
    code, _, err = run(capfd, *words, "--partitions", "ignore")
    assert code == 2 and "is a Delta Lake table (_delta_log)" in err


def test_timestamps_of_96_bits(tmp_path, capfd):
    times = pa.table({"id": ["a"], "at": pa.array([0], pa.timestamp("ns"))})
    parquet.write_table(times, tmp_path / "x.parquet", use_deprecated_int96_timestamps=True)
    words = ["build", "-i", tmp_path / "x.parquet", "-kf", "id", "-q", "-o", tmp_path / "db"]
    code, _, err = run(capfd, *words)
    assert code == 2 and "x.parquet: column at has timestamps of 96 bits" in err
    assert run(capfd, *words, "--value-fields", "id") == (0, "", "")


def test_damaged_parquet(tmp_path, capfd):
    table = pa.table({"id": [f"key {i * 7919}" for i in range(5000)]})
    whole = io.BytesIO()
    parquet.write_table(table, whole, use_dictionary=False, write_page_checksum=False, compression="zstd")
    damaged = bytearray(whole.getvalue())
    damaged[200:4000] = bytes(3800)
    (tmp_path / "x.parquet").write_bytes(damaged)
    code, _, err = run(capfd, "build", "-i", tmp_path / "x.parquet", "-kf", "id", "-o", tmp_path / "db")
    assert code == 2 and "x.parquet: damaged: " in err and err.count("\n") == 1
    assert not (tmp_path / "db").exists()
