package tech.bsdb.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tech.bsdb.transfer.Download;
import tech.bsdb.transfer.Origin;
import tech.bsdb.transfer.Shipment;
import tech.bsdb.transfer.TransferOptions;
import tech.bsdb.transfer.TransferReport;

/** Brings the files of a database from an origin, and links those that are in the store. */
final class PulledSupply implements Supply {
  /** The directory in the store for what arrives. */
  static final String STAGING = ".pulling";

  /** The file in the store with the id of the database that was pulled last. */
  static final String PULLED = ".pulled";

  private static final String MANIFEST = "manifest.bsdb";

  private final Origin origin;
  private final TransferOptions options;
  private Runnable checkOpen = () -> {};
  private @Nullable Path store;
  private @Nullable Offer offer;
  private @Nullable TransferReport report;

  /** Creates a supply without touching any file. */
  PulledSupply(Origin origin, TransferOptions options) {
    this.origin = origin;
    this.options = options;
  }

  @Override
  public void checkPlace(Path store) throws IOException {
    LocalSupply.refuseInside(store, LocalSupply.realOrAbsolute(store), origin.location(""));
  }

  @Override
  public void check(Path store, Runnable checkOpen) throws IOException {
    this.checkOpen = checkOpen;
    checkPlace(store);
    offer = Offer.read(origin, options, checkOpen);
  }

  @Override
  public void begin(Path store) throws IOException {
    this.store = store;
    offer = Offer.read(origin, options, checkOpen); // it may have taken long to get the lock
  }

  private Offer offer() {
    return Objects.requireNonNull(offer, "check first");
  }

  private Path store() {
    return Objects.requireNonNull(store, "begin first");
  }

  @Override
  public long records() {
    return offer().records();
  }

  @Override
  public String id() {
    return offer().databaseId();
  }

  @Override
  public @Nullable String name() {
    return offer().version();
  }

  /** What the transfer did; null before its end. */
  @Nullable TransferReport report() {
    return report;
  }

  @Override
  public void bring(Incoming incoming) throws IOException {
    Shipment shipment = offer().shipment();
    Path staging = store().resolve(STAGING);
    Download download = new Download(origin, shipment, staging, options, checkOpen);
    try {
      download.run(Store.versionDirectories(store()));
    } catch (NoSuchFileException e) {
      refuseReplaced(e);
      throw new IOException(
          e.getFile() + ": missing there, although the manifest lists it: push it again", e);
    } finally {
      report = download.report();
    }
    Path into = incoming.directory();
    for (Shipment.Part part : shipment.parts()) {
      Path to = into;
      if (!part.directory().isEmpty()) {
        to = into.resolve(part.directory());
        incoming.makeShard(to);
      }
      place(download.directory(part), to, download.isStaged(part), incoming);
    }
    if (shipment.isSet()) {
      try (FileChannel out = incoming.create(into.resolve(MANIFEST))) {
        ByteBuffer buffer = ByteBuffer.wrap(shipment.rootManifest());
        while (buffer.hasRemaining()) {
          out.write(buffer);
        }
        out.force(true);
      }
    }
  }

  /** A missing file may mean that the origin has another version by now. */
  private void refuseReplaced(NoSuchFileException missing) throws IOException {
    Offer now = Offer.read(origin, options, checkOpen);
    if (!now.databaseId().equals(id())) {
      throw new SourceReplacedException(
          origin.location("") + ": was replaced while it was pulled; pull again", missing);
    }
  }

  /**
   * Links all files of a database into the version. Where links are impossible, files that have
   * arrived are moved, and others are copied.
   */
  private static void place(Path from, Path to, boolean staged, Incoming incoming)
      throws IOException {
    ByteBuffer chunk = null;
    for (Path file : Directories.list(from)) {
      String name = Directories.name(file);
      if (!name.endsWith(".bsdb")) {
        continue;
      }
      Path target = to.resolve(name);
      if (linked(file, target, incoming)) {
        continue;
      }
      if (staged) {
        incoming.exclusively(() -> Files.move(file, target, StandardCopyOption.ATOMIC_MOVE));
      } else {
        chunk = chunk == null ? FileCopy.chunk() : chunk;
        try (FileChannel out = incoming.create(target)) {
          FileCopy.copy(file, out, chunk, more -> incoming.checkOpen());
        }
      }
    }
  }

  private static boolean linked(Path file, Path target, Incoming incoming) throws IOException {
    try {
      incoming.exclusively(() -> Files.createLink(target, file.toRealPath()));
      return true;
    } catch (UnsupportedOperationException | FileSystemException e) {
      return false;
    }
  }

  @Override
  public void done() throws IOException {
    Download.clear(store().resolve(STAGING));
    Path next = store().resolve(PULLED + ".new");
    Files.writeString(next, id() + "\n", StandardCharsets.US_ASCII);
    try (FileChannel channel = FileChannel.open(next, StandardOpenOption.WRITE)) {
      channel.force(true);
    }
    Files.move(next, store().resolve(PULLED), StandardCopyOption.ATOMIC_MOVE);
  }
}
