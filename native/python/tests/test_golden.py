"""The databases of three records that are kept for ever, one for each kind."""

import os
from collections import ChainMap
from collections.abc import Mapping

import pytest
from conftest import GOLDEN, RECORDS

import bsdbkv


def expected(path):
    if path.name.endswith("-approximate"):
        return {key: value[:8] for key, value in RECORDS.items()}
    if path.name == "v1-typed":
        return {key: bytes([2 * len(value)]) + value for key, value in RECORDS.items()}
    if path.name == "v1-sharded":
        return dict(bsdbkv.open(path).items())
    return RECORDS


@pytest.mark.parametrize("access", ["mapped", "read", "direct"])
def test_every_kind_is_read_in_every_way(golden, access):
    records = expected(golden)
    with bsdbkv.open(golden, access=access) as db:
        assert isinstance(db, Mapping)
        assert len(db) == len(records) and bool(db)
        for key, value in records.items():
            assert db[key] == value
            assert type(db[key]) is bytes
            assert db[bytearray(key)] == db[memoryview(key)] == db[key.decode()] == value
            assert db.get(key) == value
            assert key in db
        for absent in [b"absent", "bsdc", b"\0", b"x" * 300, b"y" * 70_000]:
            assert absent not in db
            assert db.get(absent) is None and db.get(absent, 7) == 7
            with pytest.raises(KeyError) as raised:
                db[absent]
            assert raised.value.args == (absent,)
        keys = [*records, b"absent", *records]
        values = [records.get(key) for key in keys]
        assert db.get_many(keys) == values
        assert db.get_many(tuple(keys)) == values
        assert db.get_many(iter(keys)) == values
        assert db.get_many(key.decode() for key in keys) == values
        assert db.get_many([b"absent"], b"?") == [b"?"]
        assert db.get_many([]) == []
        assert db.verify()["pages"] > 0
        assert db.statistics["records"] == len(db)
        assert len(db.id) == 32 and db.path == str(golden)
        if db.approximate:
            assert db.layout == "none"
            with pytest.raises(bsdbkv.UnsupportedError, match="keeps no keys"):
                list(db)
            assert db == bsdbkv.open(golden) and db != records
        else:
            assert dict(db) == dict(db.items()) == records
            assert list(db) == list(db.keys()) == [key for key, _ in db.items()]
            assert list(db.values()) == [records[key] for key in db]
            assert db == records and records == db
        assert (db.schema is None) == (golden.name != "v1-typed")


def test_views():
    db = bsdbkv.open(GOLDEN / "v1-blocked")
    assert list(db) == [b"bsdb", b"empty", b""], "the order of the input"
    assert b"bsdb" in db.keys() and "nix" not in db.keys()
    assert b"" in db.values() and b"nix" not in db.values()
    assert (b"empty", b"") in db.items() and (b"empty", b"x") not in db.items() and 7 not in db.items()
    assert len(db.keys()) == len(db.values()) == len(db.items()) == 3
    assert db.keys() & {b"bsdb", b"nix"} == {b"bsdb"}
    assert "keys of" in repr(db.keys()) and "3 records, blocked" in repr(db)
    scan = iter(db)
    assert iter(scan) is scan
    assert [next(scan), next(scan), next(scan), next(scan, None), next(scan, None)] == [
        b"bsdb",
        b"empty",
        b"",
        None,
        None,
    ]


def test_equality():
    db = bsdbkv.open(GOLDEN / "v1-blocked")
    assert db == bsdbkv.open(GOLDEN / "v1-packed"), "the same records in another layout"
    assert db != bsdbkv.open(GOLDEN / "v1-typed")
    assert db != {} and db != {**RECORDS, b"empty": b"x"} and db != 7
    with pytest.raises(TypeError):
        hash(db)


def test_code_that_takes_a_mapping():
    db = bsdbkv.open(GOLDEN / "v1-packed")
    assert {**db, b"more": b""} == {**RECORDS, b"more": b""}
    assert dict(db) == RECORDS and ChainMap({}, db)[b"empty"] == b""


@pytest.mark.parametrize("key", [1, None, 1.5, ("a",), ["a"], object()])
def test_wrong_types_of_keys(key):
    db = bsdbkv.open(GOLDEN / "v1-blocked")
    message = f"a key must be bytes, bytearray, memoryview or str, not {type(key).__name__}; "
    with pytest.raises(TypeError, match=r"^keys\[1\]: a key must be"):
        db.get_many(iter(["a", key]))
    for use in [lambda: db[key], lambda: db.get(key), lambda: key in db, lambda: db.get_many(["a", key])]:
        with pytest.raises(TypeError, match=message):
            use()
    with pytest.raises(UnicodeEncodeError):
        db["\ud800"]


def test_one_key_is_not_many():
    db = bsdbkv.open(GOLDEN / "v1-blocked")
    for keys in ["bsdb", b"bsdb", bytearray(b"bsdb")]:
        with pytest.raises(TypeError, match="expected many keys"):
            db.get_many(keys)
    with pytest.raises(TypeError, match="expected an iterable"):
        db.get_many(7)


def test_memoryviews_of_any_shape():
    db = bsdbkv.open(GOLDEN / "v1-blocked")
    assert db[memoryview(b"b_s_d_b")[::2]] == RECORDS[b"bsdb"]


def test_closing():
    db = bsdbkv.open(GOLDEN / "v1-blocked")
    scan = iter(db.items())
    with db as entered:
        assert entered is db and not db.closed
    assert db.closed and "closed" in repr(db)
    db.close()
    uses = [
        lambda: db[b"bsdb"],
        lambda: db.get(b"bsdb"),
        lambda: b"bsdb" in db,
        lambda: len(db),
        lambda: list(db),
        lambda: db.get_many([b"bsdb"]),
        lambda: db.verify(),
        lambda: db.id,
        lambda: db.statistics,
    ]
    for use in uses:
        with pytest.raises(bsdbkv.ClosedError, match="v1-blocked: the database is closed; open it again"):
            use()
    assert dict(scan) == RECORDS, "a scan that has begun ends as usual"


def test_errors_of_opening(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        bsdbkv.open(tmp_path / "nix")
    assert isinstance(raised.value, bsdbkv.Error) and isinstance(raised.value, bsdbkv.NotFoundError)
    assert raised.value.filename == str(tmp_path / "nix") and raised.value.errno == 2
    with pytest.raises(bsdbkv.NotADatabaseError, match="no manifest") as raised:
        bsdbkv.open(tmp_path)
    assert raised.value.path == str(tmp_path)
    with pytest.raises(bsdbkv.NotADatabaseError, match="CURRENT"):
        bsdbkv.Store(GOLDEN / "v1-blocked")
    with pytest.raises(ValueError, match="'mapped', 'read' or 'direct', not 'x'"):
        bsdbkv.open(GOLDEN / "v1-blocked", access="x")
    with pytest.raises(TypeError):
        bsdbkv.open(7)


def test_paths_of_any_type(monkeypatch):
    class Bytes:
        def __fspath__(self):
            return os.fsencode(GOLDEN / "v1-blocked")

    for path in [Bytes(), Bytes().__fspath__(), GOLDEN / "v1-blocked", str(GOLDEN / "v1-blocked")]:
        assert bsdbkv.open(path).path == str(GOLDEN / "v1-blocked")
        with pytest.raises(bsdbkv.NotADatabaseError, match="CURRENT"):
            bsdbkv.Store(path)
    monkeypatch.chdir(GOLDEN)
    assert bsdbkv.open(b"v1-blocked").path == str(GOLDEN / "v1-blocked")


@pytest.mark.parametrize("use", [bsdbkv.open, bsdbkv.Store])
def test_urls_are_refused(use, tmp_path, monkeypatch):
    for url in ["hdfs://name:8020/db", "sftp://host/db"]:
        with pytest.raises(bsdbkv.NotADatabaseError, match=f"^{url}: a URL.*bsdb pull {url} DIR"):
            use(url)
    with pytest.raises(bsdbkv.NotADatabaseError, match="give the path itself, /tmp/db$"):
        use("file:///tmp/db")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s3:" / "bucket").mkdir(parents=True)
    with pytest.raises(bsdbkv.NotADatabaseError, match="no manifest|CURRENT"):
        use("s3://bucket")


def test_one_shard_of_a_set():
    whole = bsdbkv.open(GOLDEN / "v1-sharded")
    assert whole.statistics["shards"] > 1
    shard = next(path for path in sorted((GOLDEN / "v1-sharded").glob("shard-*")) if path.is_dir())
    part = bsdbkv.open(shard)
    held, elsewhere = 0, 0
    for key, value in whole.items():
        try:
            assert part[key] == value
            held += 1
        except bsdbkv.NotHeldError as error:
            assert error.path == str(shard) and isinstance(error.shard, int)
            elsewhere += 1
    assert held == len(part) and held + elsewhere == len(whole) and elsewhere > 0
    with pytest.raises(bsdbkv.NotHeldError):
        part.get_many(list(whole))
