package tech.bsdb.tools.publish;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DiffListener;
import tech.bsdb.store.Delta;
import tech.bsdb.store.DeltaBuild;
import tech.bsdb.store.NoDeltaException;
import tech.bsdb.tools.cli.Diagnosis;
import tech.bsdb.transfer.Consignment;
import tech.bsdb.transfer.Consignment.Part;

/**
 * Sends the changes since an older version with a new one, before that is current. Used by one
 * thread.
 */
final class DeltaDelivery {
  /** Memory to sort changes: a part of the heap that a small machine has by default. */
  static final long MEMORY =
      Math.max(1 << 20, Math.min(256 << 20, Runtime.getRuntime().maxMemory() / 8));

  private final Source source;
  private final DistantStore store;
  private final Delivery delivery;
  private final DiffListener listener;
  private final Runnable checkRunning;
  private @Nullable String base;
  private volatile long bytes;

  /**
   * Where the changes come from.
   *
   * @param before the older database here
   * @param after the new one
   * @param temporary a directory for temporary files
   */
  record Source(Path before, Path after, Path temporary) {}

  /**
   * Reads nothing yet.
   *
   * @param listener receives the progress of the comparison
   * @param checkRunning called often; throws to cancel
   */
  DeltaDelivery(
      Source source,
      DistantStore store,
      Delivery delivery,
      DiffListener listener,
      Runnable checkRunning) {
    this.source = source;
    this.store = store;
    this.delivery = delivery;
    this.listener = listener;
    this.checkRunning = checkRunning;
  }

  /** The name of the older version; null before {@link #send} has returned. */
  @Nullable String base() {
    return base;
  }

  /** The number of bytes of the changes. */
  long bytes() {
    return bytes;
  }

  /**
   * Sends the changes to a version, unless they are there.
   *
   * @throws NoDeltaException if nobody can use them, or they could not be made
   * @throws IOException if the destination fails
   */
  void send(String version) throws IOException {
    String older = olderVersion(version);
    DeltaBuild build = new DeltaBuild(source.before(), source.after(), listener, checkRunning);
    byte[] description = build.describe(older).encode();
    if (!new String(description, UTF_8)
        .equals(store.text(Delta.directory(version) + "/" + Delta.FILE))) {
      Path work = temporary();
      try {
        send(version, made(build, older, work.resolve("delta")), description);
      } finally {
        remove(work);
      }
    }
    base = older;
  }

  private Path temporary() throws NoDeltaException {
    try {
      return Files.createTempDirectory(source.temporary(), "bsdb-delta-");
    } catch (IOException e) {
      throw notMade(e);
    }
  }

  private Consignment made(DeltaBuild build, String older, Path target) throws IOException {
    try {
      Delta unused = build.write(older, target, MEMORY);
      return Consignment.of(target);
    } catch (NoDeltaException | InterruptedIOException e) {
      throw e;
    } catch (IOException | UncheckedIOException | LinkageError e) {
      throw notMade(e);
    }
  }

  static NoDeltaException notMade(Throwable e) {
    return new NoDeltaException("they could not be made: " + Diagnosis.of(e).words());
  }

  private void send(String version, Consignment changes, byte[] description) throws IOException {
    bytes = changes.bytes();
    store.removeDelta(version);
    List<Part> parts = new ArrayList<>(changes.files());
    parts.addAll(changes.manifests());
    delivery.send(parts, Delta.directory(version), Map.of(), /* verify= */ false);
    store.write(Delta.directory(version) + "/" + Delta.FILE, description);
  }

  private static void remove(Path work) {
    try (Stream<Path> all = Files.walk(work)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    } catch (IOException | UncheckedIOException stays) {
      // in the directory for temporary files; what failed before is more important
    }
  }

  /** The name of the version at the store that is the older database. */
  private String olderVersion(String version) throws IOException {
    String id = Consignment.of(source.before()).databaseId();
    String current = store.current();
    if (current != null && !current.equals(version) && store.holds(current, id)) {
      return current;
    }
    for (String name : current == null ? List.<String>of() : store.names()) {
      if (!name.equals(version) && store.holds(name, id)) {
        return name;
      }
    }
    throw new NoDeltaException("no other version of the store is " + source.before());
  }
}
