package tech.bsdb.tools.publish;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
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
import tech.bsdb.store.Upcoming;
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
  private @Nullable String base;
  private long bytes;
  private volatile long sending;

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
   * @param listener receives the progress of the comparison; may throw to end it
   */
  DeltaDelivery(Source source, DistantStore store, Delivery delivery, DiffListener listener) {
    this.source = source;
    this.store = store;
    this.delivery = delivery;
    this.listener = listener;
  }

  /** The name of the older version; null before {@link #send} has returned. */
  @Nullable String base() {
    return base;
  }

  /** The number of bytes that go with the version, as far as that is known. */
  long sending() {
    return sending;
  }

  /** The number of bytes of the changes. */
  long bytes() {
    return bytes;
  }

  /**
   * Sends the changes to a version, unless they are there.
   *
   * @throws NoDeltaException if nobody can use them
   */
  void send(String version) throws IOException {
    String older = olderVersion(version);
    Path work = Files.createTempDirectory(source.temporary(), "bsdb-delta-");
    try {
      Path target = work.resolve("delta");
      Delta delta =
          new DeltaBuild(source.before(), source.after(), listener).write(older, target, MEMORY);
      Consignment changes = Consignment.of(target);
      bytes = changes.bytes();
      String directory = Delta.directory(version);
      String file = directory + "/" + Delta.FILE;
      byte[] description = delta.encode();
      if (!new String(description, UTF_8).equals(store.text(file))) {
        store.removeDelta(version);
        List<Part> parts = new ArrayList<>(changes.files());
        parts.addAll(changes.manifests());
        List<Part> promised = Consignment.of(source.after()).manifests();
        sending = bytes + promised.stream().mapToLong(Part::length).sum();
        delivery.send(parts, directory, Map.of(), /* verify= */ false);
        delivery.send(promised, Upcoming.directory(version), Map.of(), /* verify= */ false);
        store.write(file, description);
      }
      base = older;
      if (older.equals(store.current())) {
        store.announce(version, older);
      }
    } finally {
      try (Stream<Path> all = Files.walk(work)) {
        for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(each);
        }
      }
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
