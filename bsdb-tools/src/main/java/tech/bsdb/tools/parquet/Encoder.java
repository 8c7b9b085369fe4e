package tech.bsdb.tools.parquet;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowBuffer;

/**
 * Encodes the current row's values of the leaves below a column in Avro's binary encoding. The
 * levels of the first leaf tell what is null, empty or repeated, as in Dremel.
 *
 * @see <a href="https://research.google/pubs/pub36632/">Dremel, section 4</a>
 */
abstract class Encoder {
  /** Returns the first leaf below; null if the file lacks the column. */
  abstract @Nullable Leaf lead();

  /** Writes the current value, and advances all leaves past it. */
  abstract void write(RowBuffer out);

  /** Advances all leaves past the single entry that represents a missing ancestor. */
  abstract void skip();

  /** A column with the same value in all rows, which does not come from the file. */
  static final class Same extends Encoder {
    /** A column that the file lacks: null. */
    static final Same NULL = new Same(new byte[1]);

    private final byte[] bytes;

    Same(byte[] bytes) {
      this.bytes = bytes;
    }

    @Override
    @Nullable Leaf lead() {
      return null;
    }

    @Override
    void write(RowBuffer out) {
      out.put(bytes);
    }

    @Override
    void skip() {}
  }

  /** A column of type null: nothing is written. */
  static final class Nothing extends Encoder {
    private final Leaf leaf;

    Nothing(Leaf leaf) {
      this.leaf = leaf;
    }

    @Override
    Leaf lead() {
      return leaf;
    }

    @Override
    void write(RowBuffer out) {
      skip();
    }

    @Override
    void skip() {
      if (leaf.hasValue()) {
        throw new IllegalStateException(
            "column " + leaf.name() + " is of type null, but has values");
      }
      leaf.next();
    }
  }

  /** The encoder of a value that something precedes, replaces or follows. */
  private abstract static class Wrapper extends Encoder {
    final Encoder value;

    Wrapper(Encoder value) {
      this.value = value;
    }

    @Override
    final @Nullable Leaf lead() {
      return value.lead();
    }

    @Override
    final void skip() {
      value.skip();
    }
  }

  /** A map key that is optional in the file but required in a row. */
  static final class MapKey extends Wrapper {
    private final Leaf lead;
    private final int level;
    private final Runnable missing;

    MapKey(Encoder key, Leaf lead, int level, Runnable missing) {
      super(key);
      this.lead = lead;
      this.level = level;
      this.missing = missing;
    }

    @Override
    void write(RowBuffer out) {
      if (lead.definitionLevel() >= level) {
        value.write(out);
      } else {
        missing.run();
        value.skip();
      }
    }
  }

  /** A column that is nullable in the schema but required in the file. */
  static final class Present extends Wrapper {
    Present(Encoder value) {
      super(value);
    }

    @Override
    void write(RowBuffer out) {
      out.putLong(1);
      value.write(out);
    }
  }

  /** A nullable column. */
  static final class Optional extends Wrapper {
    private final Leaf lead;
    private final int level;

    /**
     * Creates the encoder of a nullable column.
     *
     * @param level the lowest definition level at which it is present
     */
    Optional(Encoder value, Leaf lead, int level) {
      super(value);
      this.lead = lead;
      this.level = level;
    }

    @Override
    void write(RowBuffer out) {
      if (lead.definitionLevel() >= level) {
        out.putLong(1);
        value.write(out);
      } else {
        out.putLong(0);
        value.skip();
      }
    }
  }

  /** A sequence of fields. */
  static final class Fields extends Encoder {
    private final Encoder[] fields;
    private final @Nullable Leaf lead;

    Fields(List<Encoder> fields) {
      this.fields = fields.toArray(new Encoder[0]);
      Leaf found = null;
      for (Encoder field : fields) {
        found = found == null ? field.lead() : found;
      }
      this.lead = found;
    }

    @Override
    @Nullable Leaf lead() {
      return lead;
    }

    @Override
    void write(RowBuffer out) {
      for (Encoder field : fields) {
        field.write(out);
      }
    }

    @Override
    void skip() {
      for (Encoder field : fields) {
        field.skip();
      }
    }
  }

  /** A repeated field: the elements of a list or the entries of a map. */
  static final class Repeated extends Wrapper {
    private final Leaf lead;
    private final int repetition;
    private final int definition;

    /**
     * Creates the encoder of a repeated field.
     *
     * @param repetition its repetition level
     * @param definition the lowest definition level at which there is an element
     */
    Repeated(Encoder element, Leaf lead, int repetition, int definition) {
      super(element);
      this.lead = lead;
      this.repetition = repetition;
      this.definition = definition;
    }

    @Override
    void write(RowBuffer out) {
      if (lead.definitionLevel() < definition) {
        out.put(0);
        value.skip();
        return;
      }
      int start = out.length();
      long count = 0;
      do {
        value.write(out);
        count++;
      } while (lead.repetitionLevel() == repetition);
      out.insertLong(start, count);
      out.put(0);
    }
  }
}
