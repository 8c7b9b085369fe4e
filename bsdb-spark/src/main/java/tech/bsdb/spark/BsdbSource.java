package tech.bsdb.spark;

import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The data source {@code bsdb}. */
public final class BsdbSource implements TableProvider, DataSourceRegister {
  /** Called by Spark. */
  public BsdbSource() {}

  @Override
  public String shortName() {
    return "bsdb";
  }

  /** A schema is given for what is written. */
  @Override
  public boolean supportsExternalMetadata() {
    return true;
  }

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return BsdbTable.stored(options);
  }

  @Override
  public Table getTable(
      StructType schema, Transform[] partitioning, Map<String, String> properties) {
    return new BsdbTable(schema, new CaseInsensitiveStringMap(properties));
  }
}
