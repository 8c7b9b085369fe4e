"""Databases of the builder, against a dict."""

import random

import pytest
from conftest import bsdb_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bsdbkv

LAYOUTS = {
    "blocked": ["--layout", "blocked"],
    "gov": ["--hash", "gov"],
    "compact": ["--layout", "compact"],
    "compressed": ["--layout", "compressed"],
    "dictionary": ["--layout", "compressed", "-sc", "100", "-ds", "1024"],
    "packed": ["--layout", "packed"],
    "packed-filter": ["--layout", "packed", "--filter-bits", "8"],
    "packed-compressed": ["--layout", "packed-compressed"],
    "sharded": ["--layout", "packed", "--shards", "3"],
}


def records():
    source = random.Random(7)
    made = {f"key{i}é": f"{i}:" + "value " * source.choice([0, 1, 5, 40]) for i in range(3000)}
    made["large"] = "".join(source.choices("abcdefgh", k=100_000))
    made[""] = "an empty key is a key"
    return made


TEXT = records()
MODEL = {key.encode(): value.encode() for key, value in TEXT.items()}


@pytest.fixture(scope="module", params=LAYOUTS)
def db(request, build):
    return bsdbkv.open(build(TEXT, *LAYOUTS[request.param]))


def test_records(db):
    assert len(db) == len(MODEL)
    for key, value in MODEL.items():
        assert db[key] == value
        assert key + b"?" not in db
    keys = [key + end for key in MODEL for end in (b"", b"?")]
    assert db.get_many(keys) == [MODEL.get(key) for key in keys]
    assert dict(db) == MODEL and db == MODEL
    if "packed" not in db.layout:
        assert list(db) == list(MODEL)
    assert db.verify()["records"] == len(MODEL)


@pytest.mark.parametrize("options", [["--layout", "compressed"], ["--layout", "packed", "--shards", "3"]])
def test_ranges(build, options):
    db = bsdbkv.open(build(TEXT, "--ordered", *options))
    model = sorted(MODEL.items())
    assert db.ordered and db.statistics["ordered"] and db == MODEL
    assert list(db.range()) == model and list(db.range(reverse=True)) == model[::-1]
    assert list(db.range(values=False)) == [key for key, _ in model]
    for start, end in [("key1", "key2"), (b"key2", b"key1"), (None, "key15é"), ("key15é", None), ("", "\0"), ("z", None)]:
        low, high = ((bound or "").encode() if isinstance(bound, (str, type(None))) else bound for bound in (start, end))
        expected = [item for item in model if low <= item[0] and (end is None or item[0] < high)]
        assert list(db.range(start, end)) == expected
        assert list(db.range(start, to=end, reverse=True)) == expected[::-1]
        assert db.count(start, end) == len(expected)
    for prefix in ["", "key1", "large", "x", b"\xff\xff"]:
        begin = prefix.encode() if isinstance(prefix, str) else prefix
        expected = [item for item in model if item[0].startswith(begin)]
        assert list(db.range(prefix=prefix)) == expected and db.count(prefix=prefix) == len(expected)
        assert list(db.range(prefix=prefix, reverse=True, values=False)) == [key for key, _ in expected[::-1]]
    assert [key for key, _ in db.range("key2", prefix="key1")] == []
    with pytest.raises(TypeError, match="a key must be"):
        db.range(7)
    assert db.verify()["records"] == len(MODEL)
    begun = db.range()
    assert next(begun) == model[0]
    db.close()
    assert list(begun) == model[1:]
    with pytest.raises(bsdbkv.ClosedError):
        db.count()


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_keys(db, data):
    key = st.sampled_from(sorted(MODEL)) | st.binary(max_size=20) | st.text(max_size=20)
    keys = data.draw(st.lists(key, max_size=50))

    def truth(key):
        return MODEL.get(key if isinstance(key, bytes) else key.encode())

    assert db.get_many(keys) == [truth(key) for key in keys]
    for key in keys[:3]:
        assert db.get(key) == truth(key)
        assert (key in db) == (truth(key) is not None)


def test_approximate(build):
    db = bsdbkv.open(build({f"k{i}": f"{i:08}" for i in range(1000)}, "-a", "-cb", "16"))
    assert db.approximate and db.layout == "none" and db.statistics["kept_bytes"] == 8
    assert all(db[f"k{i}"] == b"%08d" % i for i in range(1000))
    assert sum(f"x{i}" in db for i in range(1000)) < 10
    with pytest.raises(bsdbkv.UnsupportedError):
        db.items().__iter__()


def test_no_order(db):
    assert not db.ordered
    for ask in (db.range, db.count):
        with pytest.raises(bsdbkv.UnsupportedError, match="bsdb build --ordered"):
            ask()


def test_no_records(build):
    empty = bsdbkv.open(build({}, "--ordered"))
    assert list(empty.range()) == [] and list(empty.range("a", reverse=True)) == [] and empty.count() == 0
    db = bsdbkv.open(build({}))
    assert len(db) == 0 and not db and dict(db) == {} and db == {} and db.get_many(["a"]) == [None]


def test_stores(build, tmp_path):
    first, second = build({"k": "first"}), build({"k": "second", "l": "x"})
    store = tmp_path / "store"
    bsdb_command("publish", first, store, "--version", "v1")
    followed = bsdbkv.Store(store)
    before = followed.database
    assert before is followed.database
    assert followed.version == "v1" and before["k"] == b"first" and followed.refresh() is False
    assert bsdbkv.open(store).path == str(store / "v1") and "version v1" in repr(followed)
    (store / "v2").mkdir()
    for file in second.iterdir():
        (store / "v2" / file.name).write_bytes(file.read_bytes())
    current = store / "CURRENT"
    if current.is_symlink():
        current.unlink()
        current.symlink_to("v2")
    else:
        current.write_text("v2\n")
    assert followed.database is before
    assert followed.refresh() is True
    assert followed.version == "v2" and followed.database["k"] == b"second" and before["k"] == b"first"
    assert followed.refresh() is False
    current.unlink()
    current.write_text("v3\n")
    with pytest.raises(FileNotFoundError):
        followed.refresh()
    assert followed.database["k"] == b"second"
