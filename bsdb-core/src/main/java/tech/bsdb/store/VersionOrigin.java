package tech.bsdb.store;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import tech.bsdb.remote.RangeOrigin;

/**
 * The directory of one version below the origin of its store, or the origin of a plain database. It
 * is known to be no store, so nobody is asked for its pointer.
 *
 * @param origin the origin of the store or the database
 * @param version the name of the version; empty for the origin itself
 */
record VersionOrigin(RangeOrigin origin, String version) implements RangeOrigin {
  private String below(String file) {
    return version.isEmpty() ? file : file.isEmpty() ? version : version + "/" + file;
  }

  @Override
  public CompletableFuture<byte[]> read(String file, long size, long from, int length) {
    return origin.read(below(file), size, from, length);
  }

  @Override
  public RangeOrigin afresh() {
    return new VersionOrigin(origin.afresh(), version);
  }

  @Override
  public InputStream open(String file, long from) throws IOException {
    refusePointer(file);
    return origin.open(below(file), from);
  }

  @Override
  public InputStream open(String file, long from, LongSupplier leftNanos) throws IOException {
    refusePointer(file);
    return origin.open(below(file), from, leftNanos);
  }

  private void refusePointer(String file) throws NoSuchFileException {
    if (file.equals(Pointer.FILE)) {
      throw new NoSuchFileException(location(file));
    }
  }

  @Override
  public String location(String file) {
    return origin.location(below(file));
  }

  @Override
  public String reason(IOException failure) {
    return origin.reason(failure);
  }
}
