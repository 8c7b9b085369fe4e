#!/usr/bin/env python3
"""Writes the tests' Parquet files with other writers, and next to each file what the writer's own reader returns.

    pip install pyarrow==26.0.1 duckdb==2.0.0 pytz
    build-support/parquet-fixtures.py [--only NAME,..]

For bsdb-tools/src/test/resources/parquet/NAME.parquet (or the folder NAME of several files) there is NAME.jsonl: one
line {"key":...,"value":{...}} per row, as `bsdb scan --json` must print it (docs/guides/rows.md), generated from
the rows as pyarrow or DuckDB read them back. The column k is the key. Floating-point numbers are written with an
exponent, "e" for columns of 64 bits and "E" for columns of 32 or 16, so that the test can compare their values; all
other numbers are compared digit by digit. Large files of lines are compressed.
Spark's files come from parquet-fixtures-spark.py.
"""

import argparse
import base64
import decimal
import gzip
import json
import math
import os
import random
import shutil
import struct
import sys
import uuid

import numpy
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import parquet_footer as footer_of  # noqa: E402

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bsdb-tools/src/test/resources/parquet")
VERSIONS = {"pyarrow": "26.0.1", "duckdb": "2.0.0"}
NANOS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}

# ---- the JSON forms -------------------------------------------------------------------------------------------------


def text(s):
    return json.dumps(s, ensure_ascii=False)


def floating(value, bits):
    if math.isnan(value):
        return '"NaN"'
    if math.isinf(value):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    digits = repr(value) if bits == 64 else str(numpy.float32(value))
    return digits.replace("e", "E") + ("" if "e" in digits else "E0") if bits != 64 else digits + ("" if "e" in digits else "e0")


def plain(value):
    return format(value, "f")


def date(days):
    """Formats days since 1970-01-01 in the proleptic Gregorian calendar (Hinnant's algorithm)."""
    days += 719468
    era, day = divmod(days, 146097)
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day = day - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    year += 400 * era + (month <= 2)
    if year > 9999:
        shown = "+%d" % year
    else:
        shown = "%04d" % year if year >= 0 else "-%04d" % -year
    return "%s-%02d-%02d" % (shown, month, day)


def time(nanos):
    seconds, fraction = divmod(nanos, 10**9)
    shown = "%02d:%02d:%02d" % (seconds // 3600, seconds // 60 % 60, seconds % 60)
    digits = "%09d" % fraction
    while digits.endswith("000"):
        digits = digits[:-3]
    return shown + ("." + digits if digits else "")


def timestamp(nanos, utc):
    days, rest = divmod(nanos, 86400 * 10**9)
    return date(days) + "T" + time(rest) + ("Z" if utc else "")


def duration(months, days, millis):
    shown = "P"
    if months:
        shown += "%dM" % months
    if days:
        shown += "%dD" % days
    if millis:
        seconds, millis = divmod(millis, 1000)
        shown += "T%d%sS" % (seconds, ".%03d" % millis if millis else "")
    return shown if shown != "P" else "PT0S"


def b64(value):
    return text(base64.b64encode(value).decode())


def fields(pairs):
    return "{" + ",".join(text(name) + ":" + value for name, value in pairs) + "}"


def of_arrow(scalar, int96=False):
    """Returns the JSON of a pyarrow value."""
    t = scalar.type
    if not scalar.is_valid or pa.types.is_null(t):
        return "null"
    if isinstance(scalar, pa.ExtensionScalar):
        if t.extension_name == "arrow.uuid":
            return text(str(uuid.UUID(bytes=scalar.value.as_py())))
        return of_arrow(scalar.value, int96)
    if pa.types.is_dictionary(t):
        return of_arrow(scalar.value, int96)
    if pa.types.is_boolean(t):
        return "true" if scalar.as_py() else "false"
    if pa.types.is_integer(t):
        return str(scalar.as_py())
    if pa.types.is_floating(t):
        return floating(float(scalar.as_py()), t.bit_width)
    if pa.types.is_decimal(t):
        return plain(scalar.as_py())
    if pa.types.is_date32(t):
        return text(date(scalar.value))
    if pa.types.is_date64(t):
        return text(date(scalar.value // 86400000))
    if pa.types.is_time(t):
        return text(time(scalar.value * NANOS[t.unit]))
    if pa.types.is_timestamp(t):
        return text(timestamp(scalar.value * NANOS[t.unit], int96 or t.tz is not None))
    if pa.types.is_duration(t):
        return str(scalar.value)
    if pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t):
        return text(scalar.as_py())
    if pa.types.is_map(t):
        entries = scalar.values
        keys = [of_arrow(k, int96) for k in entries.field(0)]
        values = [of_arrow(v, int96) for v in entries.field(1)]
        if pa.types.is_string(t.key_type) or pa.types.is_large_string(t.key_type):
            return "{" + ",".join(k + ":" + v for k, v in zip(keys, values)) + "}"
        return "[" + ",".join(fields([("key", k), ("value", v)]) for k, v in zip(keys, values)) + "]"
    if pa.types.is_struct(t):
        return fields([(t.field(i).name, of_arrow(scalar[i], int96)) for i in range(t.num_fields)])
    if hasattr(scalar, "values"):
        return "[" + ",".join(of_arrow(v, int96) for v in scalar.values) + "]"
    return b64(bytes(scalar.as_py()))


def rows_of(table, int96=False, key="k"):
    for i in range(table.num_rows):
        value = fields([(f.name, of_arrow(c[i], int96)) for f, c in zip(table.schema, table.columns)])
        yield table.column(key)[i].as_py(), value


def of_duckdb(value, kind):
    """Returns the JSON of a DuckDB value; times, timestamps and intervals are lists of numbers (see columns_of)."""
    if value is None:
        return "null"
    name = kind.id
    if name == "boolean":
        return "true" if value else "false"
    if name == "float" or name == "double":
        return floating(value, 32 if name == "float" else 64)
    if name in ("integer", "bigint", "smallint", "tinyint", "uinteger", "ubigint", "usmallint", "utinyint"):
        return str(value)
    if name == "decimal":
        return plain(value)
    if name == "date":
        return text(date(value.toordinal() - 719163))
    if name in ("blob",):
        return b64(value)
    if name in ("varchar", "enum", "json"):
        return text(value)
    if name == "uuid":
        return text(str(value))
    if name in ("list", "array"):
        return "[" + ",".join(of_duckdb(v, kind.children[0][1]) for v in value) + "]"
    if name == "struct":
        return fields([(n, of_duckdb(value[n], k)) for n, k in kind.children])
    if name == "map":
        keys, values = dict(kind.children)["key"], dict(kind.children)["value"]
        pairs = [(of_duckdb(k, keys), of_duckdb(v, values)) for k, v in value.items()]
        if keys.id == "varchar":
            return "{" + ",".join(k + ":" + v for k, v in pairs) + "}"
        return "[" + ",".join(fields([("key", k), ("value", v)]) for k, v in pairs) + "]"
    raise ValueError("no JSON form for %s" % kind)


def duckdb_rows(connection, path):
    described = connection.execute("SELECT * FROM read_parquet(?)", [path]).description
    chosen, forms = [], []
    for name, kind, *_ in described:
        column = '"' + name.replace('"', '""') + '"'
        shown = str(kind)
        if shown == "INTERVAL":
            chosen.append(
                "CASE WHEN %s IS NULL THEN NULL ELSE [datepart('year', %s) * 12 + datepart('month', %s), datepart('day', %s), "
                "datepart('hour', %s) * 3600000 + datepart('minute', %s) * 60000 + datepart('millisecond', %s)] END" % ((column,) * 7))
            forms.append(lambda v: text(duration(*v)))
        elif shown in ("TIME", "TIME WITH TIME ZONE"):
            chosen.append("datepart('hour', %s) * 3600000000 + datepart('minute', %s) * 60000000 + datepart('microsecond', %s)" % ((column,) * 3))
            forms.append(lambda v: text(time(v * 1000)))
        elif shown.startswith("TIMESTAMP"):
            utc = shown.endswith("TIME ZONE")
            chosen.append("epoch_ns(%s)" % column if shown == "TIMESTAMP_NS" else "epoch_us(%s)" % column)
            nanos = 1 if shown == "TIMESTAMP_NS" else 1000
            forms.append(lambda v, n=nanos, u=utc: text(timestamp(v * n, u)))
        else:
            chosen.append(column)
            forms.append(lambda v, k=kind: of_duckdb(v, k))
    place = [d[0] for d in described].index("k")
    for row in connection.execute("SELECT %s FROM read_parquet(?)" % ", ".join(chosen), [path]).fetchall():
        yield row[place], fields(
            [(d[0], "null" if v is None else form(v)) for d, v, form in zip(described, row, forms)])


# ---- writing --------------------------------------------------------------------------------------------------------


def path(name):
    return os.path.join(HERE, name)


def expect(name, rows):
    lines, keys = [], set()
    for key, value in rows:
        assert key not in keys, (name, key)
        keys.add(key)
        lines.append('{"key":%s,"value":%s}\n' % (text(str(key)), value))
    content = "".join(lines).encode()
    for ending in (".jsonl", ".jsonl.gz"):
        if os.path.exists(path(name + ending)):
            os.remove(path(name + ending))
    if len(content) > 6000:
        with open(path(name + ".jsonl.gz"), "wb") as out, gzip.GzipFile("", "wb", 9, out, 0) as gz:
            gz.write(content)
    else:
        with open(path(name + ".jsonl"), "wb") as out:
            out.write(content)


def arrow(name, table, int96=False, **options):
    options.setdefault("compression", "zstd")
    pq.write_table(table, path(name + ".parquet"), **options)
    expect(name, rows_of(pq.ParquetFile(path(name + ".parquet")).read(), int96))


def keyed(n, **columns):
    return pa.table({"k": pa.array(["row%04d" % i for i in range(n)], pa.string()), **columns})


def edited(name, source, change):
    """Writes a copy of a file with a changed footer, and what pyarrow reads from it."""
    with open(path(source + ".parquet"), "rb") as file:
        body, footer = footer_of.take_apart(file.read())
    change(footer)
    with open(path(name + ".parquet"), "wb") as file:
        file.write(footer_of.put_together(body, footer))
    expect(name, rows_of(pq.ParquetFile(path(name + ".parquet")).read()))


# ---- the files ------------------------------------------------------------------------------------------------------

FILES = {}


def file(function):
    FILES[function.__name__.replace("_", "-")] = function
    return function


def integer_columns():
    types = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
    columns = {}
    for t in types:
        low, high = (0, 2**t.bit_width - 1) if pa.types.is_unsigned_integer(t) else (-(2 ** (t.bit_width - 1)), 2 ** (t.bit_width - 1) - 1)
        values = [low, high, low + 1, high - 1, high // 2 + 1, high // 2, 0, 1, None, 100]
        columns[str(t)] = pa.array(values, t)
    return columns


@file
def integers(name):
    columns = integer_columns()
    columns["bool"] = pa.array([True, False, None, True, False, False, True, None, None, True])
    arrow(name, keyed(10, **columns))


@file
def integers_of_format_1(name):
    arrow(name, keyed(10, **integer_columns()), version="1.0", compression="none")


@file
def integers_required(name):
    columns = {n: pc.fill_null(c, pa.scalar(7, c.type)) for n, c in integer_columns().items()}
    table = keyed(10, **columns)
    arrow(name, table.cast(pa.schema([f.with_nullable(False) for f in table.schema])))


@file
def floats(name):
    special = [0.0, -0.0, math.nan, math.inf, -math.inf, None, 1.0, -1.5, 0.1, 1 / 3, 100.0, 1e7, 12345678.0, 1e-3]
    doubles = special + [5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 1e23, 2e-3, 9007199254740993.0, 123456789012345680.0]
    singles = special + [1e-45, 3.4028235e38, 1.17549435e-38, 16777216.0, 2e-3, 1e10, 8.41e21]
    halves = special[:11] + [65504.0, 6e-8, 6.104e-5, 0.333, 2048.0, -65504.0, 0.5, 0.25, 3.14, None]
    arrow(name, keyed(
        21,
        double=pa.array(doubles, pa.float64()),
        float=pa.array(numpy.array([math.nan if v is None else v for v in singles], numpy.float32), pa.float32()),
        float_null=pa.array(singles, pa.float32()),
        half=pa.array([None if v is None else numpy.float16(v) for v in halves], pa.float16())))


def decimal_columns(precisions, types):
    columns = {}
    for precision in precisions:
        for scale in sorted({0, 1, precision // 2, precision}):
            t = types(precision, scale)
            with decimal.localcontext(decimal.Context(prec=100)):
                one = decimal.Decimal(1).scaleb(-scale)
                most = decimal.Decimal(10**precision - 1) * one
                values = [decimal.Decimal(0) * one, most, -most, one, -one, None, (most / 3).quantize(one), (-most / 7).quantize(one)]
                columns["%s_%d_%d" % (type(t).__name__.lower()[:10], precision, scale)] = pa.array(values, t)
    return columns


@file
def decimals(name):
    arrow(name, keyed(8, **decimal_columns([*range(1, 39, 2), 18, 38], pa.decimal128)), use_dictionary=False)


@file
def decimals_of_256_bits(name):
    arrow(name, keyed(8, **decimal_columns([1, 38, 39, 40, 57, 75, 76], pa.decimal256)))


@file
def decimals_as_integers(name):
    arrow(name, keyed(8, **decimal_columns([1, 8, 9, 10, 17, 18, 19, 38], pa.decimal128)), store_decimal_as_integer=True)


@file
def decimals_of_32_and_64_bits(name):
    columns = decimal_columns([1, 9], pa.decimal32)
    columns.update(decimal_columns([10, 18], pa.decimal64))
    arrow(name, keyed(8, **columns))


DAYS = [0, -1, 1, 19753, -719162, 2932896, -719528, -719529, 2932897, 11016, -141428, None]
# 1970, the day before and after, 2024-01-31, 0001-01-01, 9999-12-31, 0000-01-01, -0001-12-31, +10000-01-01, 2000-02-29, 1582-10-15


@file
def dates_and_times(name):
    n = len(DAYS)
    columns = {"date32": pa.array(DAYS, pa.int32()).cast(pa.date32()),
               "date64": pa.array([None if d is None else d * 86400000 for d in DAYS], pa.int64()).cast(pa.date64())}
    seconds = [0, 1, 60, 3600, 43200, 45296, 86399, None, 59, 3599, 36000, 7]
    for unit, t in (("s", pa.time32("s")), ("ms", pa.time32("ms")), ("us", pa.time64("us")), ("ns", pa.time64("ns"))):
        per = 10**9 // NANOS[unit]
        values = [None if s is None else s * per + (0 if i % 3 == 0 else (per - 1 if i % 3 == 1 else per // 1000)) for i, s in enumerate(seconds)]
        columns["time_" + unit] = pa.array(values, pa.int32() if unit in ("s", "ms") else pa.int64()).cast(t)
    arrow(name, keyed(n, **columns))


def timestamp_columns():
    columns = {}
    for unit in ("s", "ms", "us", "ns"):
        per = 10**9 // NANOS[unit]
        values = [None if d is None else (d * 86400 + 45296) * per + (0 if i % 3 == 0 else per - 1) for i, d in enumerate(DAYS)]
        values = [v if v is None or -(2**63) <= v < 2**63 else (-1 if i % 2 else 2**63 - 1) for i, v in enumerate(values)]
        if unit != "s":
            values += [v * per // 10**3 if per >= 10**3 else v for v in (1, -1, 999, -999)]
        else:
            values += [1, -1, 999, -999]
        for zone in (None, "UTC", "Asia/Tokyo", "+02:00"):
            label = "" if zone is None else "_" + zone.replace("/", "_")
            columns["ts_" + unit + label] = pa.array(values, pa.int64()).cast(pa.timestamp(unit, zone))
    columns["duration_ns"] = pa.array(range(len(DAYS) + 4), pa.int64()).cast(pa.duration("ns"))
    return columns


@file
def timestamps(name):
    arrow(name, keyed(len(DAYS) + 4, **timestamp_columns()))


@file
def timestamps_extreme(name):
    ends = [-(2**63), 2**63 - 1, -(2**63) + 1, 0, None]
    arrow(name, keyed(5, **{
        "ns": pa.array(ends, pa.int64()).cast(pa.timestamp("ns", "UTC")),
        "ns_local": pa.array(ends, pa.int64()).cast(pa.timestamp("ns")),
        "us": pa.array([-62135596800000000, 253402300799999999, 253402300800000000, 1, None], pa.int64()).cast(pa.timestamp("us", "UTC")),
        "ms": pa.array([-62135596800000, 253402300799999, 253402300800000, 1, None], pa.int64()).cast(pa.timestamp("ms")),
    }))


@file
def timestamps_of_format_1(name):
    columns = {n: c for n, c in timestamp_columns().items() if "_us" in n or "_ms" in n}
    arrow(name, keyed(len(DAYS) + 4, **columns), version="1.0")


@file
def int96(name):
    nanos = [0, 1, -1, 10**9, -(10**9), 1706704496789012345, -9223372036854775808 + 86400 * 10**9, 9223372036854775807, None, 951782400 * 10**9, 999, 999000]
    arrow(name, keyed(12, at=pa.array(nanos, pa.int64()).cast(pa.timestamp("ns"))), int96=True, use_deprecated_int96_timestamps=True)


UNICODE = ["", "plain", "é", "日本語", "😀", "a\u0000b", "tab\tnewline\nreturn\r", 'quote"back\\slash/', "\u2028\u2029", "\ufeffbom", "\x7f\x1f",
           "\U0010ffff", "ﷺ", "e\u0301", "</script>", None, "null", "x" * 300]


@file
def texts(name):
    n = len(UNICODE)
    raw = [None if s is None else s.encode() for s in UNICODE]
    raw[1:6] = [b"\xff\xfe", b"\x00", bytes(range(256)), b"a", b"ab"]
    ids = [None if i == 3 else uuid.UUID(int=i * 2**120 + i).bytes for i in range(n)]
    arrow(name, keyed(
        n,
        string=pa.array(UNICODE),
        large_string=pa.array(UNICODE, pa.large_string()),
        string_view=pa.array(UNICODE, pa.string_view()),
        dictionary=pa.array(UNICODE).dictionary_encode(),
        binary=pa.array(raw, pa.binary()),
        large_binary=pa.array(raw, pa.large_binary()),
        binary_view=pa.array(raw, pa.binary_view()),
        fixed_1=pa.array([None if i == 4 else bytes([i]) for i in range(n)], pa.binary(1)),
        fixed_16=pa.array(ids, pa.binary(16)),
        uuid=pa.array(ids, pa.uuid()),
        json=pa.ExtensionArray.from_storage(pa.json_(pa.string()), pa.array([None if i == 2 else '{"a": %d}' % i for i in range(n)])),
        bool8=pa.ExtensionArray.from_storage(pa.bool8(), pa.array([i % 2 for i in range(n)], pa.int8()))))


@file
def long_strings(name):
    megabyte = "0123456789abcdeé" * 61681 + "end!"
    arrow(name, keyed(4, text=pa.array([megabyte, "", None, megabyte[:65536]]), raw=pa.array([None, b"\x00" * 1000000, b"\xff", b""])), compression="gzip")


@file
def nulls(name):
    n = 5
    arrow(name, keyed(
        n,
        null=pa.nulls(n),
        int=pa.nulls(n, pa.int32()),
        string=pa.nulls(n, pa.string()),
        list=pa.nulls(n, pa.list_(pa.int64())),
        struct=pa.nulls(n, pa.struct([("a", pa.int32()), ("b", pa.string())])),
        map=pa.nulls(n, pa.map_(pa.string(), pa.int32())),
        decimal=pa.nulls(n, pa.decimal128(10, 2)),
        list_of_null=pa.array([[None], [], None, [None, None], []], pa.list_(pa.null())),
        struct_of_nulls=pa.array([{"a": None, "b": None}, None, {"a": 1, "b": None}, {"a": None, "b": "x"}, {"a": None, "b": None}],
                                 pa.struct([("a", pa.int32()), ("b", pa.string())]))))


def nested_table():
    inner = pa.struct([("x", pa.int32()), ("item", pa.struct([("y", pa.string()), ("tags", pa.list_(pa.string()))]))])
    other = pa.struct([("x", pa.string()), ("item", pa.struct([("y", pa.float64())]))])
    full = {"x": 1, "item": {"y": "one", "tags": ["a", None, ""]}}
    n = 8
    return keyed(
        n,
        list=pa.array([[1, 2, 3], [], None, [None], [4, None, 5], [None, None], [6], list(range(100))], pa.list_(pa.int32())),
        lists=pa.array([[[1], [2, 3]], [[]], [], None, [None], [[None], None, []], [[4]], [[5], [], [6, 7]]], pa.list_(pa.list_(pa.int64()))),
        lists3=pa.array([[[["a"]]], [[[]]], [[]], [], None, [None], [[None]], [[[None, "b"], []], []]], pa.list_(pa.list_(pa.list_(pa.string())))),
        struct=pa.array([full, None, {"x": None, "item": None}, {"x": 2, "item": {"y": None, "tags": None}}, {"x": 3, "item": {"y": "", "tags": []}}, full, None, full], inner),
        other=pa.array([{"x": "s", "item": {"y": 1.5}}, None, {"x": None, "item": {"y": None}}, {"x": "", "item": None}] + [None] * 4, other),
        structs=pa.array([[full, full], [], None, [None, full], [{"x": None, "item": None}], [None], [full], []], pa.list_(inner)),
        map=pa.array([[("a", 1), ("b", None)], [], None, [("", 0)], [("é\"\\", -1)], [("z", 1), ("a", 2)], [], None], pa.map_(pa.string(), pa.int32())),
        map_int=pa.array([[(1, "a"), (2, None)], [], None, [(0, "")], [(-1, "x")], [], None, [(7, "b"), (5, "c")]], pa.map_(pa.int64(), pa.string())),
        map_date=pa.array([[(1, [1.5, None])], [], None, [(0, None)], [(-1, [])], [], None, []], pa.map_(pa.date32(), pa.list_(pa.float32()))),
        map_maps=pa.array([[("a", [("b", 1)])], [], None, [("c", None)], [("d", [])], [], None, [("e", [("f", None), ("g", 2)])]],
                          pa.map_(pa.string(), pa.map_(pa.string(), pa.int32()))),
        maps=pa.array([[[("a", full)], []], [], None, [None], [[("b", None)]], [], None, []], pa.list_(pa.map_(pa.string(), inner))),
        map_struct_key=pa.array([[({"a": 1}, "x")], [], None, [({"a": None}, None)], [], [], [], []], pa.map_(pa.struct([("a", pa.int32())]), pa.string())),
        large_list=pa.array([["a"], [], None, [None], ["b", "c"], [], [], []], pa.large_list(pa.string())),
        fixed_list=pa.array([[1, 2], None, [None, 3], [4, None], [None, None], [5, 6], [7, 8], None], pa.list_(pa.int16(), 2)),
        list_view=pa.array([[1], [], None, [None], [2, 3], [], [], []], pa.list_view(pa.int32())),
        decimals=pa.array([[decimal.Decimal("1.50"), None], [], None, [decimal.Decimal("-0.01")], [], [], [], []], pa.list_(pa.decimal128(5, 2))),
        times=pa.array([[0, 1], [], None, [None, -1], [], [], [], []], pa.list_(pa.timestamp("ns", "UTC"))),
        raw=pa.array([[b"\xff", b""], [], None, [None], [], [], [], []], pa.list_(pa.binary())))


@file
def nested(name):
    arrow(name, nested_table())


@file
def nested_not_compliant(name):
    arrow(name, nested_table(), use_compliant_nested_type=False, data_page_version="2.0")


@file
def nested_deep(name):
    t, value = pa.int32(), 7
    for level in range(24):
        if level % 3 == 0:
            t, value = pa.struct([("s", t)]), {"s": value}
        elif level % 3 == 1:
            t, value = pa.list_(t), [value]
        else:
            t, value = pa.map_(pa.string(), t), [("m", value)]
    arrow(name, keyed(3, deep=pa.array([value, None, value], t)))


@file
def nested_required(name):
    element = pa.field("element", pa.int32(), nullable=False)
    item = pa.struct([pa.field("a", pa.int32(), nullable=False), pa.field("b", pa.string())])
    table = pa.table(
        [["r0", "r1", "r2"],
         pa.array([[1, 2], [], [3]], pa.list_(element)),
         pa.array([[{"a": 1, "b": None}], [], [{"a": 2, "b": "x"}, {"a": 3, "b": ""}]], pa.list_(pa.field("element", item, nullable=False))),
         pa.array([{"a": 1, "b": "x"}, {"a": 2, "b": None}, {"a": 3, "b": ""}], item),
         pa.array([[("a", 1)], [], [("b", 2), ("c", 3)]], pa.map_(pa.string(), pa.field("value", pa.int32(), nullable=False)))],
        schema=pa.schema([
            pa.field("k", pa.string(), nullable=False),
            pa.field("list", pa.list_(element), nullable=False),
            pa.field("structs", pa.list_(pa.field("element", item, nullable=False)), nullable=False),
            pa.field("struct", item, nullable=False),
            pa.field("map", pa.map_(pa.string(), pa.field("value", pa.int32(), nullable=False)), nullable=False)]))
    arrow(name, table, compression="none")


def level_of(elements, name):
    return next(i for i, e in enumerate(elements) if e[4][1] == name)


def without(footer, dropped):
    """Removes groups from the schema, each replaced by its only child, repeated."""
    elements = footer_of.schema(footer)
    for parent in dropped:
        at = level_of(elements, parent) + 1
        assert elements[at][4][1] == b"list"
        del elements[at]
        elements[at][3] = (footer_of.I32, 2)
        for chunk in footer_of.chunks(footer):
            kind, steps = chunk[3][1]
            if steps[0] == parent:
                chunk[3] = (footer_of.LIST, (kind, [steps[0]] + steps[2:]))
    footer_of.forget(footer, b"ARROW:schema")


@file
def lists_of_two_levels(name):
    """optional group list (LIST) { repeated int32 element }, and { repeated group array { .. } }"""
    nested_required("nested-required")

    def change(footer):
        without(footer, [b"list", b"structs"])
        elements = footer_of.schema(footer)
        # A repeated group with several fields is the element itself.
        elements[level_of(elements, b"structs") + 1][4] = (footer_of.BINARY, b"array")
        for chunk in footer_of.chunks(footer):
            kind, steps = chunk[3][1]
            if steps[0] == b"structs":
                chunk[3] = (footer_of.LIST, (kind, [steps[0], b"array", steps[2]]))

    edited(name, "nested-required", change)


@file
def repeated_without_list(name):
    """repeated int32 list, and repeated group structs { .. }"""

    def change(footer):
        without(footer, [b"list", b"structs"])
        elements = footer_of.schema(footer)
        for column in (b"list", b"structs"):
            at = level_of(elements, column)
            del elements[at]
            elements[at][4] = (footer_of.BINARY, column)
            for chunk in footer_of.chunks(footer):
                kind, steps = chunk[3][1]
                if steps[0] == column:
                    chunk[3] = (footer_of.LIST, (kind, [column] + steps[2:]))

    edited(name, "nested-required", change)


@file
def old_annotations(name):
    """Types as writers declared them before 2018: by converted types only, a map as MAP_KEY_VALUE."""
    stamps = pa.array([0, -1, 1706704496789], pa.int64())
    table = pa.table({
        "k": ["r0", "r1", "r2"],
        "date": pa.array([0, -1, 19753], pa.int32()).cast(pa.date32()),
        "time_ms": pa.array([0, 1, 86399999], pa.int32()).cast(pa.time32("ms")),
        "time_us": pa.array([0, 1, 86399999999], pa.int64()).cast(pa.time64("us")),
        "ms": stamps.cast(pa.timestamp("ms", "UTC")),
        "us": stamps.cast(pa.timestamp("us", "UTC")),
        "uint64": pa.array([0, 2**64 - 1, 1], pa.uint64()),
        "int8": pa.array([-128, 127, None], pa.int8()),
        "decimal": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("-0.05")], pa.decimal128(9, 2)),
        "map": pa.array([[("a", 1)], [], None], pa.map_(pa.string(), pa.int32())),
        "list": pa.array([["a"], [], None], pa.list_(pa.string())),
        "json": pa.array(["{}", None, "[1]"]),
        "bson": pa.array([b"\x05\x00\x00\x00\x00", None, b""], pa.binary()),
    })
    pq.write_table(table, path(name + ".parquet"), compression="snappy")

    def change(footer):
        elements = footer_of.schema(footer)
        for element in elements:
            element.pop(10, None)
        elements[level_of(elements, b"time_ms")][6] = (footer_of.I32, 7)
        elements[level_of(elements, b"time_us")][6] = (footer_of.I32, 8)
        elements[level_of(elements, b"map")][6] = (footer_of.I32, 2)
        elements[level_of(elements, b"json")][6] = (footer_of.I32, 19)
        elements[level_of(elements, b"bson")][6] = (footer_of.I32, 20)
        footer_of.forget(footer, b"ARROW:schema")

    edited(name, name, change)


def mixed(n, seed=5):
    rng = random.Random(seed)
    words = ["alpha", "beta", "gamma", "", "日本", None]
    return keyed(
        n,
        int=pa.array([rng.choice([None, rng.randrange(-(2**31), 2**31), i]) for i in range(n)], pa.int32()),
        long=pa.array([rng.choice([None, rng.randrange(-(2**63), 2**63), i]) for i in range(n)], pa.int64()),
        double=pa.array([rng.choice([None, rng.gauss(0, 1e6), float(i)]) for i in range(n)]),
        float=pa.array([rng.choice([None, float(i)]) for i in range(n)], pa.float32()),
        word=pa.array([rng.choice(words) for _ in range(n)]),
        bool=pa.array([rng.choice([True, False, None]) for _ in range(n)]),
        fixed=pa.array([rng.choice([None, rng.randbytes(5)]) for _ in range(n)], pa.binary(5)),
        decimal=pa.array([rng.choice([None, decimal.Decimal(rng.randrange(-(10**12), 10**12)).scaleb(-3)]) for _ in range(n)], pa.decimal128(20, 3)),
        list=pa.array([rng.choice([None, [], [rng.randrange(100) for _ in range(rng.randrange(4))]]) for _ in range(n)], pa.list_(pa.int64())))


def codec(name, compression, **options):
    arrow(name, mixed(60), compression=compression, **options)


for _codec in ("none", "snappy", "gzip", "zstd", "lz4", "brotli"):
    FILES["codec-" + _codec] = lambda name, c=_codec: codec(name, c)
    FILES["codec-" + _codec + "-pages-2"] = lambda name, c=_codec: codec(name, c, data_page_version="2.0", use_dictionary=False)


@file
def codec_lz4_hadoop(name):
    """The old LZ4 codec: each page in Hadoop's framing."""
    raw = "codec-lz4"
    with open(path(raw + ".parquet"), "rb") as source:
        data = source.read()
    framed = footer_of.reframe(data, 5, lambda page, size: struct.pack(">II", size, len(page)) + page)
    with open(path(name + ".parquet"), "wb") as out:
        out.write(framed)
    expect(name, rows_of(pq.ParquetFile(path(name + ".parquet")).read()))


@file
def codecs_mixed(name):
    arrow(name, mixed(60), compression={"k": "gzip", "int": "none", "long": "snappy", "double": "zstd", "word": "lz4", "bool": "brotli"})


ENCODINGS = {
    "plain": {"*": "PLAIN"},
    "delta": {"k": "DELTA_BYTE_ARRAY", "int": "DELTA_BINARY_PACKED", "long": "DELTA_BINARY_PACKED", "word": "DELTA_LENGTH_BYTE_ARRAY", "fixed": "DELTA_BYTE_ARRAY",
              "bool": "RLE", "decimal": "DELTA_BYTE_ARRAY", "list.list.element": "DELTA_BINARY_PACKED"},
    "delta-length": {"k": "DELTA_LENGTH_BYTE_ARRAY", "word": "DELTA_BYTE_ARRAY"},
    "split": {"int": "BYTE_STREAM_SPLIT", "long": "BYTE_STREAM_SPLIT", "double": "BYTE_STREAM_SPLIT", "float": "BYTE_STREAM_SPLIT", "fixed": "BYTE_STREAM_SPLIT",
              "decimal": "BYTE_STREAM_SPLIT"},
}
for _name, _encoding in ENCODINGS.items():
    for _version in ("1.0", "2.0"):
        FILES["encoding-%s-pages-%s" % (_name, _version[0])] = lambda name, e=_encoding, v=_version: arrow(
            name, mixed(150), use_dictionary=False, column_encoding=e if "*" not in e else None, data_page_version=v, write_page_checksum=True)


@file
def dictionary_overflow(name):
    """A dictionary that grows too large, so that later pages use plain encoding."""
    arrow(name, mixed(400), dictionary_pagesize_limit=512, data_page_size=400, write_batch_size=8)


@file
def pages_small(name):
    for version in ("1.0", "2.0"):
        arrow(name + "-" + version[0], mixed(200), data_page_size=64, write_batch_size=4, data_page_version=version, write_page_checksum=True,
              write_page_index=True, row_group_size=70)


@file
def pages_empty(name):
    """A nested column with a page without values, as pyarrow writes it when the last rows start a page."""
    for version in ("1.0", "2.0"):
        table = keyed(100, map=pa.array([[(j, "v%d" % (i % 3)) for j in range(i % 4)] for i in range(100)], pa.map_(pa.int64(), pa.string())))
        at = name + "-" + version[0]
        arrow(at, table, data_page_size=10, write_batch_size=1, max_rows_per_page=1, data_page_version=version)
        assert 0 in footer_of.page_values(path(at + ".parquet"), b"map.key_value.key"), "no such page"


@file
def row_groups_small(name):
    arrow(name, mixed(50).select(["k", "int", "word", "list"]), row_group_size=1)


@file
def empty(name):
    arrow(name, mixed(0))


@file
def empty_untyped(name):
    """The result of writing a frame without rows: untyped columns, including the key."""
    arrow(name, pa.table({"k": pa.array([]), "a": pa.array([])}))


@file
def empty_row_groups(name):
    table = mixed(20)
    with pq.ParquetWriter(path(name + ".parquet"), table.schema) as writer:
        for start, count in ((0, 0), (0, 5), (5, 0), (5, 10), (15, 0), (15, 5), (20, 0)):
            writer.write_table(table.slice(start, count))
    expect(name, rows_of(pq.ParquetFile(path(name + ".parquet")).read()))


@file
def key_only(name):
    arrow(name, keyed(5))


@file
def wide(name):
    arrow(name, keyed(3, **{"column%d" % i: pa.array([i, None, -i], pa.int16()) for i in range(150)}), use_dictionary=False, write_statistics=False)


@file
def names(name):
    odd = ["a b", "a_b", "a.b", "a.b.c", "1st", "_", "__", "größe", "名前", "😀", 'quo"te', "back\\slash", "sla/sh", "a-b", "a b ", "K", "A_B", "key", "value",
           "null", "int", "record", "tab\tname", "$1", "a,b", "'", "a\u0301", "x" * 200, "element", "list", "array"]
    columns = {c: pa.array([i, None, -i]) for i, c in enumerate(odd)}
    item = pa.struct([("x y", pa.int32()), ("x_y", pa.int32()), ("1", pa.string()), ("a.b", pa.list_(pa.struct([("é", pa.int32()), ("e", pa.int32())])))])
    columns["st.ruct"] = pa.array([{"x y": 1, "x_y": 2, "1": "one", "a.b": [{"é": 1, "e": 2}]}, None, {"x y": None, "x_y": 3, "1": None, "a.b": []}], item)
    columns["struct"] = columns["st.ruct"]
    columns["st ruct"] = columns["st.ruct"]
    arrow(name, keyed(3, **columns))


@file
def names_empty(name):
    arrow(name, keyed(2, **{"": pa.array([1, None]), "s": pa.array([{"": 1}, None], pa.struct([("", pa.int32())]))}))


@file
def key_columns(name):
    """Columns of unique values: each can be the key."""
    n = 6
    arrow(name, keyed(
        n,
        int32=pa.array([-(2**31), -1, 0, 1, 2, 2**31 - 1], pa.int32()),
        int64=pa.array([-(2**63), -1, 0, 1, 2, 2**63 - 1], pa.int64()),
        uint32=pa.array([0, 1, 2**31, 2**32 - 1, 2, 3], pa.uint32()),
        uint64=pa.array([0, 1, 2**63, 2**64 - 1, 2, 3], pa.uint64()),
        uuid=pa.array([uuid.UUID(int=2**127 + i).bytes for i in range(n)], pa.uuid()),
        date=pa.array([0, -1, -719162, 2932896, 19753, 1], pa.int32()).cast(pa.date32()),
        time=pa.array([0, 1, 1000, 10**6, 60 * 10**6, 86399999999], pa.int64()).cast(pa.time64("us")),
        ns=pa.array([0, 1, -1, 10**9, -(2**63), 2**63 - 1], pa.int64()).cast(pa.timestamp("ns", "UTC")),
        us_local=pa.array([0, 1, -1, 10**6, 1000, 60 * 10**6], pa.int64()).cast(pa.timestamp("us")),
        decimal=pa.array([decimal.Decimal(d) for d in ("0.00", "0.10", "-0.10", "1.50", "99999999.99", "-99999999.99")], pa.decimal128(10, 2)),
        string=pa.array(["a", "é", "😀", "a b", "tab\t", 'q"']),
        binary=pa.array([b"\xff", b"\x00", b"abc", b"\xfe\xff", "é".encode(), bytes(range(200, 256))]),
        fixed=pa.array([bytes([i, 255, 0, i]) for i in range(n)], pa.binary(4)),
        dictionary=pa.array(["d%d" % i for i in range(n)]).dictionary_encode(),
        struct=pa.array([{"id": i, "name": "n%d" % i} for i in range(n)])), row_group_size=4)


def folder(name, tables, united, **options):
    shutil.rmtree(path(name), ignore_errors=True)
    os.makedirs(path(name))
    for i, table in enumerate(tables):
        pq.write_table(table, os.path.join(path(name), "part-%d.parquet" % i), compression="zstd", **options)
    expect(name, rows_of(united))


@file
def folder_of_orders(name):
    a = mixed(10).select(["k", "int", "word", "double"])
    b = mixed(20).slice(10).select(["double", "word", "k", "int"])
    folder(name, [a, b], pa.concat_tables([a, b.select(a.column_names)]))


@file
def folder_of_widths(name):
    """int32 next to int64, float next to double: the wider type applies to both."""
    a = pa.table({"k": ["a0", "a1", "a2"], "n": pa.array([1, None, -(2**31)], pa.int32()), "x": pa.array([1.5, None, 0.1], pa.float32()),
                  "s": pa.array([{"n": 1}, None, {"n": None}], pa.struct([("n", pa.int32())])), "l": pa.array([[1], None, [None]], pa.list_(pa.int32()))})
    b = pa.table({"k": ["b0", "b1"], "n": pa.array([2**40, -1], pa.int64()), "x": pa.array([0.1, None], pa.float64()),
                  "s": pa.array([{"n": 2**40}, None], pa.struct([("n", pa.int64())])), "l": pa.array([[2**40, None], []], pa.list_(pa.int64()))})
    folder(name, [a, b], pa.concat_tables([a.cast(b.schema), b]))
    folder(name + "-reversed", [b, a], pa.concat_tables([b, a.cast(b.schema)]))


@file
def folder_of_missing_columns(name):
    a = mixed(10).select(["k", "int", "word", "list"])
    b = mixed(20).slice(10).select(["k", "int"])
    folder(name, [a, b], pa.concat_tables([a, b], promote_options="default"))


@file
def folder_with_empty(name):
    """Files with rows next to one without any, whose columns are untyped."""
    a = pa.table({"k": ["a0", "a1"], "n": pa.array([1, None], pa.int32())})
    none = pa.table({"k": pa.array([]), "n": pa.array([])})
    folder(name, [none, a, none], a)


@file
def folder_of_required_and_optional(name):
    a = pa.table({"k": ["a0", "a1"], "n": pa.array([1, 2], pa.int32())})
    a = a.cast(pa.schema([f.with_nullable(False) for f in a.schema]))
    b = pa.table({"k": ["b0", "b1"], "n": pa.array([3, None], pa.int32())})
    folder(name, [a, b], pa.concat_tables([a.cast(b.schema), b]))


@file
def folder_that_disagrees(name):
    """Files with incompatible types: a number and a text."""
    a = pa.table({"k": ["a0"], "n": pa.array([1], pa.int32())})
    b = pa.table({"k": ["b0"], "n": pa.array(["one"])})
    folder(name, [a, b], a)
    os.remove(path(name + ".jsonl"))


@file
def encrypted(name):
    """Files with an encrypted footer and with encrypted columns; only their errors are tested."""
    from pyarrow.parquet import encryption

    class Kms(encryption.KmsClient):
        def __init__(self, _):
            super().__init__()

        def wrap_key(self, key, _):
            return base64.b64encode(key)

        def unwrap_key(self, wrapped, _):
            return base64.b64decode(wrapped)

    factory = encryption.CryptoFactory(Kms)
    for kind, plaintext in (("footer", False), ("columns", True)):
        at = path("%s-%s.parquet" % (name, kind))
        if os.path.exists(at):
            continue  # its keys are random
        settings = encryption.EncryptionConfiguration(footer_key="f", column_keys={"c": ["int", "word"]}, plaintext_footer=plaintext)
        properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), settings)
        table = mixed(5).select(["k", "int", "word"])
        with pq.ParquetWriter(at, table.schema, encryption_properties=properties) as writer:
            writer.write_table(table)


@file
def null_keys(name):
    pq.write_table(pa.table({"k": ["a", None, "b", None], "n": [1, 2, 3, 4]}), path(name + ".parquet"))


@file
def duplicate_keys(name):
    pq.write_table(pa.table({"k": ["a", "b", "a", "c"], "n": [1, 2, 3, 4]}), path(name + ".parquet"))


@file
def damaged_page(name):
    """Page checksums that reveal a flipped bit in the values of column n."""
    pq.write_table(pa.table({"k": ["a", "b"], "n": pa.array([0x1122334455667788, 2])}), path(name + ".parquet"), compression="none", use_dictionary=False,
                   write_page_checksum=True)
    with open(path(name + ".parquet"), "rb") as source:
        data = bytearray(source.read())
    body, footer = footer_of.take_apart(bytes(data))
    reader = footer_of.Reader(body, footer_of.chunks(footer)[1][9][1])
    reader.struct()
    data[data.index(bytes.fromhex("8877665544332211"), reader.at)] ^= 1
    with open(path(name + ".parquet"), "wb") as out:
        out.write(data)


# ---- DuckDB ---------------------------------------------------------------------------------------------------------


def duck(name, select, options=""):
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("CREATE TYPE mood AS ENUM ('sad', 'ok', 'glücklich')")
    at = path(name + ".parquet")
    connection.execute("COPY (%s) TO '%s' (FORMAT parquet%s)" % (select, at, options))
    expect(name, duckdb_rows(connection, at))


@file
def duckdb_types(name):
    duck(name, """
      SELECT * FROM (VALUES
        ('a', true, (-128)::TINYINT, (-32768)::SMALLINT, (-2147483648)::INTEGER, (-9223372036854775808)::BIGINT, 255::UTINYINT, 65535::USMALLINT, 4294967295::UINTEGER,
         18446744073709551615::UBIGINT, 'nan'::FLOAT, 'inf'::DOUBLE, 1.5::DECIMAL(4,1), (-999999999.99)::DECIMAL(18,2), 9999999999999999999999999999.9999999999::DECIMAL(38,10),
         DATE '0001-01-01', TIME '00:00:00', TIMESTAMP '1969-12-31 23:59:59.999999', TIMESTAMPTZ '2024-01-31 12:34:56.789+00', TIMESTAMP_NS '2024-01-31 12:34:56.123456789',
         TIMESTAMP_MS '2024-01-31 12:34:56.789', TIMESTAMP_S '2024-01-31 12:34:56', INTERVAL '14 months 2 days 3004 milliseconds', 'sad'::mood, '{"a": [1, 2]}'::JSON,
         170141183460469231731687303715884105727::HUGEINT, '\\xAA\\x00\\xFF'::BLOB, '010110'::BIT, '0f0e0d0c-0b0a-0908-0706-050403020100'::UUID, '12:34:56.5+02'::TIMETZ, 'é😀'),
        ('b', false, 127, 32767, 2147483647, 9223372036854775807, 0, 0, 0, 0, '-inf', -0.0, -0.1, 0, -0.0000000001, DATE '9999-12-31', TIME '23:59:59.999999',
         TIMESTAMP '0001-01-01', TIMESTAMPTZ '1969-12-31 23:59:59+00', TIMESTAMP_NS '1677-09-22 00:00:00', TIMESTAMP_MS '1900-01-01', TIMESTAMP_S '9999-12-31 23:59:59',
         INTERVAL '0 days', 'glücklich', 'null', 0, '', '1', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '00:00:00+00', ''),
        ('c', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
         NULL, NULL, NULL))
      t(k, bool, i8, i16, i32, i64, u8, u16, u32, u64, f, d, dec4, dec18, dec38, date, time, ts, tstz, ts_ns, ts_ms, ts_s, interval, enum, json, huge, blob, bit, uuid, timetz, text)""")


@file
def duckdb_intervals(name):
    duck(name, """
      SELECT 'i' || row_number() OVER () AS k, i FROM (VALUES (INTERVAL 0 days), (INTERVAL 1 month), (INTERVAL 12 months), (INTERVAL 25 months), (INTERVAL 1 day), (INTERVAL 400 days),
        (INTERVAL 1 second), (INTERVAL 1 millisecond), (INTERVAL 61 seconds), (INTERVAL 3600 seconds), (INTERVAL 90061001 milliseconds), (NULL), (INTERVAL '1 month 1 day 1 second')) t(i)""")


@file
def duckdb_nested(name):
    duck(name, """
      SELECT * FROM (VALUES
        ('a', [1, NULL, 3], [[1], [], NULL], {'x': 1, 'y': 'one'}, [{'x': 1, 'l': [1.5]}, NULL], MAP {'a': 1, 'b': NULL}, MAP {1: 'x', 2: NULL}, [DATE '2024-01-31']),
        ('b', [], [], {'x': NULL, 'y': NULL}, [], MAP {}, MAP {}, []),
        ('c', NULL, NULL, NULL, NULL, NULL, NULL, NULL))
      t(k, list, lists, struct, structs, map, map_int, dates)""")


for _codec in ("uncompressed", "snappy", "gzip", "zstd", "lz4_raw", "brotli"):
    for _version in ("V1", "V2"):
        FILES["duckdb-%s-%s" % (_codec.replace("_", "-"), _version.lower())] = lambda name, c=_codec, v=_version: duck(
            name, """SELECT 'row' || i AS k, i AS n, (i * 7919) % 101 AS small, CASE WHEN i % 5 = 0 THEN NULL ELSE 'text ' || (i % 9) END AS word, 'unique ' || (i * i) AS text, i / 7 AS x,
            (i / 3)::FLOAT AS f, i % 2 = 0 AS even, [i, i + 1] AS list, (i / 8)::DECIMAL(9, 3) AS dec FROM range(120) t(i)""",
            ", CODEC %s, PARQUET_VERSION %s, ROW_GROUP_SIZE 2048" % (c, v))


@file
def duckdb_empty(name):
    duck(name, "SELECT 'a' AS k, 1 AS n WHERE false")


# ---------------------------------------------------------------------------------------------------------------------


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", help="names, separated by commas")
    options.add_argument("--any-version", action="store_true", help="take the packages as they are installed")
    chosen = options.parse_args()
    if not chosen.any_version:
        import duckdb

        for package in (pa, duckdb):
            if package.__version__ != VERSIONS[package.__name__]:
                sys.exit("needs %s %s, but %s is installed" % (package.__name__, VERSIONS[package.__name__], package.__version__))
    os.makedirs(HERE, exist_ok=True)
    for name, make in FILES.items():
        if not chosen.only or name in chosen.only.split(","):
            make(name)
    print("%d bytes in %s" % (sum(os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk(HERE) for f in fs), os.path.normpath(HERE)))


if __name__ == "__main__":
    main()
