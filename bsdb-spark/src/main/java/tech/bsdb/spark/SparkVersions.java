package tech.bsdb.spark;

/** The versions of Spark that the connector works with. */
final class SparkVersions {
  private static final int LEAST = 4;

  private SparkVersions() {}

  /**
   * Fails in a Spark that lacks classes that this was compiled with. Not to be called while Spark
   * looks for a data source: it would not find the others either.
   */
  static void requireThis() {
    require(org.apache.spark.package$.MODULE$.SPARK_VERSION());
  }

  /**
   * Fails if a version is too old; those that are not known yet are tried.
   *
   * @throws UnsupportedOperationException if it is
   */
  static void require(String version) {
    String major = version.split("\\.", 2)[0];
    if (major.matches("[0-9]{1,9}") && Integer.parseInt(major) < LEAST) {
      throw new UnsupportedOperationException(
          "bsdb needs Spark 4.0 to 4.3 with Scala 2.13; this is Spark " + version);
    }
  }
}
