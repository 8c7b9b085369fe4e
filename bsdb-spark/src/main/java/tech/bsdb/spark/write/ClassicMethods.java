package tech.bsdb.spark.write;

import java.lang.reflect.InvocationTargetException;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * Methods of sessions that Spark 4 moved to a class of its package {@code classic}, and that are
 * found by name because Spark 3.5 has them without that class.
 */
final class ClassicMethods {
  private ClassicMethods() {}

  /** A session with the same settings, whose settings may then be changed. */
  static SparkSession cloned(SparkSession session) {
    return (SparkSession) call(session, "cloneSession", new Class<?>[0]);
  }

  /** A DataFrame of rows in Spark's own form. */
  @SuppressWarnings("unchecked") // a DataFrame is a Dataset of rows
  static Dataset<Row> dataFrame(SparkSession session, RDD<InternalRow> rows, StructType schema) {
    Class<?>[] types = {RDD.class, StructType.class, boolean.class};
    return (Dataset<Row>) call(session, "internalCreateDataFrame", types, rows, schema, false);
  }

  private static Object call(
      SparkSession session, String method, Class<?>[] types, Object... arguments) {
    try {
      return session.getClass().getMethod(method, types).invoke(session, arguments);
    } catch (NoSuchMethodException | IllegalAccessException e) {
      throw new UnsupportedOperationException(
          "bsdb cannot write with Spark "
              + session.version()
              + ", whose sessions lack "
              + method
              + "; a newer bsdb may",
          e);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof Error failure) {
        throw failure;
      }
      throw e.getCause() instanceof RuntimeException failure
          ? failure
          : new IllegalStateException(method + " failed", e.getCause());
    }
  }
}
