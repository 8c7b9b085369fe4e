package tech.bsdb.mirror;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.directory.DataSet;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.directory.Elsewhere;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UntrustedException;
import tech.bsdb.format.KeySlots;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.format.ManifestSignature;
import tech.bsdb.format.ShardSet;
import tech.bsdb.mirror.Small.Manifested;
import tech.bsdb.remote.RangeOrigin;
import tech.bsdb.remote.RemoteOptions;
import tech.bsdb.transfer.Shipment;

/**
 * What an origin offers now: the current version of its store, or its database or set of shards.
 *
 * @param directory where that is, as a path below the origin; empty for the origin itself
 * @param manifest its manifest
 */
record Offer(String directory, Manifested manifest) {
  /**
   * Reads what there is. The pointer of a store and the manifest of a database are asked for at
   * once, since nothing says which of both is there.
   *
   * @throws NotDirectoryException if there is neither
   */
  static Offer read(RangeOrigin origin, RemoteOptions options) throws IOException {
    Small ofPlain = new Small(origin, options);
    return read(origin, options, begun(() -> ofPlain.manifest(Manifest.FILE_NAME)), ofPlain::cancel)
        .trusted(origin, options);
  }

  private Offer trusted(RangeOrigin origin, RemoteOptions options) throws UntrustedException {
    ManifestSignature.require(
        origin.location(file(Manifest.FILE_NAME)), manifest.bytes(), options.trusted());
    return this;
  }

  /**
   * Reads what there is for one lookup: as a rule, the manifest alone.
   *
   * @throws NotDirectoryException if there is neither
   */
  static Offer readOnce(RangeOrigin origin, RemoteOptions options) throws IOException {
    Offer offer;
    try {
      offer = new Offer("", new Small(origin, options).manifest(Manifest.FILE_NAME));
    } catch (NoSuchFileException | AccessDeniedException | CorruptDatabaseException e) {
      offer = read(origin, options, CompletableFuture.failedFuture(e), () -> {}); // maybe a store
    }
    return offer.trusted(origin, options);
  }

  /**
   * Reads the version that a store offers, or else the manifest of a database.
   *
   * @param cancel called if the manifest is not needed
   */
  private static Offer read(
      RangeOrigin origin,
      RemoteOptions options,
      CompletableFuture<Manifested> plain,
      Runnable cancel)
      throws IOException {
    Small small = new Small(origin, options);
    String version = null;
    IOException noPointer = null;
    try {
      version = Shipment.current(small.read(Shipment.POINTER, Shipment.MOST_OF_POINTER));
      if (version == null) { // or a page that a web server has for all that is missing
        noPointer = new NoVersionException(origin.location(Shipment.POINTER));
      }
    } catch (NoSuchFileException | AccessDeniedException e) {
      noPointer = e; // stores that may not be listed deny what is not there
    } finally {
      if (noPointer == null) {
        cancel.run();
      }
    }
    return version == null
        ? new Offer("", plain(small, plain, noPointer))
        : version(small, version);
  }

  /** Reads the manifest of a version, and of the next one if that version has gone meanwhile. */
  private static Offer version(Small small, String named) throws IOException {
    for (String version = named; ; ) {
      try {
        return new Offer(version, small.manifest(version + "/" + Manifest.FILE_NAME));
      } catch (NoSuchFileException | AccessDeniedException e) {
        String now = Shipment.current(small.read(Shipment.POINTER, Shipment.MOST_OF_POINTER));
        if (now == null || now.equals(version)) {
          throw e instanceof NoSuchFileException ? small.gone(version, e) : e;
        }
        version = now;
      }
    }
  }

  private static Manifested plain(
      Small small, CompletableFuture<Manifested> plain, @Nullable IOException noPointer)
      throws IOException {
    try {
      return plain.join();
    } catch (CompletionException e) {
      IOException failure = Parallel.failure(e.getCause());
      boolean garbled =
          failure instanceof CorruptDatabaseException && noPointer instanceof NoVersionException;
      if (!garbled && !(failure instanceof NoSuchFileException)) {
        throw failure;
      }
      if (garbled || noPointer == null || noPointer instanceof NoSuchFileException) {
        throw small.neither();
      }
      throw noPointer;
    }
  }

  /** Reports a pointer that names no version. */
  private static final class NoVersionException extends IOException {
    private static final long serialVersionUID = 1L;

    NoVersionException(String pointer) {
      super(pointer + ": names no version");
    }
  }

  /** Reads something. */
  @FunctionalInterface
  private interface Reading<T> {
    T read() throws IOException;
  }

  private static <T> CompletableFuture<T> begun(Reading<T> reading) {
    CompletableFuture<T> result = new CompletableFuture<>();
    Parallel.daemon(
            () -> {
              try {
                result.complete(reading.read());
              } catch (IOException | RuntimeException | Error e) {
                result.completeExceptionally(e);
              }
            })
        .start();
    return result;
  }

  /** The path below the origin of a file of what is offered. */
  String file(String name) {
    return directory.isEmpty() ? name : name.isEmpty() ? directory : directory + "/" + name;
  }

  /**
   * The database in which a key can be, with none of its files here: the one that is offered, or a
   * shard of the set. Reads the manifest of the shard.
   *
   * @return null if the set does not hold the shard, or it is another one
   */
  @Nullable DataSet database(byte[] key, RangeOrigin origin, RemoteOptions options)
      throws IOException {
    ManifestFile stated = manifest.stated();
    String place = directory;
    if (stated.isSet()) {
      ShardSet set = stated.set();
      ShardSet.Shard shard = set.shards().get(KeySlots.shard(key, set.shards().size()));
      if (!set.holds(shard.number())) {
        return null;
      }
      place = file(shard.directoryName());
      stated = new Small(origin, options).manifest(place + "/" + Manifest.FILE_NAME).stated();
      if (!stated.id().equals(shard.id())) {
        return null;
      }
    }
    Elsewhere there = path -> origin.location(name(path));
    DatabaseDirectory database = DatabaseDirectory.of(Path.of(place), there, stated);
    return new DataSet(database.path(), there, database.id(), null, 0, List.of(database));
  }

  /** The path below the origin of a file of such a database. */
  static String name(Path path) {
    return path.toString().replace('\\', '/');
  }

  /** Whether it is what another offer was. */
  boolean isSame(@Nullable Offer other) {
    return other != null
        && directory.equals(other.directory)
        && manifest.stated().id().equals(other.manifest.stated().id());
  }
}
