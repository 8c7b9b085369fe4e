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

  /** A column that the file lacks: null. */
  static final class Absent extends Encoder {
    @Override
    @Nullable Leaf lead() {
      return null;
    }

    @Override
    void write(RowBuffer out) {
      out.putLong(0);
    }

    @Override
    void skip() {}
  }

  /** A column with the same value in all rows, which does not come from the file. */
  static final class Same extends Encoder {
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

  /** A map key that is optional in the file but required in a row. */
  static final class MapKey extends Encoder {
    private final Encoder key;
    private final Leaf lead;
    private final int level;
    private final Runnable missing;

    MapKey(Encoder key, Leaf lead, int level, Runnable missing) {
      this.key = key;
      this.lead = lead;
      this.level = level;
      this.missing = missing;
    }

    @Override
    Leaf lead() {
      return lead;
    }

    @Override
    void write(RowBuffer out) {
      if (lead.definitionLevel() >= level) {
        key.write(out);
      } else {
        missing.run();
        key.skip();
      }
    }

    @Override
    void skip() {
      key.skip();
    }
  }

  /** A column that is nullable in the schema but required in the file. */
  static final class Present extends Encoder {
    private final Encoder value;

    Present(Encoder value) {
      this.value = value;
    }

    @Override
    @Nullable Leaf lead() {
      return value.lead();
    }

    @Override
    void write(RowBuffer out) {
      out.putLong(1);
      value.write(out);
    }

    @Override
    void skip() {
      value.skip();
    }
  }

  /** A nullable column. */
  static final class Optional extends Encoder {
    private final Encoder value;
    private final Leaf lead;
    private final int level;

    /**
     * Creates the encoder of a nullable column.
     *
     * @param level the lowest definition level at which it is present
     */
    Optional(Encoder value, Leaf lead, int level) {
      this.value = value;
      this.lead = lead;
      this.level = level;
    }

    @Override
    Leaf lead() {
      return lead;
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

    @Override
    void skip() {
      value.skip();
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
  static final class Repeated extends Encoder {
    private final Encoder element;
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
      this.element = element;
      this.lead = lead;
      this.repetition = repetition;
      this.definition = definition;
    }

    @Override
    Leaf lead() {
      return lead;
    }

    @Override
    void write(RowBuffer out) {
      if (lead.definitionLevel() < definition) {
        out.put(0);
        element.skip();
        return;
      }
      int start = out.length();
      long count = 0;
      do {
        element.write(out);
        count++;
      } while (lead.repetitionLevel() == repetition);
      out.insertLong(start, count);
      out.put(0);
    }

    @Override
    void skip() {
      element.skip();
    }
  }
}
