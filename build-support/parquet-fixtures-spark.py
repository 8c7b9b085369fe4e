#!/usr/bin/env python3
"""Writes the tests' Parquet files with Apache Spark, and next to each file what Spark itself reads back.

    pip install pyspark==4.3.0
    JAVA_HOME=.. build-support/parquet-fixtures-spark.py

For bsdb-tools/src/test/resources/parquet/spark-NAME.parquet there is spark-NAME.jsonl, in the form that
parquet-fixtures.py writes. The files' bytes differ from run to run in Spark's own metadata; the rows do not.
"""

import glob
import importlib.util
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.util.spec_from_file_location("fixtures", os.path.join(HERE, "parquet-fixtures.py"))
fixtures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fixtures)

ROWS = """
  SELECT * FROM VALUES
    ('a', true, -128Y, -32768S, -2147483648, -9223372036854775808L, float('NaN'), double('Infinity'), 1.5BD, cast('99999999999999999999999999.999999999999' AS decimal(38, 12)),
     cast('-12345678.90' AS decimal(10, 2)), DATE '0001-01-01', TIMESTAMP '2024-01-31 12:34:56.789Z', TIMESTAMP_NTZ '1969-12-31 23:59:59.999999', X'AA00FF', 'é😀',
     array(1, NULL, 3), array(array(1), array(), NULL), named_struct('x', 1, 'y', 'one'), array(named_struct('x', 1, 'l', array(1.5D)), NULL), map('a', 1, 'b', NULL),
     map(1, 'x', 2, NULL)),
    ('b', false, 127Y, 32767S, 2147483647, 9223372036854775807L, float(-0.1), double(-0.0), -0.1BD, cast('-0.000000000001' AS decimal(38, 12)), cast('0' AS decimal(10, 2)),
     DATE '9999-12-31', TIMESTAMP '1677-10-01 00:00:00.000001Z', TIMESTAMP_NTZ '1900-01-01 00:00:00', X'', '', array(), array(), named_struct('x', NULL, 'y', NULL), array(), map(), map()),
    ('c', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
  AS t(k, bool, i8, i16, i32, i64, f, d, dec2, dec38, dec10, date, ts, ntz, raw, text, list, lists, struct, structs, map, map_int)
"""
EPOCH = 719163


def of_spark(value, kind):
    name = kind.typeName()
    if value is None:
        return "null"
    if name == "boolean":
        return "true" if value else "false"
    if name in ("byte", "short", "integer", "long"):
        return str(value)
    if name in ("float", "double"):
        return fixtures.floating(value, 32 if name == "float" else 64)
    if name.startswith("decimal"):
        return fixtures.plain(value)
    if name == "date":
        return fixtures.text(fixtures.date(value.toordinal() - EPOCH))
    if name == "binary":
        return fixtures.b64(bytes(value))
    if name == "string":
        return fixtures.text(value)
    if name == "array":
        return "[" + ",".join(of_spark(v, kind.elementType) for v in value) + "]"
    if name == "struct":
        return fixtures.fields([(f.name, of_spark(value[f.name], f.dataType)) for f in kind.fields])
    if name == "map":
        pairs = [(of_spark(k, kind.keyType), of_spark(v, kind.valueType)) for k, v in value.items()]
        if kind.keyType.typeName() == "string":
            return "{" + ",".join(k + ":" + v for k, v in pairs) + "}"
        return "[" + ",".join(fixtures.fields([("key", k), ("value", v)]) for k, v in pairs) + "]"
    raise ValueError("no JSON form for %s" % name)


def rows_of(spark, path):
    from pyspark.sql import functions, types

    frame = spark.read.parquet(path)
    chosen = []
    for field in frame.schema.fields:
        column = frame["`%s`" % field.name]
        if isinstance(field.dataType, types.TimestampType):
            column = functions.unix_micros(column)
        elif isinstance(field.dataType, types.TimestampNTZType):
            # The session's time zone is UTC.
            column = functions.unix_micros(column.cast("timestamp"))
        chosen.append(column.alias(field.name))
    for row in frame.select(chosen).collect():
        shown = []
        for field, value in zip(frame.schema.fields, row):
            stamp = isinstance(field.dataType, (types.TimestampType, types.TimestampNTZType))
            utc = isinstance(field.dataType, types.TimestampType)
            form = "null" if value is None else fixtures.text(fixtures.timestamp(value * 1000, utc)) if stamp else of_spark(value, field.dataType)
            shown.append((field.name, form))
        yield row["k"], fixtures.fields(shown)


def main():
    import pyspark
    from pyspark.sql import SparkSession

    if pyspark.__version__ != "4.3.0":
        sys.exit("needs pyspark 4.3.0, but %s is installed" % pyspark.__version__)
    spark = (SparkSession.builder.master("local[1]").config("spark.sql.session.timeZone", "UTC").config("spark.ui.enabled", "false")
             .config("spark.sql.shuffle.partitions", "1").config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC").getOrCreate())
    work = tempfile.mkdtemp()
    many = """SELECT concat('row', id) AS k, id AS n, if(id % 5 = 0, NULL, concat('text ', id % 9)) AS word, id / 7 AS x, id % 2 = 0 AS even, array(id, id + 1) AS list,
              cast(id / 8 AS decimal(9, 3)) AS dec, date_from_unix_date(cast(id AS int)) AS day, repeat(concat('long ', id), 20) AS long FROM range(0, 120, 1, 1)"""
    files = {
        "types": (ROWS, {}),
        "types-legacy": (ROWS, {"spark.sql.parquet.writeLegacyFormat": "true", "spark.sql.parquet.outputTimestampType": "INT96"}),
        "types-millis": (ROWS, {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS"}),
    }
    for codec in ("none", "snappy", "gzip", "zstd", "lz4", "lz4_raw"):
        files["codec-" + codec.replace("_", "-")] = (many, {"spark.sql.parquet.compression.codec": codec})
    files["pages-2"] = (many, {"parquet.writer.version": "v2", "parquet.page.size": "512", "parquet.page.row.count.limit": "30"})
    # So large that Hadoop's LZ4 framing splits the page into blocks.
    files["lz4-blocks"] = ("SELECT concat('row', id) AS k, repeat(concat('long ', id, ' '), 40000) AS long FROM range(0, 4, 1, 1)", {"spark.sql.parquet.compression.codec": "lz4"})
    files["empty"] = ("SELECT 'a' AS k, 1 AS n WHERE false", {})
    for name, (query, settings) in files.items():
        frame = spark.sql(query).coalesce(1)
        for key, value in settings.items():
            spark.conf.set(key, value)
        writer = frame.write.mode("overwrite")
        for key, value in settings.items():
            if key.startswith("parquet."):
                writer = writer.option(key, value)
        writer.parquet(work + "/" + name)
        for key in settings:
            spark.conf.unset(key)
        (part,) = glob.glob(work + "/" + name + "/part-*.parquet")
        target = fixtures.path("spark-" + name + ".parquet")
        shutil.copy(part, target)
        fixtures.expect("spark-" + name, rows_of(spark, target))
    spark.stop()
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
