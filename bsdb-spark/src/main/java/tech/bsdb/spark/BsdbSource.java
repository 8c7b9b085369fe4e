package tech.bsdb.spark;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.connector.catalog.MetadataColumn;
import org.apache.spark.sql.connector.catalog.SupportsMetadataColumns;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.sources.BaseRelation;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.sources.RelationProvider;
import org.apache.spark.sql.sources.SchemaRelationProvider;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import tech.bsdb.spark.options.OptionValues;
import tech.bsdb.spark.read.Reading;
import tech.bsdb.spark.write.VersionWriteBuilder;

/**
 * The data source {@code bsdb}.
 *
 * <p>It is one of the first API, too, but only to say that this cannot be used: Spark 3.5 falls
 * back to it for tables of its catalog, as it knows no others there.
 */
public final class BsdbSource
    implements TableProvider, DataSourceRegister, RelationProvider, SchemaRelationProvider {
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
    SparkVersions.requireThis();
    return BsdbTable.stored(options);
  }

  @Override
  public Table getTable(
      StructType schema, Transform[] partitioning, Map<String, String> properties) {
    SparkVersions.requireThis();
    // Those that a catalog has already must load, or they could not even be dropped.
    boolean loaded =
        properties.containsKey("owner") && !(properties instanceof CaseInsensitiveStringMap);
    if (partitioning.length > 0 && !loaded) {
      throw new IllegalArgumentException(
          "bsdb cannot store a table by "
              + Stream.of(partitioning).map(Transform::describe).collect(Collectors.joining(", "))
              + ": leave out partitionBy, bucketBy and clusterBy (PARTITIONED BY, CLUSTERED BY);"
              + " the option shards divides the rows, by their keys");
    }
    return new BsdbTable(schema, new CaseInsensitiveStringMap(properties));
  }

  @Override
  public BaseRelation createRelation(
      SQLContext context, scala.collection.immutable.Map<String, String> parameters) {
    throw new UnsupportedOperationException(
        "Spark "
            + context.sparkSession().version()
            + " cannot use tables that were created with USING bsdb: use CREATE TEMPORARY VIEW"
            + " instead of CREATE TABLE, or Spark 4");
  }

  @Override
  public BaseRelation createRelation(
      SQLContext context,
      scala.collection.immutable.Map<String, String> parameters,
      StructType schema) {
    return createRelation(context, parameters);
  }

  /** A store of versions as a table of Spark. Immutable. */
  private static final class BsdbTable
      implements SupportsRead, SupportsWrite, SupportsMetadataColumns {
    private final StructType schema;
    private final CaseInsensitiveStringMap properties;

    BsdbTable(StructType schema, CaseInsensitiveStringMap properties) {
      this.schema = schema;
      this.properties = properties;
    }

    /** The schema of the rows that a store holds. */
    static StructType stored(CaseInsensitiveStringMap options) {
      return Reading.schema(new OptionValues(options));
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
      return EnumSet.of(
          TableCapability.BATCH_READ,
          TableCapability.BATCH_WRITE, // save() asks for it, although V1_BATCH_WRITE comes first
          TableCapability.V1_BATCH_WRITE,
          TableCapability.TRUNCATE);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return Reading.scan(schema, new OptionValues(OptionValues.merged(properties, options)));
    }

    @Override
    public MetadataColumn[] metadataColumns() {
      return Reading.metadataColumns(schema);
    }

    @Override
    public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
      return new VersionWriteBuilder(properties, info);
    }
  }
}
