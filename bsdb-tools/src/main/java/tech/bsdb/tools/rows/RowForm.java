package tech.bsdb.tools.rows;

import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import tech.bsdb.tools.cli.NearestName;

/**
 * Which columns of a schema's rows are written as JSON, and how. Created once per schema for {@link
 * RowJson}. Immutable and thread-safe.
 */
public final class RowForm {
  /** The maximum number of columns listed in an error. */
  private static final int LISTED = 100;

  private final RowSchema schema;
  private final List<String> columns;
  private final Shape shape;
  private final boolean[] wanted;
  private final boolean safeIntegers;

  private RowForm(
      RowSchema schema, List<String> columns, Shape shape, boolean[] wanted, boolean safeIntegers) {
    this.schema = schema;
    this.columns = columns;
    this.shape = shape;
    this.wanted = wanted;
    this.safeIntegers = safeIntegers;
  }

  /** Returns the form with all columns, and numbers as numbers. */
  public static RowForm of(RowSchema schema) {
    List<String> columns = schema.columns();
    boolean[] wanted = new boolean[columns.size()];
    Arrays.fill(wanted, true);
    return new RowForm(schema, columns, Shape.of(schema.avro()), wanted, false);
  }

  /**
   * Returns this form with only the given columns, in schema order.
   *
   * @throws IllegalArgumentException if there is no such column; the message lists the columns
   */
  public RowForm withColumns(Collection<String> names) {
    Set<String> asked = new LinkedHashSet<>(names);
    Set<String> unknown = new LinkedHashSet<>(asked);
    boolean[] some = new boolean[columns.size()];
    for (int i = 0; i < some.length; i++) {
      some[i] = asked.contains(columns.get(i));
      unknown.remove(columns.get(i));
    }
    if (!unknown.isEmpty()) {
      throw new IllegalArgumentException(unknown(unknown.iterator().next()));
    }
    return new RowForm(schema, columns, shape, some, safeIntegers);
  }

  private String unknown(String name) {
    Optional<String> near = NearestName.to(name, columns);
    String more = columns.size() > LISTED ? " and " + (columns.size() - LISTED) + " more" : "";
    String guess = near.map(meant -> ", did you mean \"" + meant + "\"?").orElse("");
    String listed = String.join(", ", columns.subList(0, Math.min(LISTED, columns.size())));
    return "no column \"" + name + "\"" + guess + "; the columns are " + listed + more;
  }

  /**
   * Returns this form with whole numbers and decimals as strings where a double cannot hold all of
   * their digits, or always as numbers.
   */
  public RowForm withSafeIntegers(boolean safe) {
    return new RowForm(schema, columns, shape, wanted, safe);
  }

  /** Returns the schema. */
  public RowSchema schema() {
    return schema;
  }

  Shape shape() {
    return shape;
  }

  /** Whether the column at an index in the schema is written. */
  boolean wants(int column) {
    return wanted[column];
  }

  boolean safeIntegers() {
    return safeIntegers;
  }
}
