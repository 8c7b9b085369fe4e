"""Typed rows."""

import datetime as dt
import decimal
import json
import math
import random
import shutil
import uuid

import pytest
from conftest import GOLDEN, bsdb_command

import bsdbkv
from bsdbkv import __main__ as cli

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

UTC = dt.timezone.utc


def columns():
    """Columns of every type that Parquet has: the type, and values."""
    struct = pa.struct([("x", pa.int32()), ("unit price", pa.float64()), ("in", pa.struct([("größe", pa.string())]))])
    moment = dt.datetime(2024, 1, 31, 12, 34, 56, 789000)
    return {
        "flag": (pa.bool_(), [True, None, False]),
        "tiny": (pa.int8(), [-1, None, 127]),
        "int": (pa.int32(), [-(2**31), None, 2**31 - 1]),
        "long": (pa.int64(), [-(2**63), None, 2**63 - 1]),
        "unsigned": (pa.uint32(), [0, None, 2**32 - 1]),
        "float": (pa.float32(), [1.5, None, 16777216.0]),
        "single": (pa.float32(), [0.10000000149011612, None, math.nan]),
        "double": (pa.float64(), [0.1, None, math.inf]),
        "money": (pa.decimal128(9, 2), [decimal.Decimal("1.50"), None, decimal.Decimal("-0.01")]),
        "huge": (pa.decimal256(60, 10), [decimal.Decimal("1e40"), None, decimal.Decimal("-1e-10")]),
        "day": (pa.date32(), [dt.date(2024, 1, 31), None, dt.date(1, 1, 1)]),
        "time ms": (pa.time32("ms"), [dt.time(12, 34, 56, 789000), None, dt.time(0)]),
        "time us": (pa.time64("us"), [dt.time(12, 34, 56, 789001), None, dt.time(23, 59, 59, 999999)]),
        "time ns": (pa.time64("ns"), [45296000000001, None, 0]),
        "utc ms": (pa.timestamp("ms", "UTC"), [moment.replace(tzinfo=UTC), None, dt.datetime(1, 1, 1, tzinfo=UTC)]),
        "utc us": (pa.timestamp("us", "UTC"), [moment.replace(tzinfo=UTC), None, dt.datetime(1969, 1, 1, tzinfo=UTC)]),
        "utc ns": (pa.timestamp("ns", "UTC"), [1706704496789000001, None, -1]),
        "local ms": (pa.timestamp("ms"), [moment, None, dt.datetime(1, 1, 1)]),
        "local us": (pa.timestamp("us"), [moment, None, dt.datetime(9999, 12, 31, 23, 59, 59, 999999)]),
        "local ns": (pa.timestamp("ns"), [1706704496789000001, None, -1]),
        "text": (pa.string(), ["gräße", None, ""]),
        "bytes": (pa.binary(), [b"\xff\0", None, b""]),
        "fixed": (pa.binary(3), [b"abc", None, b"\0\0\0"]),
        "list": (pa.list_(pa.int64()), [[1, None, 3], None, []]),
        "lists": (pa.list_(pa.list_(pa.string())), [[["a"], [], None], None, []]),
        "map": (pa.map_(pa.string(), pa.int32()), [[("a", 1), ("b", None)], None, []]),
        "pairs": (pa.map_(pa.int32(), pa.string()), [[(1, "a"), (2, None)], None, []]),
        "struct": (
            struct,
            [{"x": 1, "unit price": 2.5, "in": {"größe": "L"}}, None, {"x": None, "unit price": None, "in": None}],
        ),
        "structs": (pa.list_(struct), [[{"x": 1, "unit price": None, "in": None}, None], None, []]),
        "void": (pa.null(), [None, None, None]),
    }


KEYS = ["a", "b", "c"]


@pytest.fixture(scope="module")
def table():
    made = columns()
    arrays = [pa.array(values, type) for type, values in made.values()]
    return pa.table([pa.array(KEYS), pa.array([1, 2, 3], pa.int32()), *arrays], ["key", "plain", *made])


@pytest.fixture(scope="module")
def rows(table, tmp_path_factory):
    directory = tmp_path_factory.mktemp("rows")
    pq.write_table(table, directory / "rows.parquet", store_schema=False)
    bsdb_command("build-parquet", "-i", directory / "rows.parquet", "-kf", "key", "-o", directory / "db", "-q")
    return bsdbkv.open(directory / "db")


def test_the_golden_rows():
    db = bsdbkv.open(GOLDEN / "v1-typed")
    assert db.schema["fields"][0]["column"] == "the text" and json.loads(db.schema_json) == db.schema
    assert db.get_row(b"empty") == {"the text": ""} and db.get_row("absent") is None and db.get_row("x", 7) == 7
    table = db.get_many_arrow(["bsdb", "absent", "", "absent", "empty"])
    assert table.schema == pa.schema([("the text", pa.string())])
    texts = ["build and serve, build and serve, build and serve", None, "an empty key is a key", None, ""]
    assert table["the text"].to_pylist() == texts
    assert db.get_many_arrow(["absent", "empty"], missing="drop").to_pylist() == [{"the text": ""}]
    with pytest.raises(KeyError) as raised:
        db.get_many_arrow(["empty", "absent"], missing="raise")
    assert raised.value.args == (b"absent",)
    with pytest.raises(ValueError, match="'null', 'drop' or 'raise'"):
        db.get_many_arrow(["empty"], missing="nix")
    for missing, count in [("null", 1), ("drop", 0)]:
        assert db.get_many_arrow(["absent"], missing=missing).num_rows == count
    assert db.get_many_arrow([]).schema.names == ["the text"]


def test_many_batches():
    db = bsdbkv.open(GOLDEN / "v1-typed")
    table = db.get_many_arrow(["empty", "absent", "bsdb"] * 20_000)
    assert table.num_rows == 60_000 and table["the text"].null_count == 20_000
    assert table.slice(59_997).to_pylist() == table.slice(0, 3).to_pylist()


def test_every_type_of_parquet(rows, table):
    read = rows.get_many_arrow(KEYS)
    read.validate(full=True)
    assert read.column_names == table.column_names
    for name in table.column_names:
        wanted, found = table[name], read[name]
        if name in ("tiny", "unsigned"):
            wanted = wanted.cast(found.type)
        assert found.type.id == wanted.type.id and str(found.type).split("<")[0] == str(wanted.type).split("<")[0], name
        assert repr(without_names(found)) == repr(without_names(wanted)), name
    for name in ["time ns", "utc ns", "local ns", "huge", "money", "day", "fixed", "utc ms", "local us"]:
        assert read.schema.field(name).type == table.schema.field(name).type
    assert read["struct"].type.field(1).name == "unit price"


def without_names(column):
    kind = column.type
    if pa.types.is_temporal(kind):
        column = column.cast(pa.int32() if pa.types.is_date32(kind) or pa.types.is_time32(kind) else pa.int64())
    return column.to_pylist()


def test_rows_as_dicts(rows):
    made = columns()
    for i, key in enumerate(KEYS):
        row = rows.get_row(key)
        assert row["key"] == key and row["plain"] == i + 1
        for name, (_, values) in made.items():
            wanted = values[i]
            if name == "map" and wanted is not None:
                wanted = dict(wanted)
            if name == "pairs" and wanted is not None:
                wanted = [{"key": key, "value": value} for key, value in wanted]
            assert row[name] == wanted or row[name] != row[name] and wanted != wanted, name
            assert getattr(row[name], "tzinfo", None) == getattr(wanted, "tzinfo", None) or "utc" in name
    assert list(row) == ["key", "plain", *made]


def test_absent_rows_are_null(rows):
    read = rows.get_many_arrow(["x", "c", "x", "a"])
    assert read["key"].to_pylist() == [None, "c", None, "a"]
    same = read.slice(1, 1).drop_columns(["single"])
    assert same.columns == rows.get_many_arrow(["c"]).drop_columns(["single"]).columns
    assert all(field.nullable for field in read.schema)
    read.validate(full=True)


AVRO = {
    "type": "record",
    "name": "org.example.Row",
    "doc": 'with "quotes" and \\ backslashes',
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "color", "type": {"type": "enum", "name": "Color", "symbols": ["RED", "GREEN"], "doc": '"'}},
        {"name": "again", "type": ["null", "Color"], "default": None},
        {"name": "full", "type": ["org.example.Color", "null"], "aliases": ["old"]},
        {"name": "uid", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "fuid", "type": {"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"}},
        {"name": "span", "type": {"type": "fixed", "name": "D", "size": 12, "logicalType": "duration"}},
        {
            "name": "fdec",
            "type": {"type": "fixed", "name": "F", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 3},
        },
        {"name": "either", "type": ["null", "int", "string", {"type": "array", "items": "long"}]},
        {"name": "tns", "type": {"type": "long", "logicalType": "time-nanos"}},
        {"name": "odd", "type": {"type": "long", "logicalType": "date"}},
        {"name": "baddec", "type": {"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 3}},
        {
            "name": "nested",
            "type": {
                "type": "record",
                "name": "N",
                "namespace": "other",
                "fields": [
                    {
                        "name": "n_x",
                        "column": 'a "b" \\ ü',
                        "type": ["null", {"type": "map", "values": "org.example.Color"}],
                    },
                    {"name": "u", "type": {"type": "array", "items": ["null", "org.example.U"]}},
                    {"name": "e", "type": {"type": "record", "name": "Empty", "fields": []}},
                ],
            },
        },
    ],
}
U1, U2 = "00112233-4455-6677-8899-aabbccddeeff", "123e4567-e89b-12d3-a456-426614174000"
ROW = {
    "id": 1,
    "color": "GREEN",
    "again": None,
    "full": "RED",
    "uid": U1,
    "fuid": U2,
    "span": "P1M2DT3.004S",
    "fdec": 1.5,
    "either": "x",
    "tns": "12:34:56.000000001",
    "odd": 7,
    "baddec": "AAE=",
    "nested": {'a "b" \\ ü': {"k": "RED"}, "u": [None, U1], "e": {}},
}


def typed(directory, schema, *rows):
    (directory / "s.avsc").write_text(json.dumps(schema))
    (directory / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    bsdb_command(
        "build",
        "--jsonl",
        "--key-field",
        "id",
        "--avro-schema",
        directory / "s.avsc",
        "-i",
        directory / "r.jsonl",
        "-o",
        directory / "db",
        "-q",
    )
    return bsdbkv.open(directory / "db")


def test_what_only_avro_has(tmp_path, capfdbinary):
    others = (
        {"id": 2, "either": 5, "again": "GREEN", "full": None, "span": "PT0S"},
        {"id": 3, "either": [1, 2]},
        {"id": 4, "either": None},
    )
    db = typed(tmp_path, AVRO, *[{**ROW, **other} for other in ({}, *others)])
    assert db.get_row("1") == {
        **ROW,
        "uid": uuid.UUID(U1),
        "fuid": uuid.UUID(U2),
        "span": (1, 2, 3004000000),
        "fdec": decimal.Decimal("1.5"),
        "tns": 45296000000001,
        "baddec": b"\0\1",
        "nested": {'a "b" \\ ü': {"k": "RED"}, "u": [None, uuid.UUID(U1)], "e": {}},
    }
    table = db.get_many_arrow(list("1234"))
    table.validate(full=True)
    assert table["either"].to_pylist() == ["x", 5, [1, 2], None]
    assert table["full"].to_pylist() == ["RED", None, "RED", "RED"]
    assert table.schema.field("uid").type == pa.uuid() and table.schema.field("tns").type == pa.time64("ns")
    with pytest.raises(ValueError, match="'either' is a union.*missing='drop'"):
        db.get_many_arrow(["1", "x"])
    assert db.get_many_arrow(["1", "x"], missing="drop").num_rows == 1
    same_json(db, "1234", capfdbinary)


def test_the_same_json_as_the_builder(rows, capfdbinary):
    same_json(rows, KEYS, capfdbinary)


def same_json(db, keys, capture):
    theirs = bsdb_command("get", "-d", db.path, "--json", *keys)
    assert cli.main(["get", "--json", db.path, *keys]) == 0
    ours = capture.readouterr().out.decode()
    assert [exact(line) for line in ours.splitlines()] == [exact(line) for line in theirs.splitlines()]
    assert cli.main(["scan", "--json", db.path]) == 0
    assert sorted(capture.readouterr().out.decode().splitlines()) == sorted(ours.splitlines())


def exact(line):
    return json.loads(line, parse_float=decimal.Decimal)


def test_types_that_arrow_lacks(tmp_path):
    node = {
        "type": "record",
        "name": "Node",
        "fields": [{"name": "id", "type": "int"}, {"name": "next", "type": ["null", "Node"]}],
    }
    wide = {"type": "bytes", "logicalType": "decimal", "precision": 100, "scale": 2}
    inner = {"type": "record", "name": "I", "fields": [{"name": "b", "type": wide, "column": "the b"}]}
    outer = {"type": "record", "name": "O", "fields": [{"name": "id", "type": "int"}, {"name": "a", "type": inner}]}

    def lacking(column):
        fields = [{"name": "id", "type": "int"}, {"name": "n", "type": column}]
        return {"type": "record", "name": "L", "fields": fields}

    hollow = {"type": "array", "items": {"type": "record", "name": "E", "fields": []}}
    cases = [
        (lacking({"type": "array", "items": "null"}), {"id": 1, "n": []}, 'column "n": a list of items'),
        (lacking({"type": "map", "values": "null"}), {"id": 1, "n": {}}, 'column "n": a map of values'),
        (lacking(hollow), {"id": 1, "n": []}, 'column "n": a list of items'),
        (node, {"id": 1, "next": None}, 'column "next": the record "Node" contains itself'),
        (
            outer,
            {"id": 1, "a": {"the b": 1}},
            r'column "a.the b": decimal\(100,2\), and Arrow\'s decimals have at most 76',
        ),
    ]
    for i, (schema, row, message) in enumerate(cases):
        directory = tmp_path / str(i)
        directory.mkdir()
        db = typed(directory, schema, row)
        for read in [db.get_row, db.get_many_arrow]:
            with pytest.raises(bsdbkv.RowError, match=message):
                read(["1"] if read == db.get_many_arrow else "1")
        assert db["1"], "the bytes can be read all the same"


def test_values_that_python_lacks(tmp_path):
    schema = {
        "type": "record",
        "name": "R",
        "fields": [{"name": "id", "type": "int"}, {"name": "d", "type": {"type": "int", "logicalType": "date"}}],
    }
    db = typed(tmp_path, schema, {"id": 1, "d": "+10000-01-01"})
    with pytest.raises(
        bsdbkv.RowError, match="the row of the key '1' has a value that Python cannot hold.*get_many_arrow"
    ):
        db.get_row("1")
    assert db.get_many_arrow(["1"])["d"].cast(pa.int32()).to_pylist() == [2932897]


def test_values_that_are_plain_bytes():
    for read in [bsdbkv.open(GOLDEN / "v1-ptr").get_many_arrow, bsdbkv.open(GOLDEN / "v1-ptr").get_row]:
        with pytest.raises(bsdbkv.RowError, match="v1-ptr: values are plain bytes"):
            read(["bsdb"] if read.__name__ == "get_many_arrow" else "bsdb")


def test_values_that_are_no_rows(rows, tmp_path):
    """Damage that nobody looks for: any answer or an error with a name, but no crash."""
    copy = tmp_path / "db"
    shutil.copytree(rows.path, copy)
    data = next(copy.glob("data-*"))
    whole = data.read_bytes()
    value = whole.index(rows["a"])
    source = random.Random(7)
    refused = 0
    for _ in range(500):
        damaged = bytearray(whole)
        for _ in range(source.choice([1, 1, 3])):
            damaged[value + source.randrange(len(rows["a"]))] = source.randrange(256)
        data.unlink()
        data.write_bytes(damaged)
        with bsdbkv.open(copy, verify_pages=False) as db:
            for read in [lambda: db.get_many_arrow(["b", "a"]), lambda: db.get_row("a")]:
                try:
                    read()
                except bsdbkv.RowError as error:
                    refused += 1
                    assert "not a row of the stored schema" in str(error) or "Python cannot hold" in str(error)
            assert db.get_row("b") == rows.get_row("b"), "the next row is read all the same"
    assert refused > 0


def test_deep_schemas(tmp_path):
    inner = "int"
    for i in range(20):
        inner = {"type": "record", "name": f"R{i}", "fields": [{"name": "x", "type": inner}]}
    fields = [{"name": "id", "type": "int"}, {"name": "r", "type": inner}]
    value = 7
    for _ in range(20):
        value = {"x": value}
    db = typed(tmp_path, {"type": "record", "name": "R", "fields": fields}, {"id": 1, "r": value})
    assert db.get_row("1") == {"id": 1, "r": value}

    # Short to write and deep: each record holds the one before.
    fields = [{"name": "id", "type": "int"}]
    value = None
    for i in range(200):
        before = {"name": "x", "type": f"R{i - 1}" if i else "null"}
        fields.append({"name": f"f{i}", "type": {"type": "record", "name": f"R{i}", "fields": [before]}})
        value = {"x": value}
    (tmp_path / "deep").mkdir()
    row = {"id": 1}
    for i in range(200):
        row[f"f{i}"] = {"x": row[f"f{i - 1}"] if i else None}
    db = typed(tmp_path / "deep", {"type": "record", "name": "R", "fields": fields}, row)
    with pytest.raises(bsdbkv.RowError, match="more than 128 types within each other"):
        db.get_row("1")


def test_cut_rows(tmp_path):
    """Approximate databases return anything for absent keys."""
    (tmp_path / "s.avsc").write_text(
        json.dumps({"type": "record", "name": "R", "fields": [{"name": "t", "type": "string"}]})
    )
    (tmp_path / "r.csv").write_text("id,t\n" + "".join(f"k{i},{'x' * (i % 7)}\n" for i in range(100)))
    bsdb_command(
        "build",
        "--csv",
        "--key-column",
        "id",
        "--avro-schema",
        tmp_path / "s.avsc",
        "--ignore-extra-fields",
        "-a",
        "-cb",
        "0",
        "-i",
        tmp_path / "r.csv",
        "-o",
        tmp_path / "db",
        "-q",
    )
    db = bsdbkv.open(tmp_path / "db")
    for i in range(100):
        try:
            assert db.get_row(f"k{i}") == {"t": "x" * (i % 7)}
        except bsdbkv.RowError as error:
            assert f'b"k{i}"' in str(error) and "not a row" in str(error)


def test_without_pyarrow(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match="pip install pyarrow$"):
        bsdbkv.open(GOLDEN / "v1-typed").get_row("bsdb")
