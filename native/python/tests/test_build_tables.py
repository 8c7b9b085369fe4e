"""Databases that Python builds of tables."""

import datetime
import decimal
import os

import pytest
from conftest import bsdb_command
from test_build import content

import bsdbkv

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TABLE = pa.table({"id": [1, 2, 3], "name": ["Ann", "Bob", "Eve"], "score": [1.5, None, 3.0]})
ROWS = {str(row["id"]): row for row in TABLE.to_pylist()}


def frames():
    def polars():
        return pytest.importorskip("polars").DataFrame(TABLE.to_pydict())

    def pandas():
        frame = pytest.importorskip("pandas").DataFrame(TABLE.to_pydict())
        return frame.astype({"score": "object"}).where(frame.notna(), None)

    def dataset(tmp_path):
        parquet.write_table(TABLE, tmp_path / "table.parquet")
        return pytest.importorskip("pyarrow.dataset").dataset(tmp_path / "table.parquet")

    class Batch:
        def __arrow_c_array__(self, requested_schema=None):
            return TABLE.to_batches()[0].__arrow_c_array__(requested_schema)

    return {
        "table": lambda _: TABLE,
        "batch": lambda _: TABLE.to_batches()[0],
        "array": lambda _: Batch(),
        "reader": lambda _: TABLE.to_reader(),
        "batches": lambda _: TABLE.to_batches(max_chunksize=2),
        "generator": lambda _: iter(TABLE.to_batches(max_chunksize=1)),
        "dataset": dataset,
        "scanner": lambda path: dataset(path).scanner(),
        "dicts": lambda _: TABLE.to_pylist(),
        "polars": lambda _: polars(),
        "pandas": lambda _: pandas(),
    }


@pytest.mark.parametrize("kind", frames())
def test_forms(tmp_path, kind):
    built = bsdbkv.build(tmp_path / "db", frames()[kind](tmp_path), key="id")
    db = bsdbkv.open(tmp_path / "db")
    assert built.records == 3 and {key.decode(): db.get_row(key) for key in db} == ROWS
    assert [field["name"] for field in db.schema["fields"]] == TABLE.column_names


@pytest.mark.parametrize("options", [{}, {"layout": "blocked"}, {"ordered": True, "layout": "packed"}])
def test_same_as_the_builder(tmp_path, options):
    parquet.write_table(TABLE, tmp_path / "table.parquet")
    words = [f"--{name}" if value is True else f"--{name}={value}" for name, value in options.items()]
    bsdb_command("build-parquet", "-i", tmp_path / "table.parquet", "-kf", "id", "-o", tmp_path / "java", "-q", *words)
    bsdbkv.build(tmp_path / "python", TABLE, key="id", **options)
    assert content(tmp_path / "python") == content(tmp_path / "java")


def test_columns(tmp_path):
    bsdbkv.build(tmp_path / "raw", TABLE, key="id", value="name")
    raw = bsdbkv.open(tmp_path / "raw")
    assert raw.schema is None and raw["2"] == b"Bob"
    bsdbkv.build(tmp_path / "row", TABLE, key=["name", "id"], key_join="|", value=["score"])
    assert bsdbkv.open(tmp_path / "row").get_row("Ann|1") == {"score": 1.5}


def test_several_tables(tmp_path):
    with bsdbkv.Builder(tmp_path / "db") as builder:
        builder.add_arrow(TABLE.slice(0, 2), "id")
        builder.add_arrow(TABLE.slice(2), key="id")
        with pytest.raises(ValueError, match="another schema"):
            builder.add_arrow(TABLE, "id", ["name"])
        with pytest.raises(ValueError, match="these values are bytes"):
            builder.add_arrow(TABLE, "id", "name")
    assert len(bsdbkv.open(tmp_path / "db")) == 3
    with bsdbkv.Builder(tmp_path / "other") as builder:
        builder.add("a", "b")
        with pytest.raises(ValueError, match="come after records whose values are bytes"):
            builder.add_arrow(TABLE, "id")


def union():
    return pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])


@pytest.mark.parametrize(
    "table, arguments, error, text",
    [
        (TABLE, {}, ValueError, "name the key column"),
        (TABLE, {"key": "ident"}, ValueError, 'no column "ident"; the columns are "id", "name", "score"'),
        (TABLE, {"key": "id.x"}, ValueError, 'no column "id.x"'),
        (TABLE, {"key": ["id", "name"]}, ValueError, "needs key_join"),
        (TABLE, {"key": "id", "value": "score"}, ValueError, 'column "score" is Float64.*value=\\["score"\\]'),
        (TABLE, {"key": "id", "value": ["id", "id"]}, ValueError, 'names the column "id" twice'),
        (TABLE, {"key": "score"}, bsdbkv.RowError, 'row 1: the key column "score" is null'),
        (TABLE["id"], {"key": "id"}, TypeError, "expected a table"),
        (pa.table([[1], [2]], names=["a", "a"]), {"key": "a"}, ValueError, 'two columns "a"'),
        (pa.table({"a": [[1]]}), {"key": "a"}, ValueError, 'column "a" cannot be a key: it is a list'),
        (pa.table({"a": [{"b": 1}]}), {"key": "a"}, ValueError, 'is a struct; name one of its fields, such as "a.b"'),
        (pa.table({"a": [1], "u": union()}), {"key": "a"}, ValueError, 'column "u" is .*nion.*no type'),
        (
            pa.table({"a": [1], "s": [[{"u": None}]]}).cast(
                pa.schema([("a", pa.int64()), ("s", pa.list_(pa.struct([("u", pa.decimal128(5, -2))])))])
            ),
            {"key": "a"},
            ValueError,
            'column "s.element.u" is decimal',
        ),
        (
            pa.table({"t": pa.array([0, 90_000_000], pa.int32()).cast(pa.time32("ms"))}),
            {"key": "t"},
            bsdbkv.RowError,
            'row 1: the column "t" is a time outside of the day',
        ),
        (
            pa.table({"a": [1], "t": [2**60]}).cast(pa.schema([("a", pa.int8()), ("t", pa.timestamp("s"))])),
            {"key": "a"},
            bsdbkv.RowError,
            'row 0: the column "t" is .* s, too many',
        ),
    ],
)
def test_wrong_tables(tmp_path, table, arguments, error, text):
    with pytest.raises(error, match=text):
        bsdbkv.build(tmp_path / "db", table, **arguments)
    assert os.listdir(tmp_path) == []


def test_text_that_is_not_utf8(tmp_path):
    wrong = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"]).buffers())
    table = pa.table({"id": ["a"], "s": pa.array([{"t": None}], pa.struct([("t", pa.string())]))})
    table = table.set_column(1, "s", pa.StructArray.from_arrays([wrong], ["t"]))
    with pytest.raises(bsdbkv.RowError, match='row 0: the column "s.t" is text that is not UTF-8'):
        bsdbkv.build(tmp_path / "db", table, key="id")
    bsdbkv.build(tmp_path / "db", pa.table({"id": wrong}), key="id", value="id")
    assert dict(bsdbkv.open(tmp_path / "db")) == {b"\xff": b"\xff"}


def test_nulls_that_must_not_be(tmp_path):
    schema = pa.schema([pa.field("id", pa.int8()), pa.field("x", pa.int8(), nullable=False)])
    with pytest.raises(bsdbkv.BuildError, match="'x' is declared as non-nullable"):
        bsdbkv.build(
            tmp_path / "db",
            pa.table([pa.array([1, 2]).cast("int8"), pa.array([1, None], "int8")], schema=schema),
            key="id",
        )


def test_error_of_the_table(tmp_path):
    def batches():
        yield TABLE.to_batches()[0]
        raise OSError("the disk is gone")

    with pytest.raises(bsdbkv.BuildError, match="could not be read to its end.*the disk is gone"):
        bsdbkv.build(tmp_path / "db", pa.RecordBatchReader.from_batches(TABLE.schema, batches()), key="id")
    assert os.listdir(tmp_path) == []


def test_dicts_of_other_types(tmp_path):
    many = [{"id": i} for i in range(1 << 14)]
    with pytest.raises(TypeError, match="no common types"):
        bsdbkv.build(tmp_path / "db", [*many, {"id": "x"}], key="id")
    with pytest.raises(TypeError, match="have no field 'y'"):
        bsdbkv.build(tmp_path / "db", [*many, {"id": 1 << 14, "y": 1}], key="id")
    assert bsdbkv.build(tmp_path / "db", many + [{"id": 1 << 14}], key="id").records == 16385


def test_dicts_have_the_fields_of_all(tmp_path):
    bsdbkv.build(tmp_path / "db", [{"id": 1}, {"id": 2, "note": "new"}], key="id")
    with bsdbkv.open(tmp_path / "db") as db:
        assert db.get_row("1") == {"id": 1, "note": None}
        assert db.get_row("2") == {"id": 2, "note": "new"}


DAY = datetime.date(2020, 1, 2)
NAIVE = datetime.datetime(2020, 1, 2, 3, 4, 5)
AWARE = NAIVE.replace(tzinfo=datetime.timezone.utc)


@pytest.mark.parametrize(
    ("first", "later", "text"),
    [
        (DAY, NAIVE, "'v' is date and also datetime"),
        (NAIVE, AWARE, "'v' is datetime and also datetime with a time zone"),
        ("a", b"b", "'v' is str and also bytes"),
        (True, 1, "'v' is bool and also int"),
        ({"x": DAY}, {"x": NAIVE}, "'v.x' is date and also datetime"),
        ([DAY], [NAIVE], "'v' is date and also datetime"),
        (1.5, 2**53 + 1, "9007199254740993"),
    ],
)
def test_dicts_of_mixed_types(tmp_path, first, later, text):
    with pytest.raises(TypeError, match=text):
        bsdbkv.build(tmp_path / "db", [{"id": 1, "v": first}, {"id": 2}, {"id": 3, "v": later}], key="id")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("first", "later", "text"),
    [
        (1, 1.5, r"'v' is int64 .* but double from records\[16384\]"),
        (DAY, NAIVE, r"'v' is date32\[day\] .* but timestamp\[us\]"),
        (NAIVE, AWARE, r"'v' is timestamp\[us\] .* but timestamp\[us, tz=UTC\]"),
        ({"x": 1}, {"x": 1, "y": 2}, r"'v.y' is absent .* but int64"),
        (None, 1, "'v' is None .* but int64"),
        (1.5, 2**53 + 1, r"records\[16384\]: the field 'v'"),
    ],
)
def test_later_dicts_of_other_types(tmp_path, first, later, text):
    many = [{"id": i, "v": first} for i in range(1 << 14)]
    with pytest.raises(TypeError, match=text):
        bsdbkv.build(tmp_path / "db", [*many, {"id": -1, "v": later}], key="id")
    assert os.listdir(tmp_path) == []


def test_later_dicts_with_less(tmp_path):
    many = [{"id": i, "v": 1.5, "s": {"x": 1, "y": 2}, "l": ["a"]} for i in range(1 << 14)]
    bsdbkv.build(tmp_path / "db", [*many, {"id": -1, "v": 2, "s": {"y": 3}, "l": []}], key="id")
    with bsdbkv.open(tmp_path / "db") as db:
        assert db.get_row("-1") == {"id": -1, "v": 2.0, "s": {"x": None, "y": 3}, "l": []}


@pytest.mark.parametrize(
    ("records", "error", "text"),
    [
        ([{"id": 1}, {"id": 2**63}], ValueError, r"records\[1\]: the field 'id'"),
        ([{"id": "a"}, {"id": "\ud800"}], ValueError, r"records\[1\]: the field 'id'"),
        ([{"id": 1}, ("a", "b")], TypeError, r"records\[1\]: expected a dict"),
        ([{"id": 1}, {"id": 2, 3: 4}], TypeError, r"records\[1\]: the name of a field must be str, not 3"),
    ],
)
def test_wrong_dicts(tmp_path, records, error, text):
    with pytest.raises(error, match=text):
        bsdbkv.build(tmp_path / "db", records, key="id")
    assert os.listdir(tmp_path) == []


def test_objects_of_polars(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"id": ["a"], "o": polars.Series([object()], dtype=polars.Object)})
    for records in frame, iter([frame]):
        with pytest.raises(TypeError, match="the column 'o' holds objects"):
            bsdbkv.build(tmp_path / "db", records, key="id")
    assert os.listdir(tmp_path) == []


def test_lazy_frames(tmp_path):
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="not LazyFrame; call its method collect"):
        bsdbkv.build(tmp_path / "db", polars.LazyFrame({"id": ["a"]}), key="id")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"key": ["id", "name"], "key_join": 3}, "key_join must be str or bytes, not int"),
        ({"key": ["id", "name"], "key_join": [45]}, "key_join must be str or bytes, not list"),
        ({"key": b"id"}, "key must be the name of a column"),
        ({"key": 1}, "key must be the name of a column"),
        ({"key": "id", "value": 1}, "value must be the name of a column"),
        ({"key": ["id", 1]}, "key must hold names of columns"),
    ],
)
def test_wrong_names(tmp_path, arguments, text):
    for records in TABLE, TABLE.to_pylist():
        with pytest.raises(TypeError, match=text):
            bsdbkv.build(tmp_path / "db", records, **arguments)
    assert os.listdir(tmp_path) == []


def test_later_dicts_with_other_decimals(tmp_path):
    def dicts(last):
        for i in range(1 << 14):
            yield {"id": i, "v": decimal.Decimal("123.45")}
        yield {"id": -1, "v": decimal.Decimal(last)}

    bsdbkv.build(tmp_path / "db", dicts("6.7"), key="id")
    with bsdbkv.open(tmp_path / "db") as db:
        assert db.get_row("-1") == {"id": -1, "v": decimal.Decimal("6.70")}
    for last in "1234.5", "0.123":
        with pytest.raises(TypeError, match=r"'v' is decimal128\(5, 2\)"):
            bsdbkv.build(tmp_path / "other", dicts(last), key="id")


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_of_many_parts(tmp_path, threads):
    """Rows are read ahead of those that are added, in parts of 16,384 or of 1 MiB."""
    count, long, faults = 70_000, (5, 20_000, 20_001), (0, 16_383, 16_384, 16_386, 40_000, 40_001, 69_999)
    values = [b"%d" % row * (400_000 if row in long else 1) for row in range(count)]
    table = pa.table({"id": range(count), "value": pa.array(values, pa.large_binary())})
    bsdbkv.build(tmp_path / "pairs", ((str(row), value) for row, value in enumerate(values)))
    bsdbkv.build(tmp_path / "table", table, key="id", value="value", threads=threads)
    assert content(tmp_path / "pairs") == content(tmp_path / "table")

    for row in faults:
        values[row] = None
    table = pa.table({"id": range(count), "value": pa.array(values, pa.large_binary())})
    told = []
    with bsdbkv.Builder(tmp_path / "others", threads=threads) as builder:
        builder._native.add_arrow(table, ["id"], None, None, "value", lambda *fault: told.append(fault[:2]))
        assert told == [(row, "null value") for row in faults]
        assert builder.records == count - len(faults)
    records = ((str(row), value) for row, value in enumerate(values) if value is not None)
    bsdbkv.build(tmp_path / "pairs", records, overwrite=True)
    assert content(tmp_path / "pairs") == content(tmp_path / "others")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("row", [0, 16_383, 16_384, 40_000])
def test_places_of_errors(tmp_path, row, threads):
    """An error names its row, and the rows before it were added."""
    values = ["a"] * 50_000
    keys = [str(number) for number in range(50_000)]

    def refused(keys, values, error, text):
        builder = bsdbkv.Builder(tmp_path / "db", threads=threads)
        with pytest.raises(error, match=text):
            builder.add_arrow(pa.table({"id": keys, "value": values}), "id", "value")
        assert builder.records == row
        builder.abort()

    refused(keys, values[:row] + [None] + values[row + 1 :], bsdbkv.RowError, f"row {row}: the column")
    refused(keys[:row] + ["k" * 65_536] + keys[row + 1 :], values, bsdbkv.BuildError, f"row {row}: a key of 65536")


def test_a_build_that_was_stopped_cannot_go_on(tmp_path):
    table = pa.table({"id": range(200_000), "value": ["a"] * 200_000})

    def stop(stage, done, total):
        raise RuntimeError("enough")

    builder = bsdbkv.Builder(tmp_path / "db", progress=stop)
    with pytest.raises(RuntimeError, match="enough"):
        builder.add_arrow(table, "id", "value")
    for call in (lambda: builder.add_arrow(table, "id", "value"), builder.finish):
        with pytest.raises(ValueError, match="^the build has failed; begin another one"):
            call()
    assert os.listdir(tmp_path) == []
