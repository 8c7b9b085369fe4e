"""bsdb_field: single fields of typed rows in a join."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import bsdbkv
import pyarrow as pa
import pytest

from conftest import LAYOUTS, Duck
from test_rows import build_rows

ID = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    fields: list[dict[str, Any]] = [
        {"name": "flag", "type": "boolean"},
        {"name": "count", "type": ["null", "int"], "default": None},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "share", "type": "float"},
        {"name": "name", "type": "string"},
        {"name": "grade", "type": {"type": "enum", "name": "G", "symbols": ["LOW", "HIGH"]}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "bytes", "type": "bytes"},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "time", "type": {"type": "long", "logicalType": "time-micros"}},
        {"name": "at", "type": {"type": "long", "logicalType": "local-timestamp-millis"}},
        {"name": "instant", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "uuid", "type": {"type": "string", "logicalType": "uuid"}},
    ]
    row: dict[str, Any] = {
        "id": 1, "flag": True, "count": 7, "tags": ["a"], "share": 0.5, "name": "a name of many bytes", "grade": "HIGH", "price": "-1.50",
        "bytes": "AP8=", "day": "2024-02-29", "time": "01:02:03.000004", "at": "2024-02-29T01:02:03.004", "instant": "2024-02-29T01:02:03Z",
        "uuid": str(ID),
    }
    return build_rows(tmp_path_factory.mktemp("field") / "rows", fields, [row, row | {"id": 2, "count": None, "flag": False}])


@pytest.mark.parametrize(
    ("field", "default", "expected"),
    [
        ("flag", "NULL::BOOLEAN", True),
        ("count", "0", 7),
        ("id", "NULL::BIGINT", 1),
        ("COUNT", "0::DOUBLE", 7.0),
        ("share", "0.0", 0.5),
        ("name", "''", "a name of many bytes"),
        ("grade", "NULL::VARCHAR", "HIGH"),
        ("price", "''", "-1.50"),
        ("bytes", "''::BLOB", b"\x00\xff"),
        ("day", "DATE '1970-01-01'", dt.date(2024, 2, 29)),
        ("time", "NULL::TIME", dt.time(1, 2, 3, 4)),
        ("at", "NULL::TIMESTAMP", dt.datetime(2024, 2, 29, 1, 2, 3, 4000)),
        ("uuid", "NULL::UUID", ID),
    ],
)
def test_types(duck: Duck, path: str, field: str, default: str, expected: object) -> None:
    assert duck(f"SELECT bsdb_field(?, 1, '{field}', {default})", path) == [(expected,)]
    # Absent: the default.
    assert duck(f"SELECT bsdb_field(?, 9, '{field}', {default}) IS NOT DISTINCT FROM {default}", path) == [(True,)]


def test_null_and_default(duck: Duck, path: str) -> None:
    query = f"SELECT k, bsdb_field('{path}', k, 'count', 5), bsdb_field('{path}', k, 'flag', NULL::BOOLEAN) FROM (VALUES (1), (2), (9), (NULL)) t(k)"
    assert duck(query) == [(1, 7, True), (2, None, False), (9, 5, None), (None, 5, None)]
    assert duck("SELECT epoch_ms(bsdb_field(?, '1', 'instant', NULL::TIMESTAMPTZ))", path) == [(1709168523000,)]
    assert duck("SELECT bsdb_field(?, '1', 'price', NULL::VARCHAR)::DECIMAL(9,2)", path) == [(Decimal("-1.50"),)]


def test_fields_of_rows(duck: Duck, path: str) -> None:
    rows = duck(f"SELECT f, bsdb_field('{path}', '1', f, '?') FROM (VALUES ('name'), ('grade'), (NULL), ('price')) t(f)")
    assert rows == [("name", "a name of many bytes"), ("grade", "HIGH"), (None, None), ("price", "-1.50")]


def test_errors(duck: Duck, path: str, databases: dict[str, Path]) -> None:
    error = duck.error("SELECT bsdb_field(?, 1, 'nothing', 0)", path)
    assert path in error and '"nothing"' in error and "count" in error
    for field, default, kind in (("name", "0", "a string"), ("tags", "''", "an array"), ("price", "0.0", "decimal(9,2)")):
        error = duck.error(f"SELECT bsdb_field(?, 1, '{field}', {default})", path)
        assert path in error and field in error and kind in error
    assert "plain bytes" in duck.error("SELECT bsdb_field(?, 'key1', 'x', 0)", str(databases["packed"]))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_join(duck: Duck, tmp_path: Path, layout: str) -> None:
    table = pa.table({"id": list(range(10_000)), "name": [f"name {i}" * (i % 5) for i in range(10_000)]})
    bsdbkv.build(tmp_path / "database", table, key="id", layout=layout)
    rows = duck(f"SELECT k, bsdb_field('{tmp_path / 'database'}', k, 'name', 'none') FROM range(5000, 15000) t(k)")
    assert rows == [(k, f"name {k}" * (k % 5) if k < 10_000 else "none") for k in range(5000, 15000)]
