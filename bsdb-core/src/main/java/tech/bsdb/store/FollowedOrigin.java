package tech.bsdb.store;

import java.io.IOException;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.mirror.CountedRanges;
import tech.bsdb.mirror.Origins;
import tech.bsdb.mirror.Small;
import tech.bsdb.remote.RangeOrigin;
import tech.bsdb.remote.RemoteOptions;
import tech.bsdb.remote.RemoteTraffic;

/**
 * A store or a plain database that lies elsewhere, and is read there. To look for another version
 * takes one request: for the pointer of a store, or for the manifest of a plain database.
 */
final class FollowedOrigin implements Followed {
  private static final String MANIFEST = "manifest.bsdb";

  private final CountedRanges origin;
  private final RemoteOptions options;
  private final @Nullable AutoCloseable owned;
  private final boolean store;

  /** What was found first, and is not asked for again. */
  private @Nullable NamedVersion first;

  /** The id of a plain database, which is read to find out whether it was replaced. */
  private String plainId = "";

  private FollowedOrigin(
      CountedRanges origin, RemoteOptions options, @Nullable AutoCloseable owned, boolean store) {
    this.origin = origin;
    this.options = options;
    this.owned = owned;
    this.store = store;
  }

  /** Follows a location. */
  static FollowedOrigin of(URI location, RemoteOptions options) throws IOException {
    RangeOrigin origin = Origins.of(location);
    AutoCloseable owned = origin instanceof AutoCloseable closed ? closed : null;
    try {
      return of(origin, options, owned);
    } catch (IOException | RuntimeException e) {
      close(owned, e);
      throw e;
    }
  }

  private static void close(@Nullable AutoCloseable owned, Exception after) {
    try {
      if (owned != null) {
        owned.close();
      }
    } catch (Exception e) {
      after.addSuppressed(e);
    }
  }

  /**
   * Follows an origin.
   *
   * @param place the origin
   * @param owned what to close with this, or null
   * @throws NotDirectoryException if it is neither a store nor a database
   */
  static FollowedOrigin of(RangeOrigin place, RemoteOptions options, @Nullable AutoCloseable owned)
      throws IOException {
    CountedRanges origin = new CountedRanges(place.afresh());
    IOException noPointer;
    try {
      FollowedOrigin found = new FollowedOrigin(origin, options, owned, true);
      found.first = found.ofPointer();
      return found;
    } catch (NoSuchFileException | AccessDeniedException e) {
      noPointer = e; // stores that may not be listed deny what is not there
    }
    FollowedOrigin plain = new FollowedOrigin(origin, options, owned, false);
    try {
      plain.first = plain.named();
      return plain;
    } catch (NoSuchFileException e) {
      if (noPointer instanceof AccessDeniedException) {
        throw noPointer;
      }
      throw new Small(origin, options).neither();
    }
  }

  @Override
  public boolean isStore() {
    return store;
  }

  @Override
  public boolean isDistant() {
    return true;
  }

  @Override
  public String location(String file) {
    return origin.location(file);
  }

  @Override
  public String name() {
    String location = location("");
    return location.substring(location.lastIndexOf('/') + 1);
  }

  @Override
  public @Nullable NamedVersion named() throws IOException {
    NamedVersion known = first;
    if (known != null) {
      first = null;
      return known;
    }
    if (!store) {
      plainId = new Small(origin, options).id(MANIFEST);
      return NamedVersion.PLAIN;
    }
    try {
      return ofPointer();
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  private @Nullable NamedVersion ofPointer() throws IOException {
    byte[] pointer = new Small(origin, options).read(Pointer.FILE, Pointer.MAX_BYTES);
    return NamedVersion.of(Pointer.decode(pointer));
  }

  /** A version of a store keeps its name and its database; a plain database has its id. */
  @Override
  public Object stamp(NamedVersion version) {
    return version.version() == null ? plainId : version.version();
  }

  @Override
  public String id(NamedVersion version) throws IOException {
    String name = version.version();
    if (name == null) {
      return plainId;
    }
    try {
      return new Small(origin, options).id(name + "/" + MANIFEST);
    } catch (NoSuchFileException e) {
      throw new Small(origin, options).gone(name, e);
    }
  }

  @Override
  public Database open(NamedVersion version, BooleanSupplier ends) throws IOException {
    String name = version.version();
    try {
      return Database.open(new VersionOrigin(origin, name == null ? "" : name), options);
    } catch (NotDirectoryException e) {
      throw name == null ? e : new Small(origin, options).gone(name, e);
    }
  }

  @Override
  public RemoteTraffic traffic() {
    return origin.traffic();
  }

  @Override
  public void close() throws IOException {
    if (owned != null) {
      IOException failure = new IOException("could not close " + location(""));
      close(owned, failure);
      if (failure.getSuppressed().length > 0) {
        throw failure;
      }
    }
  }
}
