package tech.bsdb.spark.read;

import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.connector.expressions.aggregate.AggregateFunc;
import org.apache.spark.sql.connector.expressions.aggregate.Aggregation;
import org.apache.spark.sql.connector.expressions.aggregate.CountStar;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.SupportsPushDownAggregates;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.connector.read.SupportsPushDownV2Filters;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;
import tech.bsdb.spark.read.RecordRows.RowPlan;
import tech.bsdb.spark.read.TableScan.CountScan;

/** Plans how a query reads a table. */
final class TableScanBuilder
    implements SupportsPushDownV2Filters,
        SupportsPushDownRequiredColumns,
        SupportsPushDownAggregates {
  private final StoredTable table;
  private final StructType declared;
  private final Configuration configuration;
  private final long splitBytes;
  private final KeyColumns keyColumns;
  private final KeyFilters filters;
  private StructType columns;
  private @Nullable RangeFilters range;
  private boolean filtered;
  private boolean counts;

  /**
   * Creates a plan of all columns and records.
   *
   * @param declared the columns of the table, as queries know them
   * @param splitBytes the size of files that a task scans, roughly
   */
  TableScanBuilder(
      StoredTable table, StructType declared, Configuration configuration, long splitBytes) {
    table.requireColumns(declared);
    this.table = table;
    this.declared = declared;
    this.configuration = configuration;
    this.splitBytes = splitBytes;
    this.keyColumns = new KeyColumns(table, declared);
    this.filters = new KeyFilters(keyColumns);
    this.columns = declared;
  }

  /**
   * Uses those that tell keys, all of which Spark evaluates again, or else those that tell a range
   * of keys, of which it evaluates what the range does not answer.
   */
  @Override
  public Predicate[] pushPredicates(Predicate[] predicates) {
    for (Predicate predicate : predicates) {
      filters.offer(predicate);
    }
    if (table.ordered() && filters.keys() == null) {
      range = RangeFilters.of(keyColumns, filters, predicates);
    }
    Predicate[] left = range == null ? predicates : range.unanswered();
    filtered = left.length > 0;
    return left;
  }

  @Override
  public Predicate[] pushedPredicates() {
    return range == null ? filters.used() : range.used();
  }

  @Override
  public void pruneColumns(StructType required) {
    columns =
        new StructType(
            Arrays.stream(required.fields()).map(this::whole).toArray(StructField[]::new));
  }

  /** A column with all its fields, of which the query may need only some. */
  private StructField whole(StructField required) {
    return Arrays.stream(declared.fields())
        .filter(field -> field.name().equals(required.name()))
        .findFirst()
        .orElse(required); // a metadata column
  }

  @Override
  public boolean supportCompletePushDown(Aggregation aggregation) {
    return range == null && isCount(aggregation);
  }

  @Override
  public boolean pushAggregation(Aggregation aggregation) {
    counts = isCount(aggregation);
    return counts;
  }

  private boolean isCount(Aggregation aggregation) {
    AggregateFunc[] functions = aggregation.aggregateExpressions();
    return !filtered
        && aggregation.groupByExpressions().length == 0
        && functions.length == 1
        && functions[0] instanceof CountStar;
  }

  @Override
  public Scan build() {
    if (counts && range == null) {
      return new CountScan(table);
    }
    @Nullable List<byte[]> keys = filters.keys();
    boolean relies = range == null ? keys != null && !table.approximate() : range.reliesOnOption();
    RowPlan plan =
        new RowPlan(
            table.rows(),
            columns,
            relies ? keyColumns.joined() : List.of(),
            table.options().keyJoin(),
            declared);
    TableScan scan = new TableScan(table, plan, keys, range, configuration, splitBytes);
    return counts && range != null ? scan.counted(range) : scan;
  }
}
