package tech.bsdb.lake.orc;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TimeZone;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.orc.CompressionKind;
import org.apache.orc.EncryptionVariant;
import org.apache.orc.FileFormatException;
import org.apache.orc.OrcFile;
import org.apache.orc.OrcProto;
import org.apache.orc.StripeInformation;
import org.apache.orc.TypeDescription;
import org.apache.orc.impl.ReaderImpl;
import org.apache.orc.storage.ql.exec.vector.VectorizedRowBatch;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.source.SourceFile;
import tech.bsdb.tools.table.FormatFile;
import tech.bsdb.tools.table.TableFile;

/** An ORC file. Its parts are stripes. */
final class OrcTable extends FormatFile {
  /** The columns of files of transactional tables of Hive. */
  private static final List<String> ACID =
      List.of("operation", "originalTransaction", "bucket", "rowId", "currentTransaction", "row");

  private static final Set<String> ZONES = Set.of(TimeZone.getAvailableIDs());

  private static final int MIN_LENGTH = 3;
  private static final int BATCH_ROWS = 1024;

  private final ReaderImpl reader;
  private final List<Integer> fieldOfColumn = new ArrayList<>();
  private final List<OrcValue> values = new ArrayList<>();

  private OrcTable(SourceFile file, ReaderImpl reader, boolean nanos) {
    super(file);
    this.reader = reader;
    Set<Integer> encrypted = new HashSet<>();
    for (EncryptionVariant variant : reader.getEncryptionVariants()) {
      for (int id = variant.getRoot().getId(); id <= variant.getRoot().getMaximumId(); id++) {
        encrypted.add(id);
      }
    }
    List<TypeDescription> types = reader.getSchema().getChildren();
    for (int i = 0; i < types.size(); i++) {
      TypeDescription type = types.get(i);
      String name = reader.getSchema().getFieldNames().get(i);
      OrcValue value = OrcValue.of(type, nanos);
      String reason = value.unreadable();
      for (int id = type.getId(); id <= type.getMaximumId(); id++) {
        reason = encrypted.contains(id) ? "encrypted data" : reason;
      }
      if (reason == null) {
        columns.add(new Column(name, value.type(), true));
        fieldOfColumn.add(i);
        values.add(value);
      } else {
        unreadable.put(name, reason);
      }
    }
    for (StripeInformation stripe : reader.getStripes()) {
      parts.add(new Part(parts.size(), "stripe " + parts.size(), stripe.getLength()));
    }
  }

  /**
   * Reads a file's footer.
   *
   * @param nanos whether timestamps have nanoseconds, and not microseconds
   * @throws InputException if it is not an ORC file, is damaged, or is one that cannot be read
   */
  static TableFile of(SourceFile file, boolean nanos) throws IOException {
    if (file.length() < MIN_LENGTH) {
      throw new InputException(
          file.name() + ": not an ORC file: it has " + file.length() + " bytes");
    }
    try {
      ReaderImpl reader = reader(file, true);
      if (!hasJulianDates(reader)) {
        reader = reader(file, false);
      }
      check(file, reader);
      return new OrcTable(file, reader, nanos);
    } catch (InputException named) {
      throw named;
    } catch (FileFormatException e) {
      throw new InputException(
          file.name() + ": not an ORC file, or a truncated one: it does not end with ORC", e);
    } catch (IOException | RuntimeException | OutOfMemoryError e) { // from a damaged length
      throw new InputException(
          file.name() + ": damaged: its footer cannot be read (" + words(e) + ")", e);
    }
  }

  /**
   * Opens a file.
   *
   * @param converts whether dates and timestamps that are not said to be of the Gregorian calendar
   *     are converted to it from the Julian one, if they are before 1582
   */
  private static ReaderImpl reader(SourceFile file, boolean converts) throws IOException {
    ReaderImpl reader =
        new ReaderImpl(
            OneFileSystem.PATH,
            OrcFile.readerOptions(new Configuration(/* loadDefaults= */ false))
                .filesystem(new OneFileSystem(file))
                .maxLength(file.length())
                .convertToProlepticGregorian(converts));
    FSDataInputStream kept = reader.takeFile(); // for the first rows
    if (kept != null) {
      kept.close();
    }
    return reader;
  }

  /**
   * Whether what is before 1582 may be in the Julian calendar. Of writers that do not say, only
   * Apache's in Java used it; those in other languages, and of Trino, always used the Gregorian
   * one.
   */
  private static boolean hasJulianDates(ReaderImpl reader) {
    OrcProto.Footer footer = reader.getFileTail().getFooter();
    return footer.getCalendar() != OrcProto.CalendarKind.UNKNOWN_CALENDAR
        || footer.getWriter() == 0;
  }

  private static void check(SourceFile file, ReaderImpl reader) throws InputException {
    TypeDescription schema = reader.getSchema();
    if (schema.getCategory() != TypeDescription.Category.STRUCT) {
      throw new InputException(
          "%s: its rows are of type %s, not structs".formatted(file.name(), schema.getCategory()));
    }
    if (schema.getFieldNames().equals(ACID)) {
      throw new InputException(
          file.name()
              + ": is a file of a transactional (ACID) table of Hive, whose rows are changes to merge;"
              + " write the table's current rows to a plain directory with Hive, and build from that");
    }
    if (reader.getCompressionKind() == CompressionKind.BROTLI) {
      throw new InputException(file.name() + ": is compressed with Brotli, which is not supported");
    }
  }

  @Override
  public Rows open(Part part, List<Integer> wanted) throws IOException {
    StripeInformation stripe = reader.getStripes().get(part.index());
    TypeDescription schema = reader.getSchema();
    boolean[] include = new boolean[schema.getMaximumId() + 1];
    include[0] = true;
    String timestamps = null;
    for (int column : wanted) {
      TypeDescription type = schema.getChildren().get(fieldOfColumn.get(column));
      timestamps = hasTimestamps(type) ? columns.get(column).name() : timestamps;
      for (int id = type.getId(); id <= type.getMaximumId(); id++) {
        include[id] = true;
      }
    }
    try {
      OrcStripe rows = new OrcStripe(reader, new OneFileSystem(file), stripe, include);
      try {
        if (timestamps != null) {
          checkZone(part, timestamps, rows.zone());
        }
        return new StripeRows(stripe, rows);
      } catch (IOException | RuntimeException | Error e) {
        rows.close();
        throw e;
      }
    } catch (IOException e) {
      throw damaged(e);
    }
  }

  private static boolean hasTimestamps(TypeDescription type) {
    List<TypeDescription> below = type.getChildren();
    return type.getCategory() == TypeDescription.Category.TIMESTAMP
        || below != null && below.stream().anyMatch(OrcTable::hasTimestamps);
  }

  /** Checks that local times can be told: the library would take those of this machine. */
  private void checkZone(Part part, String column, String zone) throws InputException {
    if (!ZONES.contains(zone) && !zone.matches("GMT[+-][0-9:]+")) {
      throw new InputException(
          ("%s: %s: column %s has timestamps in the time zone of their writer, %s (to leave it out:"
                  + " --value-fields)")
              .formatted(
                  name(),
                  part.place(),
                  column,
                  zone.isEmpty()
                      ? "which the file does not name"
                      : zone + ", which is not known here"));
    }
  }

  /** Returns the exception for one of the library's, whose own are not failures to read. */
  private static RuntimeException damaged(IOException thrown) throws InputException {
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (cause instanceof InputException named) {
        throw named;
      }
    }
    return new IllegalStateException(words(thrown), thrown);
  }

  /** Returns the first line of the deepest message, without the name that the library knows. */
  private static String words(Throwable thrown) {
    String words = "its content is invalid";
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      String message = cause.getMessage();
      words = message == null ? words : message.lines().findFirst().orElse(words);
    }
    return words.replace(OneFileSystem.PATH.toString(), "the file");
  }

  /** The rows of a stripe. */
  private final class StripeRows implements Rows {
    private final StripeInformation stripe;
    private final OrcStripe rows;
    private final VectorizedRowBatch batch;
    private int row = -1;

    StripeRows(StripeInformation stripe, OrcStripe rows) {
      this.stripe = stripe;
      this.rows = rows;
      this.batch = reader.getSchema().createRowBatch(BATCH_ROWS);
    }

    @Override
    public boolean next() throws IOException {
      row++;
      if (row < batch.size) {
        return true;
      }
      row = 0;
      try {
        return rows.next(batch);
      } catch (IOException e) {
        throw damaged(e);
      }
    }

    @Override
    public @Nullable Object value(int column) throws BadValueException {
      return values.get(column).value(batch.cols[fieldOfColumn.get(column)], row);
    }

    @Override
    public long done() {
      return (long)
          ((double) rows.read() / Math.max(1, stripe.getNumberOfRows()) * stripe.getLength());
    }

    @Override
    public void close() throws IOException {
      rows.close();
    }
  }
}
