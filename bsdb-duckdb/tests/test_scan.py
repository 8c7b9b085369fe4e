"""bsdb_scan: all records, ranges, columns and threads."""

from __future__ import annotations

from pathlib import Path

import bsdbkv
import pytest

from conftest import LAYOUTS, RECORDS, Duck, bsdb

KINDS = [*LAYOUTS, "shards", "ordered", "ordered shards"]


@pytest.mark.parametrize("kind", KINDS)
def test_all_records(duck: Duck, databases: dict[str, Path], kind: str) -> None:
    expected = {key.encode(): value.encode() for key, value in RECORDS.items()}
    for threads in (1, 2, 8):
        duck(f"SET threads = {threads}")
        rows = duck("SELECT * FROM bsdb_scan(?)", str(databases[kind]))
        assert len(rows) == len(expected)
        assert dict(rows) == expected
        assert dict(duck("SELECT * FROM bsdb_scan(?, text := true)", str(databases[kind]))) == RECORDS


@pytest.mark.parametrize("kind", KINDS)
def test_columns(duck: Duck, databases: dict[str, Path], kind: str) -> None:
    path = str(databases[kind])
    assert duck("SELECT count(*) FROM bsdb_scan(?)", path) == [(len(RECORDS),)]
    assert duck("SELECT value FROM bsdb_scan(?, text := true) WHERE key = 'key77'", path) == [(RECORDS["key77"],)]
    assert duck("SELECT max(strlen(value)) FROM bsdb_scan(?, text := true)", path) == [(max(map(len, RECORDS.values())),)]
    assert {key for key, in duck("SELECT key FROM bsdb_scan(?, text := true)", path)} == set(RECORDS)
    assert duck("SELECT value, key FROM bsdb_scan(?) LIMIT 0", path) == []
    [(value, key)] = duck("SELECT value, key FROM bsdb_scan(?, text := true) LIMIT 1", path)
    assert RECORDS[key] == value


def test_types_and_cardinality(duck: Duck, databases: dict[str, Path]) -> None:
    path = str(databases["packed"])
    describe = "DESCRIBE SELECT * FROM bsdb_scan('{}'{})"
    assert [row[:2] for row in duck(describe.format(path, ""))] == [("key", "BLOB"), ("value", "BLOB")]
    assert [row[1] for row in duck(describe.format(path, ", text := true"))] == ["VARCHAR", "VARCHAR"]
    [(_, plan)] = duck(f"EXPLAIN SELECT * FROM bsdb_scan('{path}')")
    assert f"{len(RECORDS):,}" in plan


@pytest.mark.parametrize("kind", ["ordered", "ordered shards"])
def test_ranges(duck: Duck, databases: dict[str, Path], kind: str) -> None:
    path = str(databases[kind])
    keys = sorted(RECORDS, key=str.encode)
    scan = "SELECT key FROM bsdb_scan(?, text := true, {})"

    def found(options: str) -> list[str]:
        return [key for key, in duck(scan.format(options), path)]

    assert found("prefix := 'key1'") == [key for key in keys if key.startswith("key1")]
    assert found("prefix := 'ü'") == found("prefix := encode('ü')") == ["ünicode"]
    assert found("from_key := 'key5'") == [key for key in keys if key.encode() >= b"key5"]
    assert found("from_key := 'key5', to_key := 'key6'") == [key for key in keys if b"key5" <= key.encode() < b"key6"]
    assert found("prefix := 'key1', from_key := 'key15'") == [key for key in keys if key.startswith("key1") and key >= "key15"]
    assert found("prefix := 'nothing'") == []
    assert duck(scan.format("prefix := NULL") + " ORDER BY ALL LIMIT 1", path) == [("",)]


def test_range_without_an_order(duck: Duck, databases: dict[str, Path]) -> None:
    error = duck.error("FROM bsdb_scan(?, prefix := 'a')", str(databases["packed"]))
    assert str(databases["packed"]) in error and "--ordered" in error


@pytest.mark.parametrize("records", [0, 1, 2047, 2048, 2049])
def test_sizes_of_chunks(duck: Duck, tmp_path: Path, records: int) -> None:
    path = tmp_path / "database"
    bsdbkv.build(path, ((b"%d" % i, b"%d" % (i * i)) for i in range(records)))
    rows = duck("SELECT key::VARCHAR::BIGINT, value::VARCHAR::BIGINT FROM bsdb_scan(?) ORDER BY 1", str(path))
    assert rows == [(i, i * i) for i in range(records)]
    assert duck("SELECT count(*) FROM bsdb_scan(?)", str(path)) == [(records,)]


def test_text_that_is_not_utf8(duck: Duck, tmp_path: Path) -> None:
    path = tmp_path / "database"
    bsdbkv.build(path, {b"good": b"text", b"bad value": b"long enough not to be inline \xff"})
    assert duck("SELECT count(value) FROM bsdb_scan(?)", str(path)) == [(2,)]
    error = duck.error("SELECT max(value) FROM bsdb_scan(?, text := true)", str(path))
    assert str(path) in error and '"bad value"' in error and "UTF-8" in error
    other = tmp_path / "keys"
    bsdbkv.build(other, {b"\xfe": b"x"})
    error = duck.error("SELECT max(key) FROM bsdb_scan(?, text := true)", str(other))
    assert str(other) in error and "0xfe" in error
    assert duck("SELECT max(value) FROM bsdb_scan(?, text := true)", str(other)) == [("x",)]


def test_approximate(duck: Duck, text: Path, tmp_path: Path) -> None:
    bsdb("build", "-q", "-i", text, "-o", tmp_path / "a", "-a", "--approximate-width", 4, "--allow-empty-key")
    error = duck.error("FROM bsdb_scan(?)", str(tmp_path / "a"))
    assert "keeps no keys" in error and str(tmp_path / "a") in error
    assert duck("SELECT bsdb_text(?, 'key7')", str(tmp_path / "a")) == [(RECORDS["key7"][:4],)]


def test_part_of_a_set(duck: Duck, text: Path, tmp_path: Path, databases: dict[str, Path]) -> None:
    part = tmp_path / "part"
    bsdb("push", databases["shards"], tmp_path.as_uri() + "/store", "--version", "one")
    bsdb("pull", tmp_path.as_uri() + "/store", part, "--shards", "0,1")
    held = bsdbkv.open(part)
    assert duck("SELECT count(*) FROM bsdb_scan(?)", str(part)) == [(len(held),)]
    missing = next(key for key in RECORDS if not _holds(held, key))
    assert "shard" in duck.error("SELECT bsdb_get(?, ?)", str(part), missing)


def _holds(database: bsdbkv.Database, key: str) -> bool:
    try:
        return database.get(key) is not None
    except bsdbkv.Error:
        return False


def test_cancelled(duck: Duck, databases: dict[str, Path]) -> None:
    import threading
    import time

    import duckdb

    path = str(databases["packed"])
    timer = threading.Timer(0.5, duck.connection.interrupt)
    timer.start()
    begin = time.monotonic()
    with pytest.raises(duckdb.InterruptException):
        duck("SELECT sum(strlen(bsdb_text(?, a.key) || b.key)) FROM bsdb_scan(?, text := true) a, bsdb_scan(?, text := true) b", path, path, path)
    assert time.monotonic() - begin < 30
    timer.join()
    assert duck("SELECT count(*) FROM bsdb_scan(?)", path) == [(len(RECORDS),)]


def test_many_connections(duck: Duck, databases: dict[str, Path]) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def work(number: int) -> int:
        cursor = duck.cursor()
        path = str(databases[KINDS[number % len(KINDS)]])
        return int(cursor("SELECT count(bsdb_get(?, key)) FROM bsdb_scan(?)", path, path)[0][0])

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(40))) == [len(RECORDS)] * 40
