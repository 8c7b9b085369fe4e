package tech.bsdb.spark;

import java.util.EnumSet;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A store of versions as a table of Spark. Immutable. */
final class BsdbTable implements Table {
  private final StructType schema;
  private final CaseInsensitiveStringMap properties;

  BsdbTable(StructType schema, CaseInsensitiveStringMap properties) {
    this.schema = schema;
    this.properties = properties;
  }

  /** The schema of the rows that a store holds. */
  static StructType stored(CaseInsensitiveStringMap options) {
    throw new UnsupportedOperationException("reading follows");
  }

  @Override
  public String name() {
    return "bsdb " + properties.getOrDefault("path", "");
  }

  @Override
  @SuppressWarnings("deprecation") // columns() calls it
  public StructType schema() {
    return schema;
  }

  @Override
  public Set<TableCapability> capabilities() {
    return EnumSet.noneOf(TableCapability.class);
  }
}
