"""Typed rows: every type, as bsdbkv reads it, and what DuckDB has no type for."""

from __future__ import annotations

import datetime as dt
import json
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import bsdbkv
import duckdb
import pyarrow as pa
import pytest

from conftest import IS_LATER, LAYOUTS, Duck, bsdb

TABLE = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int64()),
        "flag": pa.array([True, None, False]),
        "int": pa.array([1, None, -(2**31)], pa.int32()),
        "long": pa.array([2**63 - 1, None, -(2**63)], pa.int64()),
        "float": pa.array([1.5, None, float("inf")], pa.float32()),
        "double": pa.array([0.1, None, float("-inf")], pa.float64()),
        "text": pa.array(["short", None, "a longer text with ünicode, more than twelve"]),
        "bytes": pa.array([b"\x00\xff", None, b"x" * 40]),
        "decimal3": pa.array([Decimal("1.5"), None, Decimal("-99.9")], pa.decimal128(3, 1)),
        "decimal7": pa.array([Decimal("1.50"), None, Decimal("-99999.99")], pa.decimal128(7, 2)),
        "decimal18": pa.array([Decimal("1.5"), None, Decimal("-9999999999999.9")], pa.decimal128(18, 1)),
        "decimal38": pa.array([Decimal("1.5"), None, Decimal("-" + "9" * 37 + ".9")], pa.decimal128(38, 1)),
        "date": pa.array([dt.date(2024, 1, 31), None, dt.date(1, 1, 1)]),
        "time": pa.array([dt.time(1, 2, 3, 4001), None, dt.time(0)], pa.time64("us")),
        "local": pa.array([dt.datetime(2024, 1, 31, 1, 2, 3, 4), None, dt.datetime(1900, 1, 1)], pa.timestamp("us")),
        "instant": pa.array([dt.datetime(2024, 1, 31, 1, 2, 3, 4), None, dt.datetime(1900, 1, 1)], pa.timestamp("us", "UTC")),
        "nanos": pa.array([1, None, -5], pa.timestamp("ns")),
        "list": pa.array([[1, 2, None], None, []], pa.list_(pa.int64())),
        "lists": pa.array([[["a"], None, ["b", "c" * 20]], None, []], pa.list_(pa.list_(pa.string()))),
        "record": pa.array(
            [{"x": 1, "y": "z"}, None, {"x": None, "y": None}], pa.struct([("x", pa.int64()), ("y", pa.string())])
        ),
        "records": pa.array(
            [[{"x": 1, "y": ["z"]}, None], None, [{"x": None, "y": None}]],
            pa.list_(pa.struct([("x", pa.int64()), ("y", pa.list_(pa.string()))])),
        ),
        "map": pa.array([[("a", 1), ("b", None)], None, []], pa.map_(pa.string(), pa.int64())),
        "pairs": pa.array([[(1, "a"), (2, None)], None, []], pa.map_(pa.int64(), pa.string())),
    }
)


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("typed") / "database"
    bsdbkv.build(path, TABLE, key="id")
    return path


def plain(value: Any) -> Any:
    """A value as both readers give it."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value.astimezone(dt.timezone.utc) if isinstance(value, dt.datetime) and value.tzinfo else value


def test_every_type(duck: Duck, typed: Path) -> None:
    # Python has no nanoseconds.
    table = TABLE.drop_columns("nanos")
    expected = []
    for row in table.to_pylist():
        row |= {name: None if row[name] is None else dict(row[name]) for name in ("map", "pairs")}
        expected.append(tuple(plain(value) for value in row.values()))
    rows = duck("SELECT * EXCLUDE (key, nanos) FROM bsdb_scan(?) ORDER BY id", str(typed))
    assert [tuple(plain(value) for value in row) for row in rows] == expected
    assert duck("SELECT epoch_ns(nanos) FROM bsdb_scan(?) ORDER BY id", str(typed)) == [(1,), (None,), (-5,)]
    assert duck("SELECT key FROM bsdb_scan(?, text := true) ORDER BY key", str(typed)) == [("1",), ("2",), ("3",)]


def test_the_reader_of_bsdbkv_agrees(duck: Duck, typed: Path) -> None:
    own = bsdbkv.open(typed).get_many_arrow(["1", "2", "3"])
    for name in TABLE.column_names:
        found = duck.arrow(f"SELECT {name} FROM bsdb_scan('{typed}') ORDER BY id").column(0).to_numpy(zero_copy_only=False)
        assert repr(list(found)) == repr(list(own.column(name).to_numpy(zero_copy_only=False))), name


def test_types(duck: Duck, typed: Path) -> None:
    types = {name: kind for name, kind, *_ in duck(f"DESCRIBE FROM bsdb_scan('{typed}')")}
    assert types == {
        "key": "BLOB", "id": "BIGINT", "flag": "BOOLEAN", "int": "INTEGER", "long": "BIGINT", "float": "FLOAT", "double": "DOUBLE",
        "text": "VARCHAR", "bytes": "BLOB", "decimal3": "DECIMAL(3,1)", "decimal7": "DECIMAL(7,2)", "decimal18": "DECIMAL(18,1)",
        "decimal38": "DECIMAL(38,1)", "date": "DATE", "time": "TIME", "local": "TIMESTAMP",
        "instant": "TIMESTAMP WITH TIME ZONE", "nanos": "TIMESTAMP_NS", "list": "BIGINT[]", "lists": "VARCHAR[][]",
        "record": "STRUCT(x BIGINT, y VARCHAR)", "records": "STRUCT(x BIGINT, y VARCHAR[])[]", "map": "MAP(VARCHAR, BIGINT)",
        "pairs": "MAP(BIGINT, VARCHAR)",
    }


@pytest.mark.parametrize("name", TABLE.column_names)
def test_projection(duck: Duck, typed: Path, name: str) -> None:
    whole = duck("FROM bsdb_scan(?) ORDER BY id", str(typed))
    place = TABLE.column_names.index(name) + 1
    assert duck(f'SELECT "{name}" FROM bsdb_scan(?) ORDER BY id', str(typed)) == [(row[place],) for row in whole]


def test_rows_of_keys(duck: Duck, typed: Path) -> None:
    whole = dict((row[0], row[1:]) for row in duck("FROM bsdb_scan(?, text := true)", str(typed)))
    rows = duck("FROM bsdb_rows(?, [3, 9, 1], text := true)", str(typed))
    absent = (None,) * len(TABLE.column_names)
    assert rows == [("3", *whole["3"]), ("9", *absent), ("1", *whole["1"])]
    assert duck("SELECT record.y, map['a'] FROM bsdb_rows(?, [1, 2, 9])", str(typed)) == [("z", 1), (None, None), (None, None)]


def test_raw(duck: Duck, typed: Path) -> None:
    database = bsdbkv.open(typed)
    rows = duck("FROM bsdb_scan(?, raw := true) ORDER BY key", str(typed))
    assert rows == [(b"%d" % i, database[str(i)]) for i in (1, 2, 3)]
    assert duck("SELECT bsdb_get(?, 1)", str(typed)) == [(database["1"],)]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_random_rows(duck: Duck, tmp_path: Path, layout: str) -> None:
    """Many chunks, threads and nested lists that outgrow their first room."""
    some = random.Random(layout)

    def text() -> str | None:
        return None if some.random() < 0.1 else "ä" * some.randrange(30)

    def row(i: int) -> dict[str, Any]:
        pairs = [(f"k{j}", some.randrange(100)) for j in range(some.randrange(12))]
        return {
            "id": i,
            "text": text(),
            "numbers": [some.randrange(-(2**40), 2**40) for _ in range(some.randrange(20))],
            "records": [{"a": text(), "b": [text() for _ in range(some.randrange(4))]} for _ in range(some.randrange(5))],
            "map": None if some.random() < 0.1 else pairs,
        }

    schema = pa.schema([
        ("id", pa.int64()), ("text", pa.string()), ("numbers", pa.list_(pa.int64())),
        ("records", pa.list_(pa.struct([("a", pa.string()), ("b", pa.list_(pa.string()))]))),
        ("map", pa.map_(pa.string(), pa.int64())),
    ])
    rows = [row(i) for i in range(30_000)]
    bsdbkv.build(tmp_path / "database", pa.Table.from_pylist(rows, schema), key="id", layout=layout)
    for each in rows:
        each["map"] = None if each["map"] is None else dict(each["map"])
    found = duck("SELECT * EXCLUDE key FROM bsdb_scan(?) ORDER BY id", str(tmp_path / "database"))
    assert found == [tuple(each.values()) for each in rows]
    few = some.sample(range(30_000), 3000)
    duck("SET VARIABLE few = ?", few)
    assert duck("SELECT * EXCLUDE key FROM bsdb_rows(?, getvariable('few'))", str(tmp_path / "database")) == [
        tuple(rows[i].values()) for i in few
    ]


def build_rows(path: Path, fields: list[dict[str, Any]], rows: list[dict[str, Any]], *options: str) -> str:
    """Builds rows of an Avro schema with the Java builder."""
    path.mkdir()
    schema = {"type": "record", "name": "Row", "fields": [{"name": "id", "type": "long"}, *fields]}
    (path / "row.avsc").write_text(json.dumps(schema))
    (path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    bsdb(
        "build", "-q", "--jsonl", "--key-field", "id", "--avro-schema", path / "row.avsc", "-i", path / "rows.jsonl",
        "-o", path / "rdb", *options,
    )
    return str(path / "rdb")


def test_types_of_avro(duck: Duck, tmp_path: Path) -> None:
    symbols = [f"S{i}" for i in range(300)]
    fields: list[dict[str, Any]] = [
        {"name": "small", "type": {"type": "enum", "name": "Small", "symbols": ["A", "B"]}},
        {"name": "large", "type": {"type": "enum", "name": "Large", "symbols": symbols}},
        {"name": "e255", "type": {"type": "enum", "name": "E255", "symbols": symbols[:255]}},
        {"name": "e256", "type": {"type": "enum", "name": "E256", "symbols": symbols[:256]}},
        {"name": "uuid", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "uuid16", "type": {"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"}},
        {"name": "fixed", "type": {"type": "fixed", "name": "F", "size": 3}},
        {"name": "amount", "type": {"type": "fixed", "name": "D", "size": 8, "logicalType": "decimal", "precision": 10, "scale": 2}},
        {"name": "millis", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "local_millis", "type": {"type": "long", "logicalType": "local-timestamp-millis"}},
        {"name": "time", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "duration", "type": {"type": "fixed", "name": "L", "size": 12, "logicalType": "duration"}},
        {"name": "any", "type": ["null", "long", "string"]},
        {"name": "either", "type": ["string", "boolean"]},
        {"name": "only", "type": ["long"]},
        {"name": "last", "type": ["string", "null"], "default": ""},
        {"name": "nothing", "type": "null"},
        {"name": "Key", "type": "string"},
        {"name": "key_", "type": "int"},
    ]
    row: dict[str, Any] = {
        "id": 1, "small": "B", "large": "S299", "e255": "S254", "e256": "S255", "uuid": "123e4567-e89b-12d3-a456-426614174000",
        "uuid16": "fedcba98-7654-3210-fedc-ba9876543210", "fixed": "AAEC", "amount": "-12345678.90", "millis": "2024-01-31T12:34:56.789Z",
        "local_millis": "1969-12-31T23:59:59.999", "time": "23:59:59.999", "duration": "P1M2DT3.004S", "any": "text", "either": True,
        "only": 7, "last": None, "nothing": None, "Key": "k", "key_": 5,
    }
    path = build_rows(tmp_path / "avro", fields, [row, row | {"id": 2, "any": None}, row | {"id": 3, "any": 5, "either": "no"}])
    columns = [name for name, *_ in duck(f"DESCRIBE FROM bsdb_scan('{path}')")]
    assert columns == ["bsdb_key", "id", *(field["name"] for field in fields)]
    [found] = duck(f"SELECT columns(*)::VARCHAR FROM bsdb_scan('{path}', text := true) WHERE id = 1")
    instant = found[columns.index("millis")]
    assert instant.startswith("2024-01-31 12:34:56.789")
    assert dict(zip(columns, found)) == {
        "bsdb_key": "1", "id": "1", "small": "B", "large": "S299", "e255": "S254", "e256": "S255", "uuid": row["uuid"],
        "uuid16": row["uuid16"], "fixed": "\\x00\\x01\\x02", "amount": "-12345678.90", "millis": instant,
        "local_millis": "1969-12-31 23:59:59.999", "time": "23:59:59.999", "duration": "1 month 2 days 00:00:03.004", "any": "text",
        "either": "true", "only": "7", "last": None, "nothing": None, "Key": "k", "key_": "5",
    }
    assert duck(f'SELECT "any", "either" FROM bsdb_scan(\'{path}\') ORDER BY id') == [("text", True), (None, True), (5, "no")]
    assert duck(f"SELECT epoch_ms(millis) FROM bsdb_scan('{path}') LIMIT 1") == [(1706704496789,)]


def test_nanoseconds(duck: Duck, tmp_path: Path) -> None:
    fields = [
        {"name": "time", "type": {"type": "long", "logicalType": "time-nanos"}},
        {"name": "instant", "type": {"type": "long", "logicalType": "timestamp-nanos"}},
    ]
    path = build_rows(tmp_path / "nanos", fields, [{"id": 1, "time": "00:00:00.000000007", "instant": "1970-01-01T00:00:00.000000009Z"}])
    types = [kind for _, kind, *_ in duck(f"DESCRIBE SELECT time, instant FROM bsdb_scan('{path}')")]
    assert types == (["TIME_NS", "TIMESTAMPTZ_NS"] if IS_LATER else ["BIGINT", "TIMESTAMP_NS"])
    if IS_LATER:
        assert duck(f"SELECT time::VARCHAR, instant = '1970-01-01 00:00:00.000000009+00'::TIMESTAMPTZ_NS FROM bsdb_scan('{path}')") == [("00:00:00.000000007", True)]
    else:
        assert duck(f"SELECT time, epoch_ns(instant) FROM bsdb_scan('{path}')") == [(7, 9)]


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        ({"type": "bytes", "logicalType": "decimal", "precision": 39, "scale": 2}, "at most 38 digits"),
        ({"type": "record", "name": "Tree", "fields": [{"name": "next", "type": ["null", "Tree"]}]}, "contains itself"),
        ({"type": "record", "name": "Empty", "fields": []}, "without fields"),
    ],
)
def test_types_that_duckdb_lacks(duck: Duck, tmp_path: Path, field: dict[str, Any], reason: str) -> None:
    path = build_rows(tmp_path / "odd", [{"name": "odd", "type": ["null", field], "default": None}], [{"id": 1}])
    error = duck.error("FROM bsdb_scan(?)", path)
    assert reason in error and '"odd' in error and path in error
    assert "raw" in error
    assert duck("SELECT key FROM bsdb_scan(?, raw := true)", path) == [(b"1",)]


def test_names_that_differ_by_case(duck: Duck, tmp_path: Path) -> None:
    path = build_rows(tmp_path / "case", [{"name": "a", "type": "int"}, {"name": "A", "type": "int"}], [{"id": 1, "a": 1, "A": 2}])
    assert [name for name, *_ in duck(f"DESCRIBE FROM bsdb_scan('{path}')")] == ["key", "id", "a", "A_1"]
    assert duck("SELECT a, A_1 FROM bsdb_scan(?)", path) == [(1, 2)]


def test_values_that_duckdb_cannot_hold(duck: Duck, tmp_path: Path) -> None:
    fields = [{"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}}]
    path = build_rows(tmp_path / "late", fields, [{"id": 5, "at": "+292278993-01-01T00:00:00Z"}])
    error = duck.error("FROM bsdb_scan(?)", path)
    assert path in error and '"5"' in error and "timestamp" in error


RECORD = {
    "type": "record",
    "name": "r",
    "fields": [
        {"name": "a", "type": ["null", "string"]},
        {"name": "b", "type": {"type": "array", "items": {"type": "map", "values": ["long", "null", "string"]}}},
        {"name": "c", "type": {"type": "enum", "name": "e", "symbols": ["X", "Y"]}},
        {"name": "d", "type": {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 1}},
        {"name": "e", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "f", "type": {"type": "int", "logicalType": "date"}},
        {"name": "g", "type": {"type": "int", "logicalType": "time-millis"}},
    ],
}


def row_of_text(kind: str, **logical: str) -> str:
    return json.dumps({"type": "record", "name": "r", "fields": [{"name": "x", "type": {"type": kind, **logical}}]})


@pytest.mark.parametrize(
    ("schema", "value", "reason"),
    [
        (row_of_text("string"), b"\x02\xff", "not UTF-8"),
        (row_of_text("string"), b"\x08a", "too early"),
        (row_of_text("string"), b"\x01", "-1 bytes"),
        (row_of_text("long"), b"\xff" * 11, "more than 64 bits"),
        (row_of_text("int"), b"\xfe\xff\xff\xff\xff\x01", "more than 32 bits"),
        (row_of_text("boolean"), b"\x02", "boolean"),
        (row_of_text("int", logicalType="date"), b"\xfe\xff\xff\xff\x0f", "days since 1970"),
        (row_of_text("int", logicalType="time-millis"), b"\x01", "outside the day"),
        (row_of_text("string", logicalType="uuid"), b"\x02a", "UUID"),
        (row_of_text("long"), b"", "too early"),
    ],
)
def test_values_that_are_no_rows(duck: Duck, tmp_path: Path, schema: str, value: bytes, reason: str) -> None:
    bsdbkv.build(tmp_path / "database", {b"the key": value}, value_schema=schema)
    path = str(tmp_path / "database")
    for query in ("SELECT x FROM bsdb_scan(?)", "SELECT x FROM bsdb_rows(?, 'the key')"):
        error = duck.error(query, path)
        assert reason in error and '"the key"' in error and path in error and "bsdb verify" in error


def test_random_bytes(duck: Duck, tmp_path: Path) -> None:
    """Whatever the bytes are, there is a row or an error that names the key."""
    some = random.Random(7)
    values = {f"key{i}": bytes(some.choice([0, 1, 2, 3, 4, 8, 97, 255, some.randrange(256)]) for _ in range(some.randrange(60))) for i in range(3000)}
    bsdbkv.build(tmp_path / "database", values, value_schema=json.dumps(RECORD))
    path, errors = str(tmp_path / "database"), 0
    for key in values:
        try:
            duck("FROM bsdb_rows(?, ?)", path, key)
        except duckdb.Error as error:
            assert f'"{key}"' in str(error)
            errors += 1
    assert errors > 100
    duck.error("FROM bsdb_scan(?)", path)
