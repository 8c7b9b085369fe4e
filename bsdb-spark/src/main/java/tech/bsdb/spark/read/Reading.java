package tech.bsdb.spark.read;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.MetadataColumn;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.jdk.javaapi.CollectionConverters;

/** Reads tables, as the active session of this thread is configured. */
public final class Reading {
  /** The names of the options of reading. */
  public static final List<String> OPTIONS = ReadOptions.NAMES;

  private Reading() {}

  /**
   * The columns of what a location holds.
   *
   * @param options the options of the table
   * @param others names of options that are not those of reading and yet allowed
   * @throws IllegalArgumentException if an option is wrong, or the location has no database
   * @throws java.io.UncheckedIOException if it cannot be read
   */
  public static StructType schema(CaseInsensitiveStringMap options, Collection<String> others) {
    return StoredTable.find(ReadOptions.of(options, others), configuration(options)).schema();
  }

  /**
   * Plans to read what a location holds now.
   *
   * @param declared the columns of the table
   * @param properties the options of the table
   * @param options the options of the query, which override those
   * @param others names of options that are not those of reading and yet allowed
   */
  public static ScanBuilder scan(
      StructType declared,
      CaseInsensitiveStringMap properties,
      CaseInsensitiveStringMap options,
      Collection<String> others) {
    Map<String, String> all = new HashMap<>();
    properties.forEach(all::put);
    options.forEach(all::put);
    CaseInsensitiveStringMap merged = new CaseInsensitiveStringMap(all);
    Configuration configuration = configuration(merged);
    return new TableScanBuilder(
        StoredTable.find(ReadOptions.of(merged, others), configuration),
        declared,
        configuration,
        Math.max(1, SparkSession.active().sessionState().conf().filesMaxPartitionBytes()));
  }

  /** The bytes of keys, where the rows have no column of this name. */
  public static MetadataColumn[] metadataColumns(StructType declared) {
    if (Arrays.asList(declared.fieldNames()).contains(KeyColumns.RAW)) {
      return new MetadataColumn[0];
    }
    return new MetadataColumn[] {
      new MetadataColumn() {
        @Override
        public String name() {
          return KeyColumns.RAW;
        }

        @Override
        public DataType dataType() {
          return DataTypes.BinaryType;
        }

        @Override
        public boolean isNullable() {
          return false;
        }

        @Override
        public String comment() {
          return "the bytes of the key";
        }
      }
    };
  }

  /** The settings of Hadoop, of the session and of the options. */
  private static Configuration configuration(CaseInsensitiveStringMap options) {
    return SparkSession.active()
        .sessionState()
        .newHadoopConfWithOptions(
            scala.collection.immutable.Map$.MODULE$.from(
                CollectionConverters.asScala(options.asCaseSensitiveMap())));
  }
}
