package tech.bsdb.store;

import java.io.IOException;
import java.nio.file.Path;
import java.security.PublicKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the files of a new version come from. One thread calls these methods, in their order here.
 */
sealed interface Supply permits LocalSupply, PulledSupply {
  /**
   * Checks that a store may be at a place; no file is touched.
   *
   * @throws IllegalArgumentException if it is in a database or in another store
   */
  void checkPlace(Path store) throws IOException;

  /**
   * Checks what is published and where, before anything is written.
   *
   * @param checkOpen throws once the publication is closed
   */
  void check(Path store, Runnable checkOpen) throws IOException;

  /** Learns what there is to bring; the store is locked now. */
  void begin(Path store) throws IOException;

  /** The number of records that the version will have. */
  long records();

  /** The id of the database. */
  String id();

  /** The keys of which one must have signed the database, none if no signature is required. */
  default List<PublicKey> trusted() {
    return List.of();
  }

  /** The name that the version has where it comes from, or null. */
  default @Nullable String name() {
    return null;
  }

  /** How a file gets into the version. */
  enum How {
    COPY,
    LINK,
    /** Moved where a hard link is impossible. */
    LINK_OR_MOVE,
    /** Copied where a hard link is impossible. */
    LINK_OR_COPY
  }

  /**
   * A file of the version.
   *
   * @param name its path below the version; that of a file in a shard has two names
   * @param bytes its length, as progress counts it
   */
  record Piece(String name, Path from, How how, long bytes) {}

  /**
   * Brings the files onto this machine, forced to the device; the manifest of the version is the
   * last one.
   */
  List<Piece> pieces() throws IOException;

  /** The manifest of the version if none of the pieces is; otherwise empty. */
  default byte[] manifest() {
    return new byte[0];
  }

  /** The number of bytes of all pieces, as progress counts them; 0 if none is to be shown. */
  default long bytes() {
    return 0;
  }

  /** Says why a piece could not be placed, if more is known than the failure tells. */
  default IOException explained(IOException failure) {
    return failure;
  }

  /** Checks the version once all pieces are placed. */
  default void checkCopy(Path version) throws IOException {}

  /** Removes what was only needed until the version became current. */
  default void done() throws IOException {}
}
