import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Writes a version of a store on S3 with Spark, and reads it back (build-support/test_s3.py): {@code
 * java -cp .. SparkS3.java STORE VERSION ENDPOINT DIRECTORY}
 */
class SparkS3 {
  public static void main(String[] args) {
    int version = Integer.parseInt(args[1]);
    SparkSession spark =
        SparkSession.builder()
            .master("local[2]")
            .config("spark.ui.enabled", false)
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", 4)
            .config("spark.hadoop.fs.s3a.endpoint", args[2])
            .config("spark.hadoop.fs.s3a.path.style.access", true)
            .config("spark.hadoop.fs.s3a.endpoint.region", "us-east-1")
            .config("spark.local.dir", args[3] + "/local")
            .config("spark.sql.warehouse.dir", args[3] + "/warehouse")
            .getOrCreate();
    Dataset<Row> rows =
        spark
            .range(0, 20_000, 1, 3)
            .selectExpr(
                "concat('u', id) AS id",
                "id * 31 + " + version + " AS number",
                "sha2(cast(id AS string), 512) AS text");
    rows.write()
        .format("bsdb")
        .option("key", "id")
        .option("shards", 3)
        .option("version", "v" + version)
        .option("keep", 1)
        .mode("overwrite")
        .save(args[0]);
    Dataset<Row> stored = spark.read().format("bsdb").option("key", "id").load(args[0]);
    System.out.println("rows " + total(stored).equals(total(rows)));
    System.out.println("number " + stored.where("id = 'u4711'").first().getLong(1));
    spark.stop();
  }

  private static Row total(Dataset<Row> rows) {
    return rows.selectExpr("count(*)", "sum(cast(xxhash64(*) AS decimal(38, 0)))").first();
  }
}
