package tech.bsdb.lake.arrow;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.RecordBatch;
import org.jspecify.annotations.Nullable;
import tech.bsdb.lake.arrow.ArrowMessages.Place;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.source.SourceFile;
import tech.bsdb.tools.source.SourceInput;
import tech.bsdb.tools.table.FormatFile;
import tech.bsdb.tools.table.TableFile;

/**
 * A file or a stream. Its parts are runs of record batches, of which one at a time is in memory,
 * with the dictionaries that its columns need.
 */
final class ArrowFile extends FormatFile {
  private static final long PART_BYTES = 16 << 20;

  private final List<Place> places;
  private final List<ArrowField> fields = new ArrayList<>();
  private final Map<Long, ArrowField> dictionaries = new HashMap<>();
  private final List<Integer> fieldOfColumn = new ArrayList<>();

  /** The first message of each part, and the number of messages. */
  private final List<Integer> begins = new ArrayList<>();

  private ArrowFile(SourceFile file, ArrowMessages messages, long partBytes) {
    super(file);
    this.places = messages.places();
    ArrowField.Context context =
        new ArrowField.Context(dictionaries, messages.version() == MetadataVersion.V4);
    for (int i = 0; i < messages.schema().fieldsLength(); i++) {
      ArrowField field = ArrowField.of(messages.schema().fields(i), context);
      String reason = field.unreadable();
      if (reason == null) {
        columns.add(field.column());
        fieldOfColumn.add(i);
      } else {
        unreadable.put(field.name(), reason);
      }
      fields.add(field);
    }
    divide(partBytes);
  }

  private void divide(long partBytes) {
    int batches = 0;
    int first = 0;
    long bytes = 0;
    for (int i = 0; i < places.size(); i++) {
      if (bytes == 0 && parts.size() == begins.size()) {
        begins.add(i);
        first = batches;
      }
      bytes += places.get(i).length() + places.get(i).body();
      batches += places.get(i).isDictionary() ? 0 : 1;
      if (bytes >= partBytes || i + 1 == places.size()) {
        parts.add(new Part(parts.size(), "record batches from " + first, bytes));
        bytes = 0;
      }
    }
    begins.add(places.size());
  }

  /**
   * Reads where a file's batches are.
   *
   * @throws InputException if it is not an Arrow file or stream, is damaged, or cannot be read
   */
  static TableFile of(SourceFile file) throws IOException {
    return of(file, PART_BYTES);
  }

  /** Reads where a file's batches are; its parts have at least a number of bytes, but the last. */
  static TableFile of(SourceFile file, long partBytes) throws IOException {
    if (file.length() < 0) {
      throw new InputException(file.name() + ": its length is not known");
    }
    try (SourceInput in = file.open()) {
      return new ArrowFile(file, ArrowMessages.of(file, in), partBytes);
    } catch (InputException named) {
      throw named;
    } catch (IOException | RuntimeException e) {
      throw new InputException(
          file.name() + ": damaged: its schema cannot be read (" + e.getMessage() + ")", e);
    }
  }

  @Override
  public Rows open(Part part, List<Integer> wanted) throws IOException {
    return new BatchRows(part, wanted);
  }

  /** The rows of a part. */
  private final class BatchRows implements Rows {
    private final SourceInput in;
    private final int end;
    private final Set<Integer> wanted = new HashSet<>();
    private final Set<Long> needed = new HashSet<>();
    private final Map<Long, ArrowDictionary> known = new HashMap<>();
    private final @Nullable ArrowVector[] vectors = new @Nullable ArrowVector[fields.size()];
    private int next;
    private long done;
    private int row = -1;
    private int rows;

    BatchRows(Part part, List<Integer> columns) throws IOException {
      this.in = file.open();
      this.next = begins.get(part.index());
      this.end = begins.get(part.index() + 1);
      for (int column : columns) {
        int field = fieldOfColumn.get(column);
        wanted.add(field);
        needed.addAll(fields.get(field).dictionaryIds());
      }
      try {
        for (int i = 0; i < next; i++) {
          loadDictionary(places.get(i));
        }
      } catch (IOException | RuntimeException | Error e) {
        in.close();
        throw e;
      }
    }

    private void loadDictionary(Place place) throws IOException {
      if (!place.isDictionary() || needed.isEmpty()) {
        return;
      }
      DictionaryBatch batch = new DictionaryBatch();
      Message message = message(place);
      if (message.header(batch) == null) {
        throw new IllegalStateException("a dictionary has no header");
      }
      ArrowField values = dictionaries.get(batch.id());
      RecordBatch data = batch.data();
      if (values == null || data == null) {
        throw new IllegalStateException("no column has the dictionary " + batch.id());
      }
      if (!needed.contains(batch.id())) {
        return;
      }
      ArrowVector vector = values.load(new ArrowBody(in, place, message, data, known));
      ArrowDictionary before = known.get(batch.id());
      known.put(
          batch.id(),
          batch.isDelta() && before != null ? before.with(vector) : new ArrowDictionary(vector));
    }

    private Message message(Place place) throws IOException {
      return ArrowMessages.message(in, place.metadata(), place.length());
    }

    @Override
    public boolean next() throws IOException {
      row++;
      while (row >= rows) {
        if (next == end) {
          return false;
        }
        Place place = places.get(next++);
        loadDictionary(place);
        if (!place.isDictionary()) {
          load(place);
          row = 0;
        }
        done += place.length() + place.body();
      }
      return true;
    }

    private void load(Place place) throws IOException {
      RecordBatch batch = new RecordBatch();
      Message message = message(place);
      if (message.header(batch) == null
          || batch.length() < 0
          || batch.length() > Integer.MAX_VALUE) {
        throw new IllegalStateException("a record batch has no valid length");
      }
      rows = (int) batch.length();
      ArrowBody body = new ArrowBody(in, place, message, batch, known);
      for (int i = 0; i < vectors.length; i++) {
        vectors[i] = null; // before the next one takes memory
      }
      for (int i = 0; i < vectors.length; i++) {
        if (wanted.contains(i)) {
          ArrowVector vector = fields.get(i).load(body);
          if (vector.length != rows) {
            throw new IllegalStateException(
                "a record batch has %s rows, but its column %s has %s"
                    .formatted(rows, fields.get(i).name(), vector.length));
          }
          vectors[i] = vector;
        } else {
          fields.get(i).skip(body);
        }
      }
    }

    @Override
    public @Nullable Object value(int column) throws BadValueException {
      ArrowVector vector = vectors[fieldOfColumn.get(column)];
      if (vector == null) {
        throw new IllegalStateException("column " + column + " was not opened");
      }
      return vector.value(row);
    }

    @Override
    public long done() {
      return done;
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
