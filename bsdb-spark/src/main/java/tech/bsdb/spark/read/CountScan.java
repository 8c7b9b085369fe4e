package tech.bsdb.spark.read;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Answers {@code COUNT(*)} with the number in the manifest. */
final class CountScan implements LocalScan {
  /** The column of counts. */
  static final StructType SCHEMA = new StructType().add("count(*)", DataTypes.LongType, false);

  private final StoredTable table;

  CountScan(StoredTable table) {
    this.table = table;
  }

  @Override
  public StructType readSchema() {
    return SCHEMA;
  }

  @Override
  public String description() {
    return "bsdb " + table.describe() + ", count of the manifest";
  }

  @Override
  public InternalRow[] rows() {
    return new InternalRow[] {new GenericInternalRow(new Object[] {table.records()})};
  }
}
