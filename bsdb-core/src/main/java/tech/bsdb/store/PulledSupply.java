package tech.bsdb.store;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tech.bsdb.io.DurableFiles;
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

  private final Origin origin;
  private final TransferOptions options;
  private Runnable checkOpen = () -> {};
  private @Nullable Path store;
  private @Nullable Shipment offer;
  private @Nullable TransferReport report;

  /** Creates a supply without touching any file. */
  PulledSupply(Origin origin, TransferOptions options) {
    this.origin = origin;
    this.options = options;
  }

  /** Whether an entry of a store that has no version yet may have come with a pull. */
  static boolean isOwn(String name) {
    return name.equals(STAGING) || name.equals(PULLED) || name.equals(Fold.WORK);
  }

  @Override
  public void checkPlace(Path store) throws IOException {
    LocalSupply.refuseInside(store, LocalSupply.realOrAbsolute(store), origin.location(""));
  }

  @Override
  public void check(Path store, Runnable checkOpen) throws IOException {
    this.checkOpen = checkOpen;
    checkPlace(store);
    offer = Store.offered(origin, options, checkOpen);
  }

  @Override
  public void begin(Path store) throws IOException {
    this.store = store;
    offer = Store.offered(origin, options, checkOpen); // it may have taken long to get the lock
  }

  private Shipment offer() {
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
    return offer().id();
  }

  @Override
  public @Nullable String name() {
    return offer().version();
  }

  @Override
  public List<PublicKey> trusted() {
    return options.trusted();
  }

  /** What the transfer did; null before its end. */
  @Nullable TransferReport report() {
    return report;
  }

  @Override
  public List<Piece> pieces() throws IOException {
    Shipment shipment = offer();
    Path staging = store().resolve(STAGING);
    List<Path> nearby = LocalStore.versionDirectories(store());
    Path work = store().resolve(Fold.WORK);
    Fold fold = new Fold(origin, shipment, work, options, checkOpen);
    List<Path> made = fold.run(Download.known(nearby));
    Download download = new Download(origin, shipment, staging, options, checkOpen);
    try {
      download.run(nearby, made);
    } catch (NoSuchFileException e) {
      refuseReplaced(e);
      throw new IOException(
          e.getFile() + ": missing there, although the manifest lists it: push it again", e);
    } finally {
      report = fold.report().plus(download.report());
    }
    List<Piece> pieces = new ArrayList<>();
    for (Shipment.Part part : shipment.parts()) {
      String directory = part.directory().isEmpty() ? "" : part.directory() + "/";
      boolean own = download.isStaged(part) || fold.isMade(download.directory(part));
      How how = own ? How.LINK_OR_MOVE : How.LINK_OR_COPY;
      for (Path file : DurableFiles.list(download.directory(part))) {
        String name = DurableFiles.name(file);
        if (name.endsWith(".bsdb")) {
          pieces.add(new Piece(directory + name, file, how, 0));
        }
      }
    }
    return pieces;
  }

  @Override
  public byte[] manifest() {
    return offer().rootManifest();
  }

  /** A missing file may mean that the origin has another version by now. */
  private void refuseReplaced(NoSuchFileException missing) throws IOException {
    Shipment now = Store.offered(origin, options, checkOpen);
    if (!now.id().equals(id())) {
      throw new SourceReplacedException(
          origin.location("") + ": was replaced while it was pulled; pull again", missing);
    }
  }

  @Override
  public void done() throws IOException {
    if (!id().equals(Store.open(store()).pulled())) {
      Path next = store().resolve(PULLED + ".new");
      DurableFiles.write(next, (id() + "\n").getBytes(StandardCharsets.US_ASCII));
      Files.move(next, store().resolve(PULLED), StandardCopyOption.ATOMIC_MOVE);
    }
    Download.clear(store().resolve(STAGING));
    Fold.clear(store().resolve(Fold.WORK));
  }
}
