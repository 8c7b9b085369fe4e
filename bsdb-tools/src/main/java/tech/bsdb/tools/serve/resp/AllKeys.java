package tech.bsdb.tools.serve.resp;

import java.io.IOException;
import java.io.UncheckedIOException;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.ServedVersion;

/** The reply to {@code KEYS *}: all keys of a version, in the order of the files. */
final class AllKeys implements Handler.Rest {
  private final Lease lease;
  private final RecordCursor records;
  private long left;

  private AllKeys(Lease lease, RecordCursor records, long left) {
    this.lease = lease;
    this.records = records;
    this.left = left;
  }

  /**
   * Writes the beginning of the reply.
   *
   * @throws CommandException if the version is approximate
   */
  static AllKeys begin(DataSet selected, ReplyWriter out) throws CommandException, IOException {
    Lease lease = selected.acquire();
    try {
      ServedVersion version = selected.version(lease);
      ScanCommands.requireKeys(version);
      long records = version.statistics.records();
      AllKeys keys = new AllKeys(lease, version.database.scan(), records);
      out.array(records);
      return keys;
    } catch (CommandException | IOException | RuntimeException | Error e) {
      lease.close();
      throw e;
    }
  }

  @Override
  public boolean write(ReplyWriter out, int bytes) throws IOException {
    int enough = out.length() + bytes;
    while (out.length() < enough) {
      boolean more = records.next();
      if (more != left > 0) {
        throw new IllegalStateException("the files do not have as many records as they state");
      }
      if (!more) {
        return true;
      }
      left--;
      out.bulk(records.key());
    }
    return false;
  }

  @Override
  public void close() {
    try (lease) {
      records.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
