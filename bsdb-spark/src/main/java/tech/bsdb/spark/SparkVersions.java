package tech.bsdb.spark;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The versions of Spark that the connector works with. */
final class SparkVersions {
  private static final Pattern NUMBERS = Pattern.compile("([0-9]{1,9})\\.([0-9]{1,9})\\b.*");
  private static final int LEAST_MAJOR = 3;
  private static final int LEAST_MINOR = 5;

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
    Matcher numbers = NUMBERS.matcher(version);
    if (numbers.matches()) {
      int major = Integer.parseInt(numbers.group(1));
      int minor = Integer.parseInt(numbers.group(2));
      if (major < LEAST_MAJOR || (major == LEAST_MAJOR && minor < LEAST_MINOR)) {
        throw new UnsupportedOperationException(
            "bsdb needs Spark 3.5 or 4.0 to 4.3; this is Spark " + version);
      }
    }
  }
}
