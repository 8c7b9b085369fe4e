package tech.bsdb.check;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import tech.bsdb.Database.VerifyListener;
import tech.bsdb.VerifyReport;
import tech.bsdb.VerifyScope;
import tech.bsdb.directory.DataSet;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.directory.HeldFiles;
import tech.bsdb.format.Page;
import tech.bsdb.io.OrderedTasks;
import tech.bsdb.io.Resources;
import tech.bsdb.lookup.Lookup;

/**
 * Verifies a whole database: every page's checksum, every file's digest and content hash. Unless
 * only these are asked for, that every record's key leads through the hash function and the index
 * to the record's own address. In the packed layout, that every record lies in its own bin, and
 * that the filter is that of the records. That the order of keys, if there is one, holds all of
 * them. In a set of shards, that every key belongs to its shard; shards are verified side by side.
 */
public final class Verification implements Closeable {
  /** Everything to verify, opened before the first page is read. */
  private final Resources opened = new Resources();

  private final Lookup lookup;

  /** The files of each database. */
  private final List<HeldFiles> files = new ArrayList<>();

  private final VerifyScope scope;
  private final VerifyListener progress;
  private final long pages;
  private long done;
  private boolean stopped;

  private Verification(DataSet all, EngineChoice choice, VerifyScope scope, VerifyListener progress)
      throws IOException {
    if (scope == VerifyScope.CONTENT && !all.hasContentHashes()) {
      throw new IllegalArgumentException(
          all.location()
              + " has no content hashes, because an older version wrote it; verify it whole, or"
              + " build it anew");
    }
    this.scope = scope;
    this.progress = progress;
    this.pages = all.fileBytes() + all.manifestBytes() >>> Page.SHIFT;
    try {
      EngineChoice.Chosen engines = choice.choose(all);
      for (DatabaseDirectory each : all.databases()) {
        files.add(opened.add(HeldFiles.open(each, each.manifest().files(), engines.data())));
      }
      this.lookup = opened.add(Lookup.open(all, same -> engines, true));
    } catch (IOException | RuntimeException e) {
      opened.closeAfter(e);
      throw e;
    }
  }

  /**
   * Verifies a database or a set of shards. Opens all its files first, so that verification
   * completes even if the directory is replaced or deleted meanwhile.
   *
   * @param path its directory
   * @param trusted the keys of which one must have signed it, none to require no signature
   * @throws tech.bsdb.error.CorruptDatabaseException at the first damage
   * @throws IllegalArgumentException if only content hashes are asked for, and there are none
   */
  public static VerifyReport run(
      Path path, VerifyScope scope, List<PublicKey> trusted, VerifyListener progress)
      throws IOException {
    EngineChoice choice = EngineChoice.auto();
    try (Verification all =
        DataSet.withOpened(
            path, trusted, found -> new Verification(found, choice, scope, progress))) {
      return all.run();
    }
  }

  /**
   * Opens all files of a database or a set of shards, to verify them.
   *
   * @param choice opens those that lookups read
   */
  public static Verification open(
      DataSet all, EngineChoice choice, VerifyScope scope, VerifyListener progress)
      throws IOException {
    return new Verification(all, choice, scope, progress);
  }

  @Override
  public void close() throws IOException {
    opened.close();
  }

  /**
   * Verifies what was opened.
   *
   * @throws tech.bsdb.error.CorruptDatabaseException at the first damage
   */
  public VerifyReport run() throws IOException {
    DataSet all = lookup.opened();
    verified(all.setManifestBytes() >>> Page.SHIFT);
    if (all.isSet()) {
      verifySideBySide(all.databases().size());
    } else {
      verify(0);
    }
    long bytes = all.fileBytes() + all.manifestBytes();
    boolean keys = scope == VerifyScope.ALL && !all.facts().approximate();
    return new VerifyReport(all.records(), pages, bytes, all.hasContentHashes(), keys);
  }

  private void verify(int database) throws IOException {
    new DatabaseVerification(lookup, database, files.get(database), scope, this::verified).run();
  }

  private void verifySideBySide(int databases) throws IOException {
    int threads = Math.min(databases, Runtime.getRuntime().availableProcessors());
    try (OrderedTasks<Integer> tasks =
        new OrderedTasks<>("bsdb-verify", threads, 2 * threads, verified -> {})) {
      try {
        for (int i = 0; i < databases; i++) {
          int database = i;
          tasks.submit(
              () -> {
                verify(database);
                return database;
              });
        }
        tasks.drain();
      } catch (ExecutionException e) {
        throw OrderedTasks.failure(e);
      } finally {
        stop(); // tasks that still run after a failure
      }
    }
  }

  private synchronized void stop() {
    stopped = true;
  }

  private synchronized void verified(long more) {
    if (stopped) {
      throw new CancellationException("the verification was stopped");
    }
    done += more;
    if (more > 0) {
      progress.progress(done, pages);
    }
  }
}
