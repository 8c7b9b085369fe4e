package tech.bsdb.store;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Statistics;
import tech.bsdb.VerifyScope;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.io.DurableFiles;
import tech.bsdb.transfer.Consignment;
import tech.bsdb.transfer.Download;
import tech.bsdb.transfer.Origin;
import tech.bsdb.transfer.Shipment;
import tech.bsdb.transfer.TransferOptions;
import tech.bsdb.transfer.TransferReport;

/**
 * Makes databases of a shipment from older ones that are here and the changes since, where the
 * origin has a {@link Delta}. What it makes counts only if its manifest is the one that the origin
 * has, and that one has a hash of each file; all else is brought whole, for whatever reason. Used
 * by one thread.
 *
 * <pre>
 * WORK/ID/                a database that was made, by its database id
 * WORK/changes/VERSION/   changes that arrive
 * </pre>
 */
final class Fold {
  /** The directory in the store for changes that arrive and databases that are made. */
  static final String WORK = ".folding";

  private static final String CHANGES = "changes";

  /** The most deltas that lead to a version. */
  private static final int LONGEST_CHAIN = 8;

  /** Parts of a database, in bytes, of which all changes are one at most. */
  private static final int WORTH = 2;

  /** Parts of the memory, of which the longest change is one at most: it is held several times. */
  private static final int LONGEST = 8;

  private static final int MOST_THREADS = 64;

  private final Origin origin;
  private final Shipment wanted;
  private final @Nullable String version;
  private final Path work;
  private final TransferOptions options;
  private final Runnable checkOpen;
  private final Map<String, Optional<Delta>> deltas = new HashMap<>();
  private final Map<String, Shipment> changes = new HashMap<>();
  private TransferReport report = TransferReport.NONE;

  /** Why a database is not made, although there are changes. */
  private @Nullable String lacking;

  /**
   * Creates an instance without touching any file.
   *
   * @param work a directory for what arrives and is made, on the file system of the store
   */
  Fold(Origin origin, Shipment wanted, Path work, TransferOptions options, Runnable checkOpen) {
    this.origin = origin;
    this.wanted = wanted;
    this.version = wanted.version();
    this.work = work;
    this.options = options;
    this.checkOpen = checkOpen;
  }

  /** The changes that a version has of one of its databases. */
  private record Step(String version, int number) {}

  /**
   * How to make a database.
   *
   * @param base the directory of an older one that is here
   * @param steps the changes since, oldest first
   */
  private record Plan(Path base, List<Step> steps) {}

  /** What arrived, and how many databases were made. */
  TransferReport report() {
    return report;
  }

  /** Whether a directory was made by this. */
  boolean isMade(Path directory) {
    return directory.startsWith(work);
  }

  /**
   * Makes what can be made. What an earlier one has left and this does not want is removed.
   *
   * @param nearby the directories of the databases that are here, by database id
   * @return the directories of the databases made
   */
  List<Path> run(Map<String, Path> nearby) throws IOException {
    List<Path> made = new ArrayList<>();
    if (version == null) {
      return made;
    }
    try {
      retainWanted();
      boolean possible = options.foldBytes() > 0 && !nearby.isEmpty();
      for (Shipment.Part part : possible ? wanted.parts() : List.<Shipment.Part>of()) {
        Plan plan = nearby.containsKey(part.id()) ? null : plan(version, part.id(), nearby);
        if (plan != null) {
          made.add(make(part, plan));
          report = report.plus(TransferReport.FOLDED);
        }
      }
    } catch (CancellationException | InterruptedIOException | ClosedByInterruptException e) {
      throw e;
    } catch (IOException | RuntimeException | LinkageError | OutOfMemoryError e) {
      lacking = e instanceof IOException failure ? origin.reason(failure) : String.valueOf(e);
      try {
        retain(made);
      } catch (IOException stays) {
        lacking += "; and " + stays.getMessage();
      }
    }
    if (lacking != null) {
      options.listener().whole(version, lacking);
    }
    return made;
  }

  /** Removes all but what was made, perhaps by an earlier one, and is wanted. */
  private void retainWanted() throws IOException {
    List<Path> own = new ArrayList<>();
    for (Shipment.Part part : wanted.parts()) {
      own.add(work.resolve(part.id()));
    }
    retain(own);
  }

  private void retain(List<Path> directories) throws IOException {
    Set<Path> kept = new HashSet<>(directories);
    if (Files.isDirectory(work, LinkOption.NOFOLLOW_LINKS)) {
      for (Path each : DurableFiles.list(work)) {
        if (!kept.contains(each)) {
          clear(each);
        }
      }
    }
  }

  /** How to make a database; null if there are no changes for it. */
  private @Nullable Plan plan(String newest, String id, Map<String, Path> nearby)
      throws IOException {
    List<Step> steps = new ArrayList<>();
    String next = newest;
    String result = id;
    for (int i = 0; i < LONGEST_CHAIN; i++) {
      Delta delta = delta(next).orElse(null);
      if (delta == null) {
        break;
      }
      Delta.Part part = delta.of(result);
      if (part != null) { // otherwise it was the same in the version before
        steps.add(0, new Step(next, part.number()));
        result = part.base();
      }
      Path base = nearby.get(result);
      if (base != null) {
        return new Plan(base, steps);
      }
      next = delta.base();
    }
    if (delta(newest).isPresent()) {
      lacking = "the version that its changes start from is not in this store";
    }
    return null;
  }

  /** The delta of a version, if there is one. */
  private Optional<Delta> delta(String of) throws IOException {
    Optional<Delta> known = deltas.get(of);
    if (known == null) {
      String file = Delta.directory(of) + "/" + Delta.FILE;
      try {
        byte[] bytes = Shipment.content(origin, file, Delta.MAX_BYTES, options, checkOpen);
        known = Optional.of(Delta.decode(origin.location(file), bytes));
      } catch (NoSuchFileException | AccessDeniedException none) {
        known = Optional.empty();
      }
      deltas.put(of, known);
    }
    return known;
  }

  private Path make(Shipment.Part part, Plan plan) throws IOException {
    Files.createDirectories(work);
    Path result = work.resolve(part.id());
    String file = wanted.directory(part) + "/" + Consignment.MANIFEST;
    byte[] there = Shipment.content(origin, file, Consignment.MOST_OF_MANIFEST, options, checkOpen);
    if (!isSame(result, there) || !isWhole(result)) {
      clear(result);
      List<Path> steps = bring(plan, Database.statistics(plan.base).databaseBytes());
      apply(plan.base, steps, result);
      clear(work.resolve(CHANGES));
      if (!isSame(result, there)) {
        clear(result);
        throw new IOException(
            origin.location(Delta.directory(plan.steps.get(0).version))
                + ": what these changes make of the database here is not what was published");
      }
    }
    sign(result, there);
    return result;
  }

  /** Whether a database here is the one there. */
  private static boolean isSame(Path database, byte[] there) {
    try {
      byte[] here = Files.readAllBytes(database.resolve(Consignment.MANIFEST));
      return Consignment.isSame(here, there);
    } catch (IOException none) {
      return false;
    }
  }

  /** Whether all pages of a database that an earlier process made are good. */
  private boolean isWhole(Path database) throws IOException {
    try {
      Database.verify(database, VerifyScope.CONTENT, List.of(), (done, all) -> checkOpen.run());
      return true;
    } catch (CorruptDatabaseException | NoSuchFileException damaged) {
      return false;
    }
  }

  /** Takes over the signature of a manifest. */
  private static void sign(Path database, byte[] there) throws IOException {
    Path next = database.resolve("manifest.part");
    Files.deleteIfExists(next);
    DurableFiles.write(next, there);
    Files.move(next, database.resolve(Consignment.MANIFEST), StandardCopyOption.ATOMIC_MOVE);
  }

  /**
   * Brings changes.
   *
   * @param most the bytes of the database that they change
   * @return where they are
   */
  private List<Path> bring(Plan plan, long most) throws IOException {
    List<Shipment> all = new ArrayList<>();
    long bytes = 0;
    for (Step step : plan.steps) {
      Shipment each = changes(step.version).only(step.number);
      all.add(each);
      for (long length : each.files(origin, plain(), checkOpen).values()) {
        bytes += length;
      }
    }
    if (bytes > most / WORTH) {
      throw new IOException(
          "the changes have %d bytes, more than half of the %d of the database"
              .formatted(bytes, most));
    }
    long free = Files.getFileStore(work).getUsableSpace();
    if (bytes + most > free) {
      throw new IOException(
          "only %d bytes are free, for changes of %d bytes and a database of about %d"
              .formatted(free, bytes, most));
    }
    List<Path> brought = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      Path staging = work.resolve(CHANGES).resolve(plan.steps.get(i).version);
      Files.createDirectories(staging);
      Download download = new Download(origin, all.get(i), staging, plain(), checkOpen);
      try {
        download.run(List.of(), List.of());
      } finally {
        report = report.plus(download.report());
      }
      brought.add(download.directory(all.get(i).parts().get(0)));
    }
    return brought;
  }

  /** All changes of a version. */
  private Shipment changes(String of) throws IOException {
    Shipment known = changes.get(of);
    if (known == null) {
      known = Shipment.read(origin, Delta.directory(of), plain(), checkOpen);
      changes.put(of, known);
    }
    return known;
  }

  /** The options for changes, which need no signature: the result is that of the version. */
  private TransferOptions plain() {
    return options.withTrusted(List.of()).withShards(null);
  }

  /** Writes a database from another one and changes, oldest first. */
  private void apply(Path base, List<Path> steps, Path result) throws IOException {
    int processors = Runtime.getRuntime().availableProcessors();
    try (Database from = Database.open(base);
        DatabaseBuilder builder =
            DatabaseBuilder.from(
                from,
                result,
                BuildOptions.of(from)
                    .withMemoryBytes(options.foldBytes())
                    .withThreads(Math.max(1, Math.min(MOST_THREADS, processors / 2))),
                (stage, done, all) -> {
                  checkOpen.run();
                  if (stage == Stage.INDEX) {
                    options.listener().folding(done, all);
                  }
                })) {
      for (Path step : steps) {
        apply(step, builder);
      }
      builder.finish();
    }
  }

  private void apply(Path changes, DatabaseBuilder builder) throws IOException {
    Statistics stated = Database.statistics(changes);
    long most = options.foldBytes() / LONGEST;
    if (stated.longestKey() + stated.longestValue() > most || stated.blockSize() > most) {
      throw new IOException("a change has more than " + most + " bytes, for which memory is kept");
    }
    try (Database with = Database.open(changes);
        Database.RecordCursor cursor = with.scan()) {
      while (cursor.next()) {
        byte[] tagged = cursor.value();
        if (tagged.length == 1 && tagged[0] == Delta.DELETION) {
          builder.delete(cursor.key());
        } else if (tagged.length > 0 && tagged[0] == Delta.VALUE) {
          builder.add(cursor.key(), Arrays.copyOfRange(tagged, 1, tagged.length));
        } else {
          throw new IOException(changes + ": has a record that is no change");
        }
      }
    }
  }

  /** Removes a directory with all that is in it, and follows no links. */
  static void clear(Path directory) throws IOException {
    if (Files.notExists(directory, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(each);
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }
}
