"""Tables of Arrow as records, against those that the builder makes of the same table in Parquet."""

import datetime
import decimal
import random
import struct
import uuid
from functools import partial

import pytest
from conftest import bsdb_command

import bsdbkv
from bsdbkv._bsdb import _encode

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

ROWS = 300
pa = pyarrow


def source():
    return random.Random(42)


def some(make, nulls=True):
    """Values that a function makes, and nulls."""
    return [None if nulls and i % 7 == 3 else make(i) for i in range(ROWS)]


def big(digits):
    pick = source()
    return lambda i: pick.randrange(-(10**digits) + 1, 10**digits) // 10 ** pick.randrange(digits)


def scalars(nulls=True):
    """Columns of all types that a key can have, by name."""
    pick = source()
    some = partial(globals()["some"], nulls=nulls)
    integers = {
        "i8": (pa.int8(), -(2**7), 2**7 - 1),
        "i16": (pa.int16(), -(2**15), 2**15 - 1),
        "i32": (pa.int32(), -(2**31), 2**31 - 1),
        "i64": (pa.int64(), -(2**63), 2**63 - 1),
        "u8": (pa.uint8(), 0, 2**8 - 1),
        "u16": (pa.uint16(), 0, 2**16 - 1),
        "u32": (pa.uint32(), 0, 2**32 - 1),
        "u64": (pa.uint64(), 0, 2**64 - 1),
    }
    columns = {}
    for name, (kind, low, high) in integers.items():
        values = [low, high, 0, min(high, 63), min(high, 64)] + [
            pick.randint(low, high) >> pick.randrange(8) for _ in range(ROWS)
        ]
        columns[name] = pa.array(some(lambda i: values[i]), kind)
    columns["boolean"] = pa.array(some(lambda i: i % 2 == 0), pa.bool_())
    doubles = [
        0.0,
        -0.0,
        float("nan"),
        float("inf"),
        float("-inf"),
        5e-324,
        2e-323,
        1.7976931348623157e308,
        1e7,
        9999999.0,
    ]
    doubles += [1e-3, 9.999e-4, 1e23, 2e23, 123456.75, 1e21, 1e22, 0.1, 100.0, 2.0**63, 4.35, 9007199254740993.0]
    doubles += [struct.unpack("<d", pick.randbytes(8))[0] for _ in range(150)]
    doubles += [pick.choice([1, 10, 1000]) * pick.random() for _ in range(100)]
    doubles += [float(pick.randrange(1, 10)) * 10.0**e for e in range(-20, 22)]
    columns["f64"] = pa.array(some(lambda i: doubles[i % len(doubles)]), pa.float64())
    floats = [
        0.0,
        -0.0,
        float("nan"),
        float("inf"),
        1e-45,
        3e-45,
        3.4028235e38,
        1e7,
        1e-3,
        1e10,
        0.1,
        16777216.0,
        3.0e-44,
    ]
    floats += [struct.unpack("<f", pick.randbytes(4))[0] for _ in range(200)]
    columns["f32"] = pa.array(some(lambda i: floats[i % len(floats)]), pa.float32())
    halves = pa.array(
        [struct.unpack("<e", struct.pack("<H", i * 219))[0] for i in range(ROWS - 2)] + [None if nulls else 1.0, 6e-8]
    )
    columns["f16"] = halves.cast(pa.float16())
    for digits, scale, kind in [
        (5, 2, pa.decimal128(5, 2)),
        (9, 0, pa.decimal128(9, 0)),
        (38, 10, pa.decimal128(38, 10)),
        (76, 30, pa.decimal256(76, 30)),
        (20, 20, pa.decimal256(20, 20)),
        (9, 3, getattr(pa, "decimal32", pa.decimal128)(9, 3)),
        (18, 18, getattr(pa, "decimal64", pa.decimal128)(18, 18)),
    ]:
        make = big(digits)
        context = decimal.Context(prec=80)
        columns[f"d{digits}_{scale}"] = pa.array(some(lambda i: context.scaleb(decimal.Decimal(make(i)), -scale)), kind)
    columns["date32"] = pa.array(
        some(lambda i: [-719528, -719529, 2932897, 11016, 0, -1, 2**31 - 1, -(2**31)][i % 8]), pa.int32()
    ).cast(pa.date32())
    columns["date64"] = pa.array(some(lambda i: (i * 97 - 9000) * 86_400_000), pa.int64()).cast(pa.date64())
    for unit, per in {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}.items():
        kind = pa.time32(unit) if per <= 1000 else pa.time64(unit)
        number = pa.int32() if per <= 1000 else pa.int64()
        times = [0, 86_399 * per, 86_400 * per - 1, 43_200 * per]
        columns[f"time_{unit}"] = pa.array(some(lambda i: times[i] if i < 4 else i * 211 * per + i % per), number).cast(
            kind
        )
        for zone in (None, "UTC", "Europe/Berlin"):
            stamps = pa.array(some(lambda i: (i - 100) * 31_557_600 * per // 2 + i * 7919), pa.int64())
            columns[f"ts_{unit}_{zone}"] = stamps.cast(pa.timestamp(unit, zone))
        columns[f"duration_{unit}"] = pa.array(some(lambda i: i * 86_399 - 5), pa.int64()).cast(pa.duration(unit))
    texts = ["", "a", "é", "\0", '"\\', "x" * 1000, "\U0001f600", "tab\t"]
    for name, kind in {"text": pa.string(), "large_text": pa.large_string(), "text_view": pa.string_view()}.items():
        columns[name] = pa.array(some(lambda i: texts[i % 8] + str(i % 5)), kind)
    for name, kind in {"bytes": pa.binary(), "large_bytes": pa.large_binary(), "bytes_view": pa.binary_view()}.items():
        columns[name] = pa.array(some(lambda i: bytes([i % 256, 255]) * (i % 20)), kind)
    columns["fixed"] = pa.array(some(lambda i: struct.pack(">I", i)), pa.binary(4))
    columns["uuid"] = pa.array(some(lambda i: uuid.UUID(int=i**15).bytes), pa.uuid())
    columns["dictionary"] = pa.array(some(lambda i: f"v{i % 11}"), pa.string()).dictionary_encode()
    columns["dictionary8"] = pa.DictionaryArray.from_arrays(
        pa.array(some(lambda i: i % 3), pa.uint8()), pa.array(["x", None if nulls else "y", "z"], pa.large_string())
    )
    columns["dictionary64"] = pa.DictionaryArray.from_arrays(
        pa.array(some(lambda i: i % 2), pa.int64()), pa.array([7, 10**12], pa.int64())
    )
    return columns


def nested():
    pick = source()
    numbers = lambda: [pick.choice([None, i]) for i in range(pick.randrange(4))]  # noqa: E731
    point = pa.struct([pa.field("x", pa.int32()), pa.field("y", pa.list_(pa.string())), pa.field("id", pa.binary(2))])
    points = [
        {"x": pick.choice([None, 5]), "y": [None, "é", ""][: pick.randrange(4)], "id": b"ab"} for _ in range(ROWS)
    ]
    strict = pa.struct([pa.field("a", pa.int64(), nullable=False), pa.field("größe 2", pa.date32())])
    stricts = [{"a": i, "größe 2": None} for i in range(ROWS)]
    day = datetime.date(2024, 1, 31)
    return {
        "list": pa.array(some(lambda i: numbers()), pa.list_(pa.int64())),
        "large_list": pa.array(some(lambda i: numbers()), pa.large_list(pa.int16())),
        "fixed_list": pa.array(some(lambda i: [i, None]), pa.list_(pa.uint64(), 2)),
        "required_items": pa.array(
            some(lambda i: [i] * (i % 3)), pa.list_(pa.field("it em", pa.float32(), nullable=False))
        ),
        "lists": pa.array(some(lambda i: [numbers(), None, []]), pa.list_(pa.list_(pa.int8()))),
        "point": pa.array(some(lambda i: points[i]), point),
        "points": pa.array(some(lambda i: points[i : i + i % 4]), pa.list_(point)),
        "strict": pa.array(some(lambda i: stricts[i]), strict),
        "map": pa.array(
            some(lambda i: [(f"k{j}", pick.choice([None, j])) for j in range(i % 4)]), pa.map_(pa.string(), pa.int32())
        ),
        "pairs": pa.array(some(lambda i: [(j, points[i]) for j in range(i % 4)]), pa.map_(pa.int32(), point)),
        "days": pa.array(some(lambda i: [(day, [1])] * (i % 2)), pa.map_(pa.date32(), pa.list_(pa.int8()))),
        "dictionaries": pa.array(some(lambda i: [f"w{i % 5}", None]), pa.list_(pa.dictionary(pa.int16(), pa.string()))),
        "uuids": pa.ListArray.from_arrays(
            [min(3 * i, ROWS) for i in range(ROWS + 1)], pa.array(some(lambda i: uuid.UUID(int=i).bytes), pa.uuid())
        ),
        "null": pa.nulls(ROWS),
        "nulls": pa.array(some(lambda i: [None] * (i % 3)), pa.list_(pa.null())),
        "null_field": pa.array(some(lambda i: {"n": None, "m": i}), pa.struct([("n", pa.null()), ("m", pa.int16())])),
    }


NAMES = [
    "unit price",
    "größe",
    "",
    "1st",
    "a.b",
    "a b",
    "a-b",
    "a_b",
    "a_b_2",
    'quote"\\',
    "tab\t\x1f",
    "row",
    "\U0001f600",
    "null",
]


def named():
    columns = {name: pa.array(some(lambda i: i), pa.int32()) for name in NAMES}
    columns["x y"] = pa.array(
        some(lambda i: {"p q": b"abcd", "p-q": {"r": i}}),
        pa.struct([("p q", pa.binary(4)), ("p-q", pa.struct([("r", pa.int16())]))]),
    )
    columns["x-y"] = columns["x y"]
    return columns


def table(columns):
    return pa.table({"id": pa.array(range(ROWS)), **columns})


def required():
    """A table whose columns are not nullable, in several batches."""
    fields = [("id", pa.int64()), ("text", pa.string()), ("list", pa.list_(pa.int8())), ("f", pa.float64())]
    schema = pa.schema([pa.field(name, kind, nullable=False) for name, kind in fields])
    batches = [
        pa.record_batch([[i, i + 1], ["a", "b"], [[1], []], [0.5, -1.0]], schema=schema) for i in range(0, 20, 2)
    ]
    return pa.Table.from_batches(batches)


def java(tmp_path, data, *options):
    """What the builder makes of a table: the schema and the records."""
    for i, name in enumerate(data.column_names):
        if name == "dictionary8":  # whose dictionary has a null, which pyarrow does not write
            data = data.set_column(i, name, data[name].cast(pa.large_string()))
    parquet.write_table(data, tmp_path / "table.parquet")
    bsdb_command(
        "build-parquet", "-i", tmp_path / "table.parquet", "-o", tmp_path / "db", "-q", "--allow-empty-key", *options
    )
    with bsdbkv.open(tmp_path / "db") as db:
        return db.schema_json, dict(db)


def encoded(data, key=("id",), join=None, columns=None, raw=None):
    schema, records = _encode(data, list(key), join, columns, raw)
    return schema, dict(records)


@pytest.mark.parametrize("make", [scalars, nested, named], ids=lambda make: make.__name__)
def test_rows(tmp_path, make):
    data = table(make())
    expected = java(tmp_path, data, "-kf", "id")
    pieces = pa.concat_tables([data.slice(200), data.slice(0, 13), data.slice(13, 187)])
    for same in (data, pieces):
        actual = encoded(same)
        assert actual[0] == expected[0]
        assert actual[1] == expected[1]


def test_required(tmp_path):
    assert encoded(required()) == java(tmp_path, required(), "-kf", "id")


def test_columns(tmp_path):
    data = table(nested())
    expected = java(
        tmp_path, data, "-kf", "point.x,id", "--key-join", "|", "--value-fields", "map,id", "--on-bad-line", "skip"
    )
    data = data.filter(pa.compute.is_valid(pa.compute.struct_field(data["point"], "x")))
    assert encoded(data, ["point.x", "id"], b"|", ["map", "id"]) == expected


@pytest.mark.parametrize(
    "column", ["text", "bytes", "fixed", "uuid", "dictionary", "large_bytes", "text_view", "bytes_view"]
)
def test_raw(tmp_path, column):
    data = table(scalars(nulls=False)).select(["id", column])
    assert encoded(data, raw=column) == java(tmp_path, data, "-kf", "id", "--value-raw", column)


def test_keys(tmp_path):
    """The texts of all types as parts of keys."""
    data = table(scalars(nulls=False))
    names = data.column_names[1:]
    expected = java(tmp_path, data, "-kf", ",".join([*names, "id"]), "--key-join", "|", "--value-fields", "id")
    actual = encoded(data, [*names, "id"], b"|", ["id"])
    for own, other in zip(*(sorted(records, key=records.get) for _, records in (actual, expected))):
        assert own.split(b"|") == other.split(b"|")
    assert actual == expected
