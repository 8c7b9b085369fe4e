package tech.bsdb.spark.write;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.SupportsTruncate;
import org.apache.spark.sql.connector.write.V1Write;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.sources.InsertableRelation;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Prepares the write of a whole new version. Spark hands over all rows at once (a "V1" write of the
 * second API), because the shuffle by Redis Cluster's slots is none that the API can ask for.
 */
public final class VersionWriteBuilder implements SupportsTruncate {
  /** The names of the options of writing. */
  public static final List<String> OPTIONS = WriteSettings.OPTIONS;

  private final CaseInsensitiveStringMap options;
  private boolean truncated;

  /**
   * Prepares a write.
   *
   * @param properties those of the table, over which the options of the write take precedence
   */
  public VersionWriteBuilder(CaseInsensitiveStringMap properties, LogicalWriteInfo info) {
    Map<String, String> both = new HashMap<>(properties.asCaseSensitiveMap());
    both.keySet().removeIf(info.options()::containsKey);
    both.putAll(info.options().asCaseSensitiveMap());
    this.options = new CaseInsensitiveStringMap(both);
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
    SparkSession session = (SparkSession) data.sparkSession();
    Configuration hadoop = session.sessionState().newHadoopConf();
    options
        .asCaseSensitiveMap()
        .forEach(
            (name, value) -> {
              if (name.contains(".")) {
                hadoop.set(name, value, "options");
              }
            });
    try {
      new SetWrite(session, settings, hadoop).run(data, onlyFirst);
    } catch (IOException e) {
      throw new WriteFailedException(String.valueOf(e.getMessage()), e);
    }
  }
}
