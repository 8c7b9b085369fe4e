"""Merges and comparisons, against those of the builder."""

import datetime
import os
import shlex
import subprocess

import pytest
from conftest import bsdb_command
from test_build import content

import bsdbkv

OLD = {f"user:{i * 7919 % 3000}": f'{{"user":{i},"name":"name {i % 17}"}}' for i in range(3000)}
NEW = {f"user:{i}": f"new {i}" for i in range(0, 4000, 7)}
DELETED = [f"user:{i}" for i in range(0, 5000, 11)]
LAYOUTS = ["packed", "packed-compressed", "blocked", "compact", "compressed"]


def expected():
    records = {**OLD, **NEW}
    return {key.encode(): value.encode() for key, value in records.items() if key not in set(DELETED)}


def write(path, records):
    path.write_text("".join(f"{key}\t{value}\n" for key, value in records.items()))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("options", [{}, {"ordered": True}, {"shards": 3}, {"shards": 3, "ordered": True}], ids=str)
def test_merge(tmp_path, layout, options):
    bsdbkv.build(tmp_path / "base", OLD, layout=layout, **options)
    before = content(tmp_path / "base")
    built = bsdbkv.merge(tmp_path / "merged", tmp_path / "base", NEW, delete=DELETED)
    db = bsdbkv.open(tmp_path / "merged")
    assert db == expected() and db.id == built.id and db.layout == layout
    assert db.verify()["records"] == built.records == len(db)
    assert content(tmp_path / "base") == before
    gone = set(DELETED)
    assert built.changes == bsdbkv.Changes(
        kept=sum(key not in NEW and key not in gone for key in OLD),
        replaced=sum(key in NEW and key not in gone for key in OLD),
        added=sum(key not in OLD and key not in gone for key in NEW),
        deleted=sum(key in gone for key in OLD),
        deleted_absent=sum(key not in OLD for key in DELETED),
        superseded=sum(key in gone for key in NEW),
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("options", [{}, {"ordered": True}, {"shards": 3, "ordered": True}], ids=str)
def test_same_as_the_command(tmp_path, layout, options):
    bsdbkv.build(tmp_path / "base", OLD, layout=layout, **options)
    bsdbkv.merge(tmp_path / "python", tmp_path / "base", NEW, delete=DELETED)
    write(tmp_path / "new", NEW)
    (tmp_path / "deleted").write_text("\n".join(DELETED))
    words = ["-d", tmp_path / "base", "-i", tmp_path / "new", "-s", r"\t", "--delete", tmp_path / "deleted"]
    bsdb_command("merge", *words, "-o", tmp_path / "java", "-q")
    assert content(tmp_path / "python") == content(tmp_path / "java")


def test_changes_one_by_one(tmp_path):
    bsdbkv.build(tmp_path / "base", {"a": "1", "b": "2", "c": "3"})
    base = bsdbkv.open(tmp_path / "base")
    with bsdbkv.Merger(tmp_path / "merged", base) as merger:
        merger.add("a", "x")
        merger.delete("a")
        merger.delete("b")
        merger.add("b", "y")
        merger.delete(b"absent")
    assert merger.built.changes == bsdbkv.Changes(1, 1, 0, 1, 1, 2)
    assert dict(bsdbkv.open(tmp_path / "merged")) == {b"b": b"y", b"c": b"3"}
    with pytest.raises(bsdbkv.ExistsError, match="is the base itself"):
        bsdbkv.merge(tmp_path / "base", base, {}, overwrite=True)
    with pytest.raises(bsdbkv.BuildError, match="layout is not that of the base"):
        bsdbkv.merge(tmp_path / "other", base, {}, layout="compact")
    with pytest.raises(TypeError, match="pass a list of it"):
        bsdbkv.merge(tmp_path / "other", base, {}, delete="abc")
    with pytest.raises(bsdbkv.BuildError, match="nothing to delete"):
        bsdbkv.Builder(tmp_path / "other")._native.delete_many(["a"])
    with pytest.raises(RuntimeError, match="mine"), bsdbkv.Merger(tmp_path / "other", base) as merger:
        raise RuntimeError("mine")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["base", "merged"]


def test_rows_of_tables(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"id": ["a", "b"], "age": [1, 2]})
    bsdbkv.build(tmp_path / "base", table, key="id")
    changes = pyarrow.table({"id": ["b", "c"], "age": [20, 30]})
    bsdbkv.merge(tmp_path / "merged", tmp_path / "base", changes, key="id", delete=["a"])
    bsdbkv.build(tmp_path / "built", changes, key="id")
    assert content(tmp_path / "merged") == content(tmp_path / "built")
    other = pyarrow.table({"id": ["b"], "height": [1.5]})
    with pytest.raises(ValueError, match="another schema"):
        bsdbkv.merge(tmp_path / "other", tmp_path / "base", other, key="id")


def test_diff(tmp_path):
    after = dict(OLD)
    after["user:5"] = "changed"
    del after["user:6"]
    after["new"] = "value"
    bsdbkv.build(tmp_path / "before", OLD)
    bsdbkv.build(tmp_path / "after", after, layout="compressed", shards=2)
    diff = bsdbkv.diff(tmp_path / "before", bsdbkv.open(tmp_path / "after"))
    found = sorted(diff)
    assert found == [
        ("added", b"new", None, b"value"),
        ("changed", b"user:5", OLD["user:5"].encode(), b"changed"),
        ("removed", b"user:6", OLD["user:6"].encode(), None),
    ]
    counts = bsdbkv.DiffCounts(kept=2998, added=1, removed=1, changed=1)
    assert diff.counts == counts and list(diff) == []
    assert bsdbkv.diff(tmp_path / "before", tmp_path / "after").count() == counts
    assert list(bsdbkv.diff(tmp_path / "before", tmp_path / "before")) == []


def test_diff_as_the_command(tmp_path):
    bsdbkv.build(tmp_path / "before", OLD)
    bsdbkv.merge(tmp_path / "after", tmp_path / "before", NEW, delete=DELETED)
    diff = bsdbkv.diff(tmp_path / "before", tmp_path / "after")
    signs = {"added": "+", "removed": "-", "changed": "~"}
    found = sorted(f"{signs[change]} {key.decode()}" for change, key, *_ in diff)
    # The command exits with 1, as there are differences.
    command = os.environ.get("BSDB") or pytest.skip("the variable BSDB does not name the command")
    words = [*shlex.split(command), "diff", "--keys", str(tmp_path / "before"), str(tmp_path / "after")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and sorted(done.stdout.splitlines()) == found
    counts = diff.counts
    assert counts.kept + counts.changed + counts.removed == len(OLD)


def test_delete_arrays(tmp_path):
    pa = pytest.importorskip("pyarrow")
    bsdbkv.build(tmp_path / "base", {"a": "1", "b": "2", "c": "3"})
    for i, keys in enumerate([pa.array(["a", "b"]), pa.chunked_array([[b"a"], [b"b"]])]):
        bsdbkv.merge(tmp_path / str(i), tmp_path / "base", delete=keys)
        with bsdbkv.open(tmp_path / str(i)) as db:
            assert dict(db) == {b"c": b"3"}
    for keys in None, "a", 1:
        with pytest.raises(TypeError, match="expected keys to delete"):
            bsdbkv.merge(tmp_path / "db", tmp_path / "base", delete=keys)
    assert not (tmp_path / "db").exists()


def typed(tmp_path):
    pa = pytest.importorskip("pyarrow")
    fields = [
        pa.field("id", pa.int32(), nullable=False),
        pa.field("x", pa.float32()),
        pa.field("day", pa.date32()),
        pa.field("at", pa.timestamp("us", "UTC")),
        pa.field("tags", pa.list_(pa.string())),
        pa.field("s", pa.struct([("a", pa.int32()), ("b", pa.string())])),
    ]
    table = pa.Table.from_pylist([{"id": 1, "x": 0.5}], schema=pa.schema(fields))
    bsdbkv.build(tmp_path / "base", table, key="id")
    return tmp_path / "base"


def test_merge_dicts_as_rows_of_the_base(tmp_path):
    base = typed(tmp_path)
    at = datetime.datetime(2020, 1, 2, 3, 4, 5, 6, datetime.timezone.utc)
    records = [{"s": {"b": "c"}, "x": 2, "id": 2, "at": at}, {"id": 3, "day": at.date(), "tags": ["t"]}]
    bsdbkv.merge(tmp_path / "db", base, records, key="id")
    nothing = {"x": None, "day": None, "at": None, "tags": None, "s": None}
    with bsdbkv.open(tmp_path / "db") as db, bsdbkv.open(base) as old:
        assert db.schema == old.schema
        assert db.get_row("1") == {**nothing, "id": 1, "x": 0.5}
        assert db.get_row("2") == {**nothing, "id": 2, "x": 2.0, "at": at, "s": {"a": None, "b": "c"}}
        assert db.get_row("3") == {**nothing, "id": 3, "day": at.date(), "tags": ["t"]}


@pytest.mark.parametrize(
    ("record", "error", "text"),
    [
        ({"id": "2"}, TypeError, "the column 'id' of the base .*base is int32, but .* is string"),
        ({"id": 2, "x": "a"}, TypeError, "the column 'x' of the base .*base is float"),
        ({"id": 2, "day": datetime.datetime(2020, 1, 2)}, TypeError, "the column 'day' of the base .* is date32"),
        ({"id": 2, "at": datetime.datetime(2020, 1, 2)}, TypeError, "the column 'at' of the base .* is timestamp"),
        ({"id": 2, "s": {"c": 1}}, TypeError, "the column 's.c' of the base .* is absent"),
        ({"id": 2, "y": 1}, TypeError, "the base .*base have no column 'y'"),
        ({"id": 2**40}, TypeError, r"records\[0\]: the field 'id'"),
        ({"x": 1.0}, TypeError, r"records\[0\]: the column 'id' of the base .* holds no None"),
    ],
)
def test_merge_dicts_that_do_not_fit(tmp_path, record, error, text):
    base = typed(tmp_path)
    with pytest.raises(error, match=text):
        bsdbkv.merge(tmp_path / "db", base, [record], key="id")
    assert not (tmp_path / "db").exists()


def test_merge_tables_of_another_schema(tmp_path):
    pa = pytest.importorskip("pyarrow")
    bsdbkv.build(tmp_path / "base", pa.table({"id": [1], "x": [0.5]}), key="id")
    wrong = {
        "have the column 'x' of the type string, and the base double": {"id": [1], "x": ["a"]},
        "have the column 'x' where the base has 'id'": {"x": [0.5], "id": [1]},
        "have no column 'x'": {"id": [1]},
        "have the column 'y', which the base does not have": {"id": [1], "x": [0.5], "y": [1]},
    }
    for text, columns in wrong.items():
        with pytest.raises(ValueError, match=f"another schema than the base .*base: they {text}"):
            bsdbkv.merge(tmp_path / "db", tmp_path / "base", pa.table(columns), key="id")
    assert not (tmp_path / "db").exists()
