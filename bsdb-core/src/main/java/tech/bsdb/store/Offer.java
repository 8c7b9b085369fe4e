package tech.bsdb.store;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.transfer.Origin;
import tech.bsdb.transfer.Shipment;
import tech.bsdb.transfer.TransferOptions;

/**
 * What an origin offers now: the current version of its store, or its database.
 *
 * @param version the name of the version there; null if the origin is one database or set
 * @param shipment what there is to bring
 */
public record Offer(@Nullable String version, Shipment shipment) {
  private static final int MAX_POINTER = 1 << 16;

  /**
   * Reads what is offered, which is little.
   *
   * @param checkOpen called often; throws to cancel
   * @throws NoSuchFileException if the origin is neither a store nor a database
   * @throws IllegalArgumentException if it has not the shards of the options
   */
  public static Offer read(Origin origin, TransferOptions options, Runnable checkOpen)
      throws IOException {
    byte[] pointer;
    try {
      pointer = Shipment.content(origin, Pointer.FILE, MAX_POINTER, options, checkOpen);
    } catch (NoSuchFileException noStore) {
      try {
        return new Offer(null, Shipment.read(origin, "", options, checkOpen));
      } catch (NoSuchFileException neither) {
        NoSuchFileException nothing =
            new NoSuchFileException(
                origin.location(""),
                null,
                "is neither a store nor a database: it has no CURRENT and no manifest.bsdb");
        nothing.addSuppressed(neither);
        throw nothing;
      }
    }
    Pointer read = Pointer.decode(new String(pointer, StandardCharsets.UTF_8));
    if (read == null) {
      throw new IOException(origin.location(Pointer.FILE) + ": names no version");
    }
    return new Offer(read.current(), Shipment.read(origin, read.current(), options, checkOpen));
  }

  /** The id of the database that would be pulled; some shards of a set have an id of their own. */
  public String databaseId() {
    return shipment.id();
  }

  /** Its number of records. */
  public long records() {
    return shipment.records();
  }
}
