"""bsdb_get, bsdb_text and bsdb_rows: lookups by key."""

from __future__ import annotations

import datetime
import uuid
from pathlib import Path

import bsdbkv
import pytest

from conftest import IS_LATER, LAYOUTS, RECORDS, Duck, bsdb

KINDS = [*LAYOUTS, "shards", "ordered"]


@pytest.mark.parametrize("kind", KINDS)
def test_join(duck: Duck, databases: dict[str, Path], kind: str) -> None:
    path = str(databases[kind])
    # Present and absent keys, and NULL, in chunks that are not full.
    duck("CREATE TABLE q AS SELECT i, CASE WHEN i % 7 = 0 THEN NULL ELSE 'key' || i END AS k FROM range(0, 40000, 3) t(i)")
    for threads in (1, 4):
        duck(f"SET threads = {threads}")
        for i, key, value, text in duck(f"SELECT i, k, bsdb_get('{path}', k), bsdb_text('{path}', k) FROM q"):
            assert key == (None if i % 7 == 0 else f"key{i}")
            assert text == (None if key is None else RECORDS.get(key))
            assert value == (None if text is None else text.encode())
    joined = duck(f"SELECT count(*) FROM q JOIN bsdb_scan('{path}', text := true) r ON r.key = q.k AND r.value = bsdb_text('{path}', k)")
    assert joined == duck(f"SELECT count(bsdb_get('{path}', k)) FROM q")
    assert duck(f"SELECT count(*) FROM q WHERE bsdb_get('{path}', k) IS NULL AND k IS NOT NULL AND i < 20000") == [(0,)]


def test_single_keys(duck: Duck, databases: dict[str, Path]) -> None:
    path = str(databases["packed"])
    assert duck("SELECT bsdb_text(?, 'key1'), bsdb_get(?, ''), bsdb_get(?, 'empty'), bsdb_get(?, 'absent')", *[path] * 4) == [
        (RECORDS["key1"], b"the empty key", b"", None)
    ]
    assert duck("SELECT bsdb_get(?, NULL::VARCHAR), bsdb_get(NULL, 'key1'), bsdb_get(?, 'key1'::BLOB)", path, path) == [
        (None, None, RECORDS["key1"].encode())
    ]
    assert duck(f"SELECT bsdb_get('{path}', NULL)") == [(None,)]
    assert duck("SELECT bsdb_get(?, k) FROM (SELECT 'key1' AS k WHERE false)", path) == []


def test_keys_of_other_types(duck: Duck, tmp_path: Path) -> None:
    path = str(tmp_path / "database")
    some = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
    keys = ["42", "-7", "123456789012345678901234567890", str(some), "ffffffff-ffff-ffff-ffff-ffffffffffff", "2024-02-29", "-0044-03-15"]
    bsdbkv.build(path, {key: f"value of {key}" for key in keys})
    row = duck(
        f"""SELECT bsdb_text('{path}', 42), bsdb_text('{path}', (-7)::TINYINT), bsdb_text('{path}', 42::UBIGINT),
          bsdb_text('{path}', 123456789012345678901234567890::HUGEINT), bsdb_text('{path}', ?), bsdb_text('{path}', ?),
          bsdb_text('{path}', '{keys[4]}'::UUID), bsdb_text('{path}', '0045-03-15 (BC)'::DATE)""",
        some,
        datetime.date(2024, 2, 29),
    )
    expected = ["42", "-7", "42", keys[2], keys[3], keys[5], keys[4], keys[6]]
    assert row == [tuple(f"value of {key}" for key in expected)]
    numbers = duck(f"SELECT i, bsdb_text('{path}', i) FROM range(-10, 50) t(i) WHERE bsdb_text('{path}', i) IS NOT NULL")
    assert numbers == [(-7, "value of -7"), (42, "value of 42")]


def test_paths_of_rows(duck: Duck, databases: dict[str, Path]) -> None:
    packed, blocked = str(databases["packed"]), str(databases["blocked"])
    rows = duck(
        "SELECT p, k, bsdb_text(p, k) FROM (VALUES (?, 'key1'), (?, 'key2'), (?, 'key3'), (NULL, 'key4'), (?, NULL)) t(p, k)",
        packed, blocked, packed, blocked,
    )
    assert rows == [
        (packed, "key1", RECORDS["key1"]),
        (blocked, "key2", RECORDS["key2"]),
        (packed, "key3", RECORDS["key3"]),
        (None, "key4", None),
        (blocked, None, None),
    ]
    error = duck.error("SELECT bsdb_get(p, 'key1') FROM (VALUES ('/no/such/path')) t(p)")
    assert "/no/such/path" in error and "no such directory" in error


def test_plans_that_copy_calls(duck: Duck, databases: dict[str, Path]) -> None:
    path = str(databases["packed"])
    query = f"""
      WITH RECURSIVE n(i, v) AS (
        SELECT 1, bsdb_text('{path}', 'key1') UNION ALL SELECT i + 1, bsdb_text('{path}', 'key' || (i + 1)) FROM n WHERE i < 50)
      SELECT i, v, (SELECT bsdb_text('{path}', 'key' || (m.i + 1)) FROM n AS m WHERE m.i = n.i) FROM n ORDER BY i"""
    assert duck(query) == [(i, RECORDS[f"key{i}"], RECORDS[f"key{i + 1}"]) for i in range(1, 51)]
    duck(f"CREATE VIEW v AS SELECT i, bsdb_text('{path}', 'key' || i) AS value FROM range(10) t(i)")
    assert duck("SELECT a.value = b.value FROM v a JOIN v b USING (i)") == [(True,)] * 10
    duck(f"PREPARE p AS SELECT bsdb_text('{path}', $1), bsdb_text($2, 'key3')")
    for i in range(3):
        assert duck(f"EXECUTE p('key{i}', '{path}')") == [(RECORDS[f"key{i}"], RECORDS["key3"])]


def test_rows_of_keys(duck: Duck, databases: dict[str, Path]) -> None:
    path = str(databases["packed"])
    rows = "FROM bsdb_rows(?, {}, text := true)"
    assert duck(rows.format("['key2', 'absent', 'key1', 'key2']"), path) == [
        ("key2", RECORDS["key2"]), ("absent", None), ("key1", RECORDS["key1"]), ("key2", RECORDS["key2"])
    ]
    assert duck(rows.format("'key2'"), path) == [("key2", RECORDS["key2"])]
    assert duck(rows.format("[]"), path) == duck(rows.format("NULL"), path) == duck(rows.format("[NULL]"), path) == []
    assert duck(rows.format("['key2'::BLOB]"), path) == [("key2", RECORDS["key2"])]
    duck("SET VARIABLE keys = (SELECT list('key' || i ORDER BY i) FROM range(5000) t(i))")
    assert duck(rows.format("getvariable('keys')"), path) == [(f"key{i}", RECORDS[f"key{i}"]) for i in range(5000)]
    assert duck("SELECT value FROM bsdb_rows(?, [1, 2])", path) == [(None,), (None,)]


@pytest.mark.skipif(not IS_LATER, reason="DuckDB 1 gives constants up to their first NUL")
def test_keys_with_a_nul(duck: Duck, tmp_path: Path) -> None:
    path = str(tmp_path / "database")
    keys = ["a", "a\0", "a\0b", "a longer key with \0", "b"]
    bsdbkv.build(path, {key: key for key in keys}, layout="blocked")
    assert duck("SELECT key, value, bsdb_text($1, key) FROM bsdb_rows($1, $2, text := true)", path, keys) == [(key, key, key) for key in keys]
    assert duck("SELECT key FROM bsdb_rows($1, $2, text := true)", path, keys[3]) == [(keys[3],)]
    ordered = str(tmp_path / "ordered")
    (tmp_path / "keys").write_text("".join(f"{key}=value\n" for key in keys))
    bsdb("build", "-q", "-s", "=", "-i", tmp_path / "keys", "-o", ordered, "--ordered")
    assert duck("SELECT key FROM bsdb_scan($1, text := true, to_key := 'a' || chr(0))", ordered) == [("a",)]
    assert duck("SELECT key FROM bsdb_scan($1, text := true, prefix := 'a' || chr(0))", ordered) == [(keys[1],), (keys[2],)]


def test_dates_of_constants(duck: Duck, tmp_path: Path) -> None:
    path = str(tmp_path / "database")
    bsdbkv.build(path, {key: key for key in ("2024-02-29", "-0044-03-15", "+10000-01-01")})
    dates = "['2024-02-29'::DATE, '0045-03-15 (BC)'::DATE, '10000-01-01'::DATE]"
    assert duck(f"SELECT value FROM bsdb_rows(?, {dates}, text := true)", path) == duck(f"SELECT bsdb_text(?, unnest({dates}))", path)
    assert duck("SELECT value FROM bsdb_rows(?, '0045-03-15 (BC)'::DATE, text := true)", path) == [("-0044-03-15",)]


def test_text_that_is_not_utf8(duck: Duck, tmp_path: Path) -> None:
    path = str(tmp_path / "database")
    bsdbkv.build(path, {b"key": b"\xff"})
    assert duck("SELECT bsdb_get(?, 'key')", path) == [(b"\xff",)]
    error = duck.error("SELECT bsdb_text(?, 'key')", path)
    assert path in error and '"key"' in error and "bsdb_get" in error
