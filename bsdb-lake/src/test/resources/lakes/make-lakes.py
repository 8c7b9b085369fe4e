"""Makes lakes.zip.zst for the tests of bsdb-lake: tables of Delta Lake and Iceberg, and the rows that Spark reads from them.

    pip install pyspark==4.0.1
    python make-lakes.py lakes.zip.zst --jars delta-spark_2.13-4.0.1.jar,delta-storage-4.0.1.jar,antlr4-runtime-4.13.1.jar,iceberg-spark-runtime-4.0_2.13-1.11.0.jar

Also needs the command zstd. Of each table the archive has a directory, NAME/, and its rows as JSON lines, NAME.jsonl. Iceberg's
metadata has absolute paths: those of the fixtures begin with viewfs://lakes/t/, which a test mounts where it unpacks them.
"""

import argparse
import datetime
import glob
import json
import os
import shutil
import subprocess
import tempfile
import zipfile

from pyspark.sql import SparkSession
from pyspark.sql.functions import map_entries

parser = argparse.ArgumentParser()
parser.add_argument("output")
parser.add_argument("--jars", required=True)
parser.add_argument("--only", default="")
arguments = parser.parse_args()
work = tempfile.mkdtemp(prefix="lakes")
lake = work + "/lake"
os.makedirs(lake)
expected = work + "/expected"
os.makedirs(expected)

spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.jars", arguments.jars)
    .config("spark.driver.extraClassPath", arguments.jars.replace(",", ":"))
    .config(
        "spark.sql.extensions",
        "io.delta.sql.DeltaSparkSessionExtension,org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    )
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.sql.catalog.ice", "org.apache.iceberg.spark.SparkCatalog")
    .config("spark.sql.catalog.ice.type", "hadoop")
    .config("spark.sql.catalog.ice.warehouse", "viewfs://lakes/t")
    .config("spark.sql.catalog.ice.cache-enabled", "false")
    .config("spark.hadoop.fs.viewfs.mounttable.lakes.link./t", "file://" + lake)
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.sql.warehouse.dir", work + "/warehouse")
    .config("spark.sql.catalogImplementation", "in-memory")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.parquet.compression.codec", "zstd")
    .config("spark.databricks.delta.checkpoint.partSize", "1000")
    .config("spark.databricks.delta.snapshotPartitions", "1")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
sql = spark.sql


def rows(name, frame, key="id"):
    """Writes the rows of a query as JSON lines, sorted by key."""
    if isinstance(frame, str):
        frame = sql(frame)
    if "mi" in frame.columns:  # maps whose keys are not strings are lists of entries
        frame = frame.withColumn("mi", map_entries("mi"))
    frame.createOrReplaceTempView("expected")
    lines = sql(
        "select to_json(struct(*), map('ignoreNullFields', 'false', 'timestampFormat', \"yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'\","
        " 'timestampNTZFormat', \"yyyy-MM-dd'T'HH:mm:ss.SSSSSS\")) as line from expected order by `%s`" % key
    ).collect()
    with open(f"{expected}/{name}.jsonl", "w") as out:
        out.writelines(line.line + "\n" for line in lines)


def pack():
    """Packs everything without checksums. What is compressed as a whole takes a tenth of the space."""
    with zipfile.ZipFile(work + "/lakes.zip", "w", zipfile.ZIP_STORED) as out:
        for root in (lake, expected):
            for file in sorted(glob.glob(root + "/**", recursive=True, include_hidden=True)):
                if os.path.isfile(file) and not file.endswith(".crc"):
                    out.write(file, os.path.relpath(file, root))
    subprocess.run(["zstd", "-q", "-19", "-f", work + "/lakes.zip", "-o", arguments.output], check=True)


tables = []


def table(function):
    tables.append(function)
    return function


# ---- Delta Lake -----------------------------------------------------------------------------------------------------


def delta(name, columns, properties="", rest=""):
    sql(f"create table delta.`{lake}/{name}` ({columns}) using delta {rest}" + (f" tblproperties ({properties})" if properties else ""))
    return f"delta.`{lake}/{name}`"


ALL_TYPES = """
  select cast(id as int) as id, cast(id % 2 = 0 as boolean) as b, cast(id as byte) as i8, cast(-id as short) as i16,
    cast(id * 1000000007 as long) as i64, cast(id / 3 as float) as f32, cast(id / 7 as double) as f64,
    cast(id * 1.25 as decimal(9, 2)) as d9, cast(-id * 12345678.5 as decimal(18, 4)) as d18,
    cast(concat(id, '12345678901234567890.123') as decimal(38, 10)) as d38, date_add(date'1582-10-04', cast(id * 20000 as int)) as day,
    timestamp_micros(id * 1234567890123 - 3000000000000000) as ts, cast(timestamp_micros(id * 987654321987 - 5000000) as timestamp_ntz) as ntz,
    if(id = 2, null, concat('Größe ', id, ' \\u0001"')) as s, cast(concat('b', id) as binary) as bin,
    if(id = 3, null, array(id, null, -id)) as a, map('k', id, 'n', null) as m, map(cast(id as int), named_struct('x', 'v' || id)) as mi,
    named_struct('p', id, 'q', array(named_struct('r', cast(id as double), 'z', if(id = 1, null, 'z')))) as st
  from range(1, 6)"""


@table
def delta_types():
    sql(ALL_TYPES).write.format("delta").save(lake + "/delta_types")
    rows("delta_types", f"select * from delta.`{lake}/delta_types`")


@table
def delta_vectors():
    t = delta("delta_vectors", "id bigint, name string, v double", "delta.enableDeletionVectors = true, delta.enableInCommitTimestamps = true")
    sql(f"insert into {t} select id, concat('n', id), id / 4 from range(0, 60, 1, 1)")
    sql(f"insert into {t} select id, concat('n', id), id / 4 from range(60, 100, 1, 1)")
    sql(f"delete from {t} where id % 7 = 3")
    sql(f"update {t} set name = 'changed' where id % 10 = 1")
    sql(f"delete from {t} where id >= 90")
    for version in range(2, 6):
        rows(f"delta_vectors-{version}", f"select * from {t} version as of {version}")
    rows("delta_vectors", f"select * from {t}")
    history = sql(f"describe history {t}").collect()
    with open(f"{expected}/delta_vectors.times", "w") as out:
        for commit in sorted(history, key=lambda commit: commit.version):
            out.write(f"{commit.version} {commit.timestamp.astimezone(datetime.timezone.utc).isoformat()}\n")


def mapped_columns(name, mode):
    t = delta(name, "id bigint, old string, gone int, st struct<a: int, b: string>, day date", f"delta.columnMapping.mode = '{mode}'", "partitioned by (day)")
    sql(f"insert into {t} select id, concat('o', id), id, named_struct('a', id, 'b', 'b'), date'2024-01-01' from range(0, 5)")
    sql(f"alter table {t} rename column old to new")
    sql(f"alter table {t} rename column day to `the day`")
    sql(f"alter table {t} drop column gone")
    sql(f"alter table {t} rename column st.a to c")
    sql(f"alter table {t} add columns (gone string, old double)")
    sql(f"insert into {t} (id, new, st, `the day`, gone, old) select id, concat('n', id), named_struct('c', id, 'b', null), date'2024-01-02', 'g', id / 2 from range(5, 9)")
    rows(name, f"select * from {t}")


@table
def delta_names():
    mapped_columns("delta_names", "name")


@table
def delta_ids():
    mapped_columns("delta_ids", "id")


@table
def delta_partitions():
    t = delta(
        "delta_partitions",
        "id int, p string, d date, n int, ts timestamp, dec decimal(9, 2), b boolean, l bigint, f double",
        rest="partitioned by (p, d, n, ts, dec, b, l, f)",
    )
    sql(f"""insert into {t} values
      (1, null, null, null, null, null, null, null, null),
      (2, '', date'2024-02-29', -1, timestamp'2024-02-29 12:34:56.789012', -1.50, true, 9007199254740993, 0.1),
      (3, 'a b/c=d%20&?', date'1969-12-31', 0, timestamp'1969-12-31 23:59:59.5', 0.00, false, -1, double('NaN')),
      (4, 'Größe:"日本"', date'9999-12-31', 2147483647, timestamp'2024-02-29 00:00:00', 9999999.99, true, 0, double('-Infinity')),
      (5, 'null', date'0001-01-01', 7, timestamp'2024-02-29 12:34:56', 1.00, false, 5, 1e300)""")
    rows("delta_partitions", f"select * from {t}")


def checkpoints(name, properties, clean):
    t = delta(name, "id bigint, name string", properties)
    for start in range(0, 35, 5):
        sql(f"insert into {t} select id, concat('n', id) from range({start}, {start + 5}, 1, 1)")
    sql(f"delete from {t} where id in (0, 1, 2, 3, 4)")
    rows(name, f"select * from {t}")
    log = f"{lake}/{name}/_delta_log"
    newest = max(int(os.path.basename(file)[:20]) for file in glob.glob(log + "/*.checkpoint*"))
    for version in range(0, newest if clean else 0):  # as the clean-up of logs does
        for file in glob.glob(f"{log}/{version:020}*"):
            os.remove(file)


@table
def delta_classic():
    checkpoints("delta_classic", "delta.checkpointInterval = 3", True)


@table
def delta_v2():
    checkpoints("delta_v2", "delta.checkpointInterval = 3, delta.checkpointPolicy = 'v2'", True)


@table
def delta_parts():
    spark.conf.set("spark.databricks.delta.checkpoint.partSize", "3")
    checkpoints("delta_parts", "delta.checkpointInterval = 6", False)
    spark.conf.set("spark.databricks.delta.checkpoint.partSize", "1000")


@table
def delta_wider():
    t = delta("delta_wider", "id int, i8 byte, i32 int, f float, d decimal(6, 2), i2d int, i2dec short, day date, a array<int>, p int", "delta.enableTypeWidening = true, delta.feature.timestampNtz = 'supported'", "partitioned by (p)")
    sql(f"insert into {t} values (1, 127Y, 2147483647, float(0.1), 1234.56, 7, 8S, date'1950-01-02', array(1, 2), 3)")
    for column, type in [("i8", "short"), ("i8", "int"), ("i32", "bigint"), ("f", "double"), ("d", "decimal(10, 4)"), ("i2d", "double"), ("i2dec", "decimal(12, 2)"), ("day", "timestamp_ntz"), ("a.element", "bigint"), ("p", "bigint")]:
        sql(f"alter table {t} change column {column} type {type}")
    sql(f"insert into {t} values (2, 70000, 9007199254740993, 0.1, 123456.7891, 0.5, 1234567890.25, timestamp_ntz'2024-01-02 03:04:05.678', array(9007199254740993L), 9007199254740993)")
    rows("delta_wider", f"select * from {t}")


@table
def delta_variant():
    t = delta("delta_variant", "id int, v variant, s string, st struct<v: variant, n: int>")
    sql(f"""insert into {t} select 1, parse_json('{{"a": [1, 2.5, null]}}'), 's', named_struct('v', parse_json('1'), 'n', 5)""")
    rows("delta_variant", f"select id, s from {t}")


@table
def delta_evolved():
    t = f"delta.`{lake}/delta_evolved`"
    sql("select id, named_struct('a', id) as st from range(0, 3, 1, 1)").write.format("delta").save(lake + "/delta_evolved")
    sql("select id, 'late' as added, named_struct('a', id, 'b', array('x', null)) as st from range(3, 6, 1, 1)").write.format("delta").mode("append").option("mergeSchema", "true").save(lake + "/delta_evolved")
    rows("delta_evolved", f"select * from {t}")


@table
def delta_feed():
    t = delta("delta_feed", "id bigint, name string", "delta.enableChangeDataFeed = true, delta.enableRowTracking = true", "cluster by (id)")
    sql(f"insert into {t} select id, concat('n', id) from range(0, 20, 1, 1)")
    sql(f"update {t} set name = 'changed' where id < 4")
    sql(f"delete from {t} where id > 15")
    sql(f"optimize {t}")
    sql(f"alter table {t} add constraint positive check (id >= 0)")
    rows("delta_feed", f"select * from {t}")


@table
def delta_legacy():
    # Days as Spark 2 counted them, in the Julian calendar.
    spark.conf.set("spark.sql.parquet.datetimeRebaseModeInWrite", "LEGACY")
    sql("select 1 as id, date'1500-01-01' as d, 'x' as s").coalesce(1).write.format("delta").save(lake + "/delta_legacy")
    spark.conf.unset("spark.sql.parquet.datetimeRebaseModeInWrite")


# ---- Iceberg --------------------------------------------------------------------------------------------------------


def iceberg(name, columns, properties="", partitions="", version=2):
    sql(
        f"create table ice.{name} ({columns}) using iceberg"
        + (f" partitioned by ({partitions})" if partitions else "")
        + f" tblproperties ('format-version' = '{version}', 'write.parquet.compression-codec' = 'zstd', 'write.metadata.delete-after-commit.enabled' = 'false'"
        + (", " + properties if properties else "")
        + ")"
    )
    return f"ice.{name}"


def java_table(name):
    """Returns Iceberg's own table, for what Spark has no statement for."""
    return spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, "ice." + name)


def J(name):
    result = spark._jvm
    for part in name.split("."):
        result = getattr(result, part)
    return result


MERGE = "'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read'"


@table
def iceberg_types():
    columns = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in sql(ALL_TYPES.replace("byte)", "int)").replace("short)", "int)")).schema)
    t = iceberg("iceberg_types", columns)
    select = ALL_TYPES.replace("as byte)", "as int)").replace("as short)", "as int)")
    sql(f"insert into {t} " + select + " where id < 3")
    sql(f"alter table {t} set tblproperties ('write.format.default' = 'avro')")
    sql(f"insert into {t} " + select + " where id = 3")
    sql(f"alter table {t} set tblproperties ('write.format.default' = 'orc')")
    sql(f"insert into {t} " + select + " where id > 3")
    rows("iceberg_types", f"select * from {t}")


def iceberg_changes(name, version):
    t = iceberg(name, "id bigint, name string, v double", MERGE, version=version)
    sql(f"insert into {t} select id, concat('n', id), id / 4 from range(0, 60, 1, 1)")
    sql(f"insert into {t} select id, concat('n', id), id / 4 from range(60, 100, 1, 1)")
    sql(f"alter table {t} create tag before_delete")
    sql(f"delete from {t} where id % 7 = 3")
    sql(f"alter table {t} create branch audit")
    sql(f"insert into {t}.branch_audit values (1000, 'only in the branch', 0.0)")
    sql(f"update {t} set name = 'changed' where id % 10 = 1")
    sql(f"delete from {t} where id >= 90 and id < 95")
    rows(name, f"select * from {t}")
    rows(name + "-tag", f"select * from {t} version as of 'before_delete'")
    rows(name + "-branch", f"select * from {t} version as of 'audit'")
    snapshots = sql(f"select snapshot_id, committed_at from {t}.snapshots order by committed_at").collect()
    with open(f"{expected}/{name}.times", "w") as out:
        for number, snapshot in enumerate(snapshots):
            out.write(f"{snapshot.snapshot_id} {snapshot.committed_at.astimezone(datetime.timezone.utc).isoformat()}\n")
            rows(f"{name}-{number}", f"select * from {t} version as of {snapshot.snapshot_id}")


@table
def iceberg_positions():
    iceberg_changes("iceberg_positions", 2)


@table
def iceberg_vectors():
    iceberg_changes("iceberg_vectors", 3)


@table
def iceberg_v1():
    t = iceberg("iceberg_v1", "id int, name string, v float", version=1, properties="'write.metadata.compression-codec' = 'gzip'")
    sql(f"insert into {t} values (1, 'a', 0.5), (2, 'b', null), (3, 'c', 1.5)")
    sql(f"delete from {t} where id = 2")
    sql(f"alter table {t} add column later string")
    sql(f"insert into {t} values (4, 'd', 2.5, 'x')")
    rows("iceberg_v1", f"select * from {t}")


def equality_delete(name, ids, schema, records, partition=None, spec=None):
    """Commits a file of equality deletes, which Spark does not write but Flink does."""
    t = java_table(name)
    appenders = J("org.apache.iceberg.data.GenericAppenderFactory")
    gateway = spark.sparkContext._gateway
    array = gateway.new_array(spark._jvm.int, len(ids))
    for place, id in enumerate(ids):
        array[place] = id
    use = t.spec() if spec is None else t.specs().get(spec)
    factory = appenders(t.schema(), use, array, schema, None)
    output = J("org.apache.iceberg.encryption.EncryptedFiles").encryptedOutput(
        t.io().newOutputFile(t.locationProvider().newDataLocation(f"equality-{t.currentSnapshot().snapshotId()}.parquet")), J("org.apache.iceberg.encryption.EncryptionKeyMetadata").EMPTY
    )
    writer = factory.newEqDeleteWriter(output, J("org.apache.iceberg.FileFormat").PARQUET, partition)
    for record in records:
        r = J("org.apache.iceberg.data.GenericRecord").create(schema)
        for column, value in record.items():
            r.setField(column, value)
        writer.write(r)
    writer.close()
    t.newRowDelta().addDeletes(writer.toDeleteFile()).commit()


def long(value):
    return spark._jvm.java.lang.Long.valueOf(str(value))


@table
def iceberg_equality():
    t = iceberg("iceberg_equality", "id int, name string, region string")
    sql(f"insert into {t} select cast(id as int), concat('n', id % 4), if(id % 5 = 0, null, 'r') from range(0, 20, 1, 1)")
    schema = java_table("iceberg_equality").schema()
    strings = spark.sparkContext._gateway.new_array(spark._jvm.java.lang.String, 1)
    strings[0] = "id"
    by_id = schema.select(strings)
    equality_delete("iceberg_equality", [1], by_id, [{"id": 3}, {"id": 4}])
    sql(f"insert into {t} values (3, 'again', 'r')")  # newer than the delete: stays
    both = spark.sparkContext._gateway.new_array(spark._jvm.java.lang.String, 2)
    both[0], both[1] = "name", "region"
    equality_delete("iceberg_equality", [2, 3], schema.select(both), [{"name": "n1", "region": "r"}, {"name": "n0", "region": None}])
    sql(f"alter table {t} rename column region to area")
    sql(f"insert into {t} values (100, 'n1', 'r')")
    rows("iceberg_equality", f"select * from {t}")


@table
def iceberg_evolved():
    t = iceberg("iceberg_evolved", "id int, old string, gone int, f float, d decimal(9, 2), st struct<a: int, b: string>, l array<struct<x: int>>, m map<string, struct<y: int>>")
    sql(f"insert into {t} select cast(id as int), concat('o', id), 7, id / 3, id + 0.25, named_struct('a', id, 'b', 'b'), array(named_struct('x', id)), map('k', named_struct('y', id)) from range(0, 4, 1, 1)")
    for change in [
        "rename column old to new", "drop column gone", "alter column id type bigint", "alter column f type double", "alter column d type decimal(18, 2)",
        "rename column st.a to c", "alter column st.c type bigint", "add column st.e double", "drop column st.b", "add column l.element.z string", "rename column l.element.x to w",
        "add column m.value.q int", "add column gone string", "add column old double first", "alter column f after id",
    ]:
        sql(f"alter table {t} {change}")
    sql(f"insert into {t} (old, id, f, new, d, st, l, m, gone) select id / 2, id + 9007199254740990, 0.1, concat('n', id), 1234567890123456.78, named_struct('c', id + 3000000000, 'e', 0.5), array(named_struct('w', 1, 'z', 'z')), map('k', named_struct('y', 1, 'q', 2)), 'g' from range(4, 8, 1, 1)")
    rows("iceberg_evolved", f"select * from {t}")


@table
def iceberg_specs():
    t = iceberg("iceberg_specs", "id bigint, name string, ts timestamp, day date, p string, n int", partitions="bucket(4, id)")
    values = "select id, concat('name', id), timestamp_micros(id * 100000000000), date_add(date'2024-01-01', cast(id as int)), {p}, cast(id as int) from range({a}, {b}, 1, 1)"
    sql(f"insert into {t} " + values.format(p="'a'", a=0, b=6))
    sql(f"alter table {t} add partition field p")
    sql(f"insert into {t} " + values.format(p="case id when 6 then null when 7 then '' when 8 then 'a b/c=d%20&?' else 'Größe:\"日本\"' end", a=6, b=10))
    sql(f"alter table {t} drop partition field bucket(4, id)")
    sql(f"alter table {t} replace partition field p with truncate(2, name)")
    sql(f"alter table {t} add partition field hours(ts)")
    sql(f"alter table {t} add partition field day")
    sql(f"insert into {t} " + values.format(p="'z'", a=10, b=13))
    sql(f"delete from {t} where id in (1, 11)")
    rows("iceberg_specs", f"select * from {t}")


@table
def iceberg_imported():
    # Files without field ids, whose partition columns are in their paths alone: name mapping.
    sql("select id, concat('n', id) as name, named_struct('a', id) as st, array(id) as l, if(id = 3, null, concat('p ', id % 2)) as p from range(0, 6, 1, 1)").write.partitionBy("p").parquet(lake + "/iceberg_imported/files")
    t = iceberg("iceberg_imported", "id bigint, name string, st struct<a: bigint>, l array<bigint>, p string", partitions="p")
    sql(f"call ice.system.add_files(table => 'iceberg_imported', source_table => '`parquet`.`viewfs://lakes/t/iceberg_imported/files`')")
    sql(f"alter table {t} rename column name to renamed")
    sql(f"alter table {t} add column extra int")
    sql(f"insert into {t} values (10, 'new', named_struct('a', 1L), array(2L), 'p 1', 5)")
    rows("iceberg_imported", f"select * from {t}")


@table
def iceberg_defaults():
    t = iceberg("iceberg_defaults", "id int, st struct<a: int>", version=3)
    sql(f"insert into {t} values (1, named_struct('a', 1)), (2, null)")
    literals = J("org.apache.iceberg.expressions.Expressions")
    types = J("org.apache.iceberg.types.Types")
    get = lambda name: getattr(types, name).get()
    table = java_table("iceberg_defaults")
    update = table.updateSchema()
    update = update.addColumn("s", get("StringType"), None, literals.lit("none"))
    update = update.addColumn("n", get("LongType"), None, literals.lit(long(42)))
    update = update.addRequiredColumn("r", get("DoubleType"), None, literals.lit(0.5))
    update = update.addColumn("day", get("DateType"), None, literals.lit("2024-02-29").to(get("DateType")))
    update.commit()
    sql(f"insert into {t} (id, st, s, n, r, day) values (3, named_struct('a', 3), 'set', 1, 1.5, null)")
    rows("iceberg_defaults", f"select * from {t}")


def java_records(name, fields, records, formats, version=3):
    """Makes a table of types that Spark cannot write with Iceberg's own writers."""
    types = J("org.apache.iceberg.types.Types")
    parsed = J("org.apache.iceberg.SchemaParser").fromJson(json.dumps({"type": "struct", "schema-id": 0, "fields": fields}))
    tables = J("org.apache.iceberg.hadoop.HadoopTables")(spark._jsc.hadoopConfiguration())
    properties = spark._jvm.java.util.HashMap()
    properties.put("format-version", str(version))
    t = tables.create(parsed, J("org.apache.iceberg.PartitionSpec").unpartitioned(), properties, f"viewfs://lakes/t/{name}")
    for number, format in enumerate(formats):
        file_format = J("org.apache.iceberg.FileFormat").fromString(format)
        factory = J("org.apache.iceberg.data.GenericAppenderFactory")(t.schema())
        output = t.io().newOutputFile(t.locationProvider().newDataLocation(f"{number}.{format}"))
        encrypted = J("org.apache.iceberg.encryption.EncryptedFiles").encryptedOutput(output, J("org.apache.iceberg.encryption.EncryptionKeyMetadata").EMPTY)
        writer = factory.newDataWriter(encrypted, file_format, None)
        for record in records(number):
            r = J("org.apache.iceberg.data.GenericRecord").create(t.schema())
            for column, value in record.items():
                r.setField(column, value)
            writer.write(r)
        writer.close()
        t.newAppend().appendFile(writer.toDataFile()).commit()


def jbytes(value):
    return spark._jvm.java.nio.ByteBuffer.wrap(bytearray(value)).array()


def write_expected(name, lines):
    with open(f"{expected}/{name}.jsonl", "w") as out:
        out.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


@table
def iceberg_rare():
    # Expected rows are those given to the writer: Spark has no such types.
    time = J("java.time.LocalTime")
    ldt, odt = J("java.time.LocalDateTime"), J("java.time.OffsetDateTime")
    uuid = J("java.util.UUID")
    fields = [
        {"id": 1, "name": "id", "required": True, "type": "int"},
        {"id": 2, "name": "u", "required": False, "type": "uuid"},
        {"id": 3, "name": "fx", "required": False, "type": "fixed[3]"},
        {"id": 4, "name": "t", "required": False, "type": "time"},
    ]
    records = lambda n: [
        {"id": 2 * n, "u": uuid.fromString("00112233-4455-6677-8899-aabbccddee%02x" % n), "fx": jbytes(b"ab" + bytes([65 + n])), "t": time.parse("23:59:59.999999")},
        {"id": 2 * n + 1},
    ]
    java_records("iceberg_rare", fields, records, ["parquet", "avro", "orc"], version=2)
    lines = []
    import base64

    for n in range(3):
        lines.append({"id": 2 * n, "u": "00112233-4455-6677-8899-aabbccddee%02x" % n, "fx": base64.b64encode(b"ab" + bytes([65 + n])).decode(), "t": "23:59:59.999999"})
        lines.append({"id": 2 * n + 1, "u": None, "fx": None, "t": None})
    write_expected("iceberg_rare", lines)


@table
def iceberg_nanos():
    ldt, odt = J("java.time.LocalDateTime"), J("java.time.OffsetDateTime")
    fields = [
        {"id": 1, "name": "id", "required": True, "type": "int"},
        {"id": 2, "name": "ns", "required": False, "type": "timestamp_ns"},
        {"id": 3, "name": "tz", "required": False, "type": "timestamptz_ns"},
        {"id": 4, "name": "nothing", "required": False, "type": "unknown"},
    ]
    records = lambda n: [{"id": n, "ns": ldt.parse("1950-01-02T03:04:05.123456789"), "tz": odt.parse("2024-01-02T03:04:05.123456789+01:00")}]
    java_records("iceberg_nanos", fields, records, ["parquet", "avro", "orc"])
    write_expected("iceberg_nanos", [{"id": n, "ns": "1950-01-02T03:04:05.123456789", "tz": "2024-01-02T02:04:05.123456789Z", "nothing": None} for n in range(3)])


@table
def iceberg_variant():
    fields = [
        {"id": 1, "name": "id", "required": True, "type": "int"},
        {"id": 2, "name": "v", "required": False, "type": "variant"},
        {"id": 3, "name": "s", "required": False, "type": "string"},
    ]
    java_records("iceberg_variant", fields, lambda n: [{"id": 1, "s": "x"}], ["parquet"])
    types = J("org.apache.iceberg.types.Types")
    table = J("org.apache.iceberg.hadoop.HadoopTables")(spark._jsc.hadoopConfiguration()).load("viewfs://lakes/t/iceberg_variant")
    table.updateSchema().addColumn("g", types.GeometryType.crs84()).commit()
    write_expected("iceberg_variant", [{"id": 1, "s": "x"}])


for function in tables:
    if not arguments.only or function.__name__ in arguments.only.split(","):
        print(function.__name__, flush=True)
        function()
pack()
spark.stop()
shutil.rmtree(work)
