package tech.bsdb.spark.write;

import java.io.IOException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.SupportsTruncate;
import org.apache.spark.sql.connector.write.V1Write;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.sources.InsertableRelation;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import tech.bsdb.spark.options.OptionValues;
import tech.bsdb.spark.options.OptionWording;

/**
 * Prepares the write of a whole new version. Spark hands over all rows at once (a "V1" write of the
 * second API), because the shuffle by Redis Cluster's slots is none that the API can ask for.
 */
public final class VersionWriteBuilder implements SupportsTruncate {
  private final OptionValues options;
  private boolean truncated;

  /**
   * Prepares a write.
   *
   * @param properties those of the table, over which the options of the write take precedence
   */
  public VersionWriteBuilder(CaseInsensitiveStringMap properties, LogicalWriteInfo info) {
    this.options = new OptionValues(OptionValues.merged(properties, info.options()));
  }

  @Override
  public WriteBuilder truncate() {
    truncated = true;
    return this;
  }

  @Override
  public Write build() {
    WriteSettings settings = WriteSettings.of(options);
    boolean onlyFirst = !truncated;
    return new V1Write() {
      @Override
      public InsertableRelation toInsertableRelation() {
        return (data, overwrite) -> insert(data, settings, onlyFirst);
      }

      @Override
      public String description() {
        return "bsdb " + settings.path();
      }
    };
  }

  private void insert(Dataset<Row> data, WriteSettings settings, boolean onlyFirst) {
    SparkSession session = data.sparkSession();
    try {
      new SetWrite(session, settings, options.hadoop(session)).run(data, onlyFirst);
    } catch (IOException e) {
      throw new WriteFailedException(
          OptionWording.of(e) + "; the store's current version is unchanged", e);
    }
  }
}
