package tech.bsdb.store;

import java.io.Closeable;
import java.io.IOException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.remote.RemoteTraffic;

/**
 * A store or a plain database whose versions a {@link Reloader} follows: what is current there, and
 * how that is opened. Used by one thread at a time, except for {@link #traffic}.
 */
interface Followed extends Closeable {
  /** Whether this is a store rather than a plain database. */
  boolean isStore();

  /** Whether this lies elsewhere, so that all of these methods may wait for a network. */
  boolean isDistant();

  /** Where this or one of its files lies, as people write it; {@code ""} is this itself. */
  String location(String file);

  /** The last part of the location. */
  String name();

  /** The version that is current now, or null if the store names none. */
  @Nullable NamedVersion named() throws IOException;

  /**
   * A fingerprint of the database of the version that was {@linkplain #named named} last, which
   * costs little. While it stays the same, so does the database. Null if it cannot be found out.
   */
  @Nullable Object stamp(NamedVersion version);

  /**
   * The id of the database of the version that was named last.
   *
   * @throws IOException if it is not there, or its manifest cannot be read
   */
  String id(NamedVersion version) throws IOException;

  /**
   * Opens the version that was named last.
   *
   * @param ends whether the result is no longer needed
   */
  Database open(NamedVersion version, BooleanSupplier ends) throws IOException;

  /**
   * What was asked for elsewhere, by the versions that were opened, too, whose databases know what
   * of it was asked again; null if this is a directory here.
   */
  @Nullable RemoteTraffic traffic();
}
