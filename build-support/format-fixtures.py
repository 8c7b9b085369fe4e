#!/usr/bin/env python3
"""Writes the files of bsdb-lake/src/test/resources/formats: the same rows in Parquet, Arrow, Avro and ORC, by the writers
that users have.

  pip install pyarrow fastavro pyorc polars duckdb python-snappy backports.zstd
  build-support/format-fixtures.py bsdb-lake/src/test/resources/formats

A name is SET-WRITER.SUFFIX; the files of a set have the same rows, so that databases built from them are the same. Those
of the set arrow17 are not written here: Arrow 0.17.1 (C++, arrow::ipc::feather::WriteTable) wrote its Feather files.
"""

import datetime
import decimal
import random
import sys
import uuid
from pathlib import Path

import fastavro
import polars
import pyarrow
import pyarrow.compute
import pyarrow.ipc
import pyarrow.orc
import pyarrow.parquet
import pyorc

UTC = datetime.timezone.utc
OUT = Path(sys.argv[1])


def arrow(name, table, **options):
    with pyarrow.OSFile(str(OUT / name), "wb") as out:
        new = pyarrow.ipc.new_stream if name.endswith(".arrows") else pyarrow.ipc.new_file
        with new(out, table.schema, options=pyarrow.ipc.IpcWriteOptions(**options)) as writer:
            writer.write_table(table, max_chunksize=150)


def scalars():
    rnd = random.Random(1)
    rows = 400

    def column(make):
        return [None if rnd.random() < 0.2 else make(i) for i in range(rows)]

    def moment(i):
        edge = {0: -1, 1: 0, 2: 253402300799_999_999, 3: -999_000, 6: -62135596800_000_000, 7: -2208988800_000_001}
        micros = edge.get(i, rnd.randrange(-(10**16), 10**16))
        return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=micros)

    limit = decimal.Decimal(10**38 - 1)
    data = {
        "k": (pyarrow.int64(), list(range(-200, 200)), False),
        "b": (pyarrow.bool_(), column(lambda i: rnd.random() < 0.5), True),
        "i": (pyarrow.int32(), column(lambda i: rnd.choice([0, -(2**31), 2**31 - 1, rnd.randrange(-99, 99)])), True),
        "l": (pyarrow.int64(), column(lambda i: rnd.choice([0, -(2**63), 2**63 - 1, rnd.randrange(-(10**12), 10**12)])), True),
        "f": (pyarrow.float32(), column(lambda i: rnd.choice([0.0, -0.0, 1.5, float("inf"), float("-inf"), 0.25 * i])), True),
        "d": (pyarrow.float64(), column(lambda i: rnd.choice([0.0, -0.0, 0.1, float("inf"), rnd.random(), 1e308])), True),
        "s": (pyarrow.string(), column(lambda i: rnd.choice(["", "x", "é漢😀", "a" * 40, f"text {i}"])), True),
        "y": (pyarrow.binary(), column(lambda i: rnd.randbytes(rnd.randrange(20))), True),
        "day": (pyarrow.date32(), column(lambda i: moment(i).date()), True),
        "t6": (pyarrow.timestamp("us", "UTC"), column(lambda i: moment(i).replace(tzinfo=UTC)), True),
        "dec": (pyarrow.decimal128(9, 2), column(lambda i: decimal.Decimal(rnd.randrange(-(10**9) + 1, 10**9)).scaleb(-2)), True),
        "big": (pyarrow.decimal128(38, 0), column(lambda i: rnd.choice([limit, limit.copy_negate(), decimal.Decimal(i)])), True),
    }
    return data


AVRO = {
    "b": "boolean", "i": "int", "l": "long", "f": "float", "d": "double", "s": "string", "y": "bytes",
    "day": {"type": "int", "logicalType": "date"},
    "t6": {"type": "long", "logicalType": "timestamp-micros"},
    "l6": {"type": "long", "logicalType": "local-timestamp-micros"},
    "tod": {"type": "long", "logicalType": "time-micros"},
    "dec": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
    "big": {"type": "fixed", "name": "big", "size": 16, "logicalType": "decimal", "precision": 38, "scale": 0},
    "list": {"type": "array", "items": ["null", "long"]},
    "map": {"type": "map", "values": ["null", "string"]},
    "struct": {"type": "record", "name": "inner", "fields": [
        {"name": "a", "type": ["null", "int"]},
        {"name": "list", "type": ["null", {"type": "array", "items": ["null", "string"]}]}]},
}


def avro(name, table, codec):
    fields = [{"name": f.name, "type": ["null", AVRO.get(f.name, "long")] if f.nullable else "long"} for f in table.schema]
    schema = fastavro.parse_schema({"type": "record", "name": "row", "fields": fields})
    rows = table.to_pylist()
    for row in rows:
        for key in row:
            if key == "map" and row[key] is not None:
                row[key] = dict(row[key])
    with open(OUT / name, "wb") as out:
        fastavro.writer(out, schema, rows, codec=codec, sync_interval=4000)


PYORC = {
    "k": "bigint", "b": "boolean", "i": "int", "l": "bigint", "f": "float", "d": "double", "s": "string", "y": "binary",
    "day": "date", "t6": "timestamp with local time zone", "l6": "timestamp", "dec": "decimal(9,2)", "big": "decimal(38,0)",
    "list": "array<bigint>", "map": "map<string,string>", "struct": "struct<a:int,list:array<string>>",
}


def pyorc_of(name, table):
    columns = ",".join(f"{f.name}:{PYORC[f.name]}" for f in table.schema)
    with open(OUT / name, "wb") as out:
        with pyorc.Writer(out, f"struct<{columns}>", struct_repr=pyorc.StructRepr.DICT) as writer:
            for row in table.to_pylist():
                if row.get("map") is not None:
                    row["map"] = dict(row["map"])
                writer.write(row)


def table_of(data):
    schema = pyarrow.schema([pyarrow.field(n, t, nullable) for n, (t, _, nullable) in data.items()])
    return pyarrow.table({n: pyarrow.array(v, t) for n, (t, v, _) in data.items()}, schema=schema)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    runs()
    table = table_of(scalars())
    pyarrow.parquet.write_table(table, OUT / "scalars-pyarrow.parquet", store_schema=False)
    arrow("scalars-pyarrow.arrow", table)
    arrow("scalars-lz4.arrow", table, compression="lz4")
    arrow("scalars-zstd.arrows", table, compression="zstd")
    for codec in ["null", "deflate", "snappy", "zstandard"]:
        avro(f"scalars-{codec}.avro", table, codec)

    rnd = random.Random(2)
    rows = 300
    maybe = lambda make, p=0.2: None if rnd.random() < p else make()
    strings = lambda: [maybe(lambda: rnd.choice(["", "é", "text"])) for _ in range(rnd.randrange(4))]
    nested = {
        "k": (pyarrow.int64(), list(range(rows)), False),
        "list": (pyarrow.list_(pyarrow.int64()),
                 [maybe(lambda: [maybe(lambda: rnd.randrange(100)) for _ in range(rnd.randrange(5))]) for _ in range(rows)], True),
        "map": (pyarrow.map_(pyarrow.string(), pyarrow.string()),
                [maybe(lambda: [(f"k{i}", maybe(lambda: f"v{i}")) for i in range(rnd.randrange(4))]) for _ in range(rows)], True),
        "struct": (pyarrow.struct([("a", pyarrow.int32()), ("list", pyarrow.list_(pyarrow.string()))]),
                   [maybe(lambda: {"a": maybe(lambda: rnd.randrange(9)), "list": maybe(strings)}) for _ in range(rows)], True),
        "l6": (pyarrow.timestamp("us"),
               [maybe(lambda: datetime.datetime(1969, 12, 31) + datetime.timedelta(microseconds=rnd.randrange(10**12))) for _ in range(rows)], True),
        "tod": (pyarrow.time64("us"), [maybe(lambda: datetime.time(rnd.randrange(24), 0, 1, rnd.randrange(10**6))) for _ in range(rows)], True),
    }
    table = table_of(nested)
    pyarrow.parquet.write_table(table, OUT / "nested-pyarrow.parquet", store_schema=False)
    arrow("nested-pyarrow.arrow", table)
    arrow("nested-pyarrow.arrows", table)
    avro("nested-fastavro.avro", table, "deflate")
    for name, each in [("orcscalars", table_of(scalars())), ("orcnested", table.drop_columns(["tod"]))]:
        each = each.set_column(0, "k", each["k"])  # all columns of ORC are nullable
        if name == "orcscalars":
            each = each.slice(6)  # the moments of the first rows are not in ORC as the writers write it (ORC-763)
        pyarrow.parquet.write_table(each, OUT / f"{name}-pyarrow.parquet", store_schema=False)
        for codec in ["uncompressed", "zlib", "snappy", "lz4", "zstd"] if name == "orcscalars" else ["zlib"]:
            pyarrow.orc.write_table(each, OUT / f"{name}-{codec}.orc", compression=codec, stripe_size=64 << 10)
        pyorc_of(f"{name}-pyorc.orc", each)

    only_arrow()
    large()


def large():
    """Buffers of several blocks of LZ4, of which the later ones refer to the earlier ones, and several blocks of Avro."""
    rows = 4000
    table = pyarrow.table({
        "k": pyarrow.array(range(rows), pyarrow.int64()),
        "s": pyarrow.array([f"text {i % 700} of {i % 11}, " * (i % 3) for i in range(rows)]),
    })
    pyarrow.parquet.write_table(table, OUT / "large-pyarrow.parquet", store_schema=False, compression="zstd")
    for name, codec in [("large-lz4.arrow", "lz4"), ("large-zstd.arrows", "zstd")]:
        with pyarrow.OSFile(str(OUT / name), "wb") as out:
            new = pyarrow.ipc.new_stream if name.endswith(".arrows") else pyarrow.ipc.new_file
            with new(out, table.schema, options=pyarrow.ipc.IpcWriteOptions(compression=codec)) as writer:
                writer.write_table(table)
    pyarrow.orc.write_table(table, OUT / "large-zlib.orc", compression="zlib", stripe_size=64 << 10)
    polars.from_arrow(table).write_ipc(OUT / "large-polars.arrow", compression="zstd")
    avro("large-deflate.avro", table, "deflate")


def only_arrow():
    """Types and layouts that only Arrow has, and the same values in Parquet."""
    rnd = random.Random(3)
    rows = 130
    nulls = lambda values: [None if rnd.random() < 0.2 else v for v in values]
    words = [rnd.choice(["", "a", "twelve bytes", "more than twelve bytes", "é漢😀" * 4]) for _ in range(rows)]
    texts = nulls(words)
    data = nulls([w.encode() for w in words])
    lists = nulls([[1, None, 3][: rnd.randrange(4)] for _ in range(rows)])
    triples = nulls([[i, i + 1, None] for i in range(rows)])
    runs = pyarrow.compute.run_end_encode(pyarrow.array([None if i // 20 == 3 else f"run {i // 20}" for i in range(rows)]))
    ids = [uuid.UUID(int=rnd.getrandbits(128)) for _ in range(rows)]
    small = [decimal.Decimal(rnd.randrange(-9999, 9999)).scaleb(-2) for _ in range(rows)]
    numbers = [0, 2**64 - 1, 2**63, 7]
    arrays = {
        "k": pyarrow.array(range(rows), pyarrow.uint32()),
        "dict": pyarrow.array(texts).dictionary_encode(),
        "dict8": pyarrow.DictionaryArray.from_arrays(pyarrow.array([i % 3 for i in range(rows)], pyarrow.uint8()), ["x", "y", "z"]),
        "utf8_view": pyarrow.array(texts, pyarrow.string_view()),
        "binary_view": pyarrow.array(data, pyarrow.binary_view()),
        "large_utf8": pyarrow.array(texts, pyarrow.large_string()),
        "large_binary": pyarrow.array(data, pyarrow.large_binary()),
        "large_list": pyarrow.array(lists, pyarrow.large_list(pyarrow.int32())),
        "list_view": pyarrow.array(lists, pyarrow.list_view(pyarrow.int32())),
        "large_list_view": pyarrow.array(lists, pyarrow.large_list_view(pyarrow.int32())),
        "fixed_list": pyarrow.array(triples, pyarrow.list_(pyarrow.int64(), 3)),
        "runs": runs,
        "i8": pyarrow.array(nulls([i % 256 - 128 for i in range(rows)]), pyarrow.int8()),
        "u8": pyarrow.array(nulls([i % 256 for i in range(rows)]), pyarrow.uint8()),
        "i16": pyarrow.array(nulls([i * 100 - 20000 for i in range(rows)]), pyarrow.int16()),
        "u16": pyarrow.array(nulls([i * 250 for i in range(rows)]), pyarrow.uint16()),
        "u64": pyarrow.array(nulls([numbers[i % 4] for i in range(rows)]), pyarrow.uint64()),
        "half": pyarrow.array(nulls([0.5 * i for i in range(rows)]), pyarrow.float16()),
        "fixed": pyarrow.array(nulls([rnd.randbytes(5) for _ in range(rows)]), pyarrow.binary(5)),
        "uuid": pyarrow.array([i.bytes for i in ids], pyarrow.uuid()),
        "date64": pyarrow.array(nulls([datetime.date(1900 + i % 200, 1 + i % 12, 3) for i in range(rows)]), pyarrow.date64()),
        "time_s": pyarrow.array(nulls([i * 300 for i in range(rows)]), pyarrow.time32("s")),
        "time_ms": pyarrow.array(nulls([i * 3001 for i in range(rows)]), pyarrow.time32("ms")),
        "time_ns": pyarrow.array(nulls([i * 3 * 10**11 + 1 for i in range(rows)]), pyarrow.time64("ns")),
        "ts_s": pyarrow.array(nulls([i * 10**7 - 10**9 for i in range(rows)]), pyarrow.timestamp("s")),
        "ts_ms": pyarrow.array(nulls([i * 10**10 - 10**12 for i in range(rows)]), pyarrow.timestamp("ms", "Asia/Tokyo")),
        "ts_ns": pyarrow.array(nulls([i * 10**16 - 10**18 - 1 for i in range(rows)]), pyarrow.timestamp("ns")),
        "duration": pyarrow.array(nulls([i * 1000 for i in range(rows)]), pyarrow.duration("us")),
        "dec32": pyarrow.array(nulls(small), pyarrow.decimal32(6, 2)),
        "dec64": pyarrow.array(nulls(small), pyarrow.decimal64(12, 2)),
        "dec256": pyarrow.array(nulls([decimal.Decimal(10**50 + i) for i in range(rows)]), pyarrow.decimal256(60, 0)),
        "int_map": pyarrow.array(nulls([[(j, f"v{j}") for j in range(i % 3)] for i in range(rows)]), pyarrow.map_(pyarrow.int32(), pyarrow.string())),
    }
    table = pyarrow.table(arrays)
    table = table.set_column(0, pyarrow.field("k", pyarrow.uint32(), False), table["k"])
    arrow("arrow-pyarrow.arrow", table)
    arrow("arrow-lz4.arrows", table, compression="lz4")
    deltas("arrow-deltas.arrows", table)

    plain = {
        "utf8_view": pyarrow.string(), "binary_view": pyarrow.binary(), "runs": pyarrow.string(),
        "large_list": pyarrow.list_(pyarrow.int32()), "list_view": pyarrow.list_(pyarrow.int32()),
        "large_list_view": pyarrow.list_(pyarrow.int32()),
    }
    for name, kind in plain.items():
        values = pyarrow.array(table[name].to_pylist(), kind)
        table = table.set_column(table.schema.get_field_index(name), name, values)
    pyarrow.parquet.write_table(table, OUT / "arrow-pyarrow.parquet", store_schema=False)


def runs():
    """Run ends, which have a buffer of validity in version 4 of the format."""
    values = [1] * 5 + [None] * 4 + [3] * 3
    ends = pyarrow.RunEndEncodedArray.from_arrays(pyarrow.array([5, 9, 12], pyarrow.int32()), pyarrow.array([1, None, 3], pyarrow.int32()))
    table = pyarrow.table({"k": pyarrow.array(range(12), pyarrow.int32()), "r": ends, "s": [f"x{i}" for i in range(12)]})
    arrow("runs-version4.arrow", table, metadata_version=pyarrow.ipc.MetadataVersion.V4)
    pyarrow.parquet.write_table(table.set_column(1, "r", pyarrow.array(values, pyarrow.int32())), OUT / "runs-pyarrow.parquet")


def deltas(name, table):
    """A stream whose dictionaries grow and are replaced from batch to batch."""
    with pyarrow.OSFile(str(OUT / name), "wb") as out:
        options = pyarrow.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
        with pyarrow.ipc.new_stream(out, table.schema, options=options) as writer:
            seen = []
            for begin in range(0, table.num_rows, 50):
                batch = table.slice(begin, 50)
                column = batch["dict"].combine_chunks()
                words = column.dictionary_decode() if isinstance(column, pyarrow.DictionaryArray) else column.cast(pyarrow.string())
                words = words.to_pylist()
                if begin == 150:
                    seen = []
                seen = seen + [w for w in dict.fromkeys(words) if w is not None and w not in seen]
                indexes = pyarrow.array([None if w is None else seen.index(w) for w in words], pyarrow.int32())
                column = pyarrow.DictionaryArray.from_arrays(indexes, pyarrow.array(seen, pyarrow.string()))
                batch = batch.set_column(batch.schema.get_field_index("dict"), "dict", column)
                for each in batch.to_batches():
                    writer.write_batch(each)


if __name__ == "__main__":
    main()
