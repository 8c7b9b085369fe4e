"""Databases that Python builds, read back, and against those of the builder."""

import os
import signal
import subprocess
import sys
import threading

import pytest
from conftest import bsdb_command

import bsdbkv

PAIRS = {f"key{i}".encode(): b"value" * (i % 7) + bytes([i % 256]) for i in range(5000)}
LAYOUTS = ["packed", "packed-compressed", "blocked", "compact", "compressed"]


def content(directory):
    """The bytes of all files, by name."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(tmp_path, layout):
    built = bsdbkv.build(tmp_path / "db", PAIRS, layout=layout)
    assert built.records == len(PAIRS) and built.dropped == 0 and built.path == str(tmp_path / "db")
    assert built.key_bytes == sum(map(len, PAIRS)) and built.value_bytes == sum(map(len, PAIRS.values()))
    db = bsdbkv.open(tmp_path / "db")
    assert db.layout == layout and db.id == built.id and db == PAIRS
    assert sum(map(len, content(tmp_path / "db").values())) == built.bytes
    assert db.verify()["records"] == len(PAIRS)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_same_as_the_builder(tmp_path, layout):
    text = {key.decode(): f"{len(value)} é" for key, value in PAIRS.items()}
    (tmp_path / "records").write_text("".join(f"{key}\t{value}\n" for key, value in text.items()))
    bsdb_command("build", "-i", tmp_path / "records", "-s", r"\t", "-o", tmp_path / "java", "-q", "--layout", layout)
    bsdbkv.build(tmp_path / "python", text, layout=layout)
    assert content(tmp_path / "python") == content(tmp_path / "java")


@pytest.mark.parametrize(
    "records",
    [
        lambda: {"a": "1", "b": b"2"},
        lambda: {"a": "1", "b": b"2"}.items(),
        lambda: [("a", "1"), ["b", bytearray(b"2")]],
        lambda: iter([(memoryview(b"a"), memoryview(b"1")), (b"b", b"2")]),
        lambda: (pair for pair in [("a", "1"), ("b", "2")]),
    ],
)
def test_pairs(tmp_path, records):
    assert bsdbkv.build(tmp_path / "db", records()).records == 2
    assert dict(bsdbkv.open(tmp_path / "db")) == {b"a": b"1", b"b": b"2"}


def test_database_as_records(tmp_path):
    bsdbkv.build(tmp_path / "first", PAIRS)
    bsdbkv.build(tmp_path / "second", bsdbkv.open(tmp_path / "first"), ordered=True)
    assert bsdbkv.open(tmp_path / "second") == PAIRS


@pytest.mark.parametrize("records", [{}, [], iter([])])
def test_nothing(tmp_path, records):
    assert bsdbkv.build(tmp_path / "db", records).records == 0
    assert dict(bsdbkv.open(tmp_path / "db")) == {}


@pytest.mark.parametrize(
    "records, error, text",
    [
        ("ab", TypeError, "expected a mapping, pairs of key and value, or a table, not str"),
        (7, TypeError, "not int"),
        ([("a", "b"), "ab"], TypeError, r"records\[1\]: expected a pair of key and value, not str"),
        ([("a", "b", "c")], TypeError, r"records\[0\]: expected a pair"),
        (
            [("a", "b"), (1, "b")],
            TypeError,
            r"records\[1\]: a key must be bytes, bytearray, memoryview or str, not int",
        ),
        ([("a", "b"), ("c", None)], TypeError, r"records\[1\]: a value must be bytes.*not NoneType"),
        ([("a" * 70_000, "b")], bsdbkv.BuildError, "a key of 70000 bytes; at most 65535 fit"),
        ([("a", "\ud800")], UnicodeEncodeError, "surrogates"),
    ],
)
def test_wrong_records(tmp_path, records, error, text):
    with pytest.raises(error, match=text):
        bsdbkv.build(tmp_path / "db", records)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "options, error, text",
    [
        ({"layuot": "packed"}, TypeError, "no option layuot; did you mean layout"),
        ({"layout": "best"}, bsdbkv.BuildError, "layout"),
        ({"threads": 0.5}, TypeError, "threads must be a whole number"),
        ({"threads": 0}, bsdbkv.BuildError, "threads"),
        ({"layout": "blocked", "filter_bits": 8}, bsdbkv.BuildError, "filter"),
        ({"duplicates": "all"}, bsdbkv.BuildError, "duplicates"),
        ({"progress": 7}, TypeError, "progress must be"),
    ],
)
def test_wrong_options(tmp_path, options, error, text):
    with pytest.raises(error, match=text):
        bsdbkv.build(tmp_path / "db", {}, **options)
    assert os.listdir(tmp_path) == []


def test_options_without_a_value(tmp_path):
    bsdbkv.build(
        tmp_path / "db", PAIRS, layout=None, seed="random", ordered=True, threads=1, temporary_directory=tmp_path
    )
    db = bsdbkv.open(tmp_path / "db")
    assert db.ordered and db == PAIRS and os.listdir(tmp_path) == ["db"]


def test_duplicates(tmp_path):
    records = [("a", "1"), ("b", "2"), ("a", "3")]
    text = '"a" in records 0 and 2; to keep one of them: duplicates="first"'
    with pytest.raises(bsdbkv.DuplicateKeyError, match=text) as raised:
        bsdbkv.build(tmp_path / "db", records)
    assert (raised.value.key, raised.value.first, raised.value.second) == (b"a", 0, 2)
    assert os.listdir(tmp_path) == []
    for which, value in [("first", b"1"), ("last", b"3")]:
        built = bsdbkv.build(tmp_path / which, records, duplicates=which)
        assert built.records == 2 and built.dropped == 1 and bsdbkv.open(tmp_path / which)["a"] == value


def test_target_exists(tmp_path):
    bsdbkv.build(tmp_path / "db", {"a": "1"})
    with pytest.raises(FileExistsError):
        bsdbkv.build(tmp_path / "db", {"a": "2"})
    assert bsdbkv.open(tmp_path / "db")["a"] == b"1"
    bsdbkv.build(tmp_path / "db", {"a": "2"}, overwrite=True)
    assert bsdbkv.open(tmp_path / "db")["a"] == b"2" and os.listdir(tmp_path) == ["db"]


def test_builder(tmp_path):
    with bsdbkv.Builder(str(tmp_path / "db"), layout="packed") as builder:
        builder.add("a", b"1")
        builder.add_many({"b": "2"})
        builder.add_many([("c", "3"), ("d", "4")])
        with pytest.raises(TypeError, match="a key must be"):
            builder.add(None, "x")
        with pytest.raises(TypeError, match="a value must be"):
            builder.add("x", 1)
        assert builder.records == 4 and builder.built is None and not (tmp_path / "db").exists()
    assert builder.built.records == 4
    assert dict(bsdbkv.open(tmp_path / "db")) == {b"a": b"1", b"b": b"2", b"c": b"3", b"d": b"4"}
    builder.abort()
    with pytest.raises(ValueError, match="is finished"):
        builder.add("e", "5")


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, GeneratorExit])
def test_block_with_an_error(tmp_path, error):
    with pytest.raises(error), bsdbkv.Builder(tmp_path / "db") as builder:
        builder.add_many(PAIRS)
        raise error
    assert os.listdir(tmp_path) == []
    with pytest.raises(ValueError, match="given up"):
        builder.finish()


def test_error_of_the_records(tmp_path):
    def records():
        yield from PAIRS.items()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        bsdbkv.build(tmp_path / "db", records())
    assert os.listdir(tmp_path) == []


def test_dropped_builder(tmp_path):
    builder = bsdbkv.Builder(tmp_path / "db")
    builder.add_many(PAIRS)
    assert os.listdir(tmp_path) != []
    del builder
    assert os.listdir(tmp_path) == []


def test_samples(tmp_path):
    with bsdbkv.Builder(tmp_path / "db", layout="packed-compressed") as builder:
        for key, value in list(PAIRS.items())[:1000]:
            builder.sample(key, value)
        builder.add_many(PAIRS)
        with pytest.raises(bsdbkv.BuildError, match="samples come before"):
            builder.sample("a", "b")
    assert bsdbkv.open(tmp_path / "db") == PAIRS


def test_progress(tmp_path):
    told = []
    bsdbkv.build(tmp_path / "db", ((f"{i}", "") for i in range(200_000)), progress=lambda *at: told.append(at))
    assert [at for at in told if at[0] == "records"] == [
        *(("records", i << 16, None) for i in (1, 2, 3)),
        ("records", 200_000, 200_000),
    ]
    assert told[-1][0] == "publish"


@pytest.mark.parametrize("stage", ["records", "index", "publish"])
@pytest.mark.parametrize("how", ["error", "signal"])
def test_stopped_by_progress(tmp_path, stage, how):
    def told(at, done, total):
        if at == stage:
            if how == "error":
                raise ZeroDivisionError
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(ZeroDivisionError if how == "error" else KeyboardInterrupt):
        bsdbkv.build(tmp_path / "db", ((f"{i}", "") for i in range(100_000)), progress=told)
    assert os.listdir(tmp_path) == []


def test_line_of_progress(tmp_path, capsys):
    bsdbkv.build(tmp_path / "db", PAIRS, progress=True)
    assert capsys.readouterr().out == ""


def test_one_thread_at_a_time(tmp_path):
    with bsdbkv.Builder(tmp_path / "db") as builder:

        def records():
            with pytest.raises(RuntimeError, match="in use"):
                builder.add("b", "2")
            other = []
            thread = threading.Thread(target=lambda: other.append(pytest.raises(RuntimeError, builder.add, "c", "3")))
            thread.start()
            thread.join()
            assert other
            yield "a", "1"

        builder.add_many(records())
    assert dict(bsdbkv.open(tmp_path / "db")) == {b"a": b"1"}


def test_dicts_without_pyarrow(tmp_path):
    dicts = [{"id": 1, "name": "a", "x": None}, {"id": "two", "name": b"b"}]
    bsdbkv.build(tmp_path / "db", dicts, key="id", value="name")
    assert dict(bsdbkv.open(tmp_path / "db")) == {b"1": b"a", b"two": b"b"}
    with pytest.raises(TypeError, match=r"records\[1\] has no fields 'id' and 'x'"):
        bsdbkv.build(tmp_path / "other", [{"id": 1, "x": "y"}, {"id": 2}], key="id", value="x")


def test_first_record_is_none(tmp_path):
    with pytest.raises(TypeError, match=r"records\[0\] is None"):
        bsdbkv.build(tmp_path / "db", [None, ("a", "b")])
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("schema", ["{", "[]", '"long"', {"type": "map", "values": "long"}, {"fields": []}])
def test_wrong_value_schema(tmp_path, schema):
    with pytest.raises(ValueError, match="the option value_schema"):
        bsdbkv.build(tmp_path / "db", {}, value_schema=schema)
    assert os.listdir(tmp_path) == []


def test_wrong_texts(tmp_path):
    with pytest.raises(ValueError, match="the path .* has a NUL"):
        bsdbkv.build(f"{tmp_path}/a\0b", {})
    for records in {"\ud800": ""}, [("a", "\ud800")]:
        with pytest.raises(ValueError, match="in the text .*ud800.* of a record"):
            bsdbkv.build(tmp_path / "db", records)
    assert os.listdir(tmp_path) == []


def test_bool_of_numpy(tmp_path):
    numpy = pytest.importorskip("numpy")
    bsdbkv.build(tmp_path / "db", {"a": "b"}, ordered=numpy.bool_(True), layout="packed")
    with bsdbkv.open(tmp_path / "db") as db:
        assert db.ordered


def test_command_with_a_target_that_exists(tmp_path):
    bsdbkv.build(tmp_path / "db", {"a": "b"})
    (tmp_path / "in.txt").write_text("a b\n")
    words = [sys.executable, "-m", "bsdbkv", "build", "-i", tmp_path / "in.txt", "-o", tmp_path / "db"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 2
    assert "db: already exists; replace it with --overwrite or choose another target" in done.stderr


def test_a_refused_record_takes_no_others_with_it(tmp_path):
    builder = bsdbkv.Builder(tmp_path / "rdb")
    for i in range(40_000):
        if i in (5, 39_998):
            with pytest.raises(bsdbkv.BuildError, match=rf"record {i if i == 5 else i - 1}: a key of 70000 bytes"):
                builder.add("k" * 70_000, "v")
        else:
            builder.add(str(i), "v")
    assert builder.records == 39_998
    assert builder.finish().records == 39_998


def test_a_value_of_another_length_takes_no_others_with_it(tmp_path):
    builder = bsdbkv.Builder(tmp_path / "rdb", value_elements="u8 4")
    builder.add("a", b"1234")
    with pytest.raises(bsdbkv.BuildError, match="the value of record 1 has 3 bytes"):
        builder.add("b", b"123")
    builder.add("c", b"5678")
    assert builder.finish().records == 2


def test_a_block_whose_end_fails_leaves_nothing(tmp_path):
    def progress(stage, done, total):
        if stage == "index":
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"), bsdbkv.Builder(tmp_path / "rdb", progress=progress) as builder:
        builder.add("a", "b")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError):
        builder.finish()


@pytest.mark.parametrize("stage", ["records", "index", "publish"])
def test_a_build_that_is_given_up_while_it_works_is_not_published(tmp_path, stage):
    def progress(at, done, total):
        if at == stage:
            builder.abort()

    builder = bsdbkv.Builder(tmp_path / "rdb", progress=progress)
    with pytest.raises(Exception, match="given up|stopped"):
        builder.add_many((str(i), "v") for i in range(100_000))
        builder.finish()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError):
        builder.add("a", "b")


def test_a_source_can_give_a_build_up(tmp_path):
    def records():
        yield "a", "b"
        builder.abort()
        yield "c", "d"

    builder = bsdbkv.Builder(tmp_path / "rdb")
    with pytest.raises(ValueError, match="given up"):
        builder.add_many(records())
    assert list(tmp_path.iterdir()) == []
