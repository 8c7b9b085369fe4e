package tech.bsdb.tools.parquet;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowBuffer;

/**
 * Turns what the leaves below a column have for the row at hand into Avro's binary encoding. By the
 * levels of its first leaf it sees what is null, empty, or goes on, as Dremel does.
 *
 * @see <a href="https://research.google/pubs/pub36632/">Dremel, section 4</a>
 */
abstract class Encoder {
  /** The first leaf below; null where the file has none of the column. */
  abstract @Nullable Leaf lead();

  /** Writes the value at hand, and moves all leaves behind it. */
  abstract void write(RowBuffer out);

  /** Moves all leaves over the one entry that stands for something missing above. */
  abstract void skip();

  /** A column that the file does not have: null. */
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

  /** A column that has the same in all rows, and not from the file. */
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
      out.putFixed(bytes, 0, bytes.length);
    }

    @Override
    void skip() {}
  }

  /** A column of nulls only, the type of which is null: nothing is written. */
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

  /** A key that may be missing in the file, which it may not be in a row. */
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

  /** A column that may be null in the schema, but not in the file. */
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

  /** A column that may be null. */
  static final class Optional extends Encoder {
    private final Encoder value;
    private final Leaf lead;
    private final int level;

    /**
     * An optional column.
     *
     * @param level the definition level from which on it is there
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

  /** Fields one behind the other. */
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

  /** Anything that is repeated: a list's elements, or a map's entries. */
  static final class Repeated extends Encoder {
    private final Encoder element;
    private final Leaf lead;
    private final int repetition;
    private final int definition;

    /**
     * A repeated field.
     *
     * @param repetition its repetition level
     * @param definition the definition level from which on there is an element
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
        out.putByte(0);
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
      out.putByte(0);
    }

    @Override
    void skip() {
      element.skip();
    }
  }
}
