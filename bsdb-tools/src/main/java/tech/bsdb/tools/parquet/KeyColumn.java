package tech.bsdb.tools.parquet;

import org.apache.parquet.column.ColumnReader;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntLogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.KeyText;
import tech.bsdb.tools.rows.RowBuffer;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.table.KeyPart;
import tech.bsdb.tools.table.RowProblem;

/**
 * A column used as a key or part of one: text and binary as their bytes, everything else in its
 * JSON form (docs/guides/parquet.md) without quotes. It reads the current value without advancing.
 */
final class KeyColumn implements KeyPart {

  /** Writes the current value as a key. */
  @FunctionalInterface
  private interface Writer {
    void write(ColumnReader from, RowBuffer out);
  }

  private final Leaf leaf;
  private final boolean advances;
  private final Writer writer;

  /**
   * Creates a key column.
   *
   * @param type the column's type in its own file, so that a row's key depends on nothing else; or,
   *     where types are widened, in all files
   * @param advances whether nothing else reads the leaf, so that {@link #next} must advance it
   */
  KeyColumn(Leaf leaf, Scalar type, boolean advances, RowProblem problem) {
    this(
        leaf,
        advances,
        switch (type.kind()) {
          case STRING, BYTES, FIXED -> (from, out) -> out.put(from.getBinary().toByteBuffer());
          case INT, LONG -> digits(leaf);
          default -> new AsJson(ScalarEncoder.writer(leaf, type, problem), type, problem)::write;
        });
  }

  private KeyColumn(Leaf leaf, boolean advances, Writer writer) {
    this.leaf = leaf;
    this.advances = advances;
    this.writer = writer;
  }

  /** Creates a column that a condition is about, which writes its values in Avro's encoding. */
  static KeyColumn encoded(Leaf leaf, Scalar type, boolean advances, RowProblem problem) {
    Scalar compared = type.kind() == Kind.STRING ? Scalar.of(Kind.BYTES) : type; // valid or not
    return new KeyColumn(leaf, advances, ScalarEncoder.writer(leaf, compared, problem)::write);
  }

  private static Writer digits(Leaf leaf) {
    if (leaf.descriptor().getPrimitiveType().getPrimitiveTypeName() == PrimitiveTypeName.INT64) {
      return (from, out) -> out.putNumber(from.getLong());
    }
    boolean unsigned =
        leaf.descriptor().getPrimitiveType().getLogicalTypeAnnotation()
                instanceof IntLogicalTypeAnnotation number
            && !number.isSigned();
    return unsigned
        ? (from, out) -> out.putNumber(Integer.toUnsignedLong(from.getInteger()))
        : (from, out) -> out.putNumber(from.getInteger());
  }

  @Override
  public String name() {
    return leaf.name();
  }

  @Override
  public boolean write(RowBuffer out) {
    if (!leaf.hasValue()) {
      return false;
    }
    writer.write(leaf.reader(), out);
    return true;
  }

  @Override
  public void next() {
    if (advances) {
      leaf.nextRow(); // a condition may not have read the value
    }
  }

  private static final class AsJson {
    private final RowProblem problem;
    private final ScalarEncoder.Writer encoder;
    private final KeyText form;
    private final RowBuffer row = new RowBuffer();

    AsJson(ScalarEncoder.Writer encoder, Scalar type, RowProblem problem) {
      this.problem = problem;
      this.encoder = encoder;
      this.form = new KeyText(type);
    }

    void write(ColumnReader from, RowBuffer out) {
      row.reset();
      encoder.write(from, row);
      try {
        form.write(row, out);
      } catch (BadRowException e) { // for a value that the encoder has already noted as a problem
        problem.note("a key that has no text", e.getMessage());
      }
    }
  }
}
