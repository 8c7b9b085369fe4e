package tech.bsdb.spark.read;

import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.catalog.MetadataColumn;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import tech.bsdb.spark.options.OptionValues;
import tech.bsdb.spark.read.StoredTable.ReadOptions;

/** Reads tables, as the active session of this thread is configured. */
public final class Reading {
  private Reading() {}

  /**
   * The columns of what a location holds.
   *
   * @throws IllegalArgumentException if an option is wrong, or the location has no database
   * @throws java.io.UncheckedIOException if it cannot be read
   */
  public static StructType schema(OptionValues options) {
    return StoredTable.find(ReadOptions.of(options), options.hadoop(SparkSession.active()))
        .schema();
  }

  /**
   * Plans to read what a location holds now.
   *
   * @param declared the columns of the table
   */
  public static ScanBuilder scan(StructType declared, OptionValues options) {
    SparkSession session = SparkSession.active();
    Configuration configuration = options.hadoop(session);
    return new TableScanBuilder(
        StoredTable.find(ReadOptions.of(options), configuration),
        declared,
        configuration,
        Math.max(1, session.sessionState().conf().filesMaxPartitionBytes()));
  }

  /** The bytes of keys, where the rows have no column of this name. */
  public static MetadataColumn[] metadataColumns(StructType declared) {
    if (Arrays.asList(declared.fieldNames()).contains(KeyColumns.RAW)) {
      return new MetadataColumn[0];
    }
    return new MetadataColumn[] {
      new ReadOnly(KeyColumns.RAW, DataTypes.BinaryType, false, "the bytes of the key")
    };
  }

  private record ReadOnly(String name, DataType dataType, boolean isNullable, String comment)
      implements MetadataColumn {}
}
