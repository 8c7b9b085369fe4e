package tech.bsdb.tools.rows;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.text.JsonBuffer;
import tech.bsdb.tools.text.NoRoomException;

/**
 * Shows the columns of a row one by one, as bytes; a null column has none. Once its arrays have
 * grown, it allocates only where {@link RowJson} does. Not thread-safe.
 *
 * <p>Strings, bytes and fixed values are their own bytes, which are not copied. Numbers, booleans,
 * symbols, dates, times, durations and UUIDs are their JSON form without quotes, but numbers that
 * are not finite are {@code nan}, {@code inf} and {@code -inf}. Lists, maps and records are JSON.
 *
 * <p>Any bytes that are not a row of the schema cause a {@link BadRowException}. Columns that are
 * not wanted are skipped, but must still be well-formed.
 */
public final class RowFields {
  private static final byte[] NAN = "nan".getBytes(US_ASCII);
  private static final byte[] INFINITY = "inf".getBytes(US_ASCII);
  private static final byte[] MINUS_INFINITY = "-inf".getBytes(US_ASCII);
  private static final byte[] NOTHING = {};

  /** Offsets of columns that have no bytes. */
  private static final int NULL = -1;

  private static final int UNREAD = -2;

  private final List<byte[]> names;

  /** A hash table of the columns' numbers plus one, which is at most half full. */
  private final int[] slots;

  private final int longestName;
  private final Shape[] shapes;
  private final RowCursor cursor = new RowCursor();
  private final RowJson json;
  private final JsonBuffer text = new JsonBuffer();
  private final BitSet all = new BitSet();

  // The columns of the row: where each begins and ends, and whether that is in the row or the text.
  private final int[] offsets;
  private final int[] lengths;
  private final boolean[] inRow;
  private byte[] row = NOTHING;
  private boolean isRead;
  private int present;

  /** Creates a reader of rows of a schema. */
  public RowFields(RowSchema schema) {
    RowForm form = RowForm.of(schema);
    json = new RowJson(form, cursor);
    shapes = form.shape().parts;
    names = schema.columns().stream().map(name -> name.getBytes(UTF_8)).toList();
    longestName = names.stream().mapToInt(name -> name.length).max().orElse(0);
    slots = new int[Integer.highestOneBit(names.size() + 1) * 4];
    for (int i = 0; i < shapes.length; i++) {
      byte[] name = names.get(i);
      int slot = slot(name, 0, name.length);
      slots[slot] = slots[slot] == 0 ? i + 1 : slots[slot];
    }
    all.set(0, shapes.length);
    offsets = new int[shapes.length];
    lengths = new int[shapes.length];
    inRow = new boolean[shapes.length];
  }

  /**
   * Sets a budget to consult before text takes more memory; null for none.
   *
   * @param budget as in {@link JsonBuffer#use}
   */
  public void use(@Nullable LongPredicate budget) {
    text.use(budget);
  }

  /** Returns the names of the columns in UTF-8, in schema order; they must not be changed. */
  public List<byte[]> names() {
    return names;
  }

  /** Returns the number of the column with a name, or -1 if there is none. */
  public int find(byte[] name) {
    return find(name, 0, name.length);
  }

  /**
   * Returns the number of the column with a name, or -1 if there is none. The time taken does not
   * depend on the number of columns.
   *
   * @param bytes contains the name, in UTF-8, in {@code from} to {@code from + length - 1}
   */
  public int find(byte[] bytes, int from, int length) {
    return length > longestName ? -1 : slots[slot(bytes, from, length)] - 1;
  }

  /** Returns the slot of a name: the one that holds it, or else the empty one that it would get. */
  private int slot(byte[] bytes, int from, int length) {
    int hash = 0;
    for (int i = from; i < from + length; i++) {
      hash = 31 * hash + bytes[i];
    }
    int slot = (hash ^ hash >>> 16) & slots.length - 1;
    while (slots[slot] != 0) {
      byte[] name = names.get(slots[slot] - 1);
      if (Arrays.equals(name, 0, name.length, bytes, from, from + length)) {
        return slot;
      }
      slot = slot + 1 & slots.length - 1;
    }
    return slot;
  }

  /**
   * Reads all columns of a row.
   *
   * @see #read(byte[], int, int, BitSet)
   */
  public void readAll(byte[] bytes, int from, int length) throws BadRowException {
    read(bytes, from, length, all);
  }

  /**
   * Reads some columns of a row, and which of all columns are null.
   *
   * @param bytes contains the row in {@code from} to {@code from + length - 1}; it must not change
   *     while the columns are in use
   * @param wanted the numbers of the columns whose bytes are wanted
   * @throws BadRowException if the bytes are not a row of the schema; no row is read then
   * @throws NoRoomException if the budget refuses the memory for text; no row is read then
   */
  public void read(byte[] bytes, int from, int length, BitSet wanted) throws BadRowException {
    reset();
    cursor.begin(bytes, from, length);
    try {
      cursor.enter();
      for (int i = 0; i < shapes.length; i++) {
        readColumn(i, wanted.get(i));
      }
      cursor.leave();
      cursor.finish();
      row = bytes;
      isRead = true;
    } finally {
      cursor.release();
      if (!isRead) {
        reset();
      }
    }
  }

  private void readColumn(int column, boolean wanted) throws BadRowException {
    Shape shape = shapes[column];
    if (shape.kind == Shape.Kind.UNION) {
      shape = cursor.readBranch(shape);
    } else if (shape.kind == Shape.Kind.NULL) {
      cursor.countEmpty();
    }
    if (shape.kind == Shape.Kind.NULL) {
      offsets[column] = NULL;
      return;
    }
    present++;
    if (wanted) {
      readValue(column, shape);
    } else {
      cursor.skip(shape);
      offsets[column] = UNREAD;
    }
  }

  private void readValue(int column, Shape shape) throws BadRowException {
    switch (shape.kind) {
      case STRING, BYTES -> {
        int length = cursor.readLength();
        put(column, cursor.take(length), length, true);
      }
      case FIXED -> put(column, cursor.takeFixed(shape), shape.size, true);
      case RECORD, ARRAY, MAP -> {
        int start = text.length();
        json.write(shape, text);
        put(column, start, text.length() - start, false);
      }
      default -> readText(column, shape);
    }
  }

  private void readText(int column, Shape shape) throws BadRowException {
    int start = text.length();
    json.write(shape, text);
    int quote = text.bytes()[start] == '"' ? 1 : 0;
    if (quote == 1 && (shape.kind == Shape.Kind.FLOAT || shape.kind == Shape.Kind.DOUBLE)) {
      byte first = text.bytes()[start + 1];
      text.truncate(start);
      text.put(first == 'N' ? NAN : first == '-' ? MINUS_INFINITY : INFINITY);
      quote = 0;
    }
    put(column, start + quote, text.length() - start - 2 * quote, false);
  }

  private void put(int column, int offset, int length, boolean isInRow) {
    offsets[column] = offset;
    lengths[column] = length;
    inRow[column] = isInRow;
  }

  /** Returns how many columns of the row are not null. */
  public int present() {
    checkRead();
    return present;
  }

  /** Whether a column of the row is null, be it wanted or not. */
  public boolean isNull(int column) {
    checkRead();
    return offsets[column] == NULL;
  }

  /**
   * Returns the array that contains a column, which may be that of the row. It is valid until the
   * next row is read, and must not be changed.
   *
   * @throws IllegalStateException if the column was not wanted or is null
   */
  public byte[] buffer(int column) {
    offset(column);
    return inRow[column] ? row : text.bytes();
  }

  /**
   * Returns where in its array a column begins.
   *
   * @throws IllegalStateException if the column was not wanted or is null
   */
  public int offset(int column) {
    checkRead();
    int offset = offsets[column];
    if (offset < 0) {
      throw new IllegalStateException(
          "column " + column + (offset == NULL ? " is null" : " was not wanted"));
    }
    return offset;
  }

  /**
   * Returns the length of a column in bytes.
   *
   * @throws IllegalStateException if the column was not wanted or is null
   */
  public int length(int column) {
    offset(column);
    return lengths[column];
  }

  private void checkRead() {
    if (!isRead) {
      throw new IllegalStateException("no row is read");
    }
  }

  /** Forgets the row, and gives back the memory for text if it is more than 1 MiB. */
  public void reset() {
    isRead = false;
    present = 0;
    row = NOTHING;
    text.reset();
  }
}
