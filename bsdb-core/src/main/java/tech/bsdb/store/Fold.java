package tech.bsdb.store;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
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
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
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
 * has, and that one has a hash of each file; all else is brought whole. Used by one thread.
 */
final class Fold {
  /** The directory in the store for changes that arrive and databases that are made. */
  static final String WORK = ".folding";

  private static final String CHANGES = "changes";

  /** The most deltas to apply one after the other: each takes the time of a merge. */
  private static final int LONGEST_CHAIN = 8;

  private final Origin origin;
  private final Shipment wanted;
  private final @Nullable String version;
  private final Path work;
  private final TransferOptions options;
  private final Runnable checkOpen;
  private final Map<String, Delta> deltas = new HashMap<>();
  private TransferReport report = TransferReport.NONE;

  /**
   * Creates an instance without touching any file.
   *
   * @param version the name of the version that is wanted; null if there are no versions
   * @param work a directory for what arrives and is made, on the file system of the store
   */
  Fold(
      Origin origin,
      Shipment wanted,
      @Nullable String version,
      Path work,
      TransferOptions options,
      Runnable checkOpen) {
    this.origin = origin;
    this.wanted = wanted;
    this.version = version;
    this.work = work;
    this.options = options;
    this.checkOpen = checkOpen;
  }

  /** A step from one database to the next. */
  private record Step(String version, Delta.Part part) {}

  /** What arrived, and how many databases were made. */
  TransferReport report() {
    return report;
  }

  /** Whether a directory was made by this. */
  boolean isMade(Path directory) {
    return directory.startsWith(work);
  }

  /**
   * Makes what can be made.
   *
   * @param nearby the directories of the databases that are here, by database id
   * @return the directories of the databases made
   */
  List<Path> run(Map<String, Path> nearby) throws IOException {
    List<Path> made = new ArrayList<>();
    if (options.foldBytes() == 0 || version == null || nearby.isEmpty()) {
      return made;
    }
    for (Shipment.Part part : wanted.parts()) {
      if (nearby.containsKey(part.id())) {
        continue;
      }
      try {
        List<Step> chain = chain(version, part.id(), nearby);
        if (!chain.isEmpty()) {
          made.add(make(part, chain, nearby));
          report = report.plus(TransferReport.FOLDED);
        }
      } catch (InterruptedIOException e) {
        throw e;
      } catch (IOException | IllegalArgumentException e) {
        options.listener().whole(version, origin.reason(asIo(e)));
      }
    }
    return made;
  }

  private static IOException asIo(Exception e) {
    return e instanceof IOException io ? io : new IOException(e.getMessage(), e);
  }

  /** The steps from a database that is here, oldest first; none if there is no delta. */
  private List<Step> chain(String newest, String id, Map<String, Path> nearby) throws IOException {
    List<Step> chain = new ArrayList<>();
    String version = newest;
    String result = id;
    while (chain.size() < LONGEST_CHAIN) {
      Delta delta = delta(version);
      Delta.Part part = delta == null ? null : delta.of(result);
      if (delta == null || part == null) {
        if (delta != null && chain.isEmpty()) {
          throw new IOException("the changes of " + version + " lead to another database");
        }
        break;
      }
      chain.add(0, new Step(version, part));
      if (nearby.containsKey(part.base())) {
        return chain;
      }
      version = delta.base();
      result = part.base();
    }
    if (!chain.isEmpty()) {
      String since = chain.get(0).part.base();
      throw new IOException("no version here is database " + since + ", which changed since");
    }
    return chain;
  }

  /** The delta of a version, or null if there is none. */
  private @Nullable Delta delta(String version) throws IOException {
    if (!deltas.containsKey(version)) {
      String file = Delta.directory(version) + "/" + Delta.FILE;
      try {
        byte[] bytes = Shipment.content(origin, file, Delta.MAX_BYTES, options, checkOpen);
        deltas.put(version, Delta.decode(origin.location(file), bytes));
      } catch (NoSuchFileException | AccessDeniedException none) {
        return null;
      }
    }
    return deltas.get(version);
  }

  private Path make(Shipment.Part part, List<Step> chain, Map<String, Path> nearby)
      throws IOException {
    Files.createDirectories(work);
    Path result = nearby.get(chain.get(0).part.base());
    for (Step step : chain) {
      Path base = result;
      result = work.resolve(step.part.result());
      if (!isDatabase(result, step.part.result())) {
        remove(result);
        apply(base, bring(step, bytes(base)), result);
        if (!isDatabase(result, step.part.result())) {
          remove(result);
          throw new IOException(
              origin.location(Delta.directory(step.version))
                  + ": what these changes make of the database here is not what was published");
        }
      }
      if (isMade(base)) {
        remove(base);
      }
    }
    prove(part, result);
    return result;
  }

  private static boolean isDatabase(Path directory, String id) {
    try {
      return Database.statistics(directory).databaseId().equals(id);
    } catch (IOException none) {
      return false;
    }
  }

  private static long bytes(Path database) throws IOException {
    return Database.statistics(database).databaseBytes();
  }

  /** Brings the changes of a step; returns where they are. */
  private Path bring(Step step, long most) throws IOException {
    String directory = Delta.directory(step.version);
    TransferOptions part = options.withTrusted(List.of()).withShards(null);
    Shipment changes = Shipment.read(origin, directory, part, checkOpen);
    if (changes.isSet()) {
      part = part.withShards(new TreeSet<>(List.of(step.part.number())));
      changes = Shipment.read(origin, directory, part, checkOpen);
    }
    long bytes = 0;
    for (long length : changes.files(origin, part, checkOpen).values()) {
      bytes += length;
    }
    if (bytes > most) {
      throw new IOException(
          origin.location(directory) + ": has " + bytes + " bytes, more than the database");
    }
    Download download = new Download(origin, changes, work.resolve(CHANGES), part, checkOpen);
    try {
      download.run(List.of(), List.of());
    } finally {
      report = report.plus(download.report());
    }
    return download.directory(changes.parts().get(0));
  }

  /** Writes a database from another one and changes. */
  private void apply(Path base, Path changes, Path result) throws IOException {
    try (Database from = Database.open(base);
        Database with = Database.open(changes);
        DatabaseBuilder builder =
            DatabaseBuilder.from(
                from,
                result,
                BuildOptions.of(from)
                    .withMemoryBytes(options.foldBytes())
                    .withThreads(Math.max(1, Runtime.getRuntime().availableProcessors() / 2)),
                (stage, done, all) -> {
                  checkOpen.run();
                  options.listener().folding(done, all);
                });
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
      builder.finish();
    }
  }

  /** Fails unless a database here is the one there; it gets the signature from there. */
  private void prove(Shipment.Part part, Path made) throws IOException {
    String file = wanted.directory(part) + "/" + Consignment.MANIFEST;
    byte[] there = Shipment.content(origin, file, Consignment.MOST_OF_MANIFEST, options, checkOpen);
    Path manifest = made.resolve(Consignment.MANIFEST);
    byte[] here = Files.readAllBytes(manifest);
    if (!Consignment.isSame(here, there)) {
      remove(made);
      throw new IOException(origin.location(file) + ": is not that of the database made here");
    }
    if (!Arrays.equals(here, there)) {
      Path next = made.resolve("manifest.part");
      Files.deleteIfExists(next);
      DurableFiles.write(next, there);
      Files.move(next, manifest, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  private static void remove(Path directory) throws IOException {
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

  /** Removes all that this or an earlier one left. */
  static void clear(Path work) throws IOException {
    remove(work);
  }
}
