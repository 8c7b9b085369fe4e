package tech.bsdb.mirror;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tech.bsdb.remote.RangeOrigin;
import tech.bsdb.transfer.Origin;

/**
 * An origin for one reading of one file, which ends once nothing has arrived for a deadline,
 * however many attempts that takes. For one thread.
 */
final class PatientOrigin implements Origin {
  private final RangeOrigin origin;
  private final String file;
  private final Duration deadline;
  private long arrived = System.nanoTime();
  private @Nullable IOException last;

  PatientOrigin(RangeOrigin origin, String file, Duration deadline) {
    this.origin = origin;
    this.file = file;
    this.deadline = deadline;
  }

  /**
   * Fails if nothing has arrived for the deadline.
   *
   * @throws UncheckedIOException with the message for users
   */
  void check() {
    if (leftNanos() <= 0) {
      String within = String.format(Locale.ROOT, "%.1f s", deadline.toMillis() / 1e3);
      String why = last == null ? "" : "; the last failure: " + reason(last);
      throw new UncheckedIOException(
          new IOException(location(file) + ": nothing arrived within " + within + why, last));
    }
  }

  private long leftNanos() {
    return deadline.toNanos() - (System.nanoTime() - arrived);
  }

  /** Notes why an attempt failed; the end of the time is not the reason if there is another. */
  private IOException failed(IOException why) {
    if (last == null || leftNanos() > 0) {
      last = why;
    }
    return why;
  }

  @Override
  public InputStream open(String file, long from) throws IOException {
    InputStream in;
    try {
      in = origin.open(file, from, this::leftNanos);
    } catch (IOException e) {
      throw failed(e);
    }
    return new FilterInputStream(in) {
      @Override
      public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
      }

      @Override
      public int read(byte[] into, int offset, int length) throws IOException {
        try {
          int count = super.read(into, offset, length);
          arrived = count > 0 ? System.nanoTime() : arrived;
          return count;
        } catch (IOException e) {
          throw failed(e);
        }
      }
    };
  }

  @Override
  public String location(String file) {
    return origin.location(file);
  }

  @Override
  public String reason(IOException failure) {
    return origin.reason(failure);
  }
}
