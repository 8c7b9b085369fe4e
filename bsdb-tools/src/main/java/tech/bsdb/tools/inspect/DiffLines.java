package tech.bsdb.tools.inspect;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DiffListener;
import tech.bsdb.tools.cli.Progress;
import tech.bsdb.tools.text.JsonBuffer;

/**
 * Writes the records by which two databases differ, one per line: as text, a mark, the key and the
 * values; or as JSON objects. Not thread-safe.
 */
final class DiffLines implements DiffListener {
  private static final byte[] END = "}\n".getBytes(US_ASCII);

  private final OutputStream out;
  private final Progress progress;
  private final Manner manner;
  private final JsonBuffer line = new JsonBuffer();
  private long left;

  /**
   * How to write records.
   *
   * @param separator the bytes between key and values
   * @param values whether values are written
   * @param before writes those of the first database as JSON; null for text
   * @param after writes those of the second database as JSON; null for text
   */
  record Manner(
      RecordForm form,
      byte[] separator,
      boolean values,
      @Nullable RecordJson before,
      @Nullable RecordJson after) {}

  /** Creates a writer of at most {@code most} records. */
  DiffLines(OutputStream out, Progress progress, Manner manner, long most) {
    this.out = out;
    this.progress = progress;
    this.manner = manner;
    this.left = most;
  }

  @Override
  public boolean differs(
      Difference difference, byte[] key, byte @Nullable [] before, byte @Nullable [] after)
      throws IOException {
    if (manner.before == null || manner.after == null) {
      writeText(difference, key, before, after);
    } else {
      writeJson(difference, key, before, manner.before, after, manner.after);
    }
    left--;
    return left > 0;
  }

  @Override
  public void progress(long doneRecords, long totalRecords) {
    progress.update("diff", doneRecords, totalRecords);
  }

  private void writeText(
      Difference difference, byte[] key, byte @Nullable [] before, byte @Nullable [] after)
      throws IOException {
    out.write(
        switch (difference) {
          case ADDED -> '+';
          case REMOVED -> '-';
          case CHANGED -> '~';
        });
    out.write(' ');
    out.write(manner.form.keyBytes(key));
    if (before != null) {
      out.write(manner.separator);
      out.write(manner.form.valueBytes(before));
    }
    if (after != null) {
      out.write(manner.separator);
      out.write(manner.form.valueBytes(after));
    }
    out.write('\n');
  }

  private void writeJson(
      Difference difference,
      byte[] key,
      byte @Nullable [] before,
      RecordJson first,
      byte @Nullable [] after,
      RecordJson second)
      throws IOException {
    line.reset();
    String kind = difference.name().toLowerCase(Locale.ROOT);
    line.put(("{\"change\":\"" + kind + "\",\"key\":").getBytes(US_ASCII));
    first.putKey(key, line);
    if (manner.values) {
      line.put(",\"before\":".getBytes(US_ASCII));
      first.putValue(key, before, line);
      line.put(",\"after\":".getBytes(US_ASCII));
      second.putValue(key, after, line);
    }
    line.put(END);
    out.write(line.bytes(), 0, line.length());
  }
}
